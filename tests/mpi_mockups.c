/*
 * mpi_mockups.c — every mock-up does what its collective does: byte for byte, with what lies around the buffers, whatever the root, the
 * count, the datatype and the operation, in place too; it takes as much of the scratch as the published formulas say; and where there is
 * too little of that, it says so on all ranks and touches nothing. What is right, the MPI library's own collective says. Two threads may
 * run calls at the same time. With the argument `all` every root and count; without, few of each.
 * ranks: 1 2 3 4 5 7 8
 */
#include <limits.h>
#include <pthread.h>

#include "mockups.h"
#include "mpi_common.h"

enum { EDGE = 64 }; /* bytes around a buffer; also room for offsets below zero */

/* ---- Items: datatypes of two integers but for the first two ------------------------------------------------- */

typedef struct item {
    const char *name;
    MPI_Datatype type;
    int size, extent, lb, first, second; /* first, second: where the two integers lie */
    int below;                           /* what the scratch has to add for elements that begin below zero */
} item;

enum { BYTES, INTS, GAPS, BELOW, CROSSED, NUM_ITEMS };
static item items[NUM_ITEMS];

static void make_item(int i, const char *name, int first, int second, int lb, int extent)
{
    MPI_Datatype inner;
    items[i] = (item){.name = name, .size = 8, .extent = extent, .first = first, .second = second};
    items[i].lb = lb;
    items[i].below = lb < 0 ? 16 : 0;
    MUST(MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){first, second}, MPI_INT, &inner));
    MUST(MPI_Type_create_resized(inner, lb, extent, &items[i].type));
    MUST(MPI_Type_commit(&items[i].type));
    MUST(MPI_Type_free(&inner));
}

static void make_items(void)
{
    items[BYTES] = (item){.name = "bytes", .type = MPI_BYTE, .size = 1, .extent = 1};
    items[INTS] = (item){.name = "int", .type = MPI_INT, .size = 4, .extent = 4};
    make_item(GAPS, "gaps", 0, 8, 0, 20);
    make_item(BELOW, "below zero", -4, 4, -4, 16);
    make_item(CROSSED, "crossed", 4, 0, 0, 8);
}

/* a x + b after c x + d: associative, and not commutative. */
static void compose(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = GAPS; i < NUM_ITEMS; i++)
        for (int k = 0; k < *count && *type == items[i].type; k++) {
            const char *x = (const char *)in + (ptrdiff_t)k * items[i].extent;
            char *y = (char *)inout + (ptrdiff_t)k * items[i].extent;
            uint32_t a, b, c, d;
            memcpy(&a, x + items[i].first, 4);
            memcpy(&b, x + items[i].second, 4);
            memcpy(&c, y + items[i].first, 4);
            memcpy(&d, y + items[i].second, 4);
            d = a * d + b;
            c = a * c;
            memcpy(y + items[i].first, &c, 4);
            memcpy(y + items[i].second, &d, 4);
        }
}

/* ---- A way to call ------------------------------------------------------------------------------------------ */

enum way { BY_BYTES, BY_INTS, BY_LAYOUTS, BY_MIXED, NUM_WAYS };

typedef struct setting {
    const pat_mock *mock;
    MPI_Comm comm;
    const char *comm_name;
    int rank, size, root, count, ranks_per_node;
    enum way way;
    bool in_place;
    MPI_Op composing;
} setting;

/* Of movements by mixed types each rank has its own, with the same integers in all. */
static const item *item_of(const setting *s, bool sends)
{
    static const int mixed[] = {GAPS, BELOW, CROSSED, INTS};
    switch (s->way) {
    case BY_BYTES:
        return &items[BYTES];
    case BY_INTS:
        return &items[INTS];
    case BY_LAYOUTS:
        return &items[s->mock->kind != PAT_MOCK_VECTOR && sends ? GAPS : BELOW];
    default:
        return &items[s->mock->kind == PAT_MOCK_VECTOR ? CROSSED : mixed[(s->rank + sends) % 4]];
    }
}

static int count_of(const setting *s, const item *i)
{
    return s->way == BY_MIXED && i == &items[INTS] ? 2 * s->count : s->count;
}

/* How many blocks of `count` a buffer of this collective has. */
static int blocks_of(const setting *s, bool sends)
{
    switch (s->mock->kind) {
    case PAT_MOCK_BLOCKS:
        return sends && strcmp(s->mock->cli_name, "allgather") == 0 ? 1 : s->size;
    case PAT_MOCK_GATHER:
        return sends ? 1 : s->size;
    case PAT_MOCK_SCATTER:
        return sends ? s->size : 1;
    case PAT_MOCK_VECTOR:
        return strcmp(s->mock->cli_name, "reduce_scatter_block") == 0 && (sends || s->in_place) ? s->size : 1;
    default:
        return 1;
    }
}

typedef struct image {
    unsigned char *bytes;
    size_t size;
} image;

static image make_image(const setting *s, bool sends, uint32_t seed)
{
    const item *i = item_of(s, sends);
    image m = {.size = 2 * EDGE + (size_t)blocks_of(s, sends) * (size_t)count_of(s, i) * (size_t)i->extent};
    m.bytes = malloc(m.size);
    if (!m.bytes)
        must("memory for the test's buffers", MPI_ERR_NO_MEM);
    uint32_t x = seed * 2654435761u + (uint32_t)s->rank * 40503u + 12345u;
    for (size_t k = 0; k < m.size; k++) {
        x = x * 1664525u + 1013904223u;
        m.bytes[k] = (unsigned char)(x >> 24);
    }
    return m;
}

/* What the arguments are; those of no significance are nonsense. */
static pat_mock_call call_of(const setting *s, const image *send, const image *recv)
{
    const item *out = item_of(s, true), *in = item_of(s, false);
    const bool is_root = s->rank == s->root;
    pat_mock_call c = {.send = send->bytes + EDGE,
                       .send_count = count_of(s, out),
                       .send_type = out->type,
                       .recv = recv->bytes + EDGE,
                       .recv_count = count_of(s, in),
                       .recv_type = in->type,
                       .op = s->way == BY_BYTES  ? MPI_BOR
                             : s->way == BY_INTS ? MPI_SUM
                                                 : s->composing,
                       .root = s->root,
                       .comm = s->comm};
    const enum pat_mock_kind kind = s->mock->kind;
    if (kind == PAT_MOCK_GATHER && !is_root) {
        c.recv_count = -7;
        c.recv_type = MPI_DATATYPE_NULL;
    }
    if (kind == PAT_MOCK_SCATTER && !is_root) {
        c.send_count = -7;
        c.send_type = MPI_DATATYPE_NULL;
    }
    if (!s->in_place || (s->mock->is_rooted && !is_root))
        return c;
    if (kind == PAT_MOCK_SCATTER)
        c.recv = MPI_IN_PLACE;
    else if (kind != PAT_MOCK_BUFFER)
        c.send = MPI_IN_PLACE;
    return c;
}

/* ---- What it must take of the scratch ----------------------------------------------------------------------- */

static int64_t up(int64_t n, int64_t parts)
{
    return (n + parts - 1) / parts * parts;
}

static bool is_plain(const item *i)
{
    return i == &items[BYTES] || i == &items[INTS];
}

/* So many elements of a reduction. */
static int64_t of(const setting *s, int64_t n)
{
    const item *i = item_of(s, false);
    return n ? n * i->extent + i->below : 0;
}

/* The published table: p ranks, n items, blocks of b packed bytes, lists of I bytes. */
static pat_mock_need formula(const setting *s, bool has_room)
{
    const int64_t p = s->size, n = s->count, I = 4 * p;
    const int64_t b = n * (s->way == BY_BYTES ? 1 : s->way == BY_INTS ? 4 : 8);
    const int64_t C = n / 4, most = 4 * (C / p + (C % p > 0)) + (C % p == 0) * (n % 4);
    const bool packs = has_room && !is_plain(item_of(s, false));
    const bool packs_own = has_room && !s->in_place && !is_plain(item_of(s, true));
    switch (s->mock->pattern) {
    case 1: /* what does not lie as it is packed is packed where there is room, so that all ranks send bytes */
        return (pat_mock_need){.data_bytes = packs ? p * b : 0};
    case 4:
        return (pat_mock_need){.int_bytes = 2 * I, .data_bytes = packs || packs_own ? p * b + b : 0};
    case 9:
        return (pat_mock_need){.int_bytes = 2 * I, .data_bytes = packs ? b : 0};
    case 2:
        return (pat_mock_need){.data_bytes = packs ? 2 * p * b : p * b};
    case 13:
        return (pat_mock_need){.data_bytes = packs && s->rank == s->root ? 2 * p * b : p * b};
    case 3:
    case 11:
    case 21:
        return (pat_mock_need){.data_bytes = p * b};
    case 7:
    case 8:
    case 12:
    case 22:
        return (pat_mock_need){.int_bytes = 2 * I};
    case 6:
    case 15:
        return (pat_mock_need){.data_bytes = of(s, up(n, p)) + of(s, up(n, p) / p)};
    case 10:
        return (pat_mock_need){.data_bytes = up(b, p) + up(b, p) / p};
    case 14:
        return (pat_mock_need){.data_bytes = of(s, n)};
    case 16:
        return (pat_mock_need){.int_bytes = 2 * I, .data_bytes = of(s, most)};
    case 17:
    case 19:
        return (pat_mock_need){.data_bytes = of(s, p * n)};
    case 18:
        return (pat_mock_need){.int_bytes = I};
    case 20: /* where the order matters, or what is in place would be lost */
        return (pat_mock_need){.data_bytes = s->way < BY_LAYOUTS && !s->in_place ? 0 : of(s, n)};
    default:
        return (pat_mock_need){0};
    }
}

/* ---- One comparison ----------------------------------------------------------------------------------------- */

static long compared, not_run;

static void expect_image(const char *what, const image *want, const image *got)
{
    for (size_t k = 0; k < want->size; k++)
        if (want->bytes[k] != got->bytes[k]) {
            test_fail("%s: byte %td of %zu: expected %02x, got %02x", what, (ptrdiff_t)k - EDGE,
                      want->size - 2 * EDGE, want->bytes[k], got->bytes[k]);
            return;
        }
}

/* Which mock-ups are refused because of the nodes; all others run. */
static enum pat_mock_why expected_why(const setting *s)
{
    const int per_node = s->ranks_per_node ? s->ranks_per_node : s->size;
#ifndef OPEN_MPI
    if (s->mock->by_reduce_scatter && s->way == BY_LAYOUTS)
        return PAT_MOCK_FAULT;
#endif
    if (s->mock->topology == PAT_MOCK_LANES && s->size > per_node && s->size % per_node)
        return PAT_MOCK_UNEVEN;
    const bool crossed = strcmp(s->comm_name, "evens first") == 0 && s->size > per_node;
    return s->mock->topology != PAT_MOCK_FLAT && s->mock->kind == PAT_MOCK_VECTOR && s->way >= BY_LAYOUTS &&
                   crossed
               ? PAT_MOCK_ORDER
               : PAT_MOCK_RAN;
}

/* After a reduce-scatter in place what comes after the result is anybody's. */
static void forget_the_rest(const setting *s, image *want, const image *got)
{
    const item *i = item_of(s, false);
    const size_t block = (size_t)s->count * (size_t)i->extent, begin = (size_t)(EDGE + i->lb) + block;
    if (s->in_place && s->mock->kind == PAT_MOCK_VECTOR && blocks_of(s, false) > 1)
        memcpy(want->bytes + begin, got->bytes + begin, (size_t)(s->size - 1) * block);
}

/* has_room: the scratch has it also for what need not be there. */
static void compare(const setting *s, pat_mock_scratch *scratch, bool has_room)
{
    const pat_mock *native = pat_mock_find(s->mock->mpi_name, "default");
    enum pat_mock_why why;
    image send = make_image(s, true, 1), kept = make_image(s, true, 1);
    image want = make_image(s, false, 2), got = make_image(s, false, 2);
    const enum pat_mock_why expected = expected_why(s);
    pat_mock_call c = call_of(s, &send, &want);
    test_at("%s, %s, way %d, count %d, root %d, %s%d ranks per node", s->mock->name, s->comm_name, s->way,
            s->count, s->root, s->in_place ? "in place, " : "", s->ranks_per_node);
    if (expected == PAT_MOCK_RAN)
        MUST(pat_mock_run(native, &c, scratch, &why));
    c = call_of(s, &send, &got);
    pat_mock_scratch_reset_peak(scratch);
    MUST(pat_mock_run(s->mock, &c, scratch, &why));
    expect_int("has it run", expected, why);
    forget_the_rest(s, &want, &got);
    expect_image("the receive buffer", &want, &got);
    expect_image("the send buffer", &kept, &send);
    const pat_mock_need need = pat_mock_needs(s->mock, &c, scratch), peak = pat_mock_scratch_peak(scratch);
    if (why == PAT_MOCK_RAN) {
        expect_int("scratch for data", need.data_bytes, peak.data_bytes);
        expect_int("scratch for counts", need.int_bytes, peak.int_bytes);
        compared++;
    } else {
        not_run++;
    }
    if (s->mock->pattern && why == PAT_MOCK_RAN) {
        expect_int("data by formula", formula(s, has_room).data_bytes, peak.data_bytes);
        expect_int("counts by formula", formula(s, has_room).int_bytes, peak.int_bytes);
    }
    free(send.bytes);
    free(kept.bytes);
    free(want.bytes);
    free(got.bytes);
}

/* A byte too little, of data or of lists. */
static void expect_refusal(const setting *s, int64_t data, int64_t ints, enum pat_mock_why expected)
{
    enum pat_mock_why why;
    image send = make_image(s, true, 1), kept = make_image(s, true, 1);
    image want = make_image(s, false, 2), got = make_image(s, false, 2);
    pat_mock_scratch *small = pat_mock_scratch_make((size_t)data, (size_t)ints, s->ranks_per_node);
    const pat_mock_call c = call_of(s, &send, &got);
    test_at("%s with %lld and %lld bytes of scratch", s->mock->name, (long long)data, (long long)ints);
    MUST(pat_mock_run(s->mock, &c, small, &why));
    expect_int("has it run", expected, why);
    expect_image("the receive buffer", &want, &got);
    expect_image("the send buffer", &kept, &send);
    expect_int("peak", 0, pat_mock_scratch_peak(small).data_bytes + pat_mock_scratch_peak(small).int_bytes);
    pat_mock_scratch_free(small);
    free(send.bytes);
    free(kept.bytes);
    free(want.bytes);
    free(got.bytes);
}

/* The largest scratch that does not do, and the smallest that does. */
static void try_limits(const setting *s, const pat_mock_scratch *scratch)
{
    image none = make_image(s, false, 3);
    const pat_mock_call c = call_of(s, &none, &none);
    const pat_mock_need need = s->mock->pattern ? formula(s, false) : pat_mock_needs(s->mock, &c, scratch);
    free(none.bytes);
    if (s->mock->pattern == 2 && s->way >= BY_LAYOUTS && s->size >= 12)
        return; /* see is_right_natively */
    if (!s->mock->pattern && s->mock->kind != PAT_MOCK_VECTOR && s->way >= BY_LAYOUTS)
        return; /* what need not be there is not told apart */
    if (s->mock->pattern == 20)
        return; /* there must be room for calls in place, whether this is one or not */
    if (need.data_bytes > 0)
        expect_refusal(s, need.data_bytes - 1, need.int_bytes, PAT_MOCK_NO_DATA);
    if (need.int_bytes > 0)
        expect_refusal(s, need.data_bytes, need.int_bytes - 1, PAT_MOCK_NO_INTS);
    pat_mock_scratch *least =
        pat_mock_scratch_make((size_t)need.data_bytes, (size_t)need.int_bytes, s->ranks_per_node);
    compare(s, least, false);
    pat_mock_scratch_free(least);
}

/* ---- All of them -------------------------------------------------------------------------------------------- */

/* MPICH 4.0's reduction in place to another root than rank 0 ends the program where it is of more than 2 KiB. */
static bool ends_program(const setting *s)
{
#ifdef OPEN_MPI
    (void)s;
    return false;
#else
    return strcmp(s->mock->cli_name, "reduce") == 0 && s->in_place && s->root != 0 && s->count > 200;
#endif
}

static void all_counts(setting *s, pat_mock_scratch *scratch, bool all)
{
    const int p = s->size, few[] = {0, 1, p, 4 * p + 3},
              many[] = {0, 1, 2, 3, p - 1, p, p + 1, 4 * p + 3, s->way == BY_MIXED ? 20000 : 65536};
    for (int k = 0; k < (all ? 9 : 4); k++) {
        s->count = all ? many[k] : few[k];
        for (int r = 0; r < (s->mock->is_rooted ? p : 1); r++) {
            if (!all && r != 0 && r != p - 1)
                continue;
            s->root = r;
            for (int in_place = 0; in_place <= (s->mock->kind != PAT_MOCK_BUFFER); in_place++) {
                s->in_place = in_place;
                if (!ends_program(s))
                    compare(s, scratch, true);
            }
        }
    }
    s->in_place = false;
    s->count = 3;
    if (expected_why(s) == PAT_MOCK_RAN)
        try_limits(s, scratch);
}

/* Two libraries get a collective wrong themselves, so that there is nothing to compare with. */
static bool is_right_natively(const setting *s)
{
#ifdef OPEN_MPI /* 4.1: short blocks of another type than is sent, on 12 ranks and more */
    return s->way < BY_LAYOUTS || s->size < 12 || strcmp(s->mock->cli_name, "alltoall") != 0;
#else /* MPICH 4.0: elements with gaps whose order counts, on 2, 4, 8 ranks and so on */
    return s->way != BY_LAYOUTS || strcmp(s->mock->cli_name, "reduce_scatter_block") != 0;
#endif
}

static void all_mock_ups(setting *s, pat_mock_scratch *scratch, bool all)
{
    MPI_Comm_rank(s->comm, &s->rank);
    MPI_Comm_size(s->comm, &s->size);
    int patterns = 0;
    for (int i = 0; (s->mock = pat_mock_at(i)) != NULL; i++) {
        patterns += s->mock->pattern > 0;
        for (int way = 0; way < NUM_WAYS && strcmp(s->mock->name, "default") != 0; way++) {
            if (!all && (i + way) % 2 ==
                            (s->comm != MPI_COMM_WORLD)) /* each way with one communicator or the other */
                continue;
            s->way = (enum way)way;
            if (!is_right_natively(s))
                continue;
            all_counts(s, scratch, all);
        }
    }
    expect_int("mock-ups of the published guidelines", 22, patterns);
}

/* Counts that no int holds: said at once. */
static void too_long(pat_mock_scratch *scratch)
{
    char byte = 0;
    for (int i = 0; pat_mock_at(i); i++) {
        const pat_mock *m = pat_mock_at(i);
        const pat_mock_call c = {&byte,    &byte,   INT_MAX, INT_MAX,        MPI_BYTE,
                                 MPI_BYTE, MPI_BOR, 0,       MPI_COMM_WORLD, NULL};
        enum pat_mock_why why;
        if (!m->pattern || m->kind == PAT_MOCK_BUFFER ||
            (m->kind == PAT_MOCK_VECTOR && strcmp(m->cli_name, "reduce_scatter_block") != 0))
            continue;
        test_at("%s of INT_MAX bytes a rank", m->name);
        MUST(pat_mock_prepare(m, &c, scratch, &why));
        expect_int("too long", PAT_MOCK_TOO_LONG, why);
    }
}

/* ---- Two threads at a time ---------------------------------------------------------------------------------- */

typedef struct caller {
    pthread_t thread;
    MPI_Comm comm;
    pat_mock_scratch *scratch;
    int number, wrong;
} caller;

static void *call_often(void *c)
{
    static const char *const names[] = {"bcast_as_scatter_allgather", "bcast_lane"};
    enum { TIMES = 100, BYTES_EACH = 20000 };
    caller *own = c;
    unsigned char *bytes = malloc(BYTES_EACH);
    for (int k = 0; k < TIMES && bytes; k++) {
        const int root = k % test.size, value = 2 * k + own->number;
        const pat_mock_call call = {
            .recv = bytes, .recv_count = BYTES_EACH, .recv_type = MPI_BYTE, .root = root, .comm = own->comm};
        enum pat_mock_why why;
        memset(bytes, test.rank == root ? value : 255, BYTES_EACH);
        const int rc = pat_mock_run(pat_mock_find("MPI_Bcast", names[k / 2 % 2]), &call, own->scratch, &why);
        bool is_right = rc == MPI_SUCCESS && why == PAT_MOCK_RAN;
        for (int i = 0; i < BYTES_EACH; i++)
            is_right = is_right && bytes[i] == value;
        own->wrong += !is_right;
    }
    own->wrong += !bytes;
    free(bytes);
    return NULL;
}

/* Each with a communicator of its own, and one scratch. More ranks' threads would wait for processors, most where waiting is spinning. */
static void two_threads(void)
{
    caller callers[2];
    pat_mock_scratch *scratch = pat_mock_scratch_make(1 << 20, 1 << 16, 0);
    test_at("two threads");
    for (int i = 0; i < 2; i++) {
        callers[i] = (caller){.scratch = scratch, .number = i};
        MUST(MPI_Comm_dup(MPI_COMM_WORLD, &callers[i].comm));
    }
    for (int i = 0; i < 2; i++)
        if (pthread_create(&callers[i].thread, NULL, call_often, &callers[i]) != 0)
            must("a thread", MPI_ERR_OTHER);
    for (int i = 0; i < 2; i++) {
        pthread_join(callers[i].thread, NULL);
        expect_int("wrong calls", 0, callers[i].wrong);
    }
    MUST(MPI_Comm_free(&callers[0].comm));
    pat_mock_scratch_free(scratch);
    MUST(MPI_Comm_free(&callers[1].comm));
}

int main(int argc, char **argv)
{
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    const bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    test_limit(all ? 3600 : 60);
    setting s = {.comm = MPI_COMM_WORLD};
    const int evens_first = test.rank % 2 * test.size + test.rank, backwards = -test.rank;
    MPI_Comm reversed, evens;
    make_items();
    MUST(MPI_Op_create(compose, 0, &s.composing));
    MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, backwards, &reversed));
    MUST(MPI_Comm_split(MPI_COMM_WORLD, 0, evens_first, &evens));
    for (int per_node = 0; per_node <= 2; per_node += 2) {
        pat_mock_scratch *scratch = pat_mock_scratch_make(PAT_MOCK_DATA_BYTES, PAT_MOCK_INT_BYTES, per_node);
        s.ranks_per_node = per_node;
        s.comm = MPI_COMM_WORLD;
        s.comm_name = "all ranks";
        if (all || per_node == 0)
            all_mock_ups(&s, scratch, all);
        s.comm = reversed;
        s.comm_name = "reversed";
        if (all || per_node == 0)
            all_mock_ups(&s, scratch, all);
        s.comm = evens;
        s.comm_name = "evens first";
        if (all || per_node == 2)
            all_mock_ups(&s, scratch, all);
        if (test.size > 1)
            too_long(scratch);
        pat_mock_scratch_free(scratch);
    }
    if (test.size <= 2)
        two_threads();
    MUST(MPI_Comm_free(&reversed));
    MUST(MPI_Comm_free(&evens));
    MUST(MPI_Op_free(&s.composing));
    for (int i = GAPS; i < NUM_ITEMS; i++)
        MUST(MPI_Type_free(&items[i].type));
    if (test.rank == 0)
        printf("%ld calls of mock-ups compared, %ld refused\n", compared, not_run);
    MPI_Finalize();
    return test.failures != 0;
}

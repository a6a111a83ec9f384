/*
 * mpi_scatter.c — PAT_Scatter and PAT_Iscatter, byte for byte, and the MPI library's own beside them: every algorithm, root and datatype on
 * either side, MPI_IN_PLACE, sizes around those from which a message waits for its receiver, arguments that mean nothing on a rank; between
 * other collectives, whose tags it shares; on several communicators; a root that runs ahead.
 *
 * ranks: 1 2 3 5 8
 */
#include "mpi_common.h"

/* Where the MPI library's own call goes wrong too, the test does. */
enum way { LIBRARY, BLOCKING, STARTED, NUM_WAYS };
static const char *const way_names[] = {"PMPI_Scatter", "PAT_Scatter", "PAT_Iscatter"};

static uint32_t seed = 1;
static int64_t planned; /* calls that a plan is to run, where the algorithm in use has plans */

/* ---- One call ------------------------------------------------------------------------------------------- */

typedef struct image {
    unsigned char *bytes, *wanted; /* with guards around */
    size_t size;
} image;

static image image_of(const layout *l, int items, int background)
{
    image i = {.size = (size_t)items * (size_t)l->extent + 2 * GUARD};
    i.bytes = malloc(i.size);
    i.wanted = malloc(i.size);
    if (!i.bytes || !i.wanted)
        must("memory for the test's buffers", MPI_ERR_NO_MEM);
    memset(i.bytes, background, i.size);
    memset(i.wanted, background, i.size);
    return i;
}

static void image_check(const image *i, const char *which)
{
    if (memcmp(i->bytes, i->wanted, i->size) == 0)
        return;
    size_t at = 0;
    while (i->bytes[at] == i->wanted[at])
        at++;
    test_fail("byte %td of the %s buffer is %02x, not %02x", (ptrdiff_t)at - GUARD, which, i->bytes[at],
              i->wanted[at]);
}

static void image_free(image *i)
{
    free(i->bytes);
    free(i->wanted);
}

static void call(enum way way, const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    MPI_Request request;
    if (way == LIBRARY) {
        MUST(PMPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
    } else if (way == BLOCKING) {
        MUST(PAT_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
    } else {
        MUST(PAT_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, &request));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

/* bytes: packed, for each rank. What is of no significance on a rank is nonsense there. */
static void scatter_once(enum way way, MPI_Comm comm, const layout *sl, const layout *rl, int bytes,
                         bool in_place, int root)
{
    const int sendcount = bytes / sl->item_bytes, recvcount = bytes / rl->item_bytes;
    int rank, size;
    char before[sizeof(test.where)];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const bool gives = rank == root, stays = gives && in_place;
    image sent = image_of(sl, gives ? size * sendcount : 0, 0xA5), got = image_of(rl, recvcount, 0x5A);
    memcpy(before, test.where, sizeof(before));
    test_at("%.60s: %s of %d bytes from %d%s, %s to %s", before, way_names[way], bytes, root,
            in_place ? " in place" : "", sl->name, rl->name);
    seed++;
    for (int r = 0; gives && r < size; r++) {
        gather_put(sent.bytes, sl, r * sendcount, sendcount, seed, r);
        gather_put(sent.wanted, sl, r * sendcount, sendcount, seed, r);
    }
    if (!stays)
        gather_put(got.wanted, rl, 0, recvcount, seed, rank);
    call(way, gives ? sent.bytes + GUARD : NULL, gives ? sendcount : -7, gives ? sl->type : MPI_DATATYPE_NULL,
         stays ? MPI_IN_PLACE : got.bytes + GUARD, stays ? -7 : recvcount,
         stays ? MPI_DATATYPE_NULL : rl->type, root, comm);
    image_check(&sent, "send");
    image_check(&got, "receive");
    image_free(&sent);
    image_free(&got);
    planned += way != LIBRARY && bytes > 0 && size > 1;
    memcpy(test.where, before, sizeof(before));
}

static const layout *plain(void)
{
    return &layouts[LAYOUT_BYTES];
}

/* Another one on each rank. */
static const layout *mixed(int i)
{
    return &layouts[LAYOUT_INT + (i + test.rank) % (NUM_LAYOUTS - LAYOUT_INT)];
}

/* ---- Kinds of calls ------------------------------------------------------------------------------------- */

static void all_roots(void)
{
    static const int sizes[] = {1, 4095, 4097, 8193, 65535, 65537, 0, 3};
    for (int root = 0; root < test.size; root++)
        for (int s = 0; s < 8; s++)
            for (int way = 0; way < NUM_WAYS; way++)
                scatter_once((enum way)way, MPI_COMM_WORLD, plain(), plain(), sizes[s], (s + root + way) % 2,
                             root);
    for (int way = 0; way < NUM_WAYS; way++)
        scatter_once((enum way)way, MPI_COMM_WORLD, plain(), plain(), 400003, false, test.size / 2);
}

static void all_types(void)
{
    static const int units[] = {1, 340, 6000}; /* the longest of them in plain types is above any limit */
    for (int i = 0; i < NUM_LAYOUTS - LAYOUT_INT; i++)
        for (int j = 0; j < NUM_LAYOUTS - LAYOUT_INT; j++)
            for (int way = 0; way < NUM_WAYS; way++)
                scatter_once((enum way)way, MPI_COMM_WORLD, mixed(i), mixed(i + j), UNIT * units[(i + j) % 3],
                             (i + way) % 3 == 0, (i * 3 + j) % test.size);
}

/* On one side at a time, since MPICH takes two of these null pointers for one buffer. */
static void from_the_bottom(void)
{
    enum { BYTES = 1000 };
    const int root = test.size - 1;
    for (int way = BLOCKING; way < NUM_WAYS; way++)
        for (int there = 0; there < 2; there++) {
            const bool gives = test.rank == root;
            image sent = image_of(plain(), gives ? test.size * BYTES : 0, 0xA5),
                  got = image_of(plain(), BYTES, 0x5A);
            MPI_Datatype out = blocks_at((char *)sent.bytes + GUARD, BYTES),
                         in = blocks_at((char *)got.bytes + GUARD, BYTES);
            test_at("addresses in the %s type of %s", there ? "send" : "receive", way_names[way]);
            seed++;
            for (int r = 0; gives && r < test.size; r++)
                gather_put(sent.bytes, plain(), r * BYTES, BYTES, seed, r);
            gather_put(got.wanted, plain(), 0, BYTES, seed, test.rank);
            if (there)
                call((enum way)way, MPI_BOTTOM, 1, out, got.bytes + GUARD, BYTES, MPI_BYTE, root,
                     MPI_COMM_WORLD);
            else
                call((enum way)way, sent.bytes + GUARD, BYTES, MPI_BYTE, MPI_BOTTOM, 1, in, root,
                     MPI_COMM_WORLD);
            image_check(&got, "receive");
            planned += test.size > 1;
            image_free(&sent);
            image_free(&got);
            MUST(MPI_Type_free(&out));
            MUST(MPI_Type_free(&in));
        }
}

/* Calls of no bytes need no buffers. */
static void without_buffers(void)
{
    MPI_Datatype empty;
    MUST(MPI_Type_contiguous(0, MPI_INT, &empty));
    MUST(MPI_Type_commit(&empty));
    for (int way = BLOCKING; way < NUM_WAYS; way++) {
        test_at("%s of no bytes", way_names[way]);
        call((enum way)way, NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
#ifdef OPEN_MPI /* MPICH's root sends a message then, which nobody awaits but the next call */
        call((enum way)way, NULL, 5, empty, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
#endif
    }
    MUST(MPI_Type_free(&empty));
}

/* Its messages are told from theirs, though nothing but the order of calls does so. */
static void between_others(void)
{
    for (int round = 0; round < 12; round++) {
        const int root = round % test.size, bytes = 1 + 700 * (round % 5);
        gather g;
        test_at("between others, round %d", round);
        gather_bytes(MPI_COMM_WORLD, bytes, ++seed);
        scatter_once(BLOCKING, MPI_COMM_WORLD, plain(), plain(), bytes, false, root);
        gather_make(&g, MPI_COMM_WORLD, plain(), plain(), bytes, false);
        gather_fill(&g, ++seed);
        gather_call_to(&g, test.size - 1 - root);
        gather_free(&g);
        scatter_once(STARTED, MPI_COMM_WORLD, plain(), plain(), 2 * bytes, true, root);
    }
}

static void on_communicators(void)
{
    MPI_Comm backwards, halves;
    int size;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &backwards);
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &halves);
    MPI_Comm_size(halves, &size);
    for (int round = 0; round < 5; round++)
        for (int way = BLOCKING; way < NUM_WAYS; way++) {
            test_at("communicators, round %d", round);
            scatter_once((enum way)way, backwards, plain(), plain(), 9000, round % 2, round % test.size);
            scatter_once((enum way)way, halves, mixed(round), mixed(1), UNIT * 700, round % 2, round % size);
        }
    MPI_Comm_free(&backwards);
    MPI_Comm_free(&halves);
}

/* The root need not wait for anybody at once: the others come when it has told them, after many. */
static void runs_ahead(void)
{
    enum { AHEAD = 32 }; /* how many are too many: mpi_credits.c */
    int token = 0;
    test_at("the root runs ahead");
    scatter_once(BLOCKING, MPI_COMM_WORLD, plain(), plain(), 8, false, 0); /* the first call may wait */
    if (test.rank > 0)
        MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < AHEAD; i++)
        scatter_once(BLOCKING, MPI_COMM_WORLD, plain(), plain(), 100 + i, i % 2, 0);
    for (int r = 1; test.rank == 0 && r < test.size; r++)
        MPI_Send(&token, 1, MPI_INT, r, 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void wrong_arguments(void)
{
    int in = 0;
    static int out[64];
    MPI_Request request = MPI_REQUEST_NULL;
    test_at("wrong arguments");
    for (int started = 0; started < 2; started++) {
#define CALLED(...)                                                                                          \
    (started ? PAT_Iscatter(__VA_ARGS__, MPI_COMM_WORLD, &request) : PAT_Scatter(__VA_ARGS__, MPI_COMM_WORLD))
        expect_error("a negative count", MPI_ERR_COUNT, CALLED(out, 1, MPI_INT, &in, -1, MPI_INT, 0), NULL);
        expect_error("no datatype", MPI_ERR_TYPE, CALLED(out, 1, MPI_INT, &in, 1, MPI_DATATYPE_NULL, 0),
                     NULL);
        expect_error("no such root", MPI_ERR_ROOT, CALLED(out, 1, MPI_INT, &in, 1, MPI_INT, test.size), NULL);
        expect_error("a negative root", MPI_ERR_ROOT, CALLED(out, 1, MPI_INT, &in, 1, MPI_INT, -3), NULL);
    }
    expect_error("an unknown algorithm", MPI_ERR_ARG, PAT_UseAlg("scatter_"), "scatter_binomial");
    scatter_once(BLOCKING, MPI_COMM_WORLD, plain(), plain(), 100, false, 0); /* nothing is the worse for it */
}

/* ---- All of it ------------------------------------------------------------------------------------------ */

int main(int argc, char **argv)
{
    const alg_list algs = algs_of(PAT_OP_SCATTER, alg_is_any);
    /* There Open MPI 4.1 itself takes such a type for plain bytes at address 0. */
    const char *const pml = getenv("PAT_TEST_PML");
    const bool over_ucx = pml && strcmp(pml, "ucx") == 0;
    test_begin(&argc, &argv);
    layouts_make();
    use_alg("relay");
    use_alg("gather_binomial");
    for (int a = 0; a < algs.num; a++) {
        const char *const alg = algs.names[a];
        const bool has_plans = alg_has_plans(pat_algorithm_find(alg));
        use_alg(alg);
        const int64_t before = calls_by(alg);
        planned = 0;
        test_at("%s", alg);
        all_roots();
        all_types();
        if (!over_ucx || (has_plans && test.size > 1))
            from_the_bottom();
        without_buffers();
        between_others();
        on_communicators();
        runs_ahead();
        wrong_arguments();
        test_at("%s", alg);
        if (has_plans)
            expect_int("calls by plan", planned, calls_by(alg) - before);
    }
    layouts_free();
    return test_end();
}

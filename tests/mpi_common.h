/*
 * mpi_common.h — what the multi-rank tests share: start and end, reporting, milestones with sleeps, and
 * all-gathers whose every byte is known beforehand. Knows only include/pat.h; must never look into the
 * library, and never compute an expected byte with MPI_Pack or a collective: layouts are written down by
 * hand.
 */
#ifndef MPI_COMMON_H
#define MPI_COMMON_H

#include <dirent.h>
#include <math.h>
#include <mpi.h>
#include <pat.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "algorithm_list.h"
#include "mpi_faults.h"

/* One test program is one run: its rank, what it is at, and how often it was wrong. */
static struct {
    int rank, size, failures;
    char where[160];
} test;

/* ---- Reporting ---------------------------------------------------------------------------------------- */

__attribute__((format(printf, 1, 2))) static inline void test_at(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(test.where, sizeof(test.where), format, args);
    va_end(args);
}

__attribute__((format(printf, 1, 2))) static inline void test_fail(const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (test.failures++ < 10)
        fprintf(stderr, "rank %d of %d: %s: %s\n", test.rank, test.size, test.where, text);
}

static inline void expect_int(const char *what, long long expected, long long got)
{
    if (expected != got)
        test_fail("%s: expected %lld, got %lld", what, expected, got);
}

/* An error code that the test provokes; its text must contain `text` when that is not NULL. */
static inline void expect_error(const char *what, int expected, int got, const char *text)
{
    int got_class = got; /* of what MPI itself has found, some libraries return more than the class */
    if (got != expected && got > MPI_SUCCESS) /* never asked before MPI is up or after */
        MPI_Error_class(got, &got_class);
    if (expected != got_class)
        test_fail("%s: expected error %d, got %d (%s)", what, expected, got, PAT_Error_string(got));
    else if (text && !strstr(PAT_Error_string(got), text))
        test_fail("%s: expected an error text with \"%s\", got \"%s\"", what, text, PAT_Error_string(got));
}

/* A call that must work: going on without it would only hang. */
static inline void must(const char *what, int code)
{
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "rank %d of %d: %s: %s: expected success, got %d (%s)\n", test.rank, test.size,
            test.where, what, code, PAT_Error_string(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define MUST(call) must(#call, (call))

/* ---- Start and end ------------------------------------------------------------------------------------ */

static void test_out_of_time(int signal_number)
{
    static const char text[] = ": out of time, it hangs\n";
    (void)signal_number;
    if (write(2, test.where, strlen(test.where)) < 0 || write(2, text, sizeof(text) - 1) < 0)
        _exit(1);
    _exit(1);
}

/* PAT_TEST_SLOW: how many times slower than usual everything is, under a tool that watches memory or threads.
 */
static inline int test_slow(void)
{
    const char *text = getenv("PAT_TEST_SLOW");
    return text && atoi(text) > 1 ? atoi(text) : 1;
}

/* A hang becomes a failure that says where, well before mpirun is ended from outside. */
static inline void test_limit(int seconds)
{
    signal(SIGALRM, test_out_of_time);
    alarm((unsigned)(seconds * test_slow()));
}

/* MPI_Init_thread at `level` and errors returned; false when MPI does not give that level: then skip. */
static inline bool test_mpi_init(int *argc, char ***argv, int level)
{
    int provided;
    test_limit(60);
    test_at("MPI_Init_thread");
    MPI_Init_thread(argc, argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &test.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test.size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return provided >= level;
}

static inline void test_start(int *argc, char ***argv, bool on_nodes)
{
    /* By the number of ranks: each on a node of its own, two on each, or all on one. */
    static const char *const per_node[] = {"1", "2", "auto"};
    if (!test_mpi_init(argc, argv, MPI_THREAD_MULTIPLE)) {
        MPI_Finalize();
        exit(77);
    }
    if (on_nodes)
        setenv("PAT_RANKS_PER_NODE", per_node[test.size % 3], 0);
    test_at("PAT_Init");
    MUST(PAT_Init());
}

/* For most tests: everything up, early data possible. */
static inline void test_begin(int *argc, char ***argv)
{
    test_start(argc, argv, false);
}

/*
 * The same, and plans are to take ranks as being on different nodes: these are all on one, where nobody passes anything on. Not so for 2, 5, 8 ranks and
 * so on.
 */
static inline void test_begin_on_nodes(int *argc, char ***argv)
{
    test_start(argc, argv, true);
}

/*
 * Before test_begin: MPI takes chunks at once inside a node too, as it does over TCP, so that early data of an opened request comes in to
 * the program's buffer where ranks pass it on.
 */
static inline void test_taken_at_once(void)
{
    setenv("OMPI_MCA_btl_vader_eager_limit", "65536", 1);
    setenv("OMPI_MCA_btl_sm_eager_limit", "65536", 1); /* its name since Open MPI 5 */
}

static inline int test_end(void)
{
    test_at("PAT_Finalize");
    MUST(PAT_Finalize());
    test_at("MPI_Finalize");
    MPI_Finalize();
    return test.failures ? 1 : 0;
}

static inline void use_alg(const char *name)
{
    test_at("PAT_UseAlg(%s)", name);
    MUST(PAT_UseAlg(name));
}

static inline PAT_Counters counters(void)
{
    PAT_Counters c;
    MUST(PAT_Get_counters(&c));
    return c;
}

/* How many calls the algorithm had run on this rank when c was taken. */
static inline int64_t calls_of(const PAT_Counters *c, const char *alg)
{
    for (int i = 0; i < c->num_algs; i++)
        if (strcmp(c->alg_name[i], alg) == 0)
            return c->alg_calls[i];
    test_fail("%s is not among the counters", alg);
    return 0;
}

/* The same, now. */
static inline int64_t calls_by(const char *alg)
{
    const PAT_Counters c = counters();
    return calls_of(&c, alg);
}

static inline void sleep_ms(double ms)
{
    struct timespec ts = {(time_t)(ms / 1000), (long)((ms - 1000 * (double)(long)(ms / 1000)) * 1e6)};
    nanosleep(&ts, NULL);
}

/* The threads of this process, or -1 where they cannot be told. */
static inline int threads_now(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/task");
    if (!dir)
        return -1;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

/* Threads beyond `before`; one that has been joined may still be seen for a moment. */
static inline int threads_left(int before)
{
    for (int ms = 0; ms < 2000 && threads_now() != before; ms++)
        sleep_ms(1);
    return threads_now() - before;
}

/* One phase of `ms` milliseconds that says after `before` of its milliseconds that `percent` is done. */
static inline void phase(double ms, double before, double percent)
{
    MUST(PAT_ProcessingStart());
    sleep_ms(before);
    MUST(PAT_Edge(percent));
    sleep_ms(ms - before);
    MUST(PAT_ProcessingEnd());
}

/* ---- What programs do with milestones ----------------------------------------------------------------- */

enum manner { TRUTH, LIES, ABSURD, NO_EDGE_ON_ODD, NO_START_ON_SOME, NOTHING, MANY_EDGES, NUM_MANNERS };
static const char *const manner_names[] = {"true predictions",
                                           "slowest announced as first",
                                           "absurd predictions",
                                           "odd ranks without Edge",
                                           "some ranks without Start",
                                           "no milestones",
                                           "many Edges"};

/* Compute for `ms` milliseconds in a manner; `turn`: the round's number. */
static inline void phase_in(enum manner manner, double ms, int turn)
{
    double longest = 4.0 * test.size;
    switch (manner) {
    case TRUTH:
        phase(ms, ms / 2, 50);
        break;
    case LIES: /* after 1 ms, announce the arrival of the rank at the other end of the order */
        phase(ms, 1, 100.0 / (longest - ms + 2));
        break;
    case ABSURD: /* a prediction in the far future from some, a past one from others */
        phase(ms, 0.5, (test.rank + turn) % 2 ? 1e-300 : nextafter(100, 0));
        break;
    case NO_EDGE_ON_ODD:
        if (test.rank % 2 == 0)
            phase(ms, ms / 2, 50);
        else
            sleep_ms(ms);
        break;
    case NO_START_ON_SOME:
        if (test.rank % 3 != 1) {
            phase(ms, ms / 4, 25);
        } else {
            expect_error("Edge without Start", MPI_ERR_OTHER, PAT_Edge(50), NULL);
            sleep_ms(ms);
        }
        break;
    case MANY_EDGES: /* the phase is not ended either */
        MUST(PAT_ProcessingStart());
        for (int i = 1; i < 10; i++) {
            sleep_ms(ms / 10);
            MUST(PAT_Edge(i * 10));
        }
        break;
    default:
        sleep_ms(ms);
    }
}

/* ---- Layouts: datatypes whose every byte is known ----------------------------------------------------- */

enum { UNIT = 12 }; /* packed bytes of one unit: three MPI_INT. Every layout but `bytes` has this signature */

typedef struct layout {
    const char *name;
    MPI_Datatype type;
    int item_bytes;     /* packed bytes of one item */
    ptrdiff_t at[UNIT]; /* where an item's packed bytes lie */
    ptrdiff_t extent;
} layout;

enum {
    LAYOUT_BYTES,
    LAYOUT_INT,
    LAYOUT_FIRST_MADE,
    NUM_LAYOUTS = 9
}; /* those from LAYOUT_INT on may be mixed */
static layout layouts[NUM_LAYOUTS];

/* `ints`: offsets of an item's integers, in bytes. */
static inline void layout_set(layout *l, const char *name, MPI_Datatype type, int num_ints, const int *ints,
                              ptrdiff_t extent)
{
    *l = (layout){.name = name, .type = type, .item_bytes = 4 * num_ints, .extent = extent};
    for (int k = 0; k < 4 * num_ints; k++)
        l->at[k] = ints[k / 4] + k % 4;
    if (type != MPI_INT)
        MPI_Type_commit(&l->type);
}

static inline void layouts_make(void)
{
    MPI_Datatype type, inner, ints[2] = {MPI_INT, MPI_INT};
    layouts[LAYOUT_BYTES] = (layout){.name = "bytes", .type = MPI_BYTE, .item_bytes = 1, .extent = 1};
    layout_set(&layouts[LAYOUT_INT], "int", MPI_INT, 1, (int[]){0}, 4);

    MPI_Type_contiguous(3, MPI_INT, &type);
    layout_set(&layouts[2], "contiguous", type, 3, (int[]){0, 4, 8}, 12);
    MPI_Type_vector(3, 1, 2, MPI_INT, &type);
    layout_set(&layouts[3], "vector", type, 3, (int[]){0, 8, 16}, 20);
    MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){4, 16}, ints, &inner);
    MPI_Type_create_resized(inner, 0, 32, &type);
    layout_set(&layouts[4], "struct with gaps", type, 3, (int[]){4, 16, 20}, 32);
    MPI_Type_free(&inner);
    MPI_Type_indexed(3, (int[]){1, 1, 1}, (int[]){2, 0, 1}, MPI_INT, &type);
    layout_set(&layouts[5], "permuting indexed", type, 3, (int[]){8, 0, 4}, 12);
    MPI_Type_indexed(2, (int[]){2, 1}, (int[]){-1, 3}, MPI_INT, &type); /* lower bound below zero */
    layout_set(&layouts[6], "indexed below zero", type, 3, (int[]){-4, 0, 12}, 20);
    MPI_Type_dup(layouts[2].type, &type);
    layout_set(&layouts[7], "dup of contiguous", type, 3, (int[]){0, 4, 8}, 12);
    MPI_Type_contiguous(1, layouts[3].type, &type);
    layout_set(&layouts[8], "contiguous of vector", type, 3, (int[]){0, 8, 16}, 20);
}

static inline void layouts_free(void)
{
    for (int i = LAYOUT_FIRST_MADE; i < NUM_LAYOUTS; i++)
        MPI_Type_free(&layouts[i].type);
}

/* Types that have addresses in them begin at MPI_BOTTOM, a null pointer, and plans run them like others. */
static inline MPI_Datatype blocks_at(char *memory, int bytes)
{
    MPI_Aint address;
    MPI_Datatype there, type;
    MUST(MPI_Get_address(memory, &address));
    MUST(MPI_Type_create_hindexed(1, &bytes, &address, MPI_BYTE, &there));
    MUST(MPI_Type_create_resized(there, 0, bytes, &type));
    MUST(MPI_Type_commit(&type));
    MUST(MPI_Type_free(&there));
    return type;
}

/* ---- One all-gather whose result is known ------------------------------------------------------------- */

enum { GUARD = 64 }; /* bytes around a buffer that must stay as they are; also room for offsets below zero */

typedef struct gather {
    MPI_Comm comm;
    int rank, size;
    const layout *sl, *rl; /* of this rank; other ranks may have others of the same packed bytes */
    int bytes;             /* packed, per rank */
    int send_count, recv_count;
    bool in_place;
    uint32_t seed;
    size_t send_size, recv_size;
    unsigned char *send, *recv, *want_send, *want_recv; /* with guards around */
} gather;

/* Byte k of what `rank` contributes in round `seed`: no two ranks, rounds or places are alike for long. */
static inline unsigned char gather_byte(uint32_t seed, int rank, int k)
{
    uint32_t h = (seed * 2654435761u) ^ ((uint32_t)rank * 40503u + 977u) * 2246822519u;
    return (unsigned char)((h >> 8 * (k & 3)) + (uint32_t)k * 167u + ((uint32_t)k >> 8) * 13u +
                           ((uint32_t)k >> 16) * 7u);
}

static inline void gather_put(unsigned char *image, const layout *l, int first_item, int items, uint32_t seed,
                              int rank)
{
    unsigned char *base = image + GUARD + first_item * l->extent;
    for (int i = 0, k = 0; i < items; i++, base += l->extent)
        for (int b = 0; b < l->item_bytes; b++)
            base[l->at[b]] = gather_byte(seed, rank, k++);
}

static inline void *gather_sendbuf(const gather *g)
{
    return g->in_place ? MPI_IN_PLACE : g->send + GUARD;
}

static inline void *gather_recvbuf(const gather *g)
{
    return g->recv + GUARD;
}

/* New data for round `seed`, guards and gaps fresh, the expected image beside it. */
static inline void gather_fill(gather *g, uint32_t seed)
{
    g->seed = seed;
    memset(g->send, 0xA5, g->send_size);
    memset(g->recv, 0x5A, g->recv_size);
    memset(g->want_recv, 0x5A, g->recv_size);
    gather_put(g->send, g->sl, 0, g->send_count, seed, g->rank);
    memcpy(g->want_send, g->send, g->send_size);
    if (g->in_place)
        gather_put(g->recv, g->rl, g->rank * g->recv_count, g->recv_count, seed, g->rank);
    for (int r = 0; r < g->size; r++)
        gather_put(g->want_recv, g->rl, r * g->recv_count, g->recv_count, seed, r);
}

/* `bytes`: packed, per rank; a multiple of UNIT unless both layouts are `bytes`. */
static inline void gather_make(gather *g, MPI_Comm comm, const layout *sl, const layout *rl, int bytes,
                               bool in_place)
{
    *g = (gather){.comm = comm, .sl = sl, .rl = rl, .bytes = bytes, .in_place = in_place};
    MPI_Comm_rank(comm, &g->rank);
    MPI_Comm_size(comm, &g->size);
    g->send_count = bytes / sl->item_bytes;
    g->recv_count = bytes / rl->item_bytes;
    g->send_size = (size_t)g->send_count * (size_t)sl->extent + 2 * GUARD;
    g->recv_size = (size_t)g->recv_count * (size_t)rl->extent * (size_t)g->size + 2 * GUARD;
    g->send = malloc(g->send_size);
    g->want_send = malloc(g->send_size);
    g->recv = malloc(g->recv_size);
    g->want_recv = malloc(g->recv_size);
    if (!g->send || !g->want_send || !g->recv || !g->want_recv)
        must("memory for the test's buffers", MPI_ERR_NO_MEM);
}

static inline void gather_free(gather *g)
{
    free(g->send);
    free(g->want_send);
    free(g->recv);
    free(g->want_recv);
}

/* The call has returned: the send buffer is as it was, and ours again, so it is spoilt at once. */
static inline void gather_spoil(gather *g)
{
    if (memcmp(g->send, g->want_send, g->send_size) != 0)
        test_fail("the send buffer has changed");
    memset(g->send, 0xEE, g->send_size);
}

static inline void gather_check(gather *g)
{
    if (memcmp(g->recv, g->want_recv, g->recv_size) == 0)
        return;
    size_t i = 0, wrong = 0;
    for (size_t k = g->recv_size; k-- > 0;)
        if (g->recv[k] != g->want_recv[k]) {
            i = k;
            wrong++;
        }
    ptrdiff_t block = (ptrdiff_t)g->recv_count * g->rl->extent;
    test_fail(
        "seed %u, %d bytes per rank, %s to %s%s: receive buffer byte %td (in or near the block of rank %td): "
        "expected %02x, got %02x; %zu of %zu bytes are wrong",
        (unsigned)g->seed, g->bytes, g->sl->name, g->rl->name, g->in_place ? ", in place" : "",
        (ptrdiff_t)i - GUARD, block ? ((ptrdiff_t)i - GUARD) / block : 0, g->want_recv[i], g->recv[i], wrong,
        g->recv_size);
}

static inline void gather_call(gather *g)
{
    MUST(PAT_Allgather(gather_sendbuf(g), g->send_count, g->sl->type, gather_recvbuf(g), g->recv_count,
                       g->rl->type, g->comm));
    gather_spoil(g);
    gather_check(g);
}

/* A gather of the same to `root`. What is of no significance on a rank is nonsense there. */
static inline void gather_call_to(gather *g, int root)
{
    if (g->rank == root) {
        MUST(PAT_Gather(gather_sendbuf(g), g->send_count, g->sl->type, gather_recvbuf(g), g->recv_count,
                        g->rl->type, root, g->comm));
        gather_spoil(g);
        gather_check(g);
        return;
    }
    memset(g->want_recv, 0x5A, g->recv_size);
    MUST(PAT_Gather(gather_sendbuf(g), g->send_count, g->sl->type, gather_recvbuf(g), -7, MPI_DATATYPE_NULL,
                    root, g->comm));
    gather_spoil(g);
    if (memcmp(g->recv, g->want_recv, g->recv_size) != 0)
        test_fail("a gather to %d wrote to rank %d's receive buffer", root, g->rank);
}

/* All of it at once. */
static inline void gather_once(MPI_Comm comm, const layout *sl, const layout *rl, int bytes, bool in_place,
                               uint32_t seed)
{
    gather g;
    gather_make(&g, comm, sl, rl, bytes, in_place);
    gather_fill(&g, seed);
    gather_call(&g);
    gather_free(&g);
}

static inline void gather_bytes(MPI_Comm comm, int bytes, uint32_t seed)
{
    gather_once(comm, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], bytes, false, seed);
}

#endif

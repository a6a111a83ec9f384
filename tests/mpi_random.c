/*
 * mpi_random.c — random programs: all collectives, algorithms, sizes, types, communicators that come and go,
 * sleeps, true and false milestones, persistent rounds, non-blocking calls under way beside all others. What all ranks must do alike comes from one generator with the same
 * seed everywhere, what each does for itself from another one. The seed is printed; PAT_TEST_SEED sets it,
 * PAT_TEST_SECONDS the time. A run of a minute or more also watches the memory: after a quarter of the time it must not
 * grow any more.
 *
 * ranks: 2 3 5 8 13
 */
#include "mpi_common.h"

enum {
    MAX_COMMS = 4,
    MAX_REQUESTS = 3,
    MAX_FLIGHTS = 6,
    SOAK_SECONDS = 60,
    SOAK_LINES = 20,
    ROOM_KIB = 4096
};

static uint64_t common_state, own_state;

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 33) % below;
}

static int common(int below)
{
    return (int)draw(&common_state, (uint32_t)below);
}

static int own(int below)
{
    return (int)draw(&own_state, (uint32_t)below);
}

static uint32_t seed, first_seed;
static MPI_Comm comms[MAX_COMMS]; /* MPI_COMM_NULL: none */
static int last_bytes = 1200;

/* Few different sizes, so that many guesses come true. All the same, now and then any size. */
static int some_bytes(void)
{
    static const int usual[] = {12, 1200, 24000, 120000};
    if (common(3) > 0)
        return last_bytes;
    last_bytes = common(5) > 0 ? usual[common(test.size > 8 ? 3 : 4)] : UNIT * common(1500);
    return last_bytes;
}

static const layout *some_layout(bool plain)
{
    return plain ? &layouts[LAYOUT_INT] : &layouts[LAYOUT_INT + own(NUM_LAYOUTS - LAYOUT_INT)];
}

/* A phase of this rank's own: long or short, honest or not, complete or not. */
static bool quiet; /* for a while no rank gives milestones: then the last calls say when ranks will come */

static void compute(void)
{
    double ms = own(4) == 0 ? own(12) : 0.1 * own(10);
    switch (own(quiet ? 2 : 6)) {
    case 0:
        sleep_ms(ms);
        break;
    case 1:
        break;
    case 2:
        phase(ms, ms / 3, 1 + own(99) * 0.99);
        break;
    case 3:
        MUST(PAT_ProcessingStart());
        sleep_ms(ms);
        MUST(PAT_Edge(own(2) ? 1e-12 : 99.9));
        break;
    default:
        phase(ms, ms / 2, 50);
    }
}

static gather random_gather(MPI_Comm comm)
{
    gather g;
    bool plain = common(3) > 0;
    int bytes = some_bytes();
    gather_make(&g, comm, some_layout(plain), some_layout(plain), bytes, own(4) == 0);
    gather_fill(&g, ++seed);
    return g;
}

static void plain_call(MPI_Comm comm)
{
    gather g = random_gather(comm);
    compute();
    gather_call(&g);
    gather_free(&g);
}

/* Sums of doubles that are whole numbers, and maxima of integers: what they are is known. */
static void reduction(MPI_Comm comm)
{
    const bool sum = common(2), in_place = common(3) == 0;
    const int count = some_bytes() / (sum ? 8 : 4);
    int rank, size, *highest = malloc((size_t)(count + 1) * sizeof(int));
    double *sums = malloc((size_t)(count + 1) * sizeof(double)),
           *mine = malloc((size_t)(count + 1) * sizeof(double));
    if (!highest || !sums || !mine)
        must("memory for the test's buffers", MPI_ERR_NO_MEM);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    seed++;
    for (int i = 0; i <= count; i++) {
        mine[i] = rank + (double)i * (seed % 1000);
        sums[i] = in_place ? mine[i] : -1;
        highest[i] = (rank + i) % size;
    }
    highest[count] = -7;
    sums[count] = -7;
    compute();
    if (sum)
        MUST(PAT_Allreduce(in_place ? MPI_IN_PLACE : mine, sums, count, MPI_DOUBLE, MPI_SUM, comm));
    else
        MUST(PAT_Allreduce(MPI_IN_PLACE, highest, count, MPI_INT, MPI_MAX, comm));
    for (int i = 0; i < count; i++)
        if (sum ? sums[i] != size * (size - 1) / 2 + size * (double)i * (seed % 1000)
                : highest[i] != size - 1) {
            test_fail("element %d of %d, %s: %g, %d", i, count, sum ? "sum" : "maximum", sums[i], highest[i]);
            break;
        }
    expect_int("what lies behind the vector", -7, sum ? (int)sums[count] : highest[count]);
    free(highest);
    free(sums);
    free(mine);
}

/* A call, which now and then is started, and waited for after a while. */
#define CALL(blocking, started, ...)                                                                         \
    do {                                                                                                     \
        if (common(3) > 0) {                                                                                 \
            MUST(PAT_##blocking(__VA_ARGS__));                                                               \
        } else {                                                                                             \
            MPI_Request request;                                                                             \
            MUST(PAT_##started(__VA_ARGS__, &request));                                                      \
            compute();                                                                                       \
            MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));                                                     \
        }                                                                                                    \
    } while (0)

/* Calls of `count` integers for each rank, which tell where they come from: rank r gives key + r + 100 * i. Each returns how many are wrong. */
typedef struct numbers {
    MPI_Comm comm;
    int rank, size, count, root, key;
    bool in_place; /* on this rank */
    int *given, *got;
} numbers;

static int wrong_blocks(const numbers *n, bool personal)
{
    int wrong = 0;
    for (int i = 0; i < n->size * n->count; i++)
        wrong +=
            n->got[i] != n->key + i / n->count + 100 * ((personal ? n->rank * n->count : 0) + i % n->count);
    return wrong;
}

/* Element i is to be the sum of what ranks have given as their element first + i. */
static int wrong_sums(const numbers *n, int first)
{
    int wrong = 0;
    for (int i = 0; i < n->count; i++)
        wrong += n->got[i] != n->size * (n->key + 100 * (first + i)) + n->size * (n->size - 1) / 2;
    return wrong;
}

static int broadcast(numbers *n)
{
    int wrong = 0;
    for (int i = 0; i < n->count && n->rank != n->root; i++)
        n->given[i] = -1;
    CALL(Bcast, Ibcast, n->given, n->count, MPI_INT, n->root, n->comm);
    for (int i = 0; i < n->count; i++)
        wrong += n->given[i] != n->key + n->root + 100 * i;
    return wrong;
}

static int to_the_root(numbers *n)
{
    CALL(Gather, Igather, n->given, n->count, MPI_INT, n->got, n->count, MPI_INT, n->root, n->comm);
    return n->rank == n->root ? wrong_blocks(n, false) : 0;
}

static int all_to_all(numbers *n)
{
    CALL(Alltoall, Ialltoall, n->given, n->count, MPI_INT, n->got, n->count, MPI_INT, n->comm);
    return wrong_blocks(n, true);
}

static int scatter(numbers *n)
{
    const bool stays = n->in_place && n->rank == n->root;
    int wrong = 0;
    CALL(Scatter, Iscatter, n->given, n->count, MPI_INT, stays ? MPI_IN_PLACE : n->got, n->count, MPI_INT,
         n->root, n->comm);
    for (int i = 0; i < n->count && !stays; i++)
        wrong += n->got[i] != n->key + n->root + 100 * (n->rank * n->count + i);
    return wrong;
}

static int reduce(numbers *n)
{
    const bool gets = n->rank == n->root, stays = gets && n->in_place && mpi_reduces_in_place(n->root);
    if (stays)
        memcpy(n->got, n->given, (size_t)n->count * sizeof(int));
    CALL(Reduce, Ireduce, stays ? MPI_IN_PLACE : n->given, gets ? n->got : NULL, n->count, MPI_INT, MPI_SUM,
         n->root, n->comm);
    return gets ? wrong_sums(n, 0) : 0;
}

/* Every third time rank by rank another number, which is left to the MPI library. */
static int reduce_scatter(numbers *n)
{
    int *counts = malloc((size_t)n->size * sizeof(int)), first = n->rank * n->count;
    const int form = common(3);
    if (!counts)
        must("memory for the test's buffers", MPI_ERR_NO_MEM);
    for (int r = 0; r < n->size; r++)
        counts[r] = n->count;
    if (form == 2) {
        counts[0] -= n->count / 2;
        first -= n->rank > 0 ? n->count / 2 : 0;
    }
    if (n->in_place)
        memcpy(n->got, n->given, (size_t)n->size * (size_t)n->count * sizeof(int));
    const void *from = n->in_place ? MPI_IN_PLACE : n->given;
    if (form == 0)
        CALL(Reduce_scatter_block, Ireduce_scatter_block, from, n->got, n->count, MPI_INT, MPI_SUM, n->comm);
    else
        CALL(Reduce_scatter, Ireduce_scatter, from, n->got, counts, MPI_INT, MPI_SUM, n->comm);
    n->count = counts[n->rank];
    free(counts);
    return wrong_sums(n, first);
}

static void others(MPI_Comm comm)
{
    static const struct {
        const char *name;
        enum pat_op op;
        int (*call)(numbers *n);
    } kinds[] = {{"broadcast", PAT_OP_BCAST, broadcast},
                 {"gather", PAT_OP_GATHER, to_the_root},
                 {"all-to-all", PAT_OP_ALLTOALL, all_to_all},
                 {"scatter", PAT_OP_SCATTER, scatter},
                 {"reduce", PAT_OP_REDUCE, reduce},
                 {"reduce-scatter", PAT_OP_REDUCE_SCATTER, reduce_scatter}};
    enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };
    numbers n = {.comm = comm};
    MPI_Comm_rank(comm, &n.rank);
    MPI_Comm_size(comm, &n.size);
    if (common(4) == 0) {
        const alg_list algs = algs_of(kinds[common(KINDS)].op, alg_is_one);
        MUST(PAT_UseAlg(algs.names[common(algs.num)]));
    }
    const int count = some_bytes() / 4, what = common(KINDS);
    n.count = count;
    n.root = common(n.size);
    n.in_place = common(3) == 0;
    n.key = (int)(++seed % 1000000);
    n.given = malloc((size_t)(n.size * count + 1) * sizeof(int));
    n.got = malloc((size_t)(n.size * count + 1) * sizeof(int));
    if (!n.given || !n.got)
        must("memory for the test's buffers", MPI_ERR_NO_MEM);
    for (int i = 0; i < n.size * count; i++)
        n.given[i] = n.key + n.rank + 100 * i;
    compute();
    const int wrong = kinds[what].call(&n);
    if (wrong)
        test_fail("%s of %d integers: %d are wrong", kinds[what].name, count, wrong);
    free(n.given);
    free(n.got);
}

static void persistent_rounds(MPI_Comm comm)
{
    gather g[MAX_REQUESTS];
    PAT_Request r[MAX_REQUESTS];
    int num = 1 + common(MAX_REQUESTS), turns = 1 + common(4), give_up = common(6);
    for (int i = 0; i < num; i++) {
        g[i] = random_gather(comm);
        MUST(PAT_Allgather_init(gather_sendbuf(&g[i]), g[i].send_count, g[i].sl->type, gather_recvbuf(&g[i]),
                                g[i].recv_count, g[i].rl->type, comm, &r[i]));
    }
    for (int turn = 0; turn < turns; turn++) {
        int i = turn % num;
        gather_fill(&g[i], ++seed);
        if (own(4) > 0)
            MUST(PAT_Open(r[i]));
        compute();
        if (turn == give_up) /* another call comes first */
            plain_call(comm);
        else if (turn == give_up - 1)
            reduction(comm);
        MUST(PAT_Start(r[i]));
        if (own(2))
            compute();
        MUST(PAT_Wait(r[i]));
        gather_spoil(&g[i]);
        gather_check(&g[i]);
    }
    if (own(3) == 0)
        MUST(PAT_Open(r[0])); /* opened, then freed */
    if (own(2))
        compute();
    for (int i = 0; i < num; i++) {
        MUST(PAT_Request_free(&r[i]));
        gather_free(&g[i]);
    }
}

/* Non-blocking calls: which are under way is the same on all ranks, and each completes them when it likes. */
static struct {
    gather g;
    MPI_Request request;
    bool started, over; /* over: on this rank */
} flights[MAX_FLIGHTS];

static void land(int i, bool wait)
{
    int flag = 0;
    if (!flights[i].started || flights[i].over)
        return;
    if (!wait)
        MUST(MPI_Test(&flights[i].request, &flag, MPI_STATUS_IGNORE));
    else
        MUST(MPI_Wait(&flights[i].request, MPI_STATUS_IGNORE));
    flights[i].over = wait || flag;
    if (!flights[i].over)
        return;
    gather_spoil(&flights[i].g);
    gather_check(&flights[i].g);
    gather_free(&flights[i].g);
}

static void non_blocking(MPI_Comm comm)
{
    const int i = common(MAX_FLIGHTS);
    land(i, true);
    flights[i].started = !flights[i].started;
    if (!flights[i].started)
        return;
    flights[i].over = false;
    flights[i].g = random_gather(comm);
    gather *g = &flights[i].g;
    compute();
    MUST(PAT_Iallgather(gather_sendbuf(g), g->send_count, g->sl->type, gather_recvbuf(g), g->recv_count,
                        g->rl->type, comm, &flights[i].request));
}

static void change_comms(void)
{
    int slot = common(MAX_COMMS);
    if (comms[slot] != MPI_COMM_NULL) {
        compute();
        MPI_Comm_free(&comms[slot]);
        return;
    }
    switch (common(4)) {
    case 0:
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[slot]);
        break;
    case 1:
        MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, -test.rank, &comms[slot]);
        break;
    case 2:
        MPI_Comm_split(MPI_COMM_WORLD, test.rank < test.size / 2, test.rank, &comms[slot]);
        break;
    default:
        MPI_Comm_split(MPI_COMM_WORLD, 0, (test.rank * 7 + common(100)) % test.size, &comms[slot]);
    }
}

static void step(void)
{
    int slot = common(MAX_COMMS);
    MPI_Comm comm = comms[slot] == MPI_COMM_NULL ? MPI_COMM_WORLD : comms[slot];
    int what = common(36);
    for (int i = 0; i < MAX_FLIGHTS; i++)
        if (own(6) == 0)
            land(i, own(2));
    if (common(40) == 0)
        quiet = !quiet;
    if (what >= 31) {
        non_blocking(comm);
    } else if (what >= 24) {
        others(comm);
    } else if (what >= 20) {
        reduction(comm);
    } else if (what < 11) {
        plain_call(comm);
    } else if (what < 15) {
        persistent_rounds(comm);
    } else if (what < 17) {
        change_comms();
    } else if (what < 19) {
        const enum pat_op op = common(3) == 0 ? PAT_OP_ALLREDUCE : PAT_OP_ALLGATHER;
        const alg_list algs = algs_of(op, common(2) ? alg_is_aware : alg_is_any);
        compute();
        MUST(PAT_UseAlg(algs.names[common(algs.num)]));
    } else if (common(6) == 0) {
        compute();
        MUST(PAT_Finalize());
        MUST(PAT_Init());
        MUST(PAT_UseAlg("bdr"));
        MUST(PAT_UseAlg("allreduce_converge"));
    }
}

/* Resident memory of this process in KiB. */
static long resident_kib(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*s %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Where a long run is, on rank 0. *settled: this rank's memory at the first look after a quarter of the time. */
static void soak_line(double share, int steps, double seconds, long *settled)
{
    long own_kib = resident_kib(), most;
    int failures;
    MPI_Allreduce(&own_kib, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&test.failures, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (*settled == 0 && share >= 0.25)
        *settled = own_kib;
    if (test.rank == 0)
        printf("%5.0f s, %d steps, %d failures, at most %ld KiB in a process\n", seconds, steps, failures,
               most);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *text = getenv("PAT_TEST_SEED"), *seconds = getenv("PAT_TEST_SECONDS");
    int go_on = 1, steps = 0;
    long settled = 0;
    setenv("PAT_LINK", "20,2000", 0);
    test_begin_on_nodes(&argc, &argv);
    double limit = seconds && atof(seconds) > 0 ? atof(seconds) : 4, start = MPI_Wtime(),
           next_line = limit / SOAK_LINES;
    test_limit(60 + (int)limit);
    layouts_make();
    first_seed =
        text ? (uint32_t)strtoul(text, NULL, 0) : (uint32_t)time(NULL) * 2654435761u + (uint32_t)getpid();
    MPI_Bcast(&first_seed, 1, MPI_UINT32_T, 0, MPI_COMM_WORLD);
    if (test.rank == 0)
        printf("PAT_TEST_SEED=%u\n", (unsigned)first_seed);
    fflush(stdout);
    common_state = first_seed;
    own_state = first_seed + UINT64_C(1000003) * (uint64_t)(test.rank + 1);
    for (int i = 0; i < MAX_COMMS; i++)
        comms[i] = MPI_COMM_NULL;
    MUST(PAT_UseAlg("bdr"));
    MUST(PAT_UseAlg("allreduce_converge"));
    for (; go_on; steps++) {
        test_at("seed %u, step %d", (unsigned)first_seed, steps);
        step();
        if (steps % 16 == 15) {
            double spent = MPI_Wtime() - start;
            MPI_Bcast(&spent, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
            go_on = spent < limit;
            if (limit >= SOAK_SECONDS && spent >= next_line) {
                soak_line(spent / limit, steps + 1, spent, &settled);
                next_line = spent + limit / SOAK_LINES;
            }
        }
    }
    for (int i = 0; i < MAX_FLIGHTS; i++)
        land(i, own(2)); /* or the library's end completes it */
    if (limit >= SOAK_SECONDS && resident_kib() > settled + settled / 10 + ROOM_KIB)
        test_fail("memory grew from %ld to %ld KiB", settled, resident_kib());
    for (int i = 0; i < MAX_COMMS; i++)
        if (comms[i] != MPI_COMM_NULL && i % 2 == 0)
            MPI_Comm_free(&comms[i]);
    test_at("seed %u, PAT_Finalize", (unsigned)first_seed);
    MUST(PAT_Finalize());
    for (int i = 0; i < MAX_FLIGHTS; i++)
        land(i, true);
    for (int i = 0; i < MAX_COMMS; i++)
        if (comms[i] != MPI_COMM_NULL)
            MPI_Comm_free(&comms[i]);
    layouts_free();
    if (test.rank == 0)
        printf("%d steps\n", steps);
    MPI_Finalize();
    return test.failures ? 1 : 0;
}

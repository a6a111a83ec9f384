/*
 * mpi_rooted.c — PAT_Bcast and PAT_Gather, byte for byte: every algorithm, root, datatype, MPI_IN_PLACE and sizes around
 * the segments'; beside all-gathers that are prepared or under way; on several communicators; a root that runs ahead.
 *
 * ranks: 1 2 3 4 5 7 8 16
 */
#include "mpi_common.h"

static uint32_t seed = 1;

static void bcast_once(MPI_Comm comm, const layout *l, int bytes, int root)
{
    int rank, count = bytes / l->item_bytes;
    size_t size = (size_t)count * (size_t)l->extent + 2 * GUARD;
    unsigned char *image = malloc(size), *want = malloc(size);
    if (!image || !want)
        must("memory for the test's buffers", MPI_ERR_NO_MEM);
    MPI_Comm_rank(comm, &rank);
    memset(image, 0x5A, size);
    memset(want, 0x5A, size);
    gather_put(want, l, 0, count, ++seed, root);
    if (rank == root)
        memcpy(image, want, size);
    MUST(PAT_Bcast(image + GUARD, count, l->type, root, comm));
    for (size_t i = 0; i < size; i++)
        if (image[i] != want[i]) {
            test_fail("broadcast of %d bytes of %s from %d: byte %td is %02x, not %02x", bytes, l->name, root,
                      (ptrdiff_t)i - GUARD, image[i], want[i]);
            break;
        }
    free(image);
    free(want);
}

static void gather_to(MPI_Comm comm, const layout *sl, const layout *rl, int bytes, bool in_place, int root)
{
    gather g;
    int rank;
    MPI_Comm_rank(comm, &rank);
    gather_make(&g, comm, sl, rl, bytes, in_place && rank == root);
    gather_fill(&g, ++seed);
    gather_call_to(&g, root);
    gather_free(&g);
}

static const layout *plain(void)
{
    return &layouts[LAYOUT_BYTES];
}

static const layout *mixed(int i)
{
    return &layouts[LAYOUT_INT + (i + test.rank) % (NUM_LAYOUTS - LAYOUT_INT)];
}

static void all_roots(void)
{
    static const int sizes[] = {1, 8191, 8193, 70001, 0, 3};
    for (int root = 0; root < test.size; root++)
        for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            bcast_once(MPI_COMM_WORLD, plain(), sizes[s], root);
            gather_to(MPI_COMM_WORLD, plain(), plain(), sizes[s], s % 2, root);
        }
    bcast_once(MPI_COMM_WORLD, plain(), 1000003, test.size / 2);
}

static void all_types(void)
{
    for (int i = 0; i < NUM_LAYOUTS; i++) {
        bcast_once(MPI_COMM_WORLD, mixed(i), UNIT * (i % 2 ? 1 : 2000), i % test.size);
        gather_to(MPI_COMM_WORLD, mixed(i), mixed(2 * i + 1), UNIT * (i % 2 ? 3000 : 1), i % 3 == 0,
                  i % test.size);
    }
}

/* All-gathers come between, their early data too, and a request that is under way all the time. waits: the gather waits for all. */
static void beside_allgathers(bool waits)
{
    gather early;
    PAT_Request request;
    gather_make(&early, MPI_COMM_WORLD, plain(), plain(), 20000, false);
    MUST(PAT_Allgather_init(gather_sendbuf(&early), early.send_count, MPI_BYTE, gather_recvbuf(&early),
                            early.recv_count, MPI_BYTE, MPI_COMM_WORLD, &request));
    for (int round = 0; round < 6; round++) {
        gather_bytes(MPI_COMM_WORLD, 20000, ++seed);
        if (round % 2)
            sleep_ms(test.rank);
        bcast_once(MPI_COMM_WORLD, plain(), 30000, round % test.size);
        gather_fill(&early, ++seed);
        MUST(PAT_Open(request));
        gather_to(MPI_COMM_WORLD, plain(), plain(), 5000, false, round % test.size);
        MUST(PAT_Start(request));
        bcast_once(MPI_COMM_WORLD, plain(), 100, round % test.size);
        if (!waits) /* else it is an error, see mpi_early_gather */
            gather_to(MPI_COMM_WORLD, plain(), plain(), 40000, true, round % test.size);
        MUST(PAT_Wait(request));
        gather_spoil(&early);
        gather_check(&early);
    }
    MUST(PAT_Request_free(&request));
    gather_free(&early);
}

static void on_communicators(void)
{
    MPI_Comm backwards, halves;
    int rank, size;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &backwards);
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &halves);
    MPI_Comm_rank(halves, &rank);
    MPI_Comm_size(halves, &size);
    for (int round = 0; round < 5; round++) {
        uint32_t common = seed;
        bcast_once(backwards, plain(), 9000, round % test.size);
        gather_to(backwards, plain(), plain(), 9000, false, round % test.size);
        bcast_once(halves, plain(), 9000, round % size);
        gather_to(halves, plain(), plain(), 9000, true, round % size);
        seed = common + 10;
    }
    MPI_Comm_free(&backwards);
    MPI_Comm_free(&halves);
}

/* A broadcast's root need not wait for anybody at once: the others come when it has told them, after many. */
static void runs_ahead(void)
{
    enum { AHEAD = 32 }; /* how many are too many: mpi_credits.c */
    int token = 0;
    bcast_once(MPI_COMM_WORLD, plain(), 8, 0); /* the communicator's first call may wait */
    if (test.rank > 0)
        MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < AHEAD; i++)
        bcast_once(MPI_COMM_WORLD, plain(), 100 + i, 0);
    for (int r = 1; test.rank == 0 && r < test.size; r++)
        MPI_Send(&token, 1, MPI_INT, r, 5, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* That the named algorithm has run, by a plan of its own where it is not MPI's. */
static void used(const char *name, const PAT_Counters *before)
{
    PAT_Counters after = counters();
    const bool by_plan = test.size > 1 && !strstr(name, "native");
    for (int i = 0; i < after.num_algs; i++) {
        const bool same_op = strncmp(after.alg_name[i], name, 5) == 0;
        const bool more = after.alg_calls[i] > before->alg_calls[i];
        const bool this_one = strcmp(after.alg_name[i], name) == 0;
        if (same_op && !strstr(after.alg_name[i], "native") && more != (this_one && by_plan))
            test_fail("calls of %s: %lld before, %lld after", after.alg_name[i],
                      (long long)before->alg_calls[i], (long long)after.alg_calls[i]);
    }
}

static void wrong_arguments(void)
{
    int x = 0;
    test_at("wrong arguments");
    use_alg("bcast_chain");
    use_alg("gather_linear");
    test_at("wrong arguments");
    if (PAT_Bcast(&x, -1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS)
        test_fail("a negative count is accepted");
    if (PAT_Bcast(&x, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) == MPI_SUCCESS)
        test_fail("no datatype is accepted");
#ifndef OPEN_MPI /* its own broadcast crashes on this one */
    if (PAT_Bcast(NULL, 1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS)
        test_fail("no buffer is accepted");
#endif
    if (PAT_Bcast(&x, 1, MPI_INT, test.size, MPI_COMM_WORLD) == MPI_SUCCESS)
        test_fail("a root that is not there is accepted");
    if (PAT_Gather(&x, 1, MPI_INT, &x, 1, MPI_INT, -3, MPI_COMM_WORLD) == MPI_SUCCESS)
        test_fail("a negative root is accepted");
    bcast_once(MPI_COMM_WORLD, plain(), 100, 0); /* nothing is the worse for it */
    gather_to(MPI_COMM_WORLD, plain(), plain(), 100, false, 0);
    expect_error("unknown algorithm", MPI_ERR_ARG, PAT_UseAlg("bcast_"), "bcast_split");
}

int main(int argc, char **argv)
{
    const alg_list bcasts = algs_of(PAT_OP_BCAST, alg_is_one), gathers = algs_of(PAT_OP_GATHER, alg_is_one);
    test_begin(&argc, &argv);
    layouts_make();
    for (int i = 0; i < bcasts.num || i < gathers.num; i++) {
        const char *const down = bcasts.names[i % bcasts.num], *const up = gathers.names[i % gathers.num];
        PAT_Counters before = counters();
        use_alg(down);
        use_alg(up);
        use_alg(i % 2 ? "relay" : "bdr");
        test_at("%s and %s", down, up);
        all_roots();
        all_types();
        runs_ahead();
        beside_allgathers(pat_algorithm_find(up)->uses_arrivals);
        on_communicators();
        used(down, &before);
        used(up, &before);
    }
    wrong_arguments();
    layouts_free();
    return test_end();
}

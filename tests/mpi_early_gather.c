/*
 * mpi_early_gather.c — a gather by estimates: while its root still computes it takes in the blocks of ranks that have called, for every
 * root and type; and guesses that do not come true: another root, another size, another collective, milestones that lie or are left out.
 * Results never depend on any of it.
 *
 * ranks: 3
 */
#include "mpi_common.h"

static uint32_t seed;

static const layout *plain(void)
{
    return &layouts[LAYOUT_BYTES];
}

/* A phase of so many milliseconds with its milestone, then the gather; buffers are filled before. */
static void after_phase(const layout *sl, const layout *rl, bool in_place, int root, double ms)
{
    gather g;
    gather_make(&g, MPI_COMM_WORLD, sl, rl, 12000, in_place && test.rank == root);
    gather_fill(&g, ++seed);
    phase(ms, 3, 300 / ms);
    gather_call_to(&g, root);
    gather_free(&g);
}

/* The first call to a root says that it is the next one's too. On a busy machine not all of them need to gain by it. */
static void late_root(int root)
{
    const int64_t before = counters().bytes_early;
    for (int i = 0; i < 4; i++) {
        const layout *l = i == 2 ? &layouts[LAYOUT_INT + root % (NUM_LAYOUTS - LAYOUT_INT)] : plain();
        test_at("root %d is late, call %d", root, i);
        after_phase(l, l, i == 3, root, test.rank == root ? 30 : 6);
    }
    const int64_t early = counters().bytes_early - before, most = 3 * 12000 * (test.size - 1);
    if (test.rank == root ? early <= 0 || early > most : early != 0)
        test_fail("bytes received early: %lld; at the root some, at most %lld, and elsewhere none",
                  (long long)early, (long long)most);
}

static void gather_to(int bytes, int root)
{
    gather g;
    gather_make(&g, MPI_COMM_WORLD, plain(), plain(), bytes, false);
    gather_fill(&g, ++seed);
    gather_call_to(&g, root);
    gather_free(&g);
}

/* All ranks have said Edge, none has called. */
static void edge_and_rest(void)
{
    MUST(PAT_ProcessingStart());
    sleep_ms(2);
    MUST(PAT_Edge(20));
    sleep_ms(8);
}

static void wrong_guesses(void)
{
    const int64_t before = counters().plans_void;
    for (int i = 0; i < 6; i++) {
        test_at("another call than was guessed, %d", i);
        gather_to(3000, 0);
        gather_to(3000, 0);
        edge_and_rest();
        if (i % 3 == 2)
            gather_bytes(MPI_COMM_WORLD, 3000, ++seed); /* by estimates too */
        else
            gather_to(i % 3 ? 50000 : 3000, i % 3 ? 0 : 1 + i % 2);
        gather_to(700, i % test.size);
    }
    int64_t voided = counters().plans_void - before, least, most;
    MPI_Allreduce(&voided, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&voided, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (least == 0 || least != most)
        test_fail("plans voided: %lld on some rank, %lld on another", (long long)least, (long long)most);
}

static void no_call(void)
{
    for (int i = 0; i < 2; i++) {
        test_at("an Edge that no gather follows, %d", i);
        gather_to(3000, 1);
        edge_and_rest();
        MUST(PAT_UseAlg(i ? "gather_linear" : "gather_auto"));
        gather_to(3000, 1);
        MUST(PAT_UseAlg("gather_bsls"));
        gather_to(3000, 1);
        edge_and_rest();
        MUST(PAT_Finalize());
        MUST(PAT_Init());
        MUST(PAT_UseAlg("bdr"));
        MUST(PAT_UseAlg("gather_bsls"));
    }
}

static void manners(void)
{
    for (int m = 0; m < NUM_MANNERS; m++)
        for (int turn = 0; turn < 4; turn++) {
            test_at("%s, %d", manner_names[m], turn);
            phase_in(m, 1 + (test.rank * 5 + turn * 3) % test.size, turn);
            gather_to(turn == 2 ? 9000 : 4000, turn % 2);
        }
}

/* Ranks need not come to PAT_Wait in the same order, so a gather that waits for all must not depend on it. */
static void beside_a_request(void)
{
    char own[64] = {0}, all[64 * 16], gathered[64 * 16];
    PAT_Request request;
    test_at("beside a started request");
    MUST(PAT_Allgather_init(own, 64, MPI_BYTE, all, 64, MPI_BYTE, MPI_COMM_WORLD, &request));
    MUST(PAT_Start(request));
    expect_error("PAT_Gather", MPI_ERR_REQUEST,
                 PAT_Gather(own, 64, MPI_BYTE, gathered, 64, MPI_BYTE, 0, MPI_COMM_WORLD), "PAT_Wait");
    MUST(PAT_Wait(request));
    MUST(PAT_Request_free(&request));
    gather_to(12000, 1);
}

int main(int argc, char **argv)
{
    setenv("PAT_LINK", "20,2000", 1); /* the same plans on every machine */
    test_begin(&argc, &argv);
    layouts_make();
    MUST(PAT_UseAlg("bdr"));
    MUST(PAT_UseAlg("gather_bsls"));
    for (int root = 0; root < test.size; root++)
        late_root(root);
    wrong_guesses();
    no_call();
    manners();
    beside_a_request();
    layouts_free();
    return test_end();
}

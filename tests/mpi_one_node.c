/*
 * mpi_one_node.c — ranks that share a node, where no socket tells of a message: whoever is late has the others' data when it calls, in most of
 * its calls, whether MPI sends a block at once or asks first, and however long all have computed before, in this phase or in the last ones.
 *
 * ranks: 2 3
 */
#include "mpi_common.h"

enum { CALLS = 6, TRIES = 4 };

/* In the best of some tries, each counted by itself, so many calls must have received something early: a busy machine may keep the thread waiting. */
enum { MOST_CALLS = CALLS / 2, NEARLY_ALL = CALLS - 1 };

/* Ranks compute for so long, rank 0 and the others, and call. Returns 1 if rank 0 receives something early, there. */
static int call_after(double ms_of_0, double ms, int bytes, uint32_t seed)
{
    sleep_ms(test.rank == 0 ? ms_of_0 : ms);
    const int64_t before = counters().bytes_early;
    gather_once(MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], bytes, false, seed);
    return counters().bytes_early > before;
}

/*
 * Rank 0 is late in every call, after long phases: by 35 ms, or, where MPI may move a block only in several steps of which each waits for
 * a look, by 60. The thread looks every 10 ms by then.
 */
static int after_long_phases(int bytes, uint32_t seed)
{
    const double late_ms = bytes > 100000 ? 60 : 35;
    int early = 0;
    for (int call = 0; call < CALLS; call++)
        early += call_after(110 + late_ms, 110, bytes, seed + (uint32_t)call);
    return early;
}

/*
 * Rank 0 is late by 20 ms after it has computed for 600 ms in two calls to which all the others came later. The interval between the
 * thread's looks has grown to 10 ms meanwhile, in both of the rounds that take turns, and must be short again in the next ones: over UCX
 * a block that MPI asks for first needs several looks. (Over ob1 two looks are enough, and then there is nothing to see here.)
 */
static int after_a_pause(int bytes, uint32_t seed)
{
    int early = 0;
    for (int call = 0; call < CALLS; call += 2) {
        for (int i = 0; i < 2; i++)
            call_after(300, 310, bytes, seed + (uint32_t)(2 * call + i));
        for (int i = 0; i < 2; i++)
            early += call_after(20, 0, bytes, seed + (uint32_t)(2 * call + 2 + i));
    }
    return early;
}

static void expect_early(const char *what, int enough, int (*calls)(int bytes, uint32_t seed), int bytes)
{
    int best = 0;
    test_at("%s, blocks of %d bytes", what, bytes);
    for (int run = 0; run < TRIES && best < enough; run++) {
        int early = calls(bytes, (uint32_t)(bytes + run * 4 * CALLS));
        MPI_Bcast(&early, 1, MPI_INT, 0, MPI_COMM_WORLD);
        best = early > best ? early : best;
    }
    if (best < enough)
        test_fail("rank 0 receives something early in %d of %d calls", best, CALLS);
}

int main(int argc, char **argv)
{
    static const int bytes[] = {3000, 64000, 350000};
    setenv("PAT_RANKS_PER_NODE", "1", 0); /* else relay moves nothing before the call */
    test_begin(&argc, &argv);
    layouts_make();
    use_alg("relay");
    for (int i = 0; i < 3; i++)
        expect_early("long phases", MOST_CALLS, after_long_phases, bytes[i]);
    expect_early("a short phase after long ones", NEARLY_ALL, after_a_pause, 64000);
    layouts_free();
    return test_end();
}

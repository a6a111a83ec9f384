/*
 * mpi_sequence.c — programs that make calls of several lengths in turn, on one communicator: after the pattern has come twice no round is
 * prepared for the wrong call, and the rank that is late has the others' data when it calls, by relay, and by converge without milestones. Where
 * lengths follow no pattern, and where more of them come than are kept, results are right all the same.
 *
 * ranks: 2 3 5
 */
#include "mpi_common.h"

enum { SHORT = 3000, LONG = 8000, DIFFER = -1, SHORT_SUM = 4096, LONG_SUM = 32768, MOST = LONG_SUM };

static double own[MOST], *all;
static int *counts, *starts;

/* Blocks of so many doubles, or of lengths that differ; ends as soon as one element is wrong. */
static void gather_blocks(int count, int turn)
{
    const int mine = count == DIFFER ? LONG - 100 * test.rank : count;
    for (int i = 0; i < mine; i++)
        own[i] = 1e6 * test.rank + i + turn;
    memset(all, 0xff, sizeof(*all) * (size_t)test.size * MOST);
    for (int r = 0; r < test.size; r++) {
        counts[r] = count == DIFFER ? LONG - 100 * r : count;
        starts[r] = r ? starts[r - 1] + counts[r - 1] : 0;
    }
    if (count == DIFFER)
        MUST(PAT_Allgatherv(own, mine, MPI_DOUBLE, all, counts, starts, MPI_DOUBLE, MPI_COMM_WORLD));
    else
        MUST(PAT_Allgather(own, mine, MPI_DOUBLE, all, mine, MPI_DOUBLE, MPI_COMM_WORLD));
    for (int r = 0; r < test.size; r++)
        for (int i = 0; i < counts[r]; i++)
            if (all[starts[r] + i] != 1e6 * r + i + turn) {
                test_fail("turn %d: element %d of rank %d is %g", turn, i, r, all[starts[r] + i]);
                return;
            }
}

static void sum(int count, int turn)
{
    for (int i = 0; i < count; i++)
        own[i] = test.rank + i + turn;
    MUST(PAT_Allreduce(own, all, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++)
        if (all[i] != test.size * (double)(i + turn) + test.size * (test.size - 1) / 2.0) {
            test_fail("turn %d: element %d of the sum is %g", turn, i, all[i]);
            return;
        }
}

typedef void call(int count, int turn);

/* The pattern so many times, rank 0 late in every call. Returns in how many of the calls rank 0 receives something early. */
static int early_calls(call *make, const int *pattern, int length, int times)
{
    int early = 0;
    for (int turn = 0; turn < times * length; turn++) {
        sleep_ms(test.rank == 0 ? 25 : 2);
        const int64_t before = counters().bytes_early;
        make(pattern[turn % length], turn);
        early += counters().bytes_early > before;
    }
    MPI_Bcast(&early, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return early;
}

/* No guess is wrong from the third time on; and where the machine is busy the thread may be late for a few calls. */
static void expect_pattern(const char *what, call *make, const int *pattern, int length)
{
    enum { TIMES = 6 };
    int early = 0;
    test_at("%s", what);
    early_calls(make, pattern, length, 2);
    const int64_t before = counters().plans_void;
    for (int run = 0; run < 3 && early < TIMES * length / 3; run++)
        early = early_calls(make, pattern, length, TIMES);
    expect_int("rounds that were prepared for another call", 0, counters().plans_void - before);
    if (early < TIMES * length / 3)
        test_fail("rank 0 receives early data in %d of %d calls", early, TIMES * length);
}

int main(int argc, char **argv)
{
    static const int two[] = {SHORT, LONG}, three[] = {LONG, LONG, SHORT}, differ[] = {SHORT, DIFFER, LONG},
                     two_sums[] = {SHORT_SUM, LONG_SUM};
    setenv("PAT_RANKS_PER_NODE", "1", 0); /* else relay moves nothing before the call */
    test_begin(&argc, &argv);
    all = malloc(sizeof(*all) * (size_t)test.size * MOST);
    counts = malloc(sizeof(*counts) * (size_t)test.size);
    starts = malloc(sizeof(*starts) * (size_t)test.size);
    if (!all || !counts || !starts)
        MPI_Abort(MPI_COMM_WORLD, 1);
    use_alg("relay");
    expect_pattern("two lengths", gather_blocks, two, 2);
    expect_pattern("three calls of two lengths", gather_blocks, three, 3);
    expect_pattern("blocks that differ between others", gather_blocks, differ, 3);
    test_at("no pattern, and more lengths than are kept");
    for (int turn = 0; turn < 60; turn++)
        gather_blocks(SHORT + 10 * (turn * turn % 13), turn);
    use_alg("allreduce_converge");
    test_at("sums");
    for (int turn = 0; turn < 12; turn++) /* until the last calls say when ranks come */
        sum(two_sums[turn % 2], turn);
    expect_pattern("sums of two lengths", sum, two_sums, 2);
    free(all);
    free(counts);
    free(starts);
    return test_end();
}

/*
 * mpi_last_calls.c — all-reduces by converge in a program without milestones: after a few calls the rank that is always late has the others'
 * data when it calls, also when another rank becomes the late one; and where milestones announce some calls, these go by them. The sums have the same bits
 * all the time, and nothing comes to a halt where the algorithm, the length or the communicator changes meanwhile.
 *
 * ranks: 2 3 5
 */
#include "mpi_common.h"

enum { COUNT = 6000, MOST = 2 * COUNT, CALLS = 8 };

static double own[MOST], first[MOST], sums[MOST];

/* One call; the bits are compared with those of the first call of its length. */
static void sum_once(MPI_Comm comm, int count, bool is_first)
{
    for (int i = 0; i < count; i++)
        own[i] = 1.0 / (3 + i + 17 * test.rank * test.rank);
    MUST(PAT_Allreduce(own, is_first ? first : sums, count, MPI_DOUBLE, MPI_SUM, comm));
    if (!is_first && memcmp(first, sums, sizeof(sums[0]) * (size_t)count) != 0)
        test_fail("other bits than in the first call");
}

/* `late` comes 30 ms after the others, in so many calls. Returns the bytes that this rank received early in the last of them. */
static int64_t late_calls(int late, int calls, bool edges)
{
    int64_t before = 0;
    for (int i = 0; i < calls; i++) {
        const double ms = test.rank == late ? 40 : 10;
        if (edges)
            phase(ms, 5, 500 / ms);
        else
            sleep_ms(ms);
        before = counters().bytes_early;
        sum_once(MPI_COMM_WORLD, COUNT, false);
    }
    return counters().bytes_early - before;
}

/* Where the machine is busy the thread may be late once: one of three runs has to show it. */
static void expect_early(const char *what, int late, bool edges)
{
    int64_t early = 0;
    test_at("%s", what);
    for (int run = 0; run < 3 && early == 0; run++) {
        early = late_calls(late, CALLS, edges);
        MPI_Bcast(&early, 1, MPI_INT64_T, late, MPI_COMM_WORLD);
    }
    if (early == 0)
        test_fail("rank %d, which is always late, receives nothing early", late);
}

/* Every time another rank is late, and all say so; before the next such call comes one that nobody has announced. */
static int early_where_announced(void)
{
    int64_t early = 0;
    int turns = 0;
    for (int turn = 0; turn < 2 * test.size; turn++) {
        const int late = turn % test.size;
        const double ms = test.rank == late ? 40 : 10;
        phase(ms, 5, 500 / ms);
        const int64_t before = counters().bytes_early;
        sum_once(MPI_COMM_WORLD, COUNT, false);
        early = counters().bytes_early - before;
        MPI_Bcast(&early, 1, MPI_INT64_T, late, MPI_COMM_WORLD);
        turns += early > 0;
        sum_once(MPI_COMM_WORLD, COUNT, false);
    }
    return turns;
}

static void expect_early_where_announced(void)
{
    int turns = 0;
    test_at("milestones for some calls, none for others");
    for (int run = 0; run < 3 && turns < 2 * test.size - 1; run++)
        turns = early_where_announced();
    if (turns < 2 * test.size - 1)
        test_fail("only in %d of %d announced calls the late rank receives data early", turns, 2 * test.size);
}

static void changes(void)
{
    MPI_Comm comms[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &comms[1]);
    for (int turn = 0; turn < 40; turn++) {
        MPI_Comm comm = comms[turn / 3 % 2];
        test_at("changes, call %d", turn);
        sleep_ms(test.rank == turn / 7 % test.size ? 6 : 1);
        if (turn % 11 == 5) /* right after a call of which ranks still tell each other */
            use_alg("allreduce_ring");
        if (turn % 11 == 6)
            use_alg("allreduce_converge");
        if (turn % 5 == 4 && (turn % 2 || test.rank % 2)) /* not on all ranks in every second one */
            phase(2, 1, 50);
        for (int i = 0; i < MOST; i++)
            own[i] = test.rank + i;
        const int count = turn % 4 == 3 ? MOST : turn % 9 == 8 ? 1 : COUNT;
        MUST(PAT_Allreduce(own, sums, count, MPI_DOUBLE, MPI_SUM, comm));
        for (int i = 0; i < count; i++)
            if (sums[i] != test.size * (double)i + test.size * (test.size - 1) / 2.0) {
                test_fail("element %d of %d is %g", i, count, sums[i]);
                break;
            }
    }
    MPI_Comm_free(&comms[0]);
    MPI_Comm_free(&comms[1]);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    use_alg("allreduce_converge");
    test_at("the first call");
    sum_once(MPI_COMM_WORLD, COUNT, true);
    expect_early("no milestones", 1, false);
    expect_early("no milestones, another rank is late", 0, false);
    expect_early("milestones", 1, true);
    expect_early_where_announced();
    expect_early("no milestones again", 1, false);
    changes();
    test_at("the end, while ranks tell each other when they called");
    sum_once(MPI_COMM_WORLD, COUNT, false);
    return test_end();
}

/*
 * mpi_mixed.c — all-gathers that `auto` may measure, and all-reduces that go by estimates, on one communicator, with a milestone
 * on some ranks before the all-gather and on others after it: so their background threads speak of the next arrival in between. Whatever
 * ranks tell each other must reach those it is meant for.
 *
 * ranks: 2 3 5
 */
#include "mpi_common.h"

enum { BYTES = 25000, COUNT = 3000, CALLS = 60, MOST_RANKS = 5 };

/* Sums of whole numbers are exact. */
static void all_reduce(int call)
{
    static double own[COUNT], got[COUNT];
    const double ranks = (double)test.size, all = ranks * (ranks + 1) / 2;
    for (int i = 0; i < COUNT; i++)
        own[i] = (test.rank + 1) * (double)(i % 19) + call;
    MUST(PAT_Allreduce(own, got, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < COUNT; i++)
        if (got[i] != all * (i % 19) + ranks * call) {
            test_fail("element %d of the sum is %g, not %g", i, got[i], all * (i % 19) + ranks * call);
            return;
        }
}

/* All-gathers that call for early data, and another collective by plan after each: the last rank's data comes in all the same. */
static void early_data_goes_on(void)
{
    static char own[BYTES], got[MOST_RANKS * BYTES];
    static double sum[COUNT];
    const bool last = test.rank == test.size - 1;
    MUST(PAT_UseAlg("relay"));
    MUST(PAT_UseAlg("allreduce_ring"));
    PAT_Counters before = counters();
    for (int call = 0; call < 10; call++) {
        test_at("early data, call %d", call);
        if (last)
            sleep_ms(30);
        MUST(PAT_Allgather(own, BYTES, MPI_BYTE, got, BYTES, MPI_BYTE, MPI_COMM_WORLD));
        MUST(PAT_Allreduce(MPI_IN_PLACE, sum, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)); /* at once */
    }
    PAT_Counters after = counters();
    /* Nine rounds could be prepared; a machine that is busy with others may spoil some. */
    if (last && after.bytes_early - before.bytes_early < 4 * BYTES)
        test_fail("%lld early bytes in ten calls", (long long)(after.bytes_early - before.bytes_early));
}

int main(int argc, char **argv)
{
    setenv("PAT_LINK", "10,200", 1); /* as if there were something to choose */
    setenv("PAT_ALG_ALLREDUCE", "allreduce_converge", 1);
    setenv("PAT_RANKS_PER_NODE", "1", 0); /* else relay moves nothing before the call */
    test_begin(&argc, &argv);
    layouts_make();
    for (int call = 0; call < CALLS; call++) {
        test_at("call %d", call);
        const bool before = (call + test.rank) % 2;
        MUST(PAT_ProcessingStart());
        sleep_ms(1);
        if (before) {
            MUST(PAT_Edge(40));
            sleep_ms(3); /* the thread has the time to act on it */
        }
        gather_bytes(MPI_COMM_WORLD, BYTES, (uint32_t)call + 1);
        if (!before)
            MUST(PAT_Edge(40));
        MUST(PAT_ProcessingEnd());
        all_reduce(call);
    }
    early_data_goes_on();
    layouts_free();
    return test_end();
}

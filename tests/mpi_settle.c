/*
 * mpi_settle.c — a rank that waits in PAT_UseAlg or PAT_Finalize for one that comes late leaves the processor to others: its own thread
 * takes less than half of the time that it waits.
 *
 * ranks: 2 3
 */
#include <time.h>

#include "mpi_common.h"

enum { COUNT = 1000, CALLS = 4, LATE_MS = 400 };

static int blocks[COUNT * 3];

/* With milestones: what ranks have said of their next call is to be settled. */
static void some_calls(void)
{
    for (int i = 0; i < CALLS; i++) {
        phase(4, 2, 50);
        blocks[test.rank * COUNT] = test.rank;
        MUST(PAT_Allgather(MPI_IN_PLACE, 0, MPI_INT, blocks, COUNT, MPI_INT, MPI_COMM_WORLD));
    }
    phase(4, 2, 50);
}

static double time_ms(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int switch_algorithm(void)
{
    return PAT_UseAlg("bslb");
}

/* The last rank comes late. */
static void expect_rest(const char *what, int (*wait)(void))
{
    test_at("%s", what);
    if (test.rank == test.size - 1)
        sleep_ms(LATE_MS);
    const double start_ms = time_ms(CLOCK_MONOTONIC), cpu_start_ms = time_ms(CLOCK_THREAD_CPUTIME_ID);
    MUST(wait());
    const double waited_ms = time_ms(CLOCK_MONOTONIC) - start_ms,
                 cpu_ms = time_ms(CLOCK_THREAD_CPUTIME_ID) - cpu_start_ms;
    if (test_slow() == 1 && test.rank != test.size - 1 && waited_ms > LATE_MS / 2 && cpu_ms > waited_ms / 2)
        test_fail("%.0f ms of processor time in a wait of %.0f ms", cpu_ms, waited_ms);
}

int main(int argc, char **argv)
{
    test_begin(&argc, &argv);
    use_alg("bdr");
    some_calls();
    expect_rest("PAT_UseAlg", switch_algorithm);
    some_calls();
    expect_rest("PAT_Finalize", PAT_Finalize);
    test_at("MPI_Finalize");
    MPI_Finalize();
    return test.failures ? 1 : 0;
}

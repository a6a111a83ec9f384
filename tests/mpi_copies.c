/*
 * mpi_copies.c — auto where all ranks are on one node and copy from each other's memory: it tries relay in long all-gathers, alike on all ranks,
 * and leaves short ones to the MPI library, and all of them where PAT_SINGLE_COPY=0. Results are right whoever runs them.
 *
 * ranks: 2 3 5
 */
#include "mpi_common.h"
#include "reach.h"

enum { CALLS = 24 };

static int64_t by_relay(void)
{
    const PAT_Counters c = counters();
    for (int i = 0; i < c.num_algs; i++)
        if (!strcmp(c.alg_name[i], "relay"))
            return c.alg_calls[i];
    test_fail("relay is not counted");
    return 0;
}

/* How many of so many calls relay runs; the last rank is late in every second one. */
static int64_t relay_runs(int bytes, uint32_t seed)
{
    const int64_t before = by_relay();
    for (int i = 0; i < CALLS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (i % 2 && test.rank == test.size - 1)
            sleep_ms(3);
        gather_bytes(MPI_COMM_WORLD, bytes, seed + (uint32_t)i);
    }
    int64_t num = by_relay() - before, least, most;
    MPI_Allreduce(&num, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&num, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    expect_int("relay's calls, fewest and most on a rank", least, most);
    return num;
}

static void with(const char *single, bool reached)
{
    const int bytes = (1 << 20) / (test.size > 2 ? test.size - 1 : 1) +
                      8; /* of which a rank receives a little more than 1 MiB */
    setenv("PAT_SINGLE_COPY", single, 1);
    MUST(PAT_Init());
    test_at("PAT_SINGLE_COPY=%s, short blocks", single);
    expect_int("relay's calls", 0, relay_runs(bytes - 16, 1));
    test_at("PAT_SINGLE_COPY=%s, long blocks", single);
    const int64_t ran = relay_runs(bytes, 100);
    if (test.size == 2 || *single == '0' || !reached)
        expect_int("relay's calls", 0, ran);
    else if (ran == 0)
        test_fail("relay runs none of %d calls", CALLS);
    MUST(PAT_Finalize());
}

int main(int argc, char **argv)
{
    pat_reach *reach; /* NULL: the system does not let ranks copy */
    unsetenv("PAT_LINK");
    setenv("PAT_CALIBRATION", "none", 1);
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    layouts_make();
    test_limit(60);
    MUST(pat_reach_find(MPI_COMM_WORLD, true, 0, &reach));
    with("0", reach);
    with("1", reach);
    pat_reach_free(reach);
    MPI_Finalize();
    return test.failures ? 1 : 0;
}

/*
 * mpi_calibrated.c — broadcasts and gathers go by a calibration when there is one: the algorithm with the least predicted
 * time runs, size by size and on every communicator, and results are right; a file that is broken or of another machine is
 * refused, and said.
 *
 * ranks: 1 2 3 4
 */
#include "mpi_calibrated.h"

static char path[] = "/tmp/pat-calibrated-XXXXXX";

static void write_file(const char *cpu, double mbit)
{
    const pat_calibration c = made_up_calibration(cpu, mbit);
    if (test.rank == 0 && pat_calibration_write(&c, path, false) != 0)
        test_fail("%s cannot be written", path);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void refused(const char *what, const char *text)
{
    test_at("%s", what);
    expect_error(what, MPI_ERR_ARG, PAT_Init(), test.rank == 0 ? text : "rank 0");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Where the figures speak for relay it begins. What follows is measured, and shared memory is faster than the figures say. */
static void all_gathers(void)
{
    expect_int("500000 bytes by relay", test.size > 1, with_relay(500000, 0));
    expect_int("20000 bytes by relay", 0, with_relay(20000, 0));
    for (int i = 0; i < 12; i++)
        with_relay(20000, 10);
}

/* Where only the MPI library's own algorithm can be chosen: after long calls by one that was named. */
static void nothing_to_choose(void)
{
    enum { DOUBLES = 50000 };
    double *sums = calloc(DOUBLES, sizeof(*sums));
    if (!sums)
        must("memory", MPI_ERR_NO_MEM);
    test_at("an all-reduce that is left to the MPI library again");
    for (int i = 0; i < 2; i++) {
        MUST(PAT_UseAlg(i ? "allreduce_auto" : "allreduce_converge"));
        for (int call = 0; call < 3; call++) {
            for (int k = 0; k < DOUBLES; k++)
                sums[k] = 1;
            MUST(PAT_Allreduce(MPI_IN_PLACE, sums, DOUBLES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
            expect_int("the last sum", test.size, (long long)sums[DOUBLES - 1]);
            with_relay(20000, 0);
        }
    }
    free(sums);
}

int main(int argc, char **argv)
{
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    layouts_make();
    make_calibration_file(path, sizeof(path));
    refused("an empty file", "line 1");
    setenv("PAT_LINK", "10,1000", 1);
    write_file("A processor of the future", 1000);
    refused("a foreign file", "A processor of the future");
    write_file(NULL, 100);
    if (test.size > 1) {
        test_at("another network");
        expect_error("another network", MPI_ERR_ARG, PAT_Init(), "Mbit/s");
        MPI_Barrier(MPI_COMM_WORLD);
    }
    write_file(NULL, 1000);
    test_at("a good file");
    MUST(PAT_Init());
    all_gathers();
    nothing_to_choose();
    MPI_Comm backwards;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &backwards);
    const bool one = test.size == 1; /* which is left to MPI */
    bcast(MPI_COMM_WORLD, 100, one ? "bcast_native" : "bcast_binomial");
    bcast(backwards, 1000000, one ? "bcast_native" : "bcast_chain");
    bcast(MPI_COMM_WORLD, 1000000, one ? "bcast_native" : "bcast_chain");
    bcast(backwards, 100, one ? "bcast_native" : "bcast_binomial");
    PAT_Counters before = counters();
    int *all = calloc((size_t)test.size, sizeof(*all));
    MUST(PAT_Gather(&test.rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD));
    for (int r = 0; test.rank == 0 && r < test.size; r++)
        expect_int("gathered", r, all[r]);
    free(all);
    PAT_Counters after = counters();
    expect_int("gather_native", 1, calls_of(&after, "gather_native") - calls_of(&before, "gather_native"));
    MPI_Comm_free(&backwards);
    if (test.rank == 0)
        unlink(path);
    layouts_free();
    return test_end();
}

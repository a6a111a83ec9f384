/*
 * mpi_calibrated.c — broadcasts and gathers go by a calibration when there is one: the algorithm with the least predicted
 * time runs, size by size and on every communicator, and results are right; a file that is broken or of another machine is
 * refused, and said.
 *
 * ranks: 1 2 3 4
 */
#include "mpi_common.h"

#include "machine.h"

static char path[] = "/tmp/pat-calibrated-XXXXXX";

static int index_of(const char *name)
{
    return (int)(pat_algorithm_find(name) - pat_algorithm_at(0));
}

/*
 * Made up: up to some 10 KiB the binomial tree, from there on the chain; gathers by the MPI library; all-gathers by it up to
 * 100 KB when all come at once, but relay is not much slower there.
 */
static void write_file(const char *cpu, double mbit)
{
    pat_calibration c = {.ranks = 8, .num_gammas = 1, .gammas = {1}};
    bool alike;
    MUST(pat_machine_find(MPI_COMM_WORLD, &c.machine, &alike));
    if (!alike)
        test_fail("the ranks of one machine are not alike");
    if (cpu)
        snprintf(c.machine.cpu, sizeof(c.machine.cpu), "%s", cpu);
    c.fits[index_of("bcast_binomial")] = (pat_fit){.known = true, .alpha_us = 1, .beta_ns = 1000, .rank = 2};
    c.fits[index_of("bcast_chain")] = (pat_fit){.known = true, .alpha_us = 1000, .beta_ns = 1, .rank = 2};
    c.fits[index_of("gather_linear")] =
        (pat_fit){.known = true, .alpha_us = 1000, .beta_ns = 1000, .rank = 2};
    c.points[c.num_points++] = (pat_point){index_of("gather_native"), 2, 1000, 1};
    c.fits[index_of("relay")] = (pat_fit){.known = true, .alpha_us = 10, .beta_ns = 100, .rank = 2};
    for (int ranks = 2; ranks <= 4; ranks *= 2) {
        c.points[c.num_points++] = (pat_point){index_of("native"), ranks, 20000, 1200.0 * (ranks - 1)};
        c.points[c.num_points++] = (pat_point){index_of("native"), ranks, 500000, 70000.0 * (ranks - 1)};
    }
    pat_calibration_sort(&c);
    c.link_us = 10;
    c.link_mbit = mbit;
    if (test.rank == 0 && pat_calibration_write(&c, path) != 0)
        test_fail("%s cannot be written", path);
    MPI_Barrier(MPI_COMM_WORLD);
}

static long long calls_of(const PAT_Counters *c, const char *name)
{
    for (int i = 0; i < c->num_algs; i++)
        if (!strcmp(c->alg_name[i], name))
            return c->alg_calls[i];
    return -1;
}

static void bcast(MPI_Comm comm, int bytes, const char *expected)
{
    unsigned char *data = malloc((size_t)bytes);
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (!data)
        must("memory", MPI_ERR_NO_MEM);
    for (int i = 0; i < 2 * size; i++) {
        const int root = i / 2;
        PAT_Counters before = counters();
        for (int k = 0; k < bytes; k++)
            data[k] = rank == root ? gather_byte(7, root, k) : 0;
        MUST(PAT_Bcast(data, bytes, MPI_BYTE, root, comm));
        int k = 0;
        while (k < bytes && data[k] == gather_byte(7, root, k))
            k++;
        if (k < bytes)
            test_fail("broadcast of %d bytes: byte %d is wrong", bytes, k);
        PAT_Counters after = counters();
        expect_int(expected, 1, calls_of(&after, expected) - calls_of(&before, expected));
    }
    free(data);
}

static void refused(const char *what, const char *text)
{
    test_at("%s", what);
    expect_error(what, MPI_ERR_ARG, PAT_Init(), test.rank == 0 ? text : "rank 0");
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Which of the two ran a call; the same on all ranks. */
static bool with_relay(int bytes, double late_ms)
{
    PAT_Counters before = counters();
    MPI_Barrier(MPI_COMM_WORLD);
    if (late_ms > 0 && test.rank == test.size - 1)
        sleep_ms(late_ms);
    gather_bytes(MPI_COMM_WORLD, bytes, 3);
    PAT_Counters after = counters();
    long long mine = calls_of(&after, "relay") - calls_of(&before, "relay"), most;
    expect_int("calls", 1, mine + calls_of(&after, "native") - calls_of(&before, "native"));
    MPI_Allreduce(&mine, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    expect_int("relay's calls, on another rank", most, mine);
    return mine > 0;
}

/* Where the figures speak for relay it begins. What follows is measured, and shared memory is faster than the figures say. */
static void all_gathers(void)
{
    expect_int("500000 bytes by relay", test.size > 1, with_relay(500000, 0));
    expect_int("20000 bytes by relay", 0, with_relay(20000, 0));
    for (int i = 0; i < 12; i++)
        with_relay(20000, 10);
}

int main(int argc, char **argv)
{
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    layouts_make();
    int file = test.rank == 0 ? mkstemp(path) : -1;
    if (file >= 0)
        close(file);
    MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD);
    setenv("PAT_CALIBRATION", path, 1);
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

/*
 * mpi_calibrated.h — a made-up calibration, and calls that show whether the library goes by it: for tests of calibrations that are named
 * and of those that are found.
 */
#ifndef MPI_CALIBRATED_H
#define MPI_CALIBRATED_H

#include "mpi_common.h"

#include "machine.h"

static inline int index_of(const char *name)
{
    return (int)(pat_algorithm_find(name) - pat_algorithm_at(0));
}

/*
 * Made up: up to some 10 KiB the binomial tree, from there on the chain; gathers by the MPI library; all-gathers by it up to
 * 100 KB when all come at once, but relay is not much slower there. cpu: NULL: of this machine. Of ranks that are placed
 * as these are. Collective.
 */
static inline pat_calibration made_up_calibration(const char *cpu, double mbit)
{
    pat_calibration c = {.num_gammas = 1, .gammas = {1}};
    pat_placing placing;
    bool alike;
    MUST(pat_machine_find(MPI_COMM_WORLD, &c.machine, &placing, &alike));
    c.ranks = placing.ranks > 1 ? placing.ranks : 2; /* of one rank there is no calibration */
    c.numbering = placing.numbering;
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
    return c;
}

/* An empty file, which PAT_CALIBRATION names from now on. path: a pattern of mkstemp, of so many bytes. Collective. */
static inline void make_calibration_file(char *path, int bytes)
{
    const int file = test.rank == 0 ? mkstemp(path) : -1;
    if (file >= 0)
        close(file);
    MPI_Bcast(path, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
    setenv("PAT_CALIBRATION", path, 1);
}

/* Whole numbers that are summed up, and looked at. */
static inline void sum_ints(MPI_Comm comm, int count, int seed)
{
    int rank, size, *own = malloc((size_t)count * sizeof(int)), *sums = malloc((size_t)count * sizeof(int));
    if (!own || !sums)
        must("memory for the test's buffers", MPI_ERR_NO_MEM);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < count; i++)
        own[i] = (rank + 1) * (i % 1000 + seed);
    MUST(PAT_Allreduce(own, sums, count, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < count; i++)
        if (sums[i] != size * (size + 1) / 2 * (i % 1000 + seed)) {
            test_fail("element %d of %d is %d", i, count, sums[i]);
            break;
        }
    free(own);
    free(sums);
}

static inline void bcast(MPI_Comm comm, int bytes, const char *expected)
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

/* Which of the two ran a call; the same on all ranks. */
static inline bool with_relay(int bytes, double late_ms)
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

#endif

/*
 * overhead_bell.c — see overhead.h. How soon a rank that sleeps runs after another rank of its node has rung its bell, against a byte in a pipe, which
 * is what the kernel needs for it at all; and what ringing costs where nobody sleeps.
 */
#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bells_meet.h"
#include "bench_must.h"
#include "bench_stats.h"
#include "clock.h"
#include "overhead.h"

enum { AWAKE_RINGS = 1000, PAUSE_US = 2000, LIMIT_MS = 10000 };

/* A pipe from rank 0, which gets its end by its name in rank 1's process, to rank 1. Returns this rank's end. */
static int pipe_between(int rank)
{
    int ends[2] = {-1, -1}, at[2] = {0, 0};
    char name[64];
    if (rank == 1) {
        bench_must(pipe(ends), "pipe");
        at[0] = (int)getpid();
        at[1] = ends[1];
        MPI_Send(at, 2, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (rank == 0) {
        MPI_Recv(at, 2, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        snprintf(name, sizeof(name), "/proc/%d/fd/%d", at[0], at[1]);
        ends[0] = open(name, O_WRONLY | O_CLOEXEC);
        bench_must(ends[0] < 0, "the other rank's pipe");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        close(ends[1]);
    return ends[0];
}

/* Rank 1 sleeps, and rank 0 wakes it after a while: by its bell, or by the pipe where b is NULL. Returns on rank 0 after how many us the other one ran. */
static double wake_us(pat_bells *b, int end, int rank)
{
    char byte = 0;
    int64_t rung_ns = 0, awake_ns = 0;
    const uint64_t rung = b ? pat_bells_rung(b) : 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        usleep(PAUSE_US);
        rung_ns = pat_clock_local_ns(); /* the same clock for all ranks of a machine */
        if (b)
            pat_bells_ring(b, 1, PAT_BELL_DATA);
        else
            bench_must(write(end, &byte, 1) != 1, "write");
        MPI_Recv(&awake_ns, 1, MPI_INT64_T, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        struct pollfd at = {.fd = b ? pat_bells_fd(b) : end, .events = POLLIN};
        if (!b) {
            bench_must(poll(&at, 1, LIMIT_MS) != 1 || read(end, &byte, 1) != 1, "read");
        } else if (pat_bells_sleep(b, rung, true)) {
            pat_bells_awake(b, true, poll(&at, 1, LIMIT_MS) > 0);
        }
        awake_ns = pat_clock_local_ns();
        MPI_Send(&awake_ns, 1, MPI_INT64_T, 0, 0, MPI_COMM_WORLD);
    }
    return (double)(awake_ns - rung_ns) / 1e3;
}

static double ring_ns(pat_bells *b)
{
    const int64_t start_ns = pat_clock_local_ns();
    for (int i = 0; i < AWAKE_RINGS; i++)
        pat_bells_ring(b, 1, PAT_BELL_DATA);
    return (double)(pat_clock_local_ns() - start_ns) / AWAKE_RINGS;
}

void overhead_bell(const overhead_options *o, int rank, int size)
{
    const int rounds = o->rounds ? o->rounds : 1000;
    double *woke = bench_must_alloc((size_t)rounds, sizeof(double)),
           *least = bench_must_alloc((size_t)rounds, sizeof(double)),
           *rang = bench_must_alloc((size_t)rounds, sizeof(double)), lo, mid, hi;
    pat_bells *b;
    MPI_Comm node;
    int together;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &together);
    MUST(pat_bells_meet(node, &b));
    if (!b || together < size) {
        if (rank == 0)
            fprintf(
                stderr,
                "pat-overhead: bell: the ranks are not all on one node, or the kernel lets them hand over "
                "nothing; accepted: ranks of one machine and one network namespace\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    const int end = pipe_between(rank);
    for (int r = 0; r < rounds; r++) {
        woke[r] = wake_us(b, end, rank);
        MPI_Barrier(MPI_COMM_WORLD);
        least[r] = wake_us(NULL, end, rank);
        MPI_Barrier(MPI_COMM_WORLD);
        rang[r] = rank == 0 ? ring_ns(b) : 0;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) {
        bench_quartiles(woke, rounds, &lo, &mid, &hi);
        printf("# rank 0 rings rank 1 of the same node, %d times, medians [quartiles]\n", rounds);
        printf("from ringing until a rank that slept runs  %8.1f [%8.1f,%8.1f] us\n", mid, lo, hi);
        bench_quartiles(least, rounds, &lo, &mid, &hi);
        printf("the same by a byte in a pipe               %8.1f [%8.1f,%8.1f] us\n", mid, lo, hi);
        bench_quartiles(rang, rounds, &lo, &mid, &hi);
        printf("ringing where nobody sleeps                %8.1f [%8.1f,%8.1f] ns\n", mid, lo, hi);
    }
    pat_bells_free(b);
    MPI_Comm_free(&node);
    if (end >= 0)
        close(end);
    free(woke);
    free(least);
    free(rang);
}

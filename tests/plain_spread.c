/*
 * plain_spread.c — plain_spread CALLS MS [barrier]: before each all-gather of 16 KiB every rank is busy for its own time, drawn anew for each call, 0 to MS milliseconds. All
 * ranks draw all times, so that the program knows how long each has to wait. Prints that as a share of the time all calls took. barrier: a barrier
 * before each call, in which the waiting then is: what tools do that have no common clock.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 16384, MOST_RANKS = 64 };

static unsigned state = 1;

static double draw(void)
{
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / (1 << 24);
}

int main(int argc, char **argv)
{
    static char own[BYTES], all[MOST_RANKS * BYTES];
    int rank, num_ranks, with_barrier = argc > 3 && strcmp(argv[3], "barrier") == 0;
    if (argc < 3) {
        fprintf(stderr, "usage: plain_spread CALLS MS [barrier]\n");
        return 2;
    }
    const int calls = atoi(argv[1]);
    const double most_s = 1e-3 * atof(argv[2]);
    double waiting_s = 0, in_barrier_s = 0, sums[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    for (int i = 0; i < 5; i++) /* connections are open before anything counts */
        MPI_Allgather(own, BYTES, MPI_BYTE, all, BYTES, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; i++) {
        double busy_s = 0, longest_s = 0;
        for (int r = 0; r < num_ranks; r++) {
            const double s = most_s * draw();
            busy_s = r == rank ? s : busy_s;
            longest_s = s > longest_s ? s : longest_s;
        }
        nanosleep(&(struct timespec){0, (long)(1e9 * busy_s)}, NULL);
        waiting_s += longest_s - busy_s;
        const double before = MPI_Wtime();
        if (with_barrier)
            MPI_Barrier(MPI_COMM_WORLD);
        in_barrier_s += with_barrier ? MPI_Wtime() - before : 0;
        MPI_Allgather(own, BYTES, MPI_BYTE, all, BYTES, MPI_BYTE, MPI_COMM_WORLD);
    }
    const double took = MPI_Wtime() - start, own_sums[] = {waiting_s, in_barrier_s};
    MPI_Reduce(own_sums, sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.3f s; has to wait %.2f %%, in barriers %.2f %%\n", took, 100 * sums[0] / num_ranks / took,
               100 * sums[1] / num_ranks / took);
    MPI_Finalize();
    return 0;
}

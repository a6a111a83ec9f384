/*
 * jacobi.c — an iterative solver as programs are: plain MPI, nothing of this library. Solves A x = b by Jacobi's method for a
 * sparse, diagonally dominant A whose entries lie anywhere, so every rank needs the whole x in every iteration: one
 * MPI_Allgather. The ranks' parts of the work do not take equally long: each waits for its share of it as for an
 * accelerator, `base` milliseconds and up to `spread` more, drawn anew in every iteration.
 *
 *     mpirun -n 8 ./jacobi 8192 60 10 100             # unknowns per rank, iterations, base, spread
 *     pat-run mpirun -n 8 ./jacobi 8192 60 10 100
 *
 * Prints the checksum of the solution, which does not depend on who moved the data, and times. The first 10 iterations are
 * left out of the time per call.
 */
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { OFF_DIAGONAL = 8, WARM = 10 };

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 31) * UINT64_C(0x7fb5d329728ea185);
    x = (x ^ x >> 27) * UINT64_C(0x81dadef4bc2dd44d);
    return x ^ x >> 33;
}

/* Column and value of entry k of a row: made up on the spot, the same whoever asks. */
static long column(long row, int k, long n)
{
    return (long)(mix((uint64_t)row * OFF_DIAGONAL + (uint64_t)k) % (uint64_t)n);
}

static double value(long row, int k)
{
    return -1.0 + 2.0 * (double)(mix((uint64_t)row * 131 + (uint64_t)k * 31 + 7) % 1000) / 1000.0;
}

static void iterate(const double *x, double *mine, long first, long count, long n)
{
    for (long i = 0; i < count; i++) {
        double sum = 1 + (double)((first + i) % 7);
        for (int k = 0; k < OFF_DIAGONAL; k++)
            sum -= value(first + i, k) * x[column(first + i, k, n)];
        mine[i] = sum / (2.0 * OFF_DIAGONAL);
    }
}

static void wait_for_accelerator(int rank, int iteration, double base_ms, double spread_ms)
{
    const double drawn = (double)(mix((uint64_t)iteration * 1009 + (uint64_t)rank) % 10000) / 10000.0;
    const double ms = base_ms + spread_ms * drawn;
    const struct timespec t = {.tv_sec = (time_t)(ms / 1e3), .tv_nsec = (long)(fmod(ms, 1e3) * 1e6)};
    nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const long count = argc == 5 ? atol(argv[1]) : 0;
    const int iterations = argc == 5 ? atoi(argv[2]) : 0;
    if (count < 1 || count > 1 << 24 || iterations < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: jacobi UNKNOWNS-PER-RANK ITERATIONS BASE-MS SPREAD-MS\n");
        MPI_Finalize();
        return 2;
    }
    const double base_ms = atof(argv[3]), spread_ms = atof(argv[4]);
    const long n = count * ranks, first = count * rank;
    double *x = calloc((size_t)n, sizeof(*x)), *mine = calloc((size_t)count, sizeof(*mine));
    if (!x || !mine)
        MPI_Abort(MPI_COMM_WORLD, 1);

    double in_call = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < iterations; i++) {
        iterate(x, mine, first, count, n);
        wait_for_accelerator(rank, i, base_ms, spread_ms);
        const double called = MPI_Wtime();
        MPI_Allgather(mine, (int)count, MPI_DOUBLE, x, (int)count, MPI_DOUBLE, MPI_COMM_WORLD);
        if (i >= WARM)
            in_call += MPI_Wtime() - called;
    }
    const double whole = MPI_Wtime() - start;

    double sum = 0, calls = 0;
    for (long i = 0; i < n; i++)
        sum += x[i] * (double)(1 + i % 13);
    MPI_Reduce(&in_call, &calls, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("jacobi: %d ranks, %ld unknowns each, %d iterations: checksum %.17g, %.3f s", ranks, count,
               iterations, sum, whole);
        if (iterations > WARM)
            printf(", MPI_Allgather %.3f ms a call", 1e3 * calls / ranks / (iterations - WARM));
        printf("\n");
    }
    free(x);
    free(mine);
    MPI_Finalize();
    return 0;
}

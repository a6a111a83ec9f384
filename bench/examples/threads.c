/*
 * threads.c — example: a rank computes with several threads, and one of them gives the milestones.
 *
 * The threads share out the slices of a phase, and count those that are done. The thread that called MPI_Init_thread says PAT_Edge when it
 * has done half of its own, with what all of them have done by then. When the threads have joined it makes the call. Only this one
 * thread ever calls MPI or PAT, which MPI_THREAD_FUNNELED would allow; the library's background thread calls MPI beside it, and so the
 * program asks for MPI_THREAD_MULTIPLE.
 *
 * Every rank sums up sin over its part of an interval, and an all-gather brings all partial sums to all, ROUNDS times.
 *
 *   OMP_NUM_THREADS=2 mpirun -n 4 threads [ROUNDS]
 *
 * Exits with 0 when the integral is right to nine digits.
 */
#include <pat.h>

#include <math.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLICES = 64, POINTS = 1000 }; /* of a rank's part */

static void must(int code)
{
    if (code == MPI_SUCCESS)
        return;
    fprintf(stderr, "threads: %s\n", PAT_Error_string(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The integral of sin over a slice, by the midpoint rule. */
static double integrate(double from, double length)
{
    const double step = length / POINTS;
    double sum = 0;
    for (int i = 0; i < POINTS; i++)
        sum += step * sin(from + (i + 0.5) * step);
    return sum;
}

/* A phase of computation by all threads. Returns this rank's part of the integral; *told counts the milestones. */
static double phase(int rank, int size, int *told)
{
    const double length = acos(-1.0) / size / SLICES;
    double sums[SLICES];
    double sum = 0;
    atomic_int done = 0;
    must(PAT_ProcessingStart());
#pragma omp parallel
    {
        const int half = (SLICES / omp_get_num_threads() + 1) / 2;
        int own = 0;
#pragma omp for schedule(static)
        for (int slice = 0; slice < SLICES; slice++) {
            sums[slice] = integrate((rank * SLICES + slice) * length, length);
            const int finished = atomic_fetch_add(&done, 1) + 1;
            if (omp_get_thread_num() == 0 && ++own == half && finished < SLICES) {
                must(PAT_Edge(100.0 * finished / SLICES));
                ++*told;
            }
        }
    }
    must(PAT_ProcessingEnd());
    for (int slice = 0; slice < SLICES; slice++)
        sum += sums[slice]; /* in one order, whichever thread has computed what */
    return sum;
}

int main(int argc, char **argv)
{
    int provided, rank, size, told = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int rounds = argc > 1 ? atoi(argv[1]) : 20;
    double *parts = malloc((size_t)size * sizeof(*parts));
    if (!parts || rounds < 1) {
        fprintf(stderr, "threads: no memory, or fewer rounds than 1\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    must(PAT_Init());
    must(PAT_UseAlg("bdr"));
    double integral = 0;
    for (int round = 0; round < rounds; round++) {
        const double mine = phase(rank, size, &told);
        must(PAT_Allgather(&mine, 1, MPI_DOUBLE, parts, 1, MPI_DOUBLE, MPI_COMM_WORLD));
        integral = 0;
        for (int r = 0; r < size; r++)
            integral += parts[r];
    }
    printf("rank %d: %d threads, %d rounds, %d milestones, integral %.9f\n", rank, omp_get_max_threads(),
           rounds, told, integral);
    free(parts);
    must(PAT_Finalize());
    MPI_Finalize();
    return fabs(integral - 2) < 1e-9 ? 0 : 1;
}

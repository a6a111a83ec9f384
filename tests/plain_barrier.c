/*
 * plain_barrier.c — what a barrier takes, by MPI alone: the median, over 2000 of them, of the longest time of all ranks in a barrier that begins when they
 * leave another one. For the barrier's median of pat-guidelines to be held against (docs/guidelines.md).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUM = 2000 };

static int by_number(const void *va, const void *vb)
{
    const double a = *(const double *)va, b = *(const double *)vb;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    static double own[NUM], longest[NUM];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < NUM; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        MPI_Barrier(MPI_COMM_WORLD);
        own[i] = MPI_Wtime() - start;
    }
    MPI_Reduce(own, longest, NUM, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    qsort(longest, NUM, sizeof(longest[0]), by_number);
    if (rank == 0)
        printf("%.3f us\n", 1e6 * longest[NUM / 2]);
    MPI_Finalize();
    return 0;
}

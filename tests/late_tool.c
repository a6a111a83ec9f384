/*
 * late_tool.c — a library to be preloaded under pat-guidelines: once rank 1 has made an all-gather, it hears of every third moment that it is told of to
 * begin a sample 30 ms after that moment, however far off it was. At the end it tells how many those were: "late_tool: 7 of 23 starts".
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static int rank = -1, starts, late;
static bool has_begun;

int MPI_Init(int *argc, char ***argv)
{
    const int rc = PMPI_Init(argc, argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rc;
}

int PMPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm)
{
    int (*next)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Allgather");
    has_begun = true;
    return next(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

/* What is told with one such number is a moment; ranks of one machine tell it by CLOCK_MONOTONIC, and 0 while they measure how long telling takes. */
int PMPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    static const int64_t too_late_ns = 30000000, second_ns = 1000000000;
    int (*next)(void *, int, MPI_Datatype, int, MPI_Comm);
    *(void **)&next = dlsym(RTLD_NEXT, "PMPI_Bcast");
    const int rc = next(buffer, count, type, root, comm);
    if (rank == 1 && has_begun && count == 1 && type == MPI_INT64_T && *(int64_t *)buffer > 0 &&
        ++starts % 3 == 0) {
        const int64_t until_ns = *(int64_t *)buffer + too_late_ns;
        const struct timespec until = {.tv_sec = until_ns / second_ns, .tv_nsec = until_ns % second_ns};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        late++;
    }
    return rc;
}

int MPI_Finalize(void)
{
    if (rank == 1)
        fprintf(stderr, "late_tool: %d of %d starts\n", late, starts);
    return PMPI_Finalize();
}

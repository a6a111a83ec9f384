/*
 * clock.c — see clock.h. Rank 0 serves the others one after another, so that no round trip waits behind
 * another rank's: the cost is P * (rounds + 1) round trips of a message of at most 8 bytes, once per job.
 * Must never run while plans do: it blocks.
 */
#include "clock.h"

#include <time.h>

enum { TAG = 2 };

int64_t pat_clock_local_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Rank 0: answer every question of `peer` with the time it is here. */
static int serve(MPI_Comm comm, int peer, int rounds)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < rounds && rc == MPI_SUCCESS; i++) {
        rc = PMPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, comm, MPI_STATUS_IGNORE);
        int64_t now = pat_clock_local_ns();
        if (rc == MPI_SUCCESS)
            rc = PMPI_Send(&now, 1, MPI_INT64_T, peer, TAG, comm);
    }
    return rc;
}

/*
 * Rank 0 read its clock somewhere between our question and its answer. Assuming the middle is wrong by at
 * most half the round trip; the shortest one is the one that was least disturbed. The first does not count:
 * it waits for our turn and may have to open the connection.
 */
static int ask(pat_clock *clock, MPI_Comm comm, int rounds)
{
    int64_t shortest = INT64_MAX;
    for (int i = 0; i < rounds; i++) {
        int64_t theirs, start = pat_clock_local_ns();
        int rc = PMPI_Send(NULL, 0, MPI_BYTE, 0, TAG, comm);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Recv(&theirs, 1, MPI_INT64_T, 0, TAG, comm, MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS)
            return rc;
        int64_t took = pat_clock_local_ns() - start;
        if (i > 0 && took < shortest) {
            shortest = took;
            clock->offset_ns = theirs - (start + took / 2);
            clock->error_ns = (took + 1) / 2;
        }
    }
    return MPI_SUCCESS;
}

int pat_clock_sync(pat_clock *clock, MPI_Comm comm, int rounds)
{
    int rank, size, rc = MPI_SUCCESS;
    *clock = (pat_clock){0, 0};
    if (rounds < 1)
        return MPI_ERR_ARG;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    if (rank > 0)
        return ask(clock, comm, rounds + 1);
    for (int peer = 1; peer < size && rc == MPI_SUCCESS; peer++)
        rc = serve(comm, peer, rounds + 1);
    return rc;
}

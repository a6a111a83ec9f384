/*
 * clock.c — see clock.h. Ranks that know their offset each tell it to one that does not, so that there are twice as many after
 * every step. Must never run while plans do: it blocks.
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

/* What a rank that knows its offset answers: what rank 0's clock says now, and how sure it is of that. */
typedef struct answer {
    int64_t time_ns, error_ns;
} answer;

static int serve(const pat_clock *clock, MPI_Comm comm, int peer, int rounds)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < rounds && rc == MPI_SUCCESS; i++) {
        rc = PMPI_Recv(NULL, 0, MPI_BYTE, peer, TAG, comm, MPI_STATUS_IGNORE);
        answer now = {pat_clock_now_ns(clock), clock->error_ns};
        if (rc == MPI_SUCCESS)
            rc = PMPI_Send(&now, 2, MPI_INT64_T, peer, TAG, comm);
    }
    return rc;
}

/*
 * The other rank read its clock somewhere between our question and its answer. Assuming the middle is wrong by at
 * most half the round trip; the shortest one is the one that was least disturbed. The first does not count:
 * it waits for our turn and may have to open the connection.
 */
static int ask(pat_clock *clock, MPI_Comm comm, int peer, int rounds)
{
    int64_t shortest = INT64_MAX;
    for (int i = 0; i < rounds; i++) {
        answer theirs;
        const int64_t start = pat_clock_local_ns();
        int rc = PMPI_Send(NULL, 0, MPI_BYTE, peer, TAG, comm);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Recv(&theirs, 2, MPI_INT64_T, peer, TAG, comm, MPI_STATUS_IGNORE);
        if (rc != MPI_SUCCESS)
            return rc;
        const int64_t took = pat_clock_local_ns() - start;
        if (i > 0 && took < shortest) {
            shortest = took;
            clock->offset_ns = theirs.time_ns - (start + took / 2);
            clock->error_ns = (took + 1) / 2 + theirs.error_ns;
            clock->measured_ns = start + took / 2;
        }
    }
    return MPI_SUCCESS;
}

int pat_clock_sync(pat_clock *clock, MPI_Comm comm, int rounds)
{
    int rank, size, rc = MPI_SUCCESS;
    *clock = (pat_clock){0};
    if (rounds < 1)
        return MPI_ERR_ARG;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (int known = 1; known < size && rc == MPI_SUCCESS; known *= 2) { /* so many ranks know their offset */
        if (rank < known && rank + known < size)
            rc = serve(clock, comm, rank + known, rounds + 1);
        else if (rank >= known && rank < 2 * known)
            rc = ask(clock, comm, rank - known, rounds + 1);
    }
    return rc;
}

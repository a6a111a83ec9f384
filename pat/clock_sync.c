/*
 * clock_sync.c — see clock_sync.h. Ranks that know their offset each tell it to one that does not, so that there are up to twice as many after
 * every step. Must never run while plans do: it blocks.
 */
#include "clock_sync.h"

#include <stddef.h>

enum { TAG = 2 };

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

/* Between two that read the same clock what one knows is true of the other. */
enum { CLOCK_WORDS = sizeof(pat_clock) / sizeof(int64_t) };

int pat_clock_sync(pat_clock *clock, MPI_Comm comm, const pat_clock_tree *tree, int rounds)
{
    int rc = MPI_SUCCESS;
    *clock = (pat_clock){0};
    if (rounds < 1)
        return MPI_ERR_ARG;
    if (tree->up.peer >= 0 && tree->up.same)
        rc = PMPI_Recv(clock, CLOCK_WORDS, MPI_INT64_T, tree->up.peer, TAG, comm, MPI_STATUS_IGNORE);
    else if (tree->up.peer >= 0)
        rc = ask(clock, comm, tree->up.peer, rounds + 1);
    for (int i = 0; i < tree->num_down && rc == MPI_SUCCESS; i++)
        rc = tree->down[i].same ? PMPI_Send(clock, CLOCK_WORDS, MPI_INT64_T, tree->down[i].peer, TAG, comm)
                                : serve(clock, comm, tree->down[i].peer, rounds + 1);
    return rc;
}

/*
 * sample.c — see sample.h. One non-blocking all-gather of 40 bytes a rank.
 */
#include "sample.h"

#include "clock.h"
#include "runtime.h"

/* Every rank comes here after the same call, and none before all have called. */
static int make_comm(pat_sample *s, MPI_Comm user)
{
    int rank, rc = PMPI_Comm_rank(user, &rank);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_split(user, 0, rank, &s->comm);
    return rc == MPI_SUCCESS ? PMPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN) : rc;
}

int pat_sample_apart(pat_sample *s, MPI_Comm user)
{
    return s->comm == MPI_COMM_NULL ? make_comm(s, user) : MPI_SUCCESS;
}

int pat_sample_begin(pat_sample *s, MPI_Comm own, enum pat_runner ran, int64_t bytes, pat_said mine)
{
    s->ran = ran;
    s->bytes = bytes;
    s->mine = mine;
    s->mine.exit_ns = pat_clock_now_ns(&pat_rt.clock);
    s->mine.cost_ns = s->spent_ns;
    s->spent_ns = 0;
    s->on = s->comm == MPI_COMM_NULL ? own : s->comm;
    s->sent = false;
    s->under_way = true;
    return MPI_SUCCESS;
}

static int look(pat_sample *s)
{
    int done = 0, rc = MPI_SUCCESS;
    if (!s->sent)
        rc = PMPI_Iallgather(&s->mine, (int)sizeof(s->mine), MPI_BYTE, s->all, (int)sizeof(s->mine), MPI_BYTE,
                             s->on, &s->request);
    s->sent = rc == MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = PMPI_Test(&s->request, &done, MPI_STATUS_IGNORE);
    if (done) /* not after an error: MPI may still write what the others say */
        s->under_way = false;
    return rc;
}

int pat_sample_test(pat_sample *s)
{
    const int64_t start_ns = pat_clock_local_ns();
    int rc = look(s);
    s->spent_ns += pat_clock_local_ns() - start_ns;
    return rc;
}

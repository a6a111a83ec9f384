/*
 * sample.c — see sample.h. One non-blocking all-gather of 24 bytes a rank on the library's own communicator.
 */
#include "sample.h"

#include "clock.h"
#include "runtime.h"

int pat_sample_post(pat_sample *s, MPI_Comm own, enum pat_runner ran, int64_t bytes, pat_carried mine)
{
    s->ran = ran;
    s->bytes = bytes;
    s->mine = (pat_said){mine, pat_clock_now_ns(&pat_rt.clock)};
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = PMPI_Iallgather(&s->mine, (int)sizeof(s->mine), MPI_BYTE, s->all, (int)sizeof(s->mine), MPI_BYTE,
                             own, &s->request);
    pthread_rwlock_unlock(&pat_rt.driving);
    s->under_way = rc == MPI_SUCCESS;
    return rc;
}

int pat_sample_test(pat_sample *s)
{
    int done = 0;
    int rc = PMPI_Test(&s->request, &done, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS && done)
        s->under_way = false;
    return rc;
}

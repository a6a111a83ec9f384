/*
 * sample.c — see sample.h. One non-blocking all-gather of 24 bytes a rank on the library's own communicator.
 */
#include "sample.h"

#include "comm.h"
#include "runtime.h"
#include "select.h"
#include "wait.h"

int pat_sample_post(pat_comm *c, enum pat_runner ran, int64_t bytes)
{
    pat_sample *s = &c->sample;
    s->ran = ran;
    s->bytes = bytes;
    c->told.bytes = 0; /* the sample says more */
    s->mine = (pat_said){c->mine, pat_clock_now_ns(&pat_rt.clock)};
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = PMPI_Iallgather(&s->mine, (int)sizeof(s->mine), MPI_BYTE, s->all, (int)sizeof(s->mine), MPI_BYTE,
                             c->own, &s->request);
    pthread_rwlock_unlock(&pat_rt.driving);
    s->under_way = rc == MPI_SUCCESS;
    return rc;
}

int pat_sample_look_driving(pat_comm *c, bool *moved)
{
    pat_sample *s = &c->sample;
    int done = 0;
    if (!s->under_way)
        return MPI_SUCCESS;
    int rc = PMPI_Test(&s->request, &done, MPI_STATUS_IGNORE);
    if (rc != MPI_SUCCESS || !done)
        return rc;
    *moved = true;
    s->under_way = false;
    return pat_select_sampled(c, s);
}

int pat_sample_look(pat_comm *c, bool *moved)
{
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = pat_sample_look_driving(c, moved);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

static bool under_way(const pat_comm *c)
{
    return c->sample.under_way;
}

int pat_sample_wait(pat_comm *c)
{
    return c->sample.under_way ? pat_wait_while(c, under_way, pat_sample_look) : MPI_SUCCESS;
}

/*
 * sample.c — see sample.h.
 */
#include "sample.h"

#include <errno.h>
#include <stdlib.h>

#include "clock.h"
#include "runtime.h"

int pat_sample_init(pat_sample *s, const pat_tellers *who)
{
    s->all = calloc((size_t)who->num_ranks, sizeof(*s->all));
    return s->all ? pat_tell_init(&s->tell, who, sizeof(*s->all)) : ENOMEM;
}

void pat_sample_free(pat_sample *s)
{
    pat_tell_free(&s->tell);
    free(s->all);
}

void pat_sample_begin(pat_sample *s, const pat_algorithm *alg, int64_t bytes, pat_said mine)
{
    s->alg = alg;
    s->bytes = bytes;
    s->mine = mine;
    s->mine.exit_ns = pat_timekeeper_now_ns(&pat_rt.time);
    s->mine.cost_ns = s->spent_ns;
    s->spent_ns = 0;
    s->sent = false;
    s->under_way = true;
}

static int send(pat_sample *s)
{
    int rc = s->sent ? MPI_SUCCESS : pat_tell_begin(&s->tell, &s->mine);
    s->sent = true;
    return rc;
}

int pat_sample_pass(pat_sample *s, bool begins, bool *moved)
{
    if (!s->under_way || !(s->sent || begins))
        return MPI_SUCCESS;
    const int64_t start_ns = pat_clock_local_ns();
    int rc = send(s);
    if (rc == MPI_SUCCESS)
        rc = pat_tell_pass(&s->tell, moved);
    s->spent_ns += pat_clock_local_ns() - start_ns;
    return rc;
}

static int look(pat_sample *s, bool *moved)
{
    bool done = false;
    int rc = send(s);
    if (rc == MPI_SUCCESS)
        rc = pat_tell_test(&s->tell, s->all, moved, &done);
    if (done) /* not after an error: MPI may still write what the others say */
        s->under_way = false;
    return rc;
}

int pat_sample_test(pat_sample *s, bool *moved)
{
    const int64_t start_ns = pat_clock_local_ns();
    int rc = look(s, moved);
    s->spent_ns += pat_clock_local_ns() - start_ns;
    return rc;
}

/*
 * tell.c — see tell.h.
 */
#include "tell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int pat_tell_init(pat_tell *t, const pat_tellers *who, size_t bytes)
{
    *t = (pat_tell){.who = *who, .bytes = bytes, .requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
    t->known = calloc((size_t)who->num_ranks, bytes);
    return t->known ? 0 : ENOMEM;
}

void pat_tell_free(pat_tell *t)
{
    free(t->known);
    t->known = NULL;
}

/* How many ranks' words come in the next step: as many as are known, or what is left. */
static int num_next(const pat_tell *t)
{
    const int left = t->who.num_ranks - t->num_known;
    return left < t->num_known ? left : t->num_known;
}

/* What this rank knows goes to the one that is so many ranks before it, and as much comes from the one so many ranks after it. */
static int step(pat_tell *t)
{
    const pat_tellers *who = &t->who;
    const int away = t->num_known, bytes = num_next(t) * (int)t->bytes;
    const int from = (who->rank + away) % who->num_ranks,
              to = (who->rank + who->num_ranks - away) % who->num_ranks;
    int rc = PMPI_Irecv(t->known + (size_t)away * t->bytes, bytes, MPI_BYTE, from, who->tag, who->comm,
                        &t->requests[0]);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Isend(t->known, bytes, MPI_BYTE, to, who->tag, who->comm, &t->requests[1]);
    if (rc == MPI_SUCCESS)
        pat_mates_ring(&who->mates, to, PAT_BELL_WORD);
    return rc;
}

int pat_tell_begin(pat_tell *t, const void *mine)
{
    if (t->failed)
        return t->failed;
    memcpy(t->known, mine, t->bytes);
    t->num_known = 1;
    if (t->who.num_ranks > 1)
        t->failed = step(t);
    return t->failed;
}

int pat_tell_pass(pat_tell *t, bool *moved)
{
    int over = 1;
    while (over && !pat_tell_is_over(t)) {
        t->failed = PMPI_Testall(2, t->requests, &over, MPI_STATUSES_IGNORE);
        if (t->failed || !over)
            break;
        *moved = true;
        t->num_known += num_next(t);
        if (t->num_known < t->who.num_ranks)
            t->failed = step(t);
    }
    return t->failed;
}

static void copy_by_rank(const pat_tell *t, char *all)
{
    const size_t rank = (size_t)t->who.rank, others = (size_t)t->who.num_ranks - rank;
    memcpy(all + rank * t->bytes, t->known, others * t->bytes);
    memcpy(all, t->known + others * t->bytes, rank * t->bytes);
}

int pat_tell_test(pat_tell *t, void *all, bool *moved, bool *done)
{
    int rc = pat_tell_pass(t, moved);
    *done = rc == MPI_SUCCESS && t->num_known == t->who.num_ranks;
    if (*done)
        copy_by_rank(t, all);
    return rc;
}

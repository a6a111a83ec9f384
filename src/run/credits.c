/*
 * credits.c — see credits.h. Why nobody waits here for a rank that does not come: docs/epochs.md.
 */
#include "credits.h"

#include <errno.h>

#include "algorithms.h"
#include "error.h"
#include "pace.h"
#include "runtime.h"

/* Between looks of a rank that always finds its own messages there: a look costs more than a round's messages. */
enum { CALLS_PER_LOOK = 4 };

void pat_credits_count(pat_credits *k, int64_t bytes)
{
    k->calls++;
    k->bytes += bytes;
    k->last = k->calls >= PAT_CREDIT_CALLS || k->bytes >= PAT_CREDIT_BYTES;
}

void pat_credits_end_epoch(pat_credits *k)
{
    pat_credits_count(k, PAT_CREDIT_BYTES);
}

bool pat_credits_hold(const pat_credits *k)
{
    return k->last && pat_credits_under_way(k);
}

int pat_credits_look_driving(pat_credits *k, bool *moved)
{
    if (!pat_credits_under_way(k) || k->failed != MPI_SUCCESS)
        return k->failed;
    k->failed = pat_round_look(&k->round, moved);
    if (k->failed == MPI_SUCCESS && pat_round_is(&k->round, PAT_ROUND_OVER))
        pat_round_end(&k->round);
    return k->failed;
}

int pat_credits_look(pat_credits *k, bool *moved)
{
    if (!pat_credits_under_way(k))
        return MPI_SUCCESS;
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = pat_credits_look_driving(k, moved);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

static int start_round(pat_credits *k)
{
    int error = k->plan.num_nodes > 0 ? 0 : pat_meet_plan(k->members.size, k->members.rank, &k->plan);
    int rc = error ? pat_error(MPI_ERR_NO_MEM, "the round that keeps %d ranks together cannot be made: %s",
                               k->members.size, pat_exec_reason(error))
                   : pat_round_make_of(&k->round, &k->members, &k->plan, "credits", k->tags);
    if (rc != MPI_SUCCESS)
        return rc;
    k->started = true;
    pthread_rwlock_rdlock(&pat_rt.driving);
    rc = pat_round_arrive(&k->round, NULL, NULL, NULL);
    pthread_rwlock_unlock(&pat_rt.driving);
    if (rc != MPI_SUCCESS)
        k->failed = rc;
    return rc;
}

/* Look for as long as something moves: what this rank has sent is over first, and a round has few messages. */
static int look_on(pat_credits *k)
{
    int rc = MPI_SUCCESS;
    for (bool moved = true; rc == MPI_SUCCESS && moved;) {
        moved = false;
        rc = pat_credits_look(k, &moved);
    }
    return rc;
}

int pat_credits_pass(pat_credits *k)
{
    if (!k->last)
        return k->calls % CALLS_PER_LOOK == 0 ? look_on(k) : MPI_SUCCESS;
    k->last = false;
    k->calls = 0;
    k->bytes = 0;
    return start_round(k);
}

bool pat_credits_wake(pat_credits *k)
{
    return pat_credits_under_way(k) && !atomic_exchange(&k->watched, true);
}

int64_t pat_credits_next_look(pat_credits *k, bool moved, int64_t now)
{
    if (moved || k->started)
        k->moved_ns = now;
    const bool more = pat_credits_under_way(k) || k->started;
    if (!more)
        atomic_store(&k->watched, false);
    k->started = false;
    return pat_pace_credits(now, k->moved_ns, pat_credits_under_way(k), more);
}

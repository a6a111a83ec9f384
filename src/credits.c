/*
 * credits.c — see credits.h. Why nobody waits here for a rank that does not come: docs/epochs.md.
 */
#include "credits.h"

#include <errno.h>

#include "algorithms.h"
#include "comm.h"
#include "epoch.h"
#include "error.h"
#include "pace.h"
#include "runtime.h"
#include "wait.h"

/* Between looks of a rank that always finds its own messages there: a look costs more than a round's messages. */
enum { CALLS_PER_LOOK = 4 };

void pat_credits_count(pat_comm *c, int64_t bytes)
{
    pat_credits *k = &c->credits;
    k->calls++;
    k->bytes += bytes;
    k->last = k->calls >= PAT_CREDIT_CALLS || k->bytes >= PAT_CREDIT_BYTES;
}

void pat_credits_end_epoch(pat_comm *c)
{
    pat_credits_count(c, PAT_CREDIT_BYTES);
}

bool pat_credits_hold(const pat_comm *c)
{
    return c->credits.last && c->credits.exec;
}

int pat_credits_look_driving(pat_comm *c, bool *moved)
{
    pat_credits *k = &c->credits;
    if (!k->exec || k->failed != MPI_SUCCESS)
        return k->failed;
    k->failed = pat_exec_progress(k->exec, moved);
    if (k->failed == MPI_SUCCESS && pat_exec_done(k->exec)) {
        pat_exec_free(k->exec);
        k->exec = NULL;
    }
    return k->failed;
}

int pat_credits_look(pat_comm *c, bool *moved)
{
    if (!c->credits.exec)
        return MPI_SUCCESS;
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = pat_credits_look_driving(c, moved);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

static int start_round(pat_comm *c)
{
    pat_credits *k = &c->credits;
    int error = k->plan.num_nodes > 0 ? 0 : pat_meet_plan(c->size, c->rank, &k->plan);
    if (!error)
        error = pat_exec_create(&k->exec, &k->plan, c->own, pat_comm_tags(c, PAT_SLOT_CREDITS));
    if (error)
        return pat_error(MPI_ERR_NO_MEM, "the round that keeps %d ranks together cannot be made: %s", c->size,
                         pat_exec_reason(error));
    k->started = true;
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = pat_exec_arrive(k->exec, NULL, NULL, NULL);
    pthread_rwlock_unlock(&pat_rt.driving);
    if (rc != MPI_SUCCESS)
        k->failed = rc;
    return rc;
}

int pat_credits_pass(pat_comm *c)
{
    pat_credits *k = &c->credits;
    bool moved;
    if (!k->last)
        return k->calls % CALLS_PER_LOOK == 0 ? pat_credits_look(c, &moved) : MPI_SUCCESS;
    k->last = false;
    k->calls = 0;
    k->bytes = 0;
    return start_round(c);
}

int pat_credits_hold_and_pass(pat_comm *c)
{
    int rc = pat_wait_while(c, pat_credits_hold, pat_epoch_look);
    return rc == MPI_SUCCESS ? pat_credits_pass(c) : rc;
}

bool pat_credits_wake(pat_comm *c)
{
    return c->credits.exec && !atomic_exchange(&c->credits.watched, true);
}

int64_t pat_credits_next_look(pat_comm *c, bool moved, int64_t now)
{
    pat_credits *k = &c->credits;
    if (moved || k->started)
        k->moved_ns = now;
    const bool more = k->exec || k->started;
    if (!more)
        atomic_store(&k->watched, false);
    k->started = false;
    return pat_pace_credits(now, k->moved_ns, k->exec, more);
}

static bool under_way(const pat_comm *c)
{
    return c->credits.exec;
}

int pat_credits_end(pat_comm *c)
{
    atomic_store(&c->credits.watched, false);
    return pat_wait_while(c, under_way, pat_credits_look);
}

/*
 * leave.c — see leave.h.
 */
#include "leave.h"

#include "ahead.h"
#include "arrivals.h"
#include "comm_local.h"
#include "epoch.h"
#include "estimates.h"
#include "nbc.h"
#include "runtime.h"
#include "select.h"
#include "settle.h"
#include "wait.h"

/* ---- What has been called on it is ended first: all members have called it, or will ---------------------- */

/* Another member may free it only after a PAT_UseAlg, so this does not depend on the algorithm in use. When the library ends all have settled. */
static bool members_wait(const pat_comm *c)
{
    return c->usable && c->background && !pat_rt.settled;
}

/* The round of a request that the program has started and not waited for: what PAT_Wait would have learnt, since a rank where it fails does. */
static void finish_started(pat_comm *c)
{
    int rc = pat_epoch_wait(c);
    if (rc == MPI_SUCCESS && c->hold.started && !pat_rt.settled && c->lane && c->lane->by_request)
        pat_arrivals_heard(c, c->lane, false);
}

/* Of what members say of their next call the rest comes in the background. */
static void tell_of_failed_call(pat_comm *c)
{
    pat_settle_tell(c, !members_wait(c));
    pat_settle_failed_call(c);
}

/*
 * Whoever waits looks at non-blocking calls anyway. Before the others come here they may wait for the round of a request that the program has started and
 * not waited for.
 */
static int look_at_started(pat_comm *c, bool *moved)
{
    int rc = pat_credits_look(&c->credits, moved);
    return rc == MPI_SUCCESS && c->phase != PAT_IDLE && c->failure.code == MPI_SUCCESS
               ? pat_epoch_progress(c, moved)
               : rc;
}

/*
 * After an error, and only then, the members may still be telling each other how they are reached, on the communicator that is about to go, and MPI libraries may stumble over
 * what is left of that. It is a short message from each, and is waited for, but not for ever: a member may not come any more.
 */
static void end_contact(pat_comm *c)
{
    static const int64_t PATIENCE_NS = 1000000000;
    bool moved = false;
    pat_rest rest = pat_runtime_rest_begin();
    const int64_t end_ns = rest.moved_ns + PATIENCE_NS;
    while (pat_contact_exposed(&c->contact) && pat_clock_local_ns() < end_ns &&
           pat_comm_look_local(c, true, &moved) == MPI_SUCCESS)
        pat_runtime_rest(&rest, false);
}

static void end_calls(pat_comm *c)
{
    pat_comm_ended(c, pat_wait_while(c, pat_settle_started_under_way, look_at_started));
    pat_nbc_fail(c);
    end_contact(c);
    if (c->failure.code == MPI_SUCCESS)
        pat_comm_ended(c, pat_select_hear(c));
    if (c->usable && c->failure.code == MPI_SUCCESS)
        finish_started(c);
    if (c->failure.code != MPI_SUCCESS)
        tell_of_failed_call(c);
}

/* ---- Then this rank leaves -------------------------------------------------------------------------------- */

/* Nobody calls any more, so rounds that were prepared without estimates are forgotten; and an opened request's buffer is the program's again. */
static void leave(pat_comm *c)
{
    atomic_store(&c->edge, false);
    pat_comm_is_used_no_more(c);
    pat_epoch_drop_ahead(c);
    if (pat_comm_is_local(c))
        pat_comm_ended(c, pat_ahead_drop(c));
    if (c->failure.code == MPI_SUCCESS)
        pat_epoch_release_holder(c);
    c->hold = (pat_hold){0};
    c->leave = members_wait(c) ? PAT_LEAVE_SAID : PAT_LEAVE_OVER;
    if (c->leave == PAT_LEAVE_SAID)
        pat_comm_ended(c, pat_estimates_say_no_call(c));
}

/* Whoever has taken it out of the list frees it. */
static void free_unlisted(pat_comm *c)
{
    pat_comm_lock(c);
    if (!pat_comm_is_dead(c))
        leave(c);
    pat_comm_unlock(c);
    if (!pat_comm_stays(c) && !pat_comm_is_local(c))
        PMPI_Comm_free(&c->own);
    if (pat_comm_stays(c) && pat_comm_is_local(c))
        atomic_store(&pat_rt.world_stays, true);
    pat_comm_unref(c);
}

void pat_leave_free(pat_comm *c)
{
    if (pat_comm_unlist(c))
        free_unlisted(c);
}

bool pat_leave_end(pat_comm *c)
{
    if (pthread_mutex_trylock(&pat_rt.keep) != 0)
        return false;
    const bool was_listed = pat_comm_unlist(c);
    pthread_mutex_unlock(&pat_rt.keep);
    if (was_listed)
        free_unlisted(c);
    return true;
}

void pat_leave_look(pat_comm *c, bool *moved)
{
    bool done;
    if (c->leave != PAT_LEAVE_SAID || pthread_mutex_trylock(&pat_rt.keep) != 0)
        return; /* who settles all communicators does it with this one too */
    if (c->exchange.state == PAT_EXCHANGE_NONE)
        pat_comm_ended(c, pat_estimates_say_no_call(c));
    pat_settle_look(c, moved, &done);
    pthread_mutex_unlock(&pat_rt.keep);
}

bool pat_leave_when_idle(pat_comm *c)
{
    const bool failed = c->failure.code != MPI_SUCCESS,
               busy = pat_sample_owes(&c->sample) || pat_nbc_under_way(c) ||
                      (!failed &&
                       (pat_settle_started_under_way(c) || c->sample.under_way || c->phase != PAT_IDLE));
    if (!atomic_load(&c->freed) || pat_comm_is_dead(c) || busy || pthread_mutex_trylock(&pat_rt.keep) != 0)
        return false;
    if (failed)
        tell_of_failed_call(c);
    leave(c);
    pthread_mutex_unlock(&pat_rt.keep);
    return true;
}

/*
 * MPI_Comm_free and the end of the library both come here, on every member. No error is returned: the state is gone all the same, and MPI
 * would keep an attribute that leads nowhere. What has failed on the communicator was returned by the calls on it.
 *
 * MPICH may come later than that, when the last request on the communicator is over: in whatever call finds it over, one of this library among them. There nothing can be waited for, and
 * the background thread does it when nothing is under way.
 */
int pat_leave_comm_ends(MPI_Comm comm, int keyval, void *attr, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    pat_comm *c = attr;
    const int64_t start_ns = pat_clock_local_ns();
    if (pat_thread_is_self() || pat_comm_holds_any()) {
        atomic_store(&c->freed, true);
        if (pat_rt.thread)
            pat_thread_kick(pat_rt.thread);
        return MPI_SUCCESS;
    }
    pat_comm_lock(c);
    atomic_store(&c->credits.watched, false);
    end_calls(c);
    leave(c);
    const bool over = c->leave == PAT_LEAVE_OVER, frees = over && pat_comm_unlist(c);
    pat_comm_unlock(c);
    if (frees) /* else the thread does, if it is over: *c may be gone */
        free_unlisted(c);
    else if (!over && pat_rt.thread)
        pat_thread_kick(pat_rt.thread);
    if (!pat_rt.settled) /* else it belongs to the end of the library */
        atomic_fetch_add(&pat_rt.state_ns, pat_clock_local_ns() - start_ns);
    return MPI_SUCCESS;
}

/*
 * settle.c — see settle.h.
 */
#include "settle.h"

#include "arrivals.h"
#include "comm_local.h"
#include "epoch.h"
#include "estimates.h"
#include "nbc.h"
#include "runtime.h"
#include "select.h"
#include "wait.h"

/* What is done with a communicator until *done. *moved becomes true if anything has moved. */
typedef int step_of(pat_comm *c, bool *moved, bool *done);

/* States for non-blocking calls have nothing to settle but these. */
static int end_started(pat_comm *c, bool *moved, bool *done);

static bool takes_part(const pat_comm *c, step_of *step)
{
    return !c->dead && !c->idle_settled &&
           (step == end_started ? c->usable || pat_comm_is_local(c) : c->usable);
}

/* Apply one step to every communicator until none says it wants more, or has failed in it. Returns the first error. */
static int for_all(step_of *step, bool failed_too)
{
    int rc = MPI_SUCCESS;
    pat_rest rest = pat_runtime_rest_begin();
    bool all_done;
    do {
        bool moved = false;
        all_done = true;
        for (pat_comm *c = pat_rt.comms; c; c = c->next) {
            bool done = true;
            pat_comm_lock(c);
            if (takes_part(c, step) && (failed_too || c->failure.code == MPI_SUCCESS)) {
                const int failed = step(c, &moved, &done);
                done = done || failed != MPI_SUCCESS;
                rc = rc != MPI_SUCCESS ? rc : failed;
            }
            if (done)
                c->idle_settled = true;
            pat_comm_unlock(c);
            all_done = all_done && done;
        }
        if (!all_done) /* another rank may wait for what only a communicator that is not looked at here can tell it */
            pat_runtime_rest(&rest, moved);
    } while (!all_done);
    for (pat_comm *c = pat_rt.comms; c; c = c->next) {
        pat_comm_lock(c);
        c->idle_settled = false;
        pat_comm_unlock(c);
    }
    return rc;
}

/* ---- Where something has failed: the others wait for what this rank tells them, or passes on, all the same ---------- */

static bool tells(const pat_comm *c)
{
    return pat_comm_tells(c);
}

static int look_at_nothing(pat_comm *c, bool *moved)
{
    (void)c;
    (void)moved;
    return MPI_SUCCESS;
}

/*
 * It learns from a measured call as they do, or it would not know that they go by estimates from now on. What is told no message comes in
 * for any more, so that its memory may go.
 */
static void tell_after_failure(pat_comm *c)
{
    bool moved = false;
    pat_wait_while(c, tells, look_at_nothing);
    if (c->sample.under_way)
        pat_select_look(c, &moved);
    pat_exchange_test(&c->exchange, &moved);
}

/* A call that goes by estimates has failed: for the others its epoch is over, and it may have been the last one that went by them. */
static void end_failed_call(pat_comm *c)
{
    if (c->exchange.state != PAT_EXCHANGE_DONE || c->phase == PAT_IDLE || !pat_comm_estimates(c, c->alg))
        return;
    pat_arrivals_heard(c, c->lane, c->left);
    pat_exchange_reset(&c->exchange);
}

/* The others may wait for what this rank says of its next call. */
static void say_no_call(pat_comm *c)
{
    end_failed_call(c);
    pat_estimates_contribute(c, pat_timekeeper_now_ns(&pat_rt.time), PAT_NO_CALL, false);
}

/* ---- All communicators ------------------------------------------------------------------------------------ */

static int finish_calls(pat_comm *c, bool *moved, bool *done)
{
    int rc = pat_epoch_progress(c, moved);
    *done = c->phase == PAT_IDLE;
    return rc;
}

static int begin_settling(pat_comm *c, bool *moved, bool *done)
{
    *moved = true;
    *done = true;
    if (!c->background)
        return MPI_SUCCESS;
    int rc = c->failure.code == MPI_SUCCESS ? pat_comm_ended(c, pat_epoch_settle_begin(c)) : MPI_SUCCESS;
    if (c->failure.code != MPI_SUCCESS)
        say_no_call(c);
    return rc;
}

static int step_settling(pat_comm *c, bool *moved, bool *done)
{
    *done = true;
    if (!c->background)
        return MPI_SUCCESS;
    int rc = c->failure.code == MPI_SUCCESS ? pat_comm_ended(c, pat_epoch_settle_step(c, moved, done))
                                            : MPI_SUCCESS;
    if (c->failure.code == MPI_SUCCESS)
        return rc;
    tell_after_failure(c);
    if (c->exchange.state == PAT_EXCHANGE_DONE)
        pat_exchange_reset(&c->exchange);
    return rc;
}

/* What is said of a measured call is taken in with the algorithm that ran it, on all ranks. */
static int hear(pat_comm *c, bool *moved, bool *done)
{
    (void)moved; /* it is over after one step */
    const bool had_failed = c->failure.code != MPI_SUCCESS;
    int rc = had_failed ? MPI_SUCCESS : pat_comm_ended(c, pat_select_hear(c));
    if (c->failure.code != MPI_SUCCESS)
        tell_after_failure(c);
    *done = true;
    return rc;
}

static int use(const pat_algorithm *alg)
{
    int rc = for_all(hear, true);
    pat_rt.patience = 0;
    atomic_store(&pat_rt.alg[alg->op], alg);
    for (pat_comm *c = pat_rt.comms; c; c = c->next) {
        pat_comm_lock(c);
        if (c->usable && !c->dead) {
            int rc_comm = pat_epoch_new_algorithm(c, alg->op);
            rc = rc != MPI_SUCCESS ? rc : rc_comm;
        }
        pat_comm_unlock(c);
    }
    if (pat_rt.thread)
        pat_thread_kick(pat_rt.thread);
    return rc;
}

int pat_settle(const pat_algorithm *next, bool *busy)
{
    int mine[2] = {0, 0}, any[2]; /* contributed to an exchange; a request is started */
    for (pat_comm *c = pat_rt.comms; c; c = c->next) {
        pat_comm_lock(c);
        mine[0] |= pat_epoch_withdraw_edge(c);
        mine[1] |= c->hold.started;
        pat_comm_unlock(c);
    }
    int rc = pat_runtime_agree(mine, any, 2);
    if (rc != MPI_SUCCESS)
        return rc;
    if (busy) {
        *busy = any[1];
        if (*busy)
            return MPI_SUCCESS;
    }
    if (any[1])
        rc = for_all(finish_calls, false);
    /* Hear first: what is thrown away follows from what was learnt of earlier calls, which is to be the same on all ranks. */
    step_of *const steps[] = {hear, begin_settling, step_settling};
    for (int i = 0; any[0] && i < 3;
         i++) { /* after an error too: the other ranks do so, and wait for what this one says */
        const int failed = for_all(steps[i], true);
        rc = rc != MPI_SUCCESS ? rc : failed;
    }
    const int failed = next ? use(next) : MPI_SUCCESS;
    return rc != MPI_SUCCESS ? rc : failed;
}

static bool started_under_way(const pat_comm *c)
{
    return pat_credits_under_way(&c->credits) || pat_nbc_under_way(c);
}

/* Its members have all started the same, and each now looks after what it has to pass on. */
static int end_started(pat_comm *c, bool *moved, bool *done)
{
    int rc = pat_credits_look(&c->credits, moved);
    if (rc == MPI_SUCCESS && pat_nbc_under_way(c))
        rc = pat_nbc_look(c, moved);
    if (rc != MPI_SUCCESS)
        pat_nbc_fail(c);
    *done = !started_under_way(c) || rc != MPI_SUCCESS;
    return rc;
}

int pat_settle_started(void)
{
    return for_all(end_started, true);
}

/* Are ranks to tell each other that there is no call any more? */
static bool ends_by_estimates(const pat_comm *c)
{
    return c->usable && !c->dead && c->background && !pat_rt.settled &&
           (pat_runtime_estimates() || atomic_load(&c->listens));
}

static bool unsettled(const pat_comm *c)
{
    return !c->idle_settled;
}

static int look_at_settling(pat_comm *c, bool *moved)
{
    return pat_epoch_settle_step(c, moved, &c->idle_settled);
}

static int settle_sound(pat_comm *c)
{
    int rc = pat_epoch_settle_begin(c);
    c->idle_settled = false;
    if (rc == MPI_SUCCESS)
        rc = pat_wait_while(c, unsettled, look_at_settling);
    c->idle_settled = false;
    return rc;
}

/* The round of a request that the program has started and not waited for: what PAT_Wait would have learnt, since a rank where it fails does. */
static void finish_started(pat_comm *c)
{
    int rc = pat_epoch_wait(c);
    if (rc == MPI_SUCCESS && c->hold.started && !pat_rt.settled && c->lane && c->lane->by_request)
        pat_arrivals_heard(c, c->lane, false);
}

/* Settle a communicator that is about to go, if its epoch may have begun. */
static void settle_one(pat_comm *c)
{
    if (c->usable && !c->dead && c->failure.code == MPI_SUCCESS)
        finish_started(c);
    if (c->failure.code != MPI_SUCCESS) {
        tell_after_failure(c);
        end_failed_call(c);
    }
    if (!ends_by_estimates(c))
        return;
    if (c->failure.code == MPI_SUCCESS)
        pat_comm_ended(c, settle_sound(c));
    if (c->failure.code != MPI_SUCCESS) {
        say_no_call(c);
        tell_after_failure(c);
    }
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

/*
 * MPI_Comm_free and the end of the library both come here, on every member. No error is returned: the state is gone all the same, and MPI
 * would keep an attribute that leads nowhere. What has failed on the communicator was returned by the calls on it.
 */
int pat_settle_comm_ends(MPI_Comm comm, int keyval, void *attr, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    pat_comm *c = attr;
    bool moved, done;
    const int64_t start_ns = pat_clock_local_ns();
    pat_comm_lock(c);
    atomic_store(&c->credits.watched, false);
    pat_comm_ended(c, pat_wait_while(c, started_under_way, look_at_started));
    pat_nbc_fail(c);
    end_contact(c);
    hear(c, &moved, &done);
    settle_one(c);
    pat_comm_unlock(c);

    pat_comm_unlist(c);
    pat_comm_lock(c);
    pat_epoch_drop_ahead(c);
    c->dead = true;
    c->hold = (pat_hold){0};
    pat_comm_unlock(c);
    if (!pat_comm_stays(c) && !pat_comm_is_local(c))
        PMPI_Comm_free(&c->own);
    if (pat_comm_stays(c) && pat_comm_is_local(c))
        atomic_store(&pat_rt.world_stays, true);
    pat_comm_unref(c);
    if (!pat_rt.settled) /* else it belongs to the end of the library */
        atomic_fetch_add(&pat_rt.state_ns, pat_clock_local_ns() - start_ns);
    return MPI_SUCCESS;
}

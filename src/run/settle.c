/*
 * settle.c — see settle.h.
 */
#include "settle.h"

#include "arrivals.h"
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

/* And communicators that are freed have nothing but what their members tell each other: other members may not have freed them yet, and do the same. */
static int begin_settling(pat_comm *c, bool *moved, bool *done);
static int step_settling(pat_comm *c, bool *moved, bool *done);

static bool takes_part(const pat_comm *c, step_of *step)
{
    const bool ends = c->leave == PAT_LEAVE_SAID && (step == begin_settling || step == step_settling);
    if (c->idle_settled || (pat_comm_is_dead(c) && !ends))
        return false;
    return c->usable || (step == end_started && pat_comm_is_local(c));
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

static bool owes(const pat_comm *c)
{
    return pat_sample_owes(&c->sample);
}

static int look_at_nothing(pat_comm *c, bool *moved)
{
    (void)c;
    (void)moved;
    return MPI_SUCCESS;
}

void pat_settle_tell(pat_comm *c, bool all)
{
    bool moved = false;
    pat_wait_while(c, all ? tells : owes, look_at_nothing);
    if (c->sample.under_way)
        pat_select_look(c, &moved);
    pat_exchange_test(&c->exchange, &moved);
}

void pat_settle_failed_call(pat_comm *c)
{
    if (c->exchange.state != PAT_EXCHANGE_DONE || c->phase == PAT_IDLE || !pat_comm_estimates(c, c->alg))
        return;
    pat_arrivals_heard(c, c->lane, c->left);
    pat_exchange_reset(&c->exchange);
}

/* The others may wait for what this rank says of its next call. */
static void say_no_call(pat_comm *c)
{
    pat_settle_failed_call(c);
    pat_estimates_say_no_call(c);
}

/* As pat_epoch_settle_step; but nothing is thrown away any more: what MPI may still write to stays. The caller holds pat_rt.driving. */
static bool settles_after_failure(pat_comm *c, bool *moved)
{
    pat_comm_pass_on(c, true, moved);
    pat_exchange_test(&c->exchange, moved);
    if (pat_comm_tells(c))
        return false;
    const bool heard = c->exchange.state == PAT_EXCHANGE_DONE, earlier = heard && c->cut_short;
    bool over = !heard || pat_exchange_no_call(&c->exchange, PAT_CERTAIN);
    if (c->leave != PAT_LEAVE_NOT && (!heard || pat_exchange_no_call(&c->exchange, PAT_FOR_EVER)))
        c->leave = PAT_LEAVE_OVER;
    if (heard)
        pat_exchange_reset(&c->exchange);
    if (over &&
        earlier) { /* that was what all have said when settling failed here: the others are in the next epoch */
        c->cut_short = false;
        over = c->leave == PAT_LEAVE_OVER;
    }
    if (!over)
        pat_estimates_say_no_call(c);
    return over;
}

int pat_settle_look(pat_comm *c, bool *moved, bool *done)
{
    int rc = MPI_SUCCESS;
    *done = false;
    if (c->failure.code == MPI_SUCCESS)
        rc = pat_comm_ended(c, pat_epoch_settle_step(c, moved, done));
    if (c->failure.code != MPI_SUCCESS)
        *done = settles_after_failure(c, moved);
    return rc;
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
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = pat_settle_look(c, moved, done);
    pthread_rwlock_unlock(&pat_rt.driving);
    c->cut_short = c->cut_short || (rc != MPI_SUCCESS && !*done);
    return rc;
}

/* What is said of a measured call is taken in with the algorithm that ran it, on all ranks. */
static int hear(pat_comm *c, bool *moved, bool *done)
{
    (void)moved; /* it is over after one step */
    const bool had_failed = c->failure.code != MPI_SUCCESS;
    int rc = had_failed ? MPI_SUCCESS : pat_comm_ended(c, pat_select_hear(c));
    if (c->failure.code != MPI_SUCCESS)
        pat_settle_tell(c, true);
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
        if (c->usable && !pat_comm_is_dead(c)) {
            int rc_comm = pat_epoch_new_algorithm(c, alg->op);
            rc = rc != MPI_SUCCESS ? rc : rc_comm;
        }
        pat_comm_unlock(c);
    }
    if (pat_rt.thread)
        pat_thread_kick(pat_rt.thread);
    return rc;
}

static int settle(const pat_algorithm *next, bool *busy)
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
    const int num_steps = any[0] ? 3 : next ? 0 : 1; /* at the end of the library all hear */
    for (int i = 0; i < num_steps;
         i++) { /* after an error too: the other ranks do so, and wait for what this one says */
        const int failed = for_all(steps[i], true);
        rc = rc != MPI_SUCCESS ? rc : failed;
    }
    const int failed = next ? use(next) : MPI_SUCCESS;
    return rc != MPI_SUCCESS ? rc : failed;
}

/* The library ends, and every rank has settled: nobody waits for this one to say that it has freed a communicator. */
static void end_leaving(void)
{
    pat_rt.settled = true;
    for (pat_comm *c = pat_rt.comms; c; c = c->next) {
        pat_comm_lock(c);
        c->leave = c->leave == PAT_LEAVE_NOT ? PAT_LEAVE_NOT : PAT_LEAVE_OVER;
        pat_comm_unlock(c);
    }
}

int pat_settle(const pat_algorithm *next, bool *busy)
{
    pat_comm_keep();
    int rc = settle(next, busy);
    if (!next)
        end_leaving();
    pat_comm_keep_end();
    return rc;
}

bool pat_settle_started_under_way(const pat_comm *c)
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
    *done = !pat_settle_started_under_way(c) || rc != MPI_SUCCESS;
    return rc;
}

int pat_settle_started(void)
{
    pat_comm_keep();
    int rc = for_all(end_started, true);
    pat_comm_keep_end();
    return rc;
}

/*
 * visit.c — see visit.h. What is to be done follows from the communicator's state alone; when to come again is decided in
 * pace.c.
 */
#include "visit.h"

#include "ahead.h"
#include "epoch.h"
#include "error.h"
#include "estimates.h"
#include "invariant.h"
#include "leave.h"
#include "nbc.h"
#include "pace.h"
#include "runtime.h"
#include "select.h"

static void no_later(pat_visit *visit, int64_t when_ns)
{
    if (when_ns < visit->next_ns)
        visit->next_ns = when_ns;
}

/* Come again at `when_ns` or sooner, or when a socket tells, or a bell; heeds: also when ranks of this node have sent or taken data. */
static void come_again(pat_visit *visit, int64_t now, int64_t when_ns, bool heeds)
{
    const pat_pace_facts facts = {.came = visit->moved || visit->by_data,
                                  .sending = visit->sending,
                                  .calling = atomic_load(&pat_rt.callers) > 0};
    visit->watch = !facts.calling; /* or we would take from the caller what wakes it */
    visit->heeds = visit->heeds || heeds;
    no_later(visit, pat_pace_come_again(&facts, now, when_ns));
}

/* When to look for early data again where sockets do not tell. */
static int64_t next_look(const pat_comm *c, pat_round *round, int64_t now)
{
    const pat_exec *exec = round->exec;
    const bool estimates = pat_comm_estimates(c, pat_plan_cache_algorithm(round->plan));
    pat_pace_early early = pat_pace_early_none(estimates, round->moved_ns);
    for (int i = 0; i < pat_exec_num_in_flight(exec); i++) {
        int peer;
        int64_t bytes;
        if (!pat_exec_receiving(exec, i, &peer, &bytes))
            continue;
        int64_t from = estimates ? pat_timekeeper_local_ns(&pat_rt.time, c->exchange.all[peer].arrival_ns)
                                 : round->moved_ns;
        pat_pace_early_expect(&early, from, pat_link_tau_ns(&c->link, bytes));
    }
    return pat_pace_early_look(&early, now, &round->poll_ns);
}

static void note(pat_visit *visit, bool moved, bool came)
{
    visit->moved = visit->moved || moved;
    visit->came = visit->came || came;
}

/* Does a call wait for the communicator's lock? What this rank contributes comes with that call, which drives the communicator itself: so the thread leaves. */
static bool is_wanted(pat_comm *c)
{
    return atomic_load(&c->wanted) > 0;
}

/* What is looked at of a communicator, or of one of its lanes. */
typedef int look_at(pat_comm *c, pat_lane *lane, bool *moved);

/* Look until some looks in a row find nothing: see pat_pace_at_once. */
static int look_on(pat_comm *c, pat_lane *lane, look_at *look, pat_visit *visit, bool *moved)
{
    int rc = MPI_SUCCESS;
    *moved = false;
    for (int idle = 0; rc == MPI_SUCCESS && !is_wanted(c) && pat_pace_at_once(idle, pat_rt.looks);) {
        bool now_moved = false;
        rc = look(c, lane, &now_moved);
        idle = now_moved ? 0 : idle + 1;
        *moved = *moved || now_moved;
    }
    visit->drove = true;
    return rc;
}

static int look_at_prepared(pat_comm *c, pat_lane *lane, bool *moved)
{
    (void)c;
    return pat_round_look(lane->prepared, moved);
}

/* Drive the prepared round's early part. */
static int drive_early(pat_comm *c, pat_lane *lane, pat_visit *visit)
{
    bool moved;
    pat_round *round = lane->prepared;
    const int64_t received = pat_exec_get_stats(round->exec).bytes_received;
    int rc = look_on(c, lane, look_at_prepared, visit, &moved);
    note(visit, moved, pat_exec_get_stats(round->exec).bytes_received != received);
    if (rc == MPI_SUCCESS && pat_exec_expects_early(round->exec)) {
        int64_t now = pat_clock_local_ns();
        if (moved)
            round->moved_ns = now;
        visit->sending = visit->sending || pat_round_sending(round);
        come_again(visit, now,
                   pat_comm_is_told(c, visit->told) ? pat_pace_early_spare(now, round->moved_ns)
                                                    : next_look(c, round, now),
                   pat_exec_awaits_mates(round->exec));
    }
    return rc;
}

/* A request's round, and non-blocking calls. */
static int look_at_started(pat_comm *c, pat_lane *lane, bool *moved)
{
    (void)lane;
    int rc = c->pending ? pat_nbc_look_driving(c, moved) : MPI_SUCCESS;
    return rc == MPI_SUCCESS && c->phase != PAT_IDLE ? pat_epoch_progress_driving(c, moved) : rc;
}

/*
 * Does a thread of the program's drive it, in a call of MPI? It would only be held up where this one has the lock, and has to wait for a processor itself. But where
 * there are more ranks than processors the one in MPI may have to wait for that as well: on 4 x 4 ranks that shared two, all-gathers of 0.2 s then took up to
 * half a minute. What the MPI library runs goes on then as it does without this library.
 */
static bool is_driven(const pat_comm *c, int64_t now)
{
    return pat_comm_is_local(c) && (!pat_rt.crowded || pat_nbc_moves_only(c)) &&
           pat_pace_is_in_mpi(now, atomic_load_explicit(&pat_rt.looked_ns, memory_order_relaxed),
                              pat_rt.crowded);
}

static bool is_started(const pat_comm *c)
{
    return c->pending || c->phase != PAT_IDLE;
}

/* Drive what the application has started while it does something else. */
static int drive_started(pat_comm *c, pat_visit *visit)
{
    bool moved;
    int64_t now = pat_clock_local_ns();
    if (is_driven(c, now)) {
        c->driven_ns = c->driven_ns ? c->driven_ns : now;
        no_later(visit, pat_pace_in_mpi(now, c->driven_ns));
        return MPI_SUCCESS;
    }
    c->driven_ns = 0;
    int rc = look_on(c, NULL, look_at_started, visit, &moved);
    note(visit, moved, moved);
    if (rc == MPI_SUCCESS && is_started(c)) {
        now = pat_clock_local_ns();
        visit->sending = visit->sending || pat_nbc_sending(c) ||
                         (c->phase != PAT_IDLE && pat_round_sending(c->lane->current));
        come_again(visit, now, pat_pace_started(now, pat_comm_is_told(c, visit->told)), true);
    }
    return rc;
}

static int look_at_estimates(pat_comm *c, pat_lane *lane, bool *moved)
{
    (void)lane;
    return pat_estimates_hear(c, moved);
}

/* Tell the others when this rank will arrive, and hear from them. */
static int drive_exchange(pat_comm *c, pat_visit *visit)
{
    bool moved;
    const bool drove = visit->drove;
    const int64_t began_ns = pat_clock_local_ns();
    int rc = look_on(c, NULL, look_at_estimates, visit, &moved);
    note(visit, moved, moved);
    visit->drove = drove || c->exchange.state != PAT_EXCHANGE_NONE;
    if (rc == MPI_SUCCESS &&
        pat_estimates_due(c) > began_ns) /* what was due and is not posted is not asked for */
        no_later(visit, pat_estimates_due(c));
    if (rc == MPI_SUCCESS && c->exchange.state == PAT_EXCHANGE_POSTED) {
        int64_t now = pat_clock_local_ns();
        come_again(visit, now, pat_pace_estimates(now, c->exchange.posted_ns), false);
    }
    return rc;
}

static int look_at_credits(pat_comm *c, pat_lane *lane, bool *moved)
{
    (void)lane;
    return pat_credits_look_driving(&c->credits, moved);
}

/* Pass on what keeps the callers of operations with a root together. */
static int drive_credits(pat_comm *c, pat_visit *visit)
{
    bool moved = false;
    int rc =
        pat_credits_under_way(&c->credits) ? look_on(c, NULL, look_at_credits, visit, &moved) : MPI_SUCCESS;
    note(visit, moved, moved);
    int64_t now = pat_clock_local_ns(), next = pat_credits_next_look(&c->credits, moved, now);
    if (pat_credits_under_way(&c->credits))
        come_again(visit, now, next, true);
    else
        no_later(visit, next);
    return rc;
}

static int look_at_sample(pat_comm *c, pat_lane *lane, bool *moved)
{
    (void)lane;
    return pat_select_look_driving(c, moved);
}

/* When this rank's last measured call was over, by the local clock. */
static int64_t sample_ended_ns(const pat_comm *c)
{
    return pat_timekeeper_local_ns(&pat_rt.time, c->sample.mine.exit_ns);
}

/* What ranks say of a measured call; who runs the next one is not known before. */
static int drive_sample(pat_comm *c, pat_visit *visit)
{
    bool moved;
    const int64_t ended_ns = sample_ended_ns(c), first_ns = pat_pace_measured(ended_ns, ended_ns);
    if (!c->sample.sent &&
        pat_clock_local_ns() < first_ns) { /* others may still be in the call, on the same processor */
        no_later(visit, first_ns);
        return MPI_SUCCESS;
    }
    int rc = look_on(c, NULL, look_at_sample, visit, &moved);
    note(visit, moved, moved);
    if (rc == MPI_SUCCESS && c->sample.under_way) {
        int64_t now = pat_clock_local_ns();
        come_again(visit, now, pat_pace_measured(now, ended_ns), false);
    }
    return rc;
}

/* Get a lane's next round ready, if it is time, and drive it. */
static int visit_lane(pat_comm *c, pat_lane *lane, pat_visit *visit)
{
    if (pat_epoch_prepare(c, lane) != MPI_SUCCESS)
        return MPI_SUCCESS; /* no memory now: the call makes its plan itself */
    if (lane->prepared->exec)
        return drive_early(c, lane, visit);
    no_later(visit, pat_epoch_prepares_at(c, lane));
    return MPI_SUCCESS;
}

static int visit_comm(pat_comm *c, pat_visit *visit)
{
    int rc = MPI_SUCCESS;
    if (pat_credits_under_way(&c->credits) || atomic_load(&c->credits.watched))
        rc = drive_credits(c, visit);
    if (rc == MPI_SUCCESS && is_started(c))
        rc = drive_started(c, visit);
    if (rc == MPI_SUCCESS && c->sample.under_way)
        rc = drive_sample(c, visit);
    if (rc == MPI_SUCCESS && pat_comm_is_local(c) && !is_wanted(c)) {
        pat_ahead_make(c);
        if (pat_ahead_lane(c))
            rc = drive_early(c, pat_ahead_lane(c), visit);
    }
    if (rc != MPI_SUCCESS || pat_comm_is_local(c) || c->phase != PAT_IDLE || c->voiding ||
        c->sample.under_way || c->left)
        return rc;
    rc = drive_exchange(c, visit);
    for (int op = 0; op < PAT_NUM_OPS && rc == MPI_SUCCESS && !is_wanted(c); op++)
        rc = visit_lane(c, &c->lanes[op], visit);
    return rc;
}

/* Whatever else is done here, or has failed: others may wait for it. */
static void pass_on(pat_comm *c, pat_visit *visit)
{
    const bool failed = c->failure.code != MPI_SUCCESS;
    if (!pat_comm_tells(c))
        return;
    bool moved = false;
    int rc = pat_comm_pass_on(c, failed, &moved);
    note(visit, moved, moved);
    if (!failed)
        pat_comm_ended(c, rc);
    const int64_t now = pat_clock_local_ns();
    visit->drove = true;
    come_again(visit, now,
               pat_tell_is_over(&c->exchange.tell) ? pat_pace_measured(now, sample_ended_ns(c))
                                                   : pat_pace_estimates(now, c->exchange.posted_ns),
               false);
}

static int look_at_leaving(pat_comm *c, pat_lane *lane, bool *moved)
{
    (void)lane;
    pat_leave_look(c, moved);
    return MPI_SUCCESS;
}

/* The program has freed it; the other members may not have. */
static void visit_leaving(pat_comm *c, pat_visit *visit)
{
    bool moved;
    look_on(c, NULL, look_at_leaving, visit, &moved);
    note(visit, moved, moved);
    if (c->leave == PAT_LEAVE_SAID) {
        const int64_t now = pat_clock_local_ns();
        come_again(visit, now, pat_pace_estimates(now, c->exchange.posted_ns), false);
    }
}

void pat_visit_comm(pat_comm *c, pat_visit *visit)
{
    if (atomic_load(&c->foreground)) {
        if (atomic_load(&c->credits.watched)) { /* its caller may not kick */
            int64_t now = pat_clock_local_ns();
            no_later(visit, pat_pace_credits(now, now, false, true));
        }
        return;
    }
    if (is_wanted(c) || !pat_comm_trylock(c)) {
        visit->left_out = true;
        no_later(visit, pat_pace_soon(pat_clock_local_ns()));
        return;
    }
    pthread_rwlock_rdlock(&pat_rt.driving);
    pat_error_begin(); /* what fails here has nothing to do with what this thread has said before, nor with what it says next */
    if (!pat_comm_is_dead(c) || c->leave == PAT_LEAVE_SAID)
        pass_on(c, visit);
    if (!pat_comm_is_dead(c) && c->failure.code == MPI_SUCCESS)
        pat_comm_ended(c, visit_comm(c, visit));
    else if (!pat_comm_is_dead(c) && pat_nbc_under_way(c))
        drive_started(c, visit);
    if (c->leave == PAT_LEAVE_SAID)
        visit_leaving(c, visit);
    pat_nbc_fail(c);
    PAT_INVARIANT_HOLDS(c);
    pat_error_begin();
    pthread_rwlock_unlock(&pat_rt.driving);
    const bool leaves = pat_leave_when_idle(c);
    if (leaves || (atomic_load(&c->freed) && !pat_comm_is_dead(c))) /* nobody else wakes this thread for it */
        no_later(visit, pat_pace_soon(pat_clock_local_ns()));
    /* Whoever has made this visit short waits still, since the lock is not free yet. */
    const bool cut_short = is_wanted(c), gone = c->leave == PAT_LEAVE_OVER;
    pat_comm_unlock(c);
    if (cut_short || (gone && !pat_leave_end(c))) {
        visit->left_out = true;
        no_later(visit, pat_pace_soon(pat_clock_local_ns()));
    }
}

/*
 * Keep this rank's clock together with the others'. A round trip is the better known the sooner an answer is looked for, so looks follow at
 * once for a moment, without giving away the processor: the program would have it for longer than that. What MPI takes in here may be for a communicator.
 */
static void keep_time(pat_visit *visit)
{
    int64_t now = pat_clock_local_ns(), moved_ns = now;
    bool any = false;
    if (now < pat_timekeeper_next_ns(&pat_rt.time)) {
        no_later(visit, pat_timekeeper_next_ns(&pat_rt.time));
        return;
    }
    while (pat_timekeeper_meets(&pat_rt.time, now) && pat_pace_meeting_at_once(now, moved_ns)) {
        bool moved = false;
        pthread_rwlock_rdlock(&pat_rt.driving);
        pat_timekeeper_look(&pat_rt.time, &moved);
        pthread_rwlock_unlock(&pat_rt.driving);
        now = pat_clock_local_ns();
        moved_ns = moved ? now : moved_ns;
        any = any || moved;
    }
    if (any && visit->next_ns != PAT_NEVER)
        no_later(visit, pat_pace_soon(now));
    if (pat_timekeeper_meets(&pat_rt.time, now))
        come_again(visit, now, pat_timekeeper_next_ns(&pat_rt.time), false);
    else
        no_later(visit, pat_timekeeper_next_ns(&pat_rt.time));
}

/*
 * One visit: to every communicator, and to the clock. The runtime's lock is not held while one is driven, so that milestones never wait for a message.
 */
void pat_visit_all(void *unused, pat_visit *visit)
{
    (void)unused;
    visit->next_ns = PAT_NEVER;
    visit->watch = visit->heeds = visit->sending = visit->moved = visit->came = visit->drove =
        visit->left_out = false;
    bool cut_short;
    for (pat_comm *c = pat_comm_next(NULL, &cut_short); c; c = pat_comm_next(c, &cut_short))
        pat_visit_comm(c, visit);
    if (cut_short) { /* one was freed meanwhile: start again */
        visit->next_ns = pat_clock_local_ns();
        return;
    }
    /* MPI may have taken in for one communicator what was looked for on another. */
    if (visit->moved && visit->next_ns != PAT_NEVER) {
        int64_t soon = pat_pace_soon(pat_clock_local_ns());
        visit->next_ns = soon < visit->next_ns ? soon : visit->next_ns;
    }
    keep_time(visit);
}

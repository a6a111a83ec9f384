/*
 * epoch.c — see epoch.h. What is decided here follows only from values that all ranks share: the call's
 * bytes, the algorithm, the agreed link, and estimates that all ranks have received. Local time and local
 * luck decide only when a step is taken, never which.
 */
#include "epoch.h"

#include <stdlib.h>
#include <string.h>

#include "arrivals.h"
#include "bring.h"
#include "early.h"
#include "ensure.h"
#include "error.h"
#include "estimates.h"
#include "pace.h"
#include "runtime.h"
#include "select.h"
#include "trace.h"
#include "wait.h"

/* ---- Rounds before the call ----------------------------------------------------------------------------- */

/* What moves in the call alone has one slot for all its calls. */
static pat_tags tags_of(const pat_comm *c, const pat_lane *lane, bool as_prepared)
{
    if (!pat_collective_of(lane->op)->moves_early)
        return c->call_tags;
    return pat_comm_tags(c, lane->first_slot + pat_guess_slot(lane->epoch, as_prepared));
}

static const int *from_root(const pat_comm *c, int root)
{
    for (int i = 0; i < c->size; i++)
        c->from_root[i] = (root + i) % c->size;
    return c->from_root;
}

static int make(pat_comm *c, pat_lane *lane, pat_round *round, const pat_algorithm *alg, pat_blocks blocks,
                bool as_prepared)
{
    const pat_members members = pat_comm_members(c);
    pat_job job = pat_comm_job(c, lane, &c->link, blocks.bytes);
    job.starts = blocks.starts;
    if (pat_arrivals_expected(c, lane, alg, blocks.bytes))
        job.arrival_ns = c->arrival_ns;
    job.element_bytes = blocks.element_bytes;
    if (pat_collective_of(lane->op)->rooted) {
        job.order = from_root(c, blocks.root);
        job.node_of = NULL; /* which is by the places of another order */
    }
    pat_comm_explain_plan(c, lane, alg, &job);
    return pat_round_make(round, &members, alg, &job, c->rank, tags_of(c, lane, as_prepared));
}

/* A lane's next round: for which call, and with which algorithm. */
typedef struct pat_next_round {
    const pat_algorithm *alg;
    pat_blocks blocks;
} pat_next_round;

/* What decides whether it is to be made (pat_guess_prepares), but for whether PAT_Open is overdue. */
static pat_guess_lane facts_of(pat_comm *c, const pat_lane *lane, pat_next_round *next)
{
    if (!pat_collective_of(lane->op)->moves_early)
        return (pat_guess_lane){.guessed = false};
    next->alg = pat_estimates_algorithm(c, lane);
    next->blocks = pat_estimates_expected(c, lane, next->alg);
    return (pat_guess_lane){.basis = pat_comm_basis(c, next->alg),
                            .guessed = next->blocks.bytes > 0,
                            .by_request = lane->by_request,
                            .open = c->hold.open != NULL,
                            .prepared = lane->prepared->exec != NULL};
}

static bool is_overdue(const pat_lane *lane, int64_t now_ns)
{
    return lane->open_by_ns > 0 && now_ns >= lane->open_by_ns;
}

int64_t pat_epoch_prepares_at(pat_comm *c, const pat_lane *lane)
{
    pat_next_round next;
    pat_guess_lane facts = facts_of(c, lane, &next);
    if (pat_guess_prepares(&facts))
        return 0;
    facts.overdue = true;
    return lane->open_by_ns > 0 && pat_guess_prepares(&facts) ? lane->open_by_ns : INT64_MAX;
}

int pat_epoch_prepare(pat_comm *c, pat_lane *lane)
{
    pat_next_round next = {.alg = NULL};
    pat_guess_lane facts = facts_of(c, lane, &next);
    facts.overdue = is_overdue(lane, pat_clock_local_ns());
    if (!pat_guess_prepares(&facts))
        return MPI_SUCCESS;
    int rc = make(c, lane, lane->prepared, next.alg, next.blocks, true);
    if (rc == MPI_SUCCESS)
        pat_early_land(c, lane);
    return rc;
}

int pat_epoch_release_holder(pat_comm *c)
{
    pat_lane *lane = &c->lanes[c->hold.op];
    if (lane->landed_in_holder && pat_round_is(lane->prepared, PAT_ROUND_EARLY)) {
        int rc = pat_comm_failed(c);
        if (rc == MPI_SUCCESS)
            rc = pat_comm_ended(c, pat_early_leave_holder(c, lane));
        if (rc != MPI_SUCCESS)
            return rc; /* MPI may still write to the request's buffer: it stays the holder */
    }
    lane->landed_in_holder = false;
    c->hold = (pat_hold){0};
    return MPI_SUCCESS;
}

int pat_epoch_drop_ahead(pat_comm *c)
{
    int rc = MPI_SUCCESS;
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        int rc_lane = pat_early_drop_ahead(c, &c->lanes[op]);
        rc = rc != MPI_SUCCESS ? rc : rc_lane;
    }
    return rc;
}

/* Throw a lane's prepared round away, which no rank will call: every rank finds the same and does the same. */
static int void_prepared(pat_comm *c, pat_lane *lane, const pat_algorithm *alg)
{
    int rc = MPI_SUCCESS;
    const pat_blocks blocks = pat_estimates_expected(c, lane, alg);
    const enum pat_void how =
        pat_guess_void(pat_comm_basis(c, alg), blocks.bytes > 0, lane->prepared->exec != NULL);
    if (how == PAT_VOID_MADE_FIRST)
        rc = make(c, lane, lane->prepared, alg, blocks, true);
    if (rc != MPI_SUCCESS || how == PAT_VOID_NOTHING)
        return rc;
    c->voiding = lane;
    atomic_fetch_add_explicit(&pat_rt.plans_void, 1, memory_order_relaxed);
    return pat_round_void(lane->prepared);
}

/* What was prepared for a call that goes by estimates is run by whom they were found to ask for, which need not be who runs this one. */
static const pat_algorithm *prepared_with(pat_comm *c)
{
    return c->lane->by_estimates ? pat_estimates_algorithm(c, c->lane) : c->alg;
}

/* The same, of the lane that a rule names. */
static int throw_away(pat_comm *c, enum pat_voids voids)
{
    pat_lane *said = pat_estimates_announced(c);
    if (voids == PAT_VOIDS_OWN)
        return void_prepared(c, c->lane, prepared_with(c));
    return voids == PAT_VOIDS_ANNOUNCED ? void_prepared(c, said, pat_estimates_algorithm(c, said))
                                        : MPI_SUCCESS;
}

static int progress_voiding(pat_comm *c, bool *moved)
{
    int rc = pat_round_look(c->voiding->prepared, moved);
    if (rc == MPI_SUCCESS && pat_round_is(c->voiding->prepared, PAT_ROUND_EMPTY)) {
        pat_early_release(c->voiding);
        c->voiding = NULL;
    }
    return rc;
}

/* ---- The call ----------------------------------------------------------------------------------------- */

static void end_epoch(pat_lane *lane)
{
    lane->epoch++;
    lane->landed_in_holder = false;
}

/* A call in a lane is over, or none has come: NULL. Where it went by estimates, what they have said is over too. */
static void next_epoch(pat_comm *c, pat_lane *lane, enum pat_basis basis)
{
    if (pat_guess_ends_announced(basis, pat_estimates_announced_to(c, lane)))
        end_epoch(pat_estimates_announced(c));
    if (lane)
        end_epoch(lane);
    if (basis == PAT_BASIS_ESTIMATES)
        pat_exchange_reset(&c->exchange);
}

/* Is the round that was prepared the one that is called? What no rank will call any more is thrown away. */
static int settle_guess(pat_comm *c, pat_blocks blocks, bool *as_prepared)
{
    const pat_blocks guess = pat_estimates_expected(c, c->lane, prepared_with(c));
    const enum pat_match match = guess.bytes == PAT_NO_CALL                ? PAT_MATCH_NONE
                                 : pat_blocks_same(guess, blocks, c->size) ? PAT_MATCH_RIGHT
                                                                           : PAT_MATCH_WRONG;
    const pat_guess_outcome outcome =
        pat_guess_call(pat_comm_basis(c, c->alg), pat_estimates_announced_to(c, c->lane), match);
    *as_prepared = outcome.as_prepared;
    return throw_away(c, outcome.voids);
}

/* All have said when they come: who runs the call? A request that was started cannot be left to the MPI library any more. */
static int choose_said(pat_comm *c)
{
    const pat_algorithm *alg = c->said, *const contender = c->alg;
    int rc = MPI_SUCCESS;
    if (!pat_estimates_chosen(c))
        rc = pat_select_said(c, c->lane, c->call.mean_bytes, &alg);
    c->left = rc == MPI_SUCCESS && !alg->build && !c->hold.started;
    c->alg = rc == MPI_SUCCESS && alg->build ? alg : contender;
    pat_runtime_count(c->left ? alg : c->alg);
    return rc;
}

/* The call under way, and its round. */
static pat_work work_of(pat_comm *c)
{
    return (pat_work){c->lane->op, c->lane->current, &c->call, &c->lane->pack};
}

static int bring(pat_comm *c, char **home, const char **own)
{
    const pat_work work = work_of(c);
    return pat_bring_buffers(c, &work, home, own);
}

/* The plan is known: bring the application's buffers and let it run. */
static int start_round(pat_comm *c)
{
    pat_lane *lane = c->lane;
    char *home = NULL;
    const char *own = NULL;
    bool as_prepared;
    int rc = lane->by_estimates ? choose_said(c) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = settle_guess(c, pat_blocks_of(&c->call), &as_prepared);
    if (rc != MPI_SUCCESS || c->left)
        return rc;
    if (as_prepared && lane->prepared->exec) {
        pat_round *spare = lane->current;
        lane->current = lane->prepared;
        lane->prepared = spare;
    } else {
        rc = make(c, lane, lane->current, c->alg, pat_blocks_of(&c->call), as_prepared);
    }
    if (rc == MPI_SUCCESS)
        rc = bring(c, &home, &own);
    if (rc != MPI_SUCCESS)
        return rc;
    if (c->call.element_bytes > 0)
        pat_exec_reduces(lane->current->exec, c->call.recvtype, c->call.op);
    const int64_t now_ns = pat_clock_local_ns();
    lane->offset_ns = pat_timekeeper_offset_ns(&pat_rt.time, now_ns);
    lane->mine.arrival_ns = now_ns + lane->offset_ns;
    return pat_round_arrive(lane->current, home, own, &lane->mine);
}

static int remember(pat_comm *c, pat_lane *lane, pat_blocks blocks)
{
    if (pat_shapes_note(&lane->shapes, blocks, c->size) != 0)
        return pat_error(MPI_ERR_NO_MEM, "no memory for the lengths of %d blocks", c->size);
    pat_comm_called(c, lane->op);
    return MPI_SUCCESS;
}

/* What was to be settled before the MPI library runs the call is settled. */
static int finish_left(pat_comm *c)
{
    const enum pat_basis basis = pat_comm_basis(c, c->alg);
    int rc = remember(c, c->lane, pat_blocks_of(&c->call));
    if (rc != MPI_SUCCESS)
        return rc;
    pat_arrivals_heard(c, c->lane, true);
    next_epoch(c, c->lane, basis);
    return MPI_SUCCESS;
}

static int finish_round(pat_comm *c)
{
    pat_lane *lane = c->lane;
    const pat_blocks blocks = pat_blocks_of(&c->call);
    const pat_work work = work_of(c);
    int rc = pat_bring_back(c, &work), rc_note = MPI_SUCCESS;
    if (pat_rt.trace)
        pat_trace_round(pat_rt.trace, c);
    rc_note = pat_select_note(c, lane, pat_exec_carried(lane->current->exec), blocks.mean_bytes);
    pat_round_end(lane->current);
    pat_early_release(lane);
    if (rc == MPI_SUCCESS)
        rc = remember(c, lane, blocks);
    if (rc == MPI_SUCCESS)
        rc = rc_note;
    const enum pat_basis basis = pat_comm_basis(c, c->alg);
    if (rc == MPI_SUCCESS)
        rc = pat_arrivals_over(c, lane, c->alg, blocks.bytes);
    if (rc != MPI_SUCCESS)
        return rc;
    lane->open_by_ns = lane->by_request ? pat_pace_open(pat_clock_local_ns(), false) : 0;
    /* Of a request's round PAT_Wait says it: such a round ends at another point of the program on every rank. */
    if (!c->hold.started)
        pat_arrivals_heard(c, lane, false);
    next_epoch(c, lane, basis); /* of the call that is over, whatever the next one goes by */
    return MPI_SUCCESS;
}

/*
 * Something has happened to the communicator's call: do what the table in transition.c says. A call that broke off stays where it is: it is
 * never over, and whoever waits for it is told of the error. Its buffers may be the application's again.
 */
static int happens(pat_comm *c, enum pat_call_event event)
{
    const pat_step step = pat_transition_call(c->phase, event);
    int rc = MPI_SUCCESS;
    PAT_ENSURE(step.act != PAT_DO_NEVER);
    if (step.act == PAT_DO_SAY_CALL)
        rc = pat_estimates_contribute(c, pat_timekeeper_now_ns(&pat_rt.time),
                                      pat_estimates_token(c, c->lane, pat_blocks_of(&c->call)), PAT_CERTAIN);
    else if (step.act == PAT_DO_SAY_NO_CALL)
        rc = pat_estimates_say_no_call(c);
    else if (step.act == PAT_DO_START)
        rc = start_round(c);
    else if (step.act == PAT_DO_FINISH)
        rc = c->left ? finish_left(c) : finish_round(c);
    if (rc == MPI_SUCCESS)
        c->phase = step.phase;
    return rc;
}

int pat_epoch_new_algorithm(pat_comm *c, enum pat_op op)
{
    int rc = pat_early_new_epoch(
        c, &c->lanes[op]); /* first: what the old one prepared without estimates is forgotten */
    pat_arrivals_chooses(c, &c->lanes[op], atomic_load(&pat_rt.alg[op])->chooses);
    return rc;
}

static int begin(pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    int rc = pat_comm_failed(c);
    if (rc != MPI_SUCCESS)
        return rc;
    c->lane = &c->lanes[alg->op];
    c->call = *call;
    c->alg = alg;
    c->left = false;
    c->called_ns = pat_rt.trace ? pat_clock_local_ns() : 0;
    atomic_store(&c->edge, false); /* this call speaks for itself */
    pat_estimates_called(c, pat_timekeeper_now_ns(&pat_rt.time));
    rc = happens(c, pat_comm_estimates(c, alg) ? PAT_CALL_BY_ESTIMATES : PAT_CALL);
    return pat_comm_ended(c, rc);
}

int pat_epoch_begin(pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = begin(c, call, alg);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

int pat_epoch_progress_driving(pat_comm *c, bool *moved)
{
    int rc = pat_comm_failed(c);
    if (rc != MPI_SUCCESS)
        return rc;
    if (c->phase == PAT_AWAIT_ESTIMATES) {
        rc = pat_estimates_test(c, moved);
        if (rc == MPI_SUCCESS && c->exchange.state == PAT_EXCHANGE_DONE) {
            *moved = true;
            rc = happens(c, PAT_ALL_SAID);
        }
    }
    if (rc == MPI_SUCCESS && c->phase == PAT_RUNNING) {
        rc = c->left ? MPI_SUCCESS : pat_round_look(c->lane->current, moved);
        if (rc == MPI_SUCCESS && c->voiding)
            rc = progress_voiding(c, moved);
        if (rc == MPI_SUCCESS && !c->voiding && (c->left || pat_round_is(c->lane->current, PAT_ROUND_OVER)))
            rc = happens(c, PAT_ALL_OVER);
    }
    return pat_comm_ended(c, rc);
}

int pat_epoch_progress(pat_comm *c, bool *moved)
{
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = pat_epoch_progress_driving(c, moved);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

bool pat_epoch_goes_on(pat_comm *c)
{
    bool more = c->phase != PAT_IDLE || atomic_load(&pat_rt.num_pending) > 0 ||
                c->exchange.state != PAT_EXCHANGE_NONE || c->sample.under_way || atomic_load(&c->edge);
    for (int op = 0; op < PAT_NUM_OPS && !more; op++)
        more = c->lanes[op].prepared->exec || pat_epoch_prepares_at(c, &c->lanes[op]) < INT64_MAX;
    return more;
}

/*
 * May early data of this lane be taken in now? Between calls; and while this rank waits in a gather by estimates, if the lane's next call is
 * guessed by the last ones: what estimates announce is this call's to use or to throw away. Not beside a started request.
 */
static bool takes_early(pat_comm *c, const pat_lane *lane)
{
    return c->phase == PAT_IDLE || (pat_collective_of(c->lane->op)->rooted && lane != c->lane &&
                                    pat_comm_ahead(c, pat_estimates_algorithm(c, lane)));
}

/*
 * While this rank waits in a call with a root the thread is shut out, and others may have to wait until it takes early data in. Without
 * memory now the call makes its plan itself.
 */
static void prepare_what_is_due(pat_comm *c)
{
    if (c->voiding || c->sample.under_way || c->left)
        return;
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        pat_lane *lane = &c->lanes[op];
        if (takes_early(c, lane) && !lane->prepared->exec && lane->shapes.guess.bytes > 0 &&
            pat_epoch_prepare(c, lane) != MPI_SUCCESS)
            pat_error_begin();
    }
}

int pat_epoch_look(pat_comm *c, bool *moved)
{
    int rc = pat_comm_failed(c);
    pthread_rwlock_rdlock(&pat_rt.driving);
    /* Until a measured call is learnt from nothing is prepared, and this rank may wait here for long. */
    if (rc == MPI_SUCCESS)
        rc = pat_comm_ended(c, pat_select_look_driving(c, moved));
    if (rc == MPI_SUCCESS)
        prepare_what_is_due(c);
    if (rc == MPI_SUCCESS && c->phase != PAT_IDLE)
        rc = pat_epoch_progress_driving(c, moved);
    for (int op = 0; op < PAT_NUM_OPS && rc == MPI_SUCCESS; op++)
        if (takes_early(c, &c->lanes[op]) && pat_round_is(c->lanes[op].prepared, PAT_ROUND_EARLY))
            rc = pat_comm_ended(c, pat_round_look(c->lanes[op].prepared, moved));
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

static bool calling(const pat_comm *c)
{
    return c->phase != PAT_IDLE;
}

/*
 * From a gather by estimates some ranks return before others have called, and what they send early in the next call may have to be passed on by
 * a rank that still waits here: whoever frees an opened request waits until its forwards are taken in.
 */
int pat_epoch_wait(pat_comm *c)
{
    const bool rooted = c->phase != PAT_IDLE && pat_collective_of(c->lane->op)->rooted;
    return pat_comm_ended(c, pat_wait_while(c, calling, rooted ? pat_epoch_look : pat_epoch_progress));
}

/* ---- Settling: an epoch that ends without a call ------------------------------------------------------ */

bool pat_epoch_withdraw_edge(pat_comm *c)
{
    atomic_store(&c->edge, false);
    return c->exchange.state != PAT_EXCHANGE_NONE;
}

int pat_epoch_settle_begin(pat_comm *c)
{
    atomic_store(&c->edge, false);
    return happens(c, PAT_SETTLE);
}

/* When all ranks have said what they expect, what was prepared by it is thrown away. */
static int void_announced(pat_comm *c, bool *moved, bool *heard)
{
    int rc = pat_estimates_test(c, moved);
    *heard = rc == MPI_SUCCESS && c->exchange.state == PAT_EXCHANGE_DONE;
    if (!*heard)
        return rc;
    const pat_guess_outcome outcome =
        pat_guess_call(PAT_BASIS_ESTIMATES, pat_estimates_announced_to(c, NULL), PAT_MATCH_NONE);
    return throw_away(c, outcome.voids);
}

int pat_epoch_settle_step(pat_comm *c, bool *moved, bool *done)
{
    bool heard = true;
    int rc = c->voiding ? progress_voiding(c, moved) : void_announced(c, moved, &heard);
    *done = false;
    if (rc != MPI_SUCCESS || !heard || c->voiding)
        return rc;
    *done = pat_exchange_no_call(&c->exchange, PAT_CERTAIN);
    const bool left = pat_exchange_no_call(&c->exchange, PAT_FOR_EVER);
    next_epoch(c, NULL, PAT_BASIS_ESTIMATES);
    if (left)
        c->leave = PAT_LEAVE_OVER;
    return *done ? MPI_SUCCESS : pat_estimates_say_no_call(c);
}

/*
 * calls.c — see calls.h: who runs a collective. Arguments are judged here, and only by what is the same on all ranks; what is
 * wrong gets the next one's verdict.
 */
#include "calls.h"

#include "announce.h"
#include "bring.h"
#include "clock.h"
#include "describe.h"
#include "epoch.h"
#include "error.h"
#include "explain.h"
#include "fail.h"
#include "pace.h"
#include "reduction.h"
#include "rooted.h"
#include "runtime.h"
#include "select.h"
#include "wait.h"

/* How a call that the next one has run ended: what this library said before does not belong to it. */
static int verdict_of_next(const pat_face *face, int rc)
{
    if (rc != MPI_SUCCESS && !face->tells)
        pat_error_clear();
    return rc;
}

static void say_why(pat_outcome *outcome, enum pat_why why)
{
    if (outcome)
        outcome->why = why;
}

/*
 * An all-gather keeps ranks together because each waits for every block; for a block of nothing it does not. Such calls are
 * kept together as those with a root are, each being an epoch of credits of its own, so that tags can be used again.
 */
static bool has_empty_block(const pat_call *call, int num_ranks)
{
    bool found = false;
    for (int b = 0; call->starts && b < num_ranks && !found; b++)
        found = call->starts[b] == call->starts[b + 1];
    return found;
}

static bool held(const pat_comm *c)
{
    return pat_credits_hold(&c->credits);
}

static int hold_and_pass(pat_comm *c)
{
    int rc = pat_wait_while(c, held, pat_epoch_look);
    return rc == MPI_SUCCESS ? pat_credits_pass(&c->credits) : rc;
}

/* A call as a plan. */
typedef struct by_plan {
    const pat_algorithm *alg;
    bool measured; /* ranks are to tell each other when it began and ended */
    bool left;     /* in the end: by what ranks say of their arrivals the MPI library is to run it */
} by_plan;

/* Only what is the same on all ranks decides whether we get here. */
static int run_by_plan(pat_comm *c, const pat_call *call, const void *site, pat_outcome *outcome,
                       by_plan *how)
{
    pat_lane *lane = &c->lanes[how->alg->op];
    pat_comm_lock(c);
    const int64_t told = lane->num_spreads;
    const bool loose = has_empty_block(call, c->size);
    int rc;
    bool entered = false;
    if (c->hold.started) { /* by what the program did: how far the round has come differs from rank to rank */
        rc = pat_error(MPI_ERR_REQUEST, "a request is started on this communicator; call PAT_Wait first");
    } else {
        entered = pat_comm_failed(c) == MPI_SUCCESS;
        pat_select_arrive(c, lane, site);
        if (loose)
            pat_credits_end_epoch(&c->credits);
        rc = pat_epoch_begin(c, call, how->alg);
    }
    if (rc == MPI_SUCCESS) {
        lane->by_request = false;
        rc = pat_epoch_wait(c);
        if (rc == MPI_SUCCESS && loose)
            rc = pat_comm_ended(c, hold_and_pass(c));
        if (outcome && lane->num_spreads > told) {
            outcome->late = lane->late;
            outcome->native_ns = pat_select_native_ns(c, lane, call->mean_bytes);
        }
        how->left = rc == MPI_SUCCESS && c->left;
        if (rc == MPI_SUCCESS && outcome && !how->left) {
            outcome->alg = c->alg;
            outcome->early_bytes = lane->early_bytes;
        }
        if (!how->measured && !how->left)
            pat_select_learn(c, lane);
    }
    /* Also after an error: the others wait for what this rank says. */
    if (entered && how->measured && !how->left)
        pat_select_measure(c, lane, c->alg, call->mean_bytes);
    const bool credits = pat_credits_wake(&c->credits), more = pat_epoch_goes_on(c);
    pat_comm_unlock(c);
    pat_announce_called(c);
    if (((more && !how->left) || credits) && pat_rt.thread)
        pat_thread_kick(pat_rt.thread); /* it prepares the next round */
    return rc == MPI_SUCCESS ? rc : pat_fail(call->comm, rc);
}

/* A call without a root that the next one runs, where something can be learnt from it. */
typedef struct passed {
    pat_comm *c; /* NULL: nothing */
    pat_lane *lane;
    int64_t bytes;
    bool measured;
} passed;

/* rc: how the call has ended. */
static int passed_on(const passed *p, int rc)
{
    if (!p->c)
        return rc;
    pat_comm_lock(p->c);
    const int failed = pat_comm_failed(p->c);
    const bool left = p->c->left;
    p->c->left = false;
    if (p->measured) /* also after an error, as above */
        pat_select_measure(p->c, p->lane, pat_algorithm_native(p->lane->op), p->bytes);
    else if (failed == MPI_SUCCESS)
        pat_select_passed_on(p->c, p->lane, p->bytes, left);
    const bool more = p->measured || (left && pat_epoch_goes_on(p->c));
    pat_comm_unlock(p->c);
    /* Ranks that do not call again must pass on what others say or send, but not while others are still in this call, on the same processor. */
    if (more && pat_rt.thread)
        pat_thread_kick_later(pat_rt.thread, pat_pace_call_over_ns());
    return rc == MPI_SUCCESS && failed != MPI_SUCCESS ? pat_fail(p->c->user, failed) : rc;
}

/* Does a calibration choose for it? Not for all-gathers and all-reduces, which have more to go by. */
static bool by_calibration(const pat_collective *row)
{
    return row->rooted && row->yardstick;
}

/* May `alg`, which is in use, be or choose anything but the MPI library's own? Every short call asks. */
static bool may_be_ours(const pat_algorithm *alg)
{
    return alg->build ||
           (alg->chooses &&
            (alg->arrival_aware || (pat_runtime_calibrated() && by_calibration(pat_collective_of(alg->op)))));
}

static enum pat_why why_not_ours(const pat_algorithm *alg)
{
    return !alg->chooses                                ? PAT_WHY_ASKED
           : by_calibration(pat_collective_of(alg->op)) ? PAT_WHY_NOT_CALIBRATED
                                                        : PAT_WHY_BY_NAME;
}

/* What is in use for a call; NULL where it cannot be any but the MPI library's. */
static const pat_algorithm *in_use_for(const pat_face *face, const pat_args *args, pat_outcome *outcome)
{
    const pat_algorithm *alg = atomic_load_explicit(&pat_rt.alg[face->op], memory_order_acquire);
    if (!alg || !atomic_load(&pat_rt.started))
        return NULL;
    enum pat_why why = PAT_WHY_CANNOT;
    if (face->kind == PAT_ARGS_PAIRS) {
        why = PAT_WHY_LENGTHS;
    } else if (!may_be_ours(alg)) {
        why = why_not_ours(alg);
    } else {
        const bool rooted = pat_collective_of(face->op)->rooted;
        /* Of a call with a root between groups some arguments are of no significance, and must not be looked at. */
        if (rooted && pat_comm_is_inter(args->comm))
            why = PAT_WHY_GROUPS;
        /* Elsewhere than at its root the type of what is gathered may be anything. */
        else if (args->comm != MPI_COMM_NULL && (rooted || args->datatype != MPI_DATATYPE_NULL))
            return alg;
    }
    say_why(outcome, why);
    pat_runtime_count(alg->build || alg->chooses ? pat_algorithm_native(face->op) : alg);
    return NULL;
}

/* Too small, or nothing that a plan could run. */
static void left_alone(const pat_algorithm *in_use, pat_outcome *outcome, enum pat_why why)
{
    say_why(outcome, pat_rt.all_threads ? why : PAT_WHY_NO_THREAD);
    pat_runtime_count(pat_algorithm_native(in_use->op));
}

/* Why a call has no communicator's state to run with: asked only where somebody wants to know. */
static enum pat_why why_not(const pat_outcome *outcome, bool ours, MPI_Comm comm, bool copies)
{
    return outcome && ours ? pat_comm_why_not(comm, copies) : PAT_WHY_CANNOT;
}

/* By what the program did, so the same on all ranks (pat.h says so of PAT_Wait). */
static bool beside_request(const pat_comm *c, const pat_algorithm *in_use)
{
    return in_use->chooses && c->hold.started;
}

/* May the call gain where all ranks are on one node? The same on all ranks. */
static bool may_copy(enum pat_op op, const pat_call *call)
{
    int size;
    return PMPI_Comm_size(call->comm, &size) == MPI_SUCCESS && pat_select_copies(op, size, call->mean_bytes);
}

/*
 * A call without a root that `call` describes. Returns true when it has run, with what to return in *rc; else the next one is to run
 * it, and *p is for passed_on.
 */
static bool run_or_choose(const pat_algorithm *in_use, const pat_call *call, const void *site,
                          pat_outcome *outcome, passed *p, int *rc)
{
    pat_comm *c = NULL;
    const bool ours = call->block_bytes > 0 && call->block_bytes <= PAT_MAX_BLOCK;
    const int64_t start_ns = outcome ? pat_clock_local_ns() : 0;
    const bool copies = ours && in_use->chooses && may_copy(in_use->op, call);
    *rc = ours ? pat_comm_get(call->comm, in_use->chooses, copies, &c) : MPI_SUCCESS;
    if (outcome)
        outcome->before_ns = pat_clock_local_ns() - start_ns;
    if (*rc != MPI_SUCCESS) {
        *rc = pat_fail(call->comm, *rc);
        return true;
    }
    if (!c) {
        left_alone(in_use, outcome, why_not(outcome, ours, call->comm, copies));
        return false;
    }
    /*
     * Beside a started request nothing is measured or tried: its round may end, and teach something, at another moment on every
     * rank; and what chooses takes the MPI library, since no plan runs there. A communicator on which something has failed
     * chooses no more, since it may know less than the other ranks.
     */
    pat_next next = {PAT_BY_MPI, false, PAT_WHY_REQUEST};
    pat_lane *lane = &c->lanes[in_use->op];
    pat_comm_lock(c);
    int failed = pat_comm_failed(c);
    if (failed == MPI_SUCCESS)
        failed = pat_comm_ended(c, pat_select_hear(c));
    const pat_algorithm *alg = beside_request(c, in_use)
                                   ? pat_algorithm_native(in_use->op)
                                   : pat_select(c, in_use, call->mean_bytes, !c->hold.started, &next);
    if (!alg->build) {
        pat_select_arrive(c, lane, site);
        /*
         * The first call is remembered whoever runs it, so that the first one that goes by estimates can be announced. Only where no memory is
         * needed, so on all ranks, and only the first, since later ones might change the guess of a round that some ranks have prepared.
         */
        if (in_use->chooses && !c->hold.started && !call->starts && lane->shapes.num_calls == 0 &&
            pat_select_is_proven(c))
            pat_shapes_note(&lane->shapes, pat_blocks_of(call), c->size);
        pat_comm_called(c, alg->op);
        atomic_store(&c->edge, false); /* it was for this call */
    }
    /* Where calls go by estimates nothing may be learnt between them and the call: it would be known to some ranks only. */
    const bool teaches = in_use->chooses && !lane->by_estimates;
    pat_comm_unlock(c);
    if (failed != MPI_SUCCESS) {
        *rc = pat_fail(call->comm, failed);
        return true;
    }
    if (!alg->build && in_use->chooses)
        pat_announce_called(c);
    say_why(outcome, next.why);
    if (next.why != PAT_WHY_SAID) /* else it is only counted when it is known who runs it */
        pat_runtime_count(alg);
    by_plan how = {alg, next.measured, false};
    if (alg->build) {
        *rc = run_by_plan(c, call, site, outcome, &how);
        if (!how.left)
            return true;
    }
    if (how.left || teaches)
        *p = (passed){c, lane, call->mean_bytes, next.measured};
    return false;
}

bool pat_calls_keep_order(const pat_face *face, const pat_args *args)
{
    return pat_collective_of(face->op)->reduces && !pat_rt.config.reorder &&
           !pat_reduction_any_order(args->datatype);
}

/*
 * Why such a call is left, for people who have asked: because of the order, if there is nothing else. Rank 0 says it once.
 */
static enum pat_why why_kept(const pat_args *args)
{
    int64_t bytes;
    if (!pat_reduction_known(args->op, args->datatype, &bytes))
        return PAT_WHY_CANNOT;
    const enum pat_why why = pat_comm_why_left(args->comm, PAT_WHY_ORDER);
    if (why == PAT_WHY_ORDER)
        pat_comm_explain_order(args->comm);
    return why;
}

/*
 * Is there nothing that a choice by arrivals could gain, or may? Then neither are the arguments looked at nor is a state made for the
 * communicator. Only what is the same on all ranks counts; what MPI would reject it gets.
 */
static bool is_left(const pat_algorithm *alg, const pat_face *face, const pat_args *args,
                    pat_outcome *outcome)
{
    int size;
    if (!alg->chooses || !alg->arrival_aware)
        return false;
    const int64_t bytes = pat_rt.all_threads && PMPI_Comm_size(args->comm, &size) == MPI_SUCCESS
                              ? pat_describe_mean_bytes(face, args, size)
                              : 0;
    const bool is_long = bytes > 0 && !pat_select_is_small(alg->op, size, bytes);
    if (is_long && !pat_calls_keep_order(face, args))
        return false;
    enum pat_why why = is_long ? PAT_WHY_ORDER : bytes > 0 ? PAT_WHY_SHORT : PAT_WHY_CANNOT;
    if (is_long && (outcome || pat_rt.config.explain))
        why = why_kept(args);
    left_alone(alg, outcome, why);
    return true;
}

/* Does a call with a root wait until all ranks have said when they come? The same on all ranks: what this one has started does not count. */
static bool goes_by_estimates(pat_comm *c, const pat_algorithm *alg)
{
    pat_comm_lock(c);
    const bool goes = alg->any_order && pat_comm_estimates(c, alg);
    pat_comm_unlock(c);
    return goes;
}

/*
 * A call with a root as a plan, where that can be. Only what is the same on all ranks decides: `described` is false on ranks whose
 * arguments are wrong. Returns whether it has run, with the error code in *rc.
 */
static bool rooted_by_plan(const pat_algorithm *in_use, bool described, const pat_call *call,
                           const void *site, pat_outcome *outcome, int *rc)
{
    pat_comm *c = NULL;
    const bool ours = described && call->block_bytes > 0 && call->block_bytes <= PAT_MAX_BLOCK;
    *rc = ours ? pat_comm_get(call->comm, in_use->chooses, false, &c) : MPI_SUCCESS;
    if (*rc != MPI_SUCCESS) {
        *rc = pat_fail(call->comm, *rc);
        return true;
    }
    const bool fits = c && pat_bring_fits(c, in_use->op, call);
    const pat_algorithm *alg =
        fits ? pat_rooted_choose(c, in_use, call->block_bytes) : pat_algorithm_native(in_use->op);
    say_why(outcome, !c                 ? why_not(outcome, ours, call->comm, false)
                     : !fits            ? PAT_WHY_CANNOT
                     : !in_use->chooses ? PAT_WHY_ASKED
                     : c->calibration   ? PAT_WHY_LEAST
                                        : PAT_WHY_NOT_CALIBRATED);
    pat_runtime_count(alg);
    if (!alg->build)
        return false;
    if (outcome)
        outcome->alg = alg;
    if (goes_by_estimates(c, alg)) {
        *rc = run_by_plan(c, call, site, outcome, &(by_plan){alg, false, false}); /* chosen: it is not left */
        return true;
    }
    *rc = pat_rooted_run(c, call, alg);
    if (*rc != MPI_SUCCESS)
        *rc = pat_fail(call->comm, *rc);
    return true;
}

/* A call on its way. */
typedef struct entry {
    const pat_face *face;
    const pat_args *args;
    const void *site;
    pat_outcome *outcome;
    passed passed; /* where the next one is to run it */
} entry;

/* Run it with `alg`, which is in use. Returns false where the next one is to. Not inlined: a short call must not pay for this frame. */
static __attribute__((noinline)) bool run_here(const pat_algorithm *alg, entry *e, int *rc)
{
    pat_call call;
    bool ours, run = false;
    pat_error_begin();
    *rc = pat_describe(e->face, e->args, &call, &ours);
    if (*rc != MPI_SUCCESS) {
        *rc = pat_fail(e->args->comm, *rc);
        return true;
    }
    if (pat_collective_of(alg->op)->rooted)
        run = rooted_by_plan(alg, ours, &call, e->site, e->outcome, rc);
    else if (ours)
        run = run_or_choose(alg, &call, e->site, e->outcome, &e->passed, rc);
    else
        left_alone(alg, e->outcome, PAT_WHY_CANNOT);
    pat_describe_done(&call);
    return run;
}

/* So few elements that they are too small together, whatever they are: that is to cost nothing, since many programs reduce few in each step. */
static bool is_tiny(const pat_face *face, const pat_args *args)
{
    enum { MOST_ELEMENT_BYTES = 32, TINY = PAT_SMALL_BYTES / MOST_ELEMENT_BYTES };
    return face->kind == PAT_ARGS_VECTOR && args->count > 0 && args->count < TINY;
}

int pat_calls_run(const pat_face *face, const pat_args *args, pat_any *next, const void *site,
                  pat_outcome *outcome)
{
    int rc;
    entry e = {.face = face, .args = args, .site = site, .outcome = outcome};
    const pat_algorithm *alg = in_use_for(face, args, outcome);
    if (alg && alg->chooses && is_tiny(face, args))
        left_alone(alg, outcome, PAT_WHY_SHORT);
    else if (alg && !is_left(alg, face, args, outcome) && run_here(alg, &e, &rc))
        return rc;
    return passed_on(&e.passed, verdict_of_next(face, face->next(next, args)));
}

/*
 * arrivals.c — see arrivals.h.
 */
#include "arrivals.h"

#include "error.h"
#include "explain.h"
#include "runtime.h"

/* What a contribution takes on the link. */
static int64_t call_ns(const pat_comm *c, int64_t bytes)
{
    const int64_t busy_ns = pat_link_busy_ns(&c->link, bytes);
    return busy_ns > 0 ? busy_ns : 1;
}

bool pat_arrivals_expected(pat_comm *c, const pat_lane *lane, const pat_algorithm *alg, int64_t bytes)
{
    if (!alg->uses_arrivals)
        return false;
    if (pat_comm_ahead(c, alg))
        return pat_predict_arrivals(lane->predicts, bytes, c->size, call_ns(c, bytes), c->arrival_ns);
    if (!pat_comm_estimates(c, alg))
        return false;
    for (int r = 0; r < c->size; r++)
        c->arrival_ns[r] = c->exchange.all[r].arrival_ns;
    return true;
}

bool pat_arrivals_wanted(const pat_lane *lane, const pat_algorithm *alg, int64_t bytes)
{
    return alg->uses_last_calls && pat_lane_by_last_calls(lane) && !lane->by_estimates &&
           pat_predict_wants(lane->predicts, bytes);
}

/* So many calls without an estimate make a program one that gives none, where some rank has given one before. */
enum { UNANNOUNCED = 4 };

/* So many calls that were all left to the MPI library were not worth estimates that are felt: a measured call will show when ranks come apart. */
enum { LEFT = 16 };

static void go_by_last_calls(const pat_comm *c, pat_lane *lane, bool last_calls)
{
    if (pat_rt.config.explain && c->rank == 0 && lane->by_last_calls != last_calls)
        pat_explain_arrival(atomic_load(&pat_rt.alg[lane->op]), c->size, last_calls);
    lane->by_last_calls = last_calls;
}

/* c->arrival_ns says when ranks came. */
static int note(pat_comm *c, pat_lane *lane, int64_t bytes)
{
    if (pat_predict_note(lane->predicts, bytes, c->size, call_ns(c, bytes), c->arrival_ns) == 0)
        return MPI_SUCCESS;
    return pat_error(MPI_ERR_NO_MEM, "no memory to predict when %d ranks come", c->size);
}

/* All ranks know by the exchange when they came, if none gave an estimate; else what they said, which teaches nothing. */
static int learn_from_exchange(pat_comm *c, pat_lane *lane, int64_t bytes)
{
    bool any_estimate = false, all_silent = true;
    for (int r = 0; r < c->size; r++) {
        c->arrival_ns[r] = c->exchange.all[r].arrival_ns;
        any_estimate = any_estimate || !c->exchange.all[r].certain;
        all_silent = all_silent && c->exchange.all[r].silent;
    }
    if (!lane->by_estimates) { /* else pat_arrivals_heard sees to it */
        lane->unannounced = any_estimate ? 0 : lane->unannounced + 1;
        if (!any_estimate && (all_silent || lane->unannounced >= UNANNOUNCED))
            go_by_last_calls(c, lane, true);
    }
    return any_estimate ? MPI_SUCCESS : note(c, lane, bytes);
}

int pat_arrivals_known(pat_comm *c, pat_lane *lane, int64_t bytes)
{
    return note(c, lane, bytes);
}

int pat_arrivals_over(pat_comm *c, pat_lane *lane, const pat_algorithm *alg, int64_t bytes)
{
    if (!alg->uses_last_calls)
        return MPI_SUCCESS;
    if (pat_comm_estimates(c, alg))
        return learn_from_exchange(c, lane, bytes);
    pat_predict_pass(lane->predicts, bytes);
    return MPI_SUCCESS;
}

static void go_by_estimates(pat_comm *c, pat_lane *lane, bool by_estimates)
{
    bool any = false;
    if (lane->by_estimates == by_estimates)
        return;
    lane->by_estimates = by_estimates;
    for (int op = 0; op < PAT_NUM_OPS; op++)
        any = any || c->lanes[op].by_estimates;
    atomic_store(&c->listens, any);
}

void pat_arrivals_chooses(pat_comm *c, pat_lane *lane, bool chooses)
{
    lane->chooses = chooses;
    go_by_estimates(c, lane, lane->announced && chooses);
}

static void listen(pat_comm *c, pat_lane *lane, bool announced, const char *why)
{
    if (pat_rt.config.explain && c->rank == 0)
        pat_explain_listens(lane->op, c->size, announced, why);
    lane->announced = announced;
    lane->unannounced = lane->left_in_a_row = 0;
    go_by_estimates(c, lane, announced);
}

bool pat_arrivals_worth(const pat_lane *lane, bool pays)
{
    return !lane->by_estimates && (pays || !lane->ever_announced);
}

void pat_arrivals_listen(pat_comm *c, pat_lane *lane)
{
    lane->ever_announced = true;
    listen(c, lane, true, "all ranks give them");
}

void pat_arrivals_heard(pat_comm *c, pat_lane *lane, bool left)
{
    bool all = true;
    if (!lane->by_estimates)
        return;
    for (int r = 0; r < c->size; r++)
        all = all && !c->exchange.all[r].certain;
    lane->unannounced = all ? 0 : lane->unannounced + 1;
    lane->left_in_a_row = left ? lane->left_in_a_row + 1 : 0;
    if (lane->unannounced >= UNANNOUNCED)
        listen(c, lane, false, "not all ranks give milestones");
    else if (lane->left_in_a_row >= LEFT && !lane->seldom)
        listen(c, lane, false, "ranks come together");
}

int pat_arrivals_measured(pat_comm *c, pat_lane *lane, const pat_sample *sample)
{
    bool any_estimate = false;
    for (int r = 0; r < c->size; r++) {
        c->arrival_ns[r] = sample->all[r].carried.arrival_ns;
        any_estimate = any_estimate || sample->all[r].edged;
    }
    if (any_estimate) {
        lane->unannounced = 0;
        go_by_last_calls(c, lane, false);
    }
    return note(c, lane, sample->bytes);
}

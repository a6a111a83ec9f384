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
    return alg->uses_arrivals && lane->by_history && pat_predict_wants(lane->predicts, bytes);
}

/* c->arrival_ns says when ranks came. */
static int learn(pat_comm *c, pat_lane *lane, int64_t bytes, bool any_estimate)
{
    if (pat_rt.config.explain && c->rank == 0 && lane->by_history == any_estimate)
        pat_explain_arrival(atomic_load(&pat_rt.alg[lane->op]), c->size, !any_estimate);
    lane->by_history = !any_estimate;
    if (any_estimate ||
        pat_predict_note(lane->predicts, bytes, c->size, call_ns(c, bytes), c->arrival_ns) == 0)
        return MPI_SUCCESS;
    return pat_error(MPI_ERR_NO_MEM, "no memory to predict when %d ranks come", c->size);
}

int pat_arrivals_told(pat_comm *c, pat_lane *lane, const pat_algorithm *alg, int64_t bytes)
{
    bool any_estimate = false;
    if (!alg->uses_history || !pat_comm_estimates(c, alg))
        return MPI_SUCCESS;
    for (int r = 0; r < c->size; r++) {
        c->arrival_ns[r] = c->exchange.all[r].arrival_ns;
        any_estimate = any_estimate || !c->exchange.all[r].certain;
    }
    return learn(c, lane, bytes, any_estimate);
}

int pat_arrivals_measured(pat_comm *c, pat_lane *lane, const pat_sample *sample)
{
    bool any_estimate = false;
    if (!lane->by_history)
        return MPI_SUCCESS;
    for (int r = 0; r < c->size; r++) {
        c->arrival_ns[r] = sample->all[r].carried.arrival_ns;
        any_estimate = any_estimate || sample->all[r].edged;
    }
    return learn(c, lane, sample->bytes, any_estimate);
}

void pat_arrivals_missed(pat_lane *lane, int64_t bytes)
{
    if (lane->by_history)
        pat_predict_pass(lane->predicts, bytes);
}

/*
 * reduce_halving.c — reduce to rank 0: every rank makes the sum of a part of the vector, and sends it there.
 *
 * What:     the vector is cut in P parts; halving.c gives every rank the sum of one; rank 0 takes in the others'.
 * Source:   Rabenseifner's (Thakur, Rabenseifner, Gropp 2005), by halves that any number of ranks has.
 * Cost:     twice the vector into the root's link, once into the others', in log2(P) + 1 steps: fewer than up a chain, which is better for long vectors.
 * Memory:   the vector twice, at the root once.
 * Order:    the operation must commute. It follows from P, the count, the root and the nodes.
 * Limits:   nodes with different numbers of ranks are not heeded. With fewer elements than ranks some parts are empty, and are not sent.
 * Example:  P = 3, parts a to c: 0>2 c, 1>0 a, 2>1 b | 0>1 b, 1>2 c, 2>0 a | 1>0 b, 2>0 c.
 */
#include "halving.h"
#include "parts.h"

/* The own part's sum is at `sum`. */
static void bring_together(const pat_halving *h, pat_address sum)
{
    pat_plan *plan = h->plan;
    const int64_t own = pat_halving_length(h, 0);
    if (plan->rank > 0 && own > 0)
        pat_plan_after(plan, pat_plan_send_from(plan, 0, sum, own), h->sums[0].node);
    if (plan->rank > 0)
        return;
    pat_plan_after(plan, pat_plan_copy(plan, sum, pat_result(pat_halving_start(h, 0)), own), h->sums[0].node);
    for (int i = 1; i < plan->num_ranks; i++) {
        const int64_t length = pat_halving_length(h, i);
        if (length == 0)
            continue;
        const int recv = pat_plan_recv(plan, pat_halving_rank(h, i), pat_halving_start(h, i), length);
        pat_plan_after(plan, recv, h->sums[i].read); /* not before the own contribution has been read there */
    }
}

void pat_reduce_halving_build(pat_plan *plan, const pat_job *job, int rank)
{
    (void)rank;
    pat_halving_vector(plan, job, bring_together);
}

void pat_reduce_halving_formula(pat_formula *formula, const pat_job *job)
{
    /* In the time of one latency the root takes in about eight messages: with 16 ranks and 4 KiB halving took 1.6 times as long as the MPI library's tree. */
    enum { IN_A_LATENCY = 8 };
    pat_halving_formula(formula, job, job->block_bytes, 1, 1 + (job->num_ranks - 2) / IN_A_LATENCY);
}

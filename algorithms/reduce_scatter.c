/*
 * reduce_scatter.c — every rank contributes a block for each rank, and ends with the sum of those that are for it: two ways.
 *
 * What:     halving: in each step a rank sends half of the blocks that it still has to do with (halving.c). Pairwise: in step s it sends
 *           the block of the rank s places to the right, and joins the one that comes from s places to the left.
 * Source:   see halving.c; pairwise is the usual one.
 * Cost:     P-1 blocks out and P-1 in at every rank, the least there can be; halving: in log2(P) steps, rounded up; pairwise: in P-1.
 * Memory:   halving: P-2 blocks; pairwise: two.
 * Order:    the operation must commute. It is the same in every run.
 * Limits:   pairwise: ranks stand by number, whatever nodes they are on.
 * Example:  P = 4, rank 0, blocks a to d. Halving: cd >2, ab from 2 | b >1, a from 3.
 *           Pairwise: b >1, a from 3 | c >2, a from 2 | d >3, a from 1.
 */
#include "halving.h"
#include "parts.h"

static int64_t start_of(const pat_job *job, int part)
{
    return part * job->block_bytes;
}

void pat_reduce_scatter_halving_build(pat_plan *plan, const pat_job *job, int rank)
{
    (void)rank;
    pat_plan_personal(plan);
    pat_halving h = {
        .plan = plan, .job = job, .space = PAT_SPACE_OWN, .start = start_of, .arrive = pat_plan_arrive(plan)};
    h.begun = h.arrive;
    if (pat_halving_begin(&h))
        pat_halving_build(&h, pat_result(0));
    pat_halving_end(&h);
}

void pat_reduce_scatter_pairwise_build(pat_plan *plan, const pat_job *job, int rank)
{
    enum { SLOTS = 2 };
    const int P = job->num_ranks;
    const int64_t bytes = job->block_bytes;
    int joined[SLOTS];
    pat_plan_personal(plan);
    const pat_address in = pat_plan_scratch(plan, SLOTS * bytes);
    const int arrive = pat_plan_arrive(plan);
    int last = pat_plan_copy(plan, pat_own(rank * bytes), pat_result(0), bytes);
    pat_plan_after(plan, last, arrive);
    joined[0] = joined[1] = arrive;
    for (int s = 1; s < P; s++) {
        const int right = (rank + s) % P, left = (rank + P - s) % P, slot = s % SLOTS;
        const pat_address at = {in.space, in.offset + slot * bytes};
        const int recv = pat_plan_recv_to(plan, left, at, bytes);
        const int send = pat_plan_send_from(plan, right, pat_own(right * bytes), bytes);
        pat_plan_after(plan, recv, joined[slot]);
        pat_plan_after(plan, send, joined[slot]);
        const int join = pat_plan_reduce(plan, at, pat_result(0), bytes);
        pat_plan_after(plan, join, recv);
        pat_plan_after(plan, join, last);
        last = joined[slot] = join;
    }
}

void pat_reduce_scatter_halving_formula(pat_formula *formula, const pat_job *job)
{
    pat_halving_formula(formula, job, job->num_ranks * job->block_bytes, 1, 0);
}

void pat_reduce_scatter_pairwise_formula(pat_formula *formula, const pat_job *job)
{
    const int steps = job->num_ranks - 1;
    pat_part_add(formula, 1, steps, steps * job->block_bytes);
}

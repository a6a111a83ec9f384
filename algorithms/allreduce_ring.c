/*
 * allreduce_ring.c — ring: the vector in P parts, whose sums go round, and then once more round to everybody.
 *
 * What:     in step s rank i sends its right neighbour part i - s, and joins part i - s - 1 that comes from the left with
 *           its own. After P-1 steps rank i has the whole sum of part i + 1; in P-1 more these are handed round.
 * Source:   the usual one (Patarasuk, Yuan 2009).
 * Cost:     2 (P-1) steps of a P-th of the vector: the least that can go through a link when all arrive at once.
 * Memory:   a P-th of the vector.
 * Order:    part c is joined from rank c on round the ring: the same bits on all ranks, but not in the order of ranks, so
 *           the operation must commute.
 * Limits:   ranks stand by number, since the order of joining would change with their places. With fewer elements than
 *           ranks some parts are empty, and are not sent.
 * Example:  P = 3. "0>1 (a0)": part a with rank 0's contribution.
 *           0>1 (a0) 1>2 (b1) 2>0 (c2) | 0>1 (c20) 1>2 (a01) 2>0 (b12) | 0>1 (b120) 1>2 (c201) 2>0 (a012)
 *           0>1 (a) 1>2 (b) 2>0 (c)
 */
#include "parts.h"

typedef struct part {
    int64_t from, length;
} part;

static part part_of(const pat_job *job, int number)
{
    const int P = job->num_ranks, i = (number % P + P) % P;
    const int64_t from = pat_cut(job->block_bytes, job->element_bytes, P, i);
    return (part){from, pat_cut(job->block_bytes, job->element_bytes, P, i + 1) - from};
}

static void send_part(pat_plan *plan, int peer, part out)
{
    if (out.length > 0)
        pat_plan_in_step(plan, pat_plan_send(plan, peer, out.from, out.length));
}

void pat_allreduce_ring_build(pat_plan *plan, const pat_job *job, int rank)
{
    const int P = job->num_ranks, right = (rank + 1) % P, left = (rank + P - 1) % P;
    const pat_address in = pat_plan_scratch(plan, part_of(job, 0).length); /* none is longer than the first */

    pat_plan_next_step(plan);
    pat_part_arrive(plan, job, rank);
    for (int s = 0; s < P - 1; s++) {
        const part take = part_of(job, rank - s - 1);
        pat_plan_next_step(plan);
        send_part(plan, right, part_of(job, rank - s));
        if (take.length == 0)
            continue;
        pat_plan_in_step(plan, pat_plan_recv_to(plan, left, in, take.length));
        pat_plan_next_step(plan);
        pat_plan_in_step(plan, pat_plan_reduce(plan, in, pat_result(take.from), take.length));
    }
    for (int s = 0; s < P - 1; s++) {
        const part take = part_of(job, rank - s);
        pat_plan_next_step(plan);
        send_part(plan, right, part_of(job, rank + 1 - s));
        if (take.length > 0)
            pat_plan_in_step(plan, pat_plan_recv(plan, left, take.from, take.length));
    }
}

/* Twice round. */
void pat_allreduce_ring_formula(pat_formula *formula, const pat_job *job)
{
    const int steps = 2 * (job->num_ranks - 1);
    pat_part_add(formula, 1, steps, steps * job->block_bytes / job->num_ranks);
}

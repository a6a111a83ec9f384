/*
 * alltoall.c — two plain all-to-alls: every rank sends a block to each other rank, out of what it contributes.
 *
 * What:     linear: all receives and all sends at once, in an order that begins with the right neighbour, so that not all ranks
 *           send to the same one. Pairwise: in step s a rank sends to the one s places to the right, and receives from the one s
 *           places to the left.
 * Source:   the usual ones (Open MPI's coll/base has both).
 * Cost:     P-1 blocks out and P-1 in at every rank; linear: the network shares itself out; pairwise: P-1 latencies.
 * Memory:   none.
 * Example:  P = 3, rank 0: linear: >1 >2 <2 <1. Pairwise: >1 <2 | >2 <1.
 */
#include "parts.h"

static void begin(pat_plan *plan, const pat_job *job, int rank)
{
    pat_plan_personal(plan);
    pat_plan_next_step(plan);
    pat_part_arrive(plan, job, rank);
    pat_plan_next_step(plan);
}

/* The block for the rank s places to the right leaves, that of the rank s places to the left comes in. */
static void exchange(pat_plan *plan, const pat_job *job, int rank, int s)
{
    const int64_t bytes = job->block_bytes;
    const int right = (rank + s) % job->num_ranks, left = (rank + job->num_ranks - s) % job->num_ranks;
    pat_plan_in_step(plan, pat_plan_recv_to(plan, left, pat_result(left * bytes), bytes));
    pat_plan_in_step(plan, pat_plan_send_from(plan, right, pat_own(right * bytes), bytes));
}

void pat_alltoall_linear_build(pat_plan *plan, const pat_job *job, int rank)
{
    begin(plan, job, rank);
    for (int s = 1; s < job->num_ranks; s++)
        exchange(plan, job, rank, s);
}

void pat_alltoall_pairwise_build(pat_plan *plan, const pat_job *job, int rank)
{
    begin(plan, job, rank);
    for (int s = 1; s < job->num_ranks; s++) {
        exchange(plan, job, rank, s);
        pat_plan_next_step(plan);
    }
}

void pat_alltoall_linear_formula(pat_formula *formula, const pat_job *job)
{
    pat_part_add(formula, 1, 1, (job->num_ranks - 1) * job->block_bytes);
}

void pat_alltoall_pairwise_formula(pat_formula *formula, const pat_job *job)
{
    const int steps = job->num_ranks - 1;
    pat_part_add(formula, 1, steps, steps * job->block_bytes);
}

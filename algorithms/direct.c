/*
 * direct.c — direct all-gather.
 *
 * What:     every rank sends its block to each other rank, and receives theirs, all at once. The order is that of a tournament in which two ranks meet in the
 *           same step, so that not all ranks send to the same one first. To each rank the send comes before the receive (alltoall.c says why).
 * Source:   the usual one; non-blocking all-gathers of Open MPI's libnbc are run so.
 * Cost:     P-1 blocks out and P-1 in at every rank, after one latency. Nothing is passed on, so no rank's thread has to wake for another one's block.
 * Memory:   none beyond the result.
 * Limits:   a block goes to each rank of a node on its own. A message of the block is under way from every rank to every other one.
 * Example:  P = 3, rank 0: >1 (0) <1 (1) >2 (0) <2 (2).
 */
#include "parts.h"

void pat_direct_build(pat_plan *plan, const pat_job *job, int rank)
{
    const int64_t bytes = job->block_bytes;
    pat_plan_next_step(plan);
    pat_part_arrive(plan, job, rank);
    pat_plan_next_step(plan);
    for (int s = 0; s < job->num_ranks; s++) {
        const int other = pat_part_opponent(s, rank, job->num_ranks);
        if (other == rank)
            continue;
        pat_plan_in_step(plan, pat_plan_send(plan, other, rank * bytes, bytes));
        pat_plan_in_step(plan, pat_plan_recv(plan, other, other * bytes, bytes));
    }
}

void pat_direct_formula(pat_formula *formula, const pat_job *job)
{
    pat_part_add(formula, 1, 1, (job->num_ranks - 1) * job->block_bytes);
}

/*
 * lnbc.c — linear gather to rank 0, then broadcast.
 *
 * What:     every rank sends its block to rank 0, which takes them in whatever order they come; then rank
 *           0 broadcasts the whole result (bcast.c).
 * Source:   LNBC in Proficz 2021 (regular); the naive all-gather, as a gather followed by a broadcast.
 * Cost:     gather: P-1 messages of one block, all into rank 0. Broadcast: see bcast.c. Each rank
 *           receives P-1 blocks in all.
 * Memory:   none beyond the result.
 * Limits:   none. Rank 0's link carries everything, twice.
 * Example:  P = 4, blocks of more than 2 KiB: 1>0, 2>0, 3>0 in any order; when all three are in,
 *           0>1 (blocks 0, 2, 3), 1>2 (0, 1, 3), 2>3 (0, 1, 2), in segments, one hop behind the other.
 *           Rank 0's steps: ARRIVE; the receives; COPY; the broadcast's sends.
 *           The others' steps: ARRIVE and COPY; the send; the broadcast's receives.
 */
#include "parts.h"

void pat_lnbc_build(pat_plan *plan, const pat_job *job, int rank)
{
    int64_t bytes = job->block_bytes;
    pat_plan_next_step(plan);
    if (rank == 0) {
        pat_plan_in_step(plan, pat_plan_arrive(plan));
        pat_plan_next_step(plan);
        for (int r = 1; r < job->num_ranks; r++)
            pat_plan_in_step(plan, pat_plan_recv(plan, r, r * bytes, bytes));
        /* COPY after the receives: the broadcast's sends then wait for this one node instead of P-1 each. */
        pat_plan_next_step(plan);
        pat_plan_in_step(plan, pat_plan_copy(plan, pat_own(0), pat_result(0), bytes));
    } else {
        pat_part_arrive(plan, job, rank);
        pat_plan_next_step(plan);
        pat_plan_in_step(plan, pat_plan_send(plan, 0, rank * bytes, bytes));
    }
    pat_part_bcast(plan, job, rank);
}

void pat_lnbc_formula(pat_formula *formula, const pat_job *job)
{
    const int blocks = job->num_ranks - 1;
    pat_part_add(formula, 1, blocks, blocks * job->block_bytes);
    pat_part_bcast_formula(formula, job);
}

/*
 * ring.c — parallel ring all-gather.
 *
 * What:     in every step each rank sends one block to its right neighbour and receives one from its
 *           left: first its own, then always the one it received in the step before.
 * Source:   textbook; RING in Proficz 2021 (regular, knows nothing of arrivals).
 * Cost:     P-1 steps; each rank sends and receives P-1 messages of one block.
 * Memory:   none beyond the result.
 * Limits:   none. One late rank stops everybody within P-1 steps.
 * Example:  P = 4, "1>2 (0)": rank 1 sends block 0 to rank 2.
 *           step 1   0>1 (0)   1>2 (1)   2>3 (2)   3>0 (3)
 *           step 2   0>1 (3)   1>2 (0)   2>3 (1)   3>0 (2)
 *           step 3   0>1 (2)   1>2 (3)   2>3 (0)   3>0 (1)
 *           Step 0 is ARRIVE and COPY. A step waits for both messages of the one before it, which is also
 *           what makes the forwarded block be there.
 */
#include "parts.h"

void pat_ring_build(pat_plan *plan, const pat_job *job, int rank)
{
    int P = job->num_ranks;
    int64_t bytes = job->block_bytes;
    int right = (rank + 1) % P;
    int left = (rank + P - 1) % P;

    pat_plan_next_step(plan);
    pat_part_arrive(plan, job, rank);
    for (int j = 0; j < P - 1; j++) {
        pat_plan_next_step(plan);
        pat_plan_in_step(plan, pat_plan_send(plan, right, (rank + P - j) % P * bytes, bytes));
        pat_plan_in_step(plan, pat_plan_recv(plan, left, (left + P - j) % P * bytes, bytes));
    }
}

void pat_ring_formula(pat_formula *formula, const pat_job *job)
{
    const int steps = job->num_ranks - 1;
    pat_part_add(formula, 1, steps, steps * job->block_bytes);
}

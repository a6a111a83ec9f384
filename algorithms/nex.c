/*
 * nex.c — neighbour exchange all-gather.
 *
 * What:     ranks 2p and 2p+1 form pair p and first exchange their blocks. From then on each rank
 *           alternates between its two neighbours and passes on the pair of blocks it received last: in
 *           step i an even rank deals with its left neighbour when i is odd, with its right one when i is
 *           even; odd ranks the other way.
 * Source:   Chen, Zhang, Zhang, Yuan 2005; NEX in Proficz 2021 (regular).
 * Cost:     P/2 steps; each rank sends and receives one message of one block and P/2-1 messages of two.
 * Memory:   none beyond the result. A pair's two blocks lie side by side, so every message is one range.
 * Limits:   even P. For odd P the ring's plan is built, as Open MPI does.
 * Example:  P = 6, "1-2 (01|23)": ranks 1 and 2 exchange, 1 gives blocks 0 and 1, 2 gives 2 and 3.
 *           step 0   0-1 (0|1)     2-3 (2|3)     4-5 (4|5)
 *           step 1   1-2 (01|23)   3-4 (23|45)   5-0 (45|01)
 *           step 2   0-1 (45|23)   2-3 (01|45)   4-5 (23|01)
 *           Plan step 0 is ARRIVE and COPY, exchange i is plan step i+1.
 */
#include "parts.h"

/* The pair of blocks that `rank` holds newest after exchange i. */
static int64_t newest_pair(int rank, int i, int P)
{
    int pairs = P / 2;
    int away = i % 2 ? -(i + 1) / 2 : i / 2;
    return (rank / 2 + (rank % 2 ? -away : away) + pairs) % pairs;
}

void pat_nex_build(pat_plan *plan, const pat_job *job, int rank)
{
    int P = job->num_ranks;
    int64_t bytes = job->block_bytes;
    if (P % 2) {
        pat_ring_build(plan, job, rank);
        return;
    }

    pat_plan_next_step(plan);
    pat_part_arrive(plan, job, rank);
    pat_plan_next_step(plan);
    int partner = rank ^ 1;
    pat_plan_in_step(plan, pat_plan_send(plan, partner, rank * bytes, bytes));
    pat_plan_in_step(plan, pat_plan_recv(plan, partner, partner * bytes, bytes));
    for (int i = 1; i < P / 2; i++) {
        int peer = (rank + P + ((rank + i) % 2 ? -1 : 1)) % P;
        pat_plan_next_step(plan);
        pat_plan_in_step(plan, pat_plan_send(plan, peer, newest_pair(rank, i - 1, P) * 2 * bytes, 2 * bytes));
        pat_plan_in_step(plan, pat_plan_recv(plan, peer, newest_pair(rank, i, P) * 2 * bytes, 2 * bytes));
    }
}

void pat_nex_formula(pat_formula *formula, const pat_job *job)
{
    const int P = job->num_ranks;
    if (P % 2 == 0) {
        pat_part_add(formula, 1, P / 2, (P - 1) * job->block_bytes);
        return;
    }
    pat_ring_formula(formula, job);
    formula->runs_as = "ring";
}

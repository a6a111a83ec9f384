/*
 * alltoall.c — two plain all-to-alls: every rank sends a block to each other rank, out of what it contributes.
 *
 * What:     linear: all sends and all receives at once. The order is that of a tournament in which two ranks meet in the same step, so that
 *           not all ranks send to the same one first. To each rank the send comes before the receive: where messages are asked for first, its
 *           answer does then not stand behind its data (on eight ranks that took 9 % longer; with all ranks in the same order, 20 %).
 *           Pairwise: in step s a rank sends to the one s places to the right, and receives from the one s places to the left.
 * Source:   the usual ones (Open MPI's coll/base has both).
 * Cost:     P-1 blocks out and P-1 in at every rank; linear: the network shares itself out; pairwise: P-1 latencies.
 * Memory:   none.
 * Example:  P = 3, rank 0: linear: >1 <1 >2 <2. Pairwise: >1 <2 | >2 <1.
 */
#include "parts.h"

static void begin(pat_plan *plan, const pat_job *job, int rank)
{
    pat_plan_personal(plan);
    pat_plan_next_step(plan);
    pat_part_arrive(plan, job, rank);
    pat_plan_next_step(plan);
}

/* A block leaves, and one comes in; what is too long for a message in several. */
static void exchange(pat_plan *plan, const pat_job *job, int to, int from)
{
    const int64_t bytes = job->block_bytes;
    for (int64_t at = 0; at < bytes; at += PAT_MAX_MESSAGE) {
        const int64_t part = pat_part_message(at, bytes);
        pat_plan_in_step(plan, pat_plan_send_from(plan, to, pat_own(to * bytes + at), part));
        pat_plan_in_step(plan, pat_plan_recv_to(plan, from, pat_result(from * bytes + at), part));
    }
}

void pat_alltoall_linear_build(pat_plan *plan, const pat_job *job, int rank)
{
    begin(plan, job, rank);
    for (int s = 0; s < job->num_ranks; s++) {
        const int other = pat_part_opponent(s, rank, job->num_ranks);
        if (other != rank)
            exchange(plan, job, other, other);
    }
}

void pat_alltoall_pairwise_build(pat_plan *plan, const pat_job *job, int rank)
{
    begin(plan, job, rank);
    for (int s = 1; s < job->num_ranks; s++) {
        exchange(plan, job, (rank + s) % job->num_ranks, (rank + job->num_ranks - s) % job->num_ranks);
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

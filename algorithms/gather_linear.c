/*
 * gather_linear.c — gather to rank 0, from each rank by a message of its own: from all at once, or from one after the other, with and without
 * a signal.
 *
 * What:     together: rank 0 receives from all ranks at once. Linear: in the order of the ranks, from each when the last one's block is in. With the signal, a rank
 *           sends nothing before rank 0 asks for it: the first segment, and then the rest, which may still be under way
 *           while the next rank is asked.
 * Source:   Open MPI's coll/base (basic_linear, linear_sync); Nuriyev 2021, 4.2. Open MPI lets all rests come in as they
 *           may and awaits them in the end; here one rest at a time is under way.
 * Cost:     P-1 blocks into one link. Together: no rank waits for another one, and they share the link. The signal costs a latency for each rank, and keeps blocks that are too long to be
 *           buffered from queueing up at rank 0.
 * Memory:   none beyond the result.
 * Limits:   but for together, a rank that comes late holds up all that come after it.
 * Example:  P = 3, blocks of two segments, with the signal: 0>1 signal, 1>0 first, {1>0 rest, 0>2 signal}, 2>0 first,
 *           2>0 rest.
 */
#include "parts.h"

/* The bytes of a rank's block from `at` to `end`, in several messages where they are too long for one. */
static void send_part(pat_plan *plan, const pat_job *job, int rank, int64_t at, int64_t end)
{
    for (; at < end; at += pat_part_message(at, end))
        pat_plan_in_step(plan,
                         pat_plan_send(plan, 0, rank * job->block_bytes + at, pat_part_message(at, end)));
}

static void recv_part(pat_plan *plan, const pat_job *job, int rank, int64_t at, int64_t end)
{
    for (; at < end; at += pat_part_message(at, end))
        pat_plan_in_step(plan,
                         pat_plan_recv(plan, rank, rank * job->block_bytes + at, pat_part_message(at, end)));
}

static void build(pat_plan *plan, const pat_job *job, int rank, bool together)
{
    pat_plan_next_step(plan);
    pat_part_arrive(plan, job, rank);
    pat_plan_next_step(plan);
    if (rank > 0)
        send_part(plan, job, rank, 0, job->block_bytes);
    for (int r = 1; rank == 0 && r < job->num_ranks; r++) {
        recv_part(plan, job, r, 0, job->block_bytes);
        if (!together)
            pat_plan_next_step(plan);
    }
}

void pat_gather_together_build(pat_plan *plan, const pat_job *job, int rank)
{
    build(plan, job, rank, true);
}

void pat_gather_linear_build(pat_plan *plan, const pat_job *job, int rank)
{
    build(plan, job, rank, false);
}

/* The rest of a block comes in while the next rank is asked, and must be here before one more is. */
void pat_gather_sync_build(pat_plan *plan, const pat_job *job, int rank)
{
    int64_t bytes = job->block_bytes;
    int64_t first = job->segment_bytes > 0 && job->segment_bytes < bytes ? job->segment_bytes : bytes;
    pat_plan_next_step(plan);
    pat_part_arrive(plan, job, rank);
    pat_plan_next_step(plan);
    if (rank > 0) {
        pat_plan_in_step(plan, pat_plan_await(plan, 0));
        for (int64_t at = 0; at < bytes; at = at == 0 ? first : bytes) {
            pat_plan_next_step(plan);
            send_part(plan, job, rank, at, at == 0 ? first : bytes);
        }
    }
    for (int r = 1; rank == 0 && r < job->num_ranks; r++) {
        pat_plan_in_step(plan, pat_plan_signal(plan, r));
        recv_part(plan, job, r, 0, first);
        pat_plan_next_step(plan);
        if (first < bytes)
            recv_part(plan, job, r, first, bytes);
    }
}

void pat_gather_together_formula(pat_formula *formula, const pat_job *job)
{
    pat_part_add(formula, 1, 1, (job->num_ranks - 1) * job->block_bytes);
}

/* Nuriyev 2021, [4.12] */
void pat_gather_linear_formula(pat_formula *formula, const pat_job *job)
{
    const int blocks = job->num_ranks - 1;
    pat_part_add(formula, 1, blocks, blocks * job->block_bytes);
}

/* [4.13]; and [4.14], for halves that are sent unasked. */
void pat_gather_sync_formula(pat_formula *formula, const pat_job *job)
{
    const int blocks = job->num_ranks - 1;
    if (job->block_bytes > 2 * job->eager_bytes)
        pat_part_add(formula, 1, 2 * blocks, blocks * job->block_bytes);
    else
        pat_part_add(formula, 1, blocks, blocks * job->block_bytes / 2);
}

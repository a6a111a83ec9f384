/*
 * bruck.c — all-gather in log2(P) steps, for blocks so short that the number of steps counts.
 *
 * What:     a rank has the blocks of the ranks from itself upwards, round the end; in each step it sends what it has to the rank as many places below, and gets as much
 *           again from the one as many above. The last step has only what is still missing.
 * Source:   Bruck, Ho, Kipnis, Upfal and Weathersby, Efficient Algorithms for All-to-All Communications in Multiport Message-Passing Systems (1997). Blocks lie where
 *           they belong from the beginning, so that nothing is turned round in the end; what goes round the end is two messages.
 * Cost:     log2(P) steps, rounded up; P-1 blocks out and P-1 in at every rank.
 * Memory:   none beyond the result.
 * Limits:   a block goes to each rank of a node on its own.
 * Example:  P = 5, rank 3: 2!3 4?4 | 1!3-4 0?0-1 | 4!3 2?2. Rank 4: 3!4 0?0 | 2!0 2!4 1?1-2 | 0!4 3?3.
 */
#include "parts.h"

/* The blocks of so many ranks from `first` upwards, in as few messages as there can be; what lies lower goes first, as plans have it. */
static void pass(pat_plan *plan, const pat_job *job, int (*move)(pat_plan *, int, int64_t, int64_t), int peer,
                 int first, int ranks)
{
    const int before_end = (int)pat_part_least(ranks, job->num_ranks - first);
    const int64_t begins[] = {0, first * job->block_bytes};
    const int64_t ends[] = {(ranks - before_end) * job->block_bytes, (first + before_end) * job->block_bytes};
    for (int i = 0; i < 2; i++)
        for (int64_t at = begins[i]; at < ends[i];) {
            const int64_t part = pat_part_message(at, ends[i]);
            pat_plan_in_step(plan, move(plan, peer, at, part));
            at += part;
        }
}

void pat_bruck_build(pat_plan *plan, const pat_job *job, int rank)
{
    const int P = job->num_ranks;
    pat_plan_next_step(plan);
    pat_part_arrive(plan, job, rank);
    for (int has = 1; has < P; has *= 2) {
        const int ranks = (int)pat_part_least(has, P - has), below = (rank + P - has) % P,
                  above = (rank + has) % P;
        pat_plan_next_step(plan);
        pass(plan, job, pat_plan_send, below, rank, ranks);
        pass(plan, job, pat_plan_recv, above, above, ranks);
    }
}

void pat_bruck_formula(pat_formula *formula, const pat_job *job)
{
    pat_part_add(formula, 1, pat_part_log_up(job->num_ranks), (job->num_ranks - 1) * job->block_bytes);
}

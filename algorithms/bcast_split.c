/*
 * bcast_split.c — broadcast from rank 0 down a binary tree that carries one half of the message on each side.
 *
 * What:     rank 0 sends the first half to its left child and the second to its right one, segment by segment in
 *           turn. Left is whoever has an odd rank, and passes first-half segments on; right has the second. In the end
 *           every left rank exchanges halves with the rank after it. With an even number of ranks the last has nobody
 *           after it: rank 0 sends it the second half.
 * Source:   Open MPI's coll/base (split_bintree), with its blocking sends one after the other; Nuriyev 2021, 4.1.
 * Cost:     flr(log2 P) + n/2 - 1 stages of two sends, then half a message.
 * Memory:   none beyond the result.
 * Limits:   a message of less than two segments goes down a chain instead, as in Open MPI.
 * Example:  P = 5, halves L and R of one segment each: 0>1 L, then 0>2 R; 1>3 L (1's left child is 3), 2>4 R;
 *           then 1 and 2 swap, and so do 3 and 4.
 */
#include "parts.h"
#include "tree.h"

typedef struct half {
    int64_t from, to;
} half;

/* Rank 0: a segment of each half in turn, one send after the other. */
static void send_halves(pat_plan *plan, const pat_tree *tree, const half *halves, int64_t segment)
{
    for (int64_t at = 0; at < halves[0].to; at += segment)
        for (int i = 0; i < pat_tree_num_children(tree, 0); i++) {
            int64_t from = halves[i].from + at;
            if (from >= halves[i].to)
                continue;
            pat_plan_next_step(plan);
            pat_plan_in_step(plan, pat_plan_send(plan, pat_tree_child(tree, 0, i), from,
                                                 pat_part_least(segment, halves[i].to - from)));
        }
}

/* Another rank: receive its half and pass it on, one send after the other; the next segment comes in meanwhile. */
static void pass_half(pat_plan *plan, const pat_tree *tree, int rank, half h, int64_t segment)
{
    int parent = pat_tree_parent(tree, rank), children = pat_tree_num_children(tree, rank);
    pat_plan_next_step(plan);
    pat_plan_in_step(plan, pat_plan_recv(plan, parent, h.from, segment));
    for (int64_t at = h.from; at < h.to; at += segment) {
        int64_t behind = at + segment;
        for (int i = 0; i < children; i++) {
            pat_plan_next_step(plan);
            pat_plan_in_step(plan, pat_plan_send(plan, pat_tree_child(tree, rank, i), at,
                                                 pat_part_least(segment, h.to - at)));
        }
        if (children == 0)
            pat_plan_next_step(plan);
        if (behind < h.to)
            pat_plan_in_step(plan,
                             pat_plan_recv(plan, parent, behind, pat_part_least(segment, h.to - behind)));
    }
}

/* Is half the message less than a segment? Then there is nothing to split. */
static bool is_chain(const pat_job *job)
{
    return job->block_bytes < 2 || (job->segment_bytes > 0 && job->block_bytes < 2 * job->segment_bytes);
}

void pat_bcast_split_build(pat_plan *plan, const pat_job *job, int rank)
{
    int P = job->num_ranks, right = rank % 2 == 0;
    int64_t bytes = job->block_bytes, middle = (bytes + 1) / 2;
    half halves[2] = {{0, middle}, {middle, bytes}};
    int64_t segment = job->segment_bytes > 0 ? job->segment_bytes : middle;
    if (is_chain(job)) {
        pat_bcast_chain_build(plan, job, rank);
        return;
    }
    pat_tree tree = {.kind = PAT_TREE_BINARY, .num_ranks = P};
    pat_plan_next_step(plan);
    pat_plan_in_step(plan, pat_plan_arrive(plan));
    if (rank == 0) {
        pat_plan_next_step(plan);
        pat_plan_in_step(plan, pat_plan_copy(plan, pat_own(0), pat_result(0), bytes));
        send_halves(plan, &tree, halves, segment);
        pat_plan_next_step(plan);
        if (P % 2 == 0)
            pat_plan_in_step(plan, pat_plan_send(plan, P - 1, middle, bytes - middle));
        return;
    }
    half own = halves[right], other = halves[!right];
    pass_half(plan, &tree, rank, own, pat_part_least(segment, own.to - own.from));
    int pair = right ? rank - 1 : rank + 1;
    pat_plan_next_step(plan);
    if (pair < P)
        pat_plan_in_step(plan, pat_plan_send(plan, pair, own.from, own.to - own.from));
    pat_plan_in_step(plan, pat_plan_recv(plan, pair < P ? pair : 0, other.from, other.to - other.from));
}

/*
 * Nuriyev 2021, [4.9]; corrected against the print: where half the message is less than a segment it runs as a chain, and the
 * segments are those of a half.
 */
void pat_bcast_split_formula(pat_formula *formula, const pat_job *job)
{
    const int64_t bytes = job->block_bytes, middle = (bytes + 1) / 2;
    const pat_job side = {.block_bytes = middle, .segment_bytes = job->segment_bytes};
    const int64_t segment = job->segment_bytes > 0 ? pat_part_least(job->segment_bytes, middle) : middle;
    if (is_chain(job)) {
        pat_bcast_chain_formula(formula, job);
        formula->runs_as = "bcast_chain";
        return;
    }
    const int64_t stages = pat_part_log_down(job->num_ranks) + pat_part_segments(&side) - 1,
                  messages = (job->num_ranks > 2 ? 2 : 1) * stages;
    pat_part_add(formula, 1, messages, messages * segment);
    pat_part_add(formula, 1, 1, bytes - middle);
}

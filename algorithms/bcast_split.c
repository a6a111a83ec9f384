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
#include "spread.h"

typedef struct half {
    int64_t from, to;
} half;

void pat_spread_piece(pat_plan *plan, const pat_spread *what, const int ends[2], int64_t at, int64_t length)
{
    const int64_t has_from = ends[1] * what->held, has_to = has_from + what->held, end = at + length;
    const half lacks[2] = {{at, what->held > 0 ? pat_part_least(end, has_from) : end},
                           {at > has_to ? at : has_to, what->held > 0 ? end : 0}};
    for (int i = 0; i < 2; i++) {
        const int64_t bytes = lacks[i].to - lacks[i].from;
        if (bytes > 0)
            pat_plan_in_step(plan, plan->rank == ends[0]
                                       ? pat_plan_send(plan, ends[1], lacks[i].from, bytes)
                                       : pat_plan_recv(plan, ends[0], lacks[i].from, bytes));
    }
}

/* The next segment of a half, from `at` on; none where the half is over. */
static void add_segment(pat_plan *plan, const pat_spread *what, const int ends[2], half h, int64_t at)
{
    if (at < h.to)
        pat_spread_piece(plan, what, ends, at, pat_part_least(what->segment, h.to - at));
}

/* Rank 0: a segment of each half in turn, one send after the other. */
static void send_halves(pat_plan *plan, const pat_spread *what, const pat_tree *tree, const half *halves)
{
    for (int64_t at = 0; at < halves[0].to; at += what->segment)
        for (int i = 0; i < pat_tree_num_children(tree, 0); i++) {
            pat_plan_next_step(plan);
            add_segment(plan, what, (int[]){0, pat_tree_child(tree, 0, i)}, halves[i], halves[i].from + at);
        }
}

/* Another rank: receive its half and pass it on, one send after the other; the next segment comes in meanwhile. */
static void pass_half(pat_plan *plan, const pat_spread *what, const pat_tree *tree, half h)
{
    const int rank = plan->rank, parent = pat_tree_parent(tree, rank),
              children = pat_tree_num_children(tree, rank);
    pat_plan_next_step(plan);
    add_segment(plan, what, (int[]){parent, rank}, h, h.from);
    for (int64_t at = h.from; at < h.to; at += what->segment) {
        for (int i = 0; i < children; i++) {
            pat_plan_next_step(plan);
            add_segment(plan, what, (int[]){rank, pat_tree_child(tree, rank, i)}, h, at);
        }
        if (children == 0)
            pat_plan_next_step(plan);
        add_segment(plan, what, (int[]){parent, rank}, h, at + what->segment);
    }
}

/* Is half the message less than a segment? Then there is nothing to split. */
static bool is_chain(const pat_job *job)
{
    return job->block_bytes < 2 || (job->segment_bytes > 0 && job->block_bytes < 2 * job->segment_bytes);
}

void pat_spread_split(pat_plan *plan, const pat_spread *what)
{
    const int rank = plan->rank, P = plan->num_ranks, right = rank % 2 == 0;
    const int64_t middle = (what->bytes + 1) / 2;
    const half halves[2] = {{0, middle}, {middle, what->bytes}}, own = halves[right], other = halves[!right];
    const pat_tree tree = {.kind = PAT_TREE_BINARY, .num_ranks = P};
    if (rank == 0) {
        send_halves(plan, what, &tree, halves);
        pat_plan_next_step(plan);
        if (P % 2 == 0)
            pat_spread_piece(plan, what, (int[]){0, P - 1}, middle, what->bytes - middle);
        return;
    }
    pass_half(plan, what, &tree, own);
    const int pair = right ? rank - 1 : rank + 1;
    pat_plan_next_step(plan);
    if (pair < P)
        pat_spread_piece(plan, what, (int[]){rank, pair}, own.from, own.to - own.from);
    pat_spread_piece(plan, what, (int[]){pair < P ? pair : 0, rank}, other.from, other.to - other.from);
}

void pat_bcast_split_build(pat_plan *plan, const pat_job *job, int rank)
{
    const int64_t bytes = job->block_bytes, middle = (bytes + 1) / 2;
    const pat_spread message = {.bytes = bytes,
                                .segment = job->segment_bytes > 0 ? job->segment_bytes : middle};
    if (is_chain(job)) {
        pat_bcast_chain_build(plan, job, rank);
        return;
    }
    pat_spread_begin(plan, bytes);
    pat_spread_split(plan, &message);
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
    const int sides = job->num_ranks > 2 ? 2 : 1;
    const int64_t segments = pat_part_segments(&side),
                  messages = sides * (pat_part_log_down(job->num_ranks) + segments - 1);
    pat_part_add(formula, 1, messages, messages * segment);
    pat_part_follow(formula, 1, sides * (segments - 1));
    pat_part_add(formula, 1, 1, bytes - middle);
}

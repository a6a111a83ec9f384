/*
 * bcast_tree.c — broadcast from rank 0 down a tree, in segments: flat, chain, several chains, binary, binomial.
 *
 * What:     rank 0 sends a segment to each of its children and goes on to the next one when these sends are over;
 *           the others pass every segment on in the same way, and while they do the next one comes in. The flat
 *           tree sends the message whole.
 * Source:   Open MPI's coll/base (basic_linear, pipeline, chain, bintree, binomial); Nuriyev 2021, chapter 4, whose
 *           stage model is made for them. There "K-chain" is what Open MPI calls chain, and "chain" its pipeline.
 * Cost:     each rank receives m bytes once and sends them to every child. With n segments and a tree of height H
 *           H+n-1 stages; a stage costs what the rank with the most children needs for one segment.
 * Memory:   none beyond the result.
 * Limits:   the root's link carries the message once for each of its children.
 * Example:  P = 4, two segments a and b.
 *           chain       0>1 a   0>1 b, 1>2 a   1>2 b, 2>3 a   2>3 b
 *           binary      0>1 a, 0>2 a   0>1 b, 0>2 b, 1>3 a   1>3 b
 */
#include "spread.h"

/*
 * Open MPI has two receives open at a time; here the next one is opened when the last is in, which is when its sender may begin with
 * it.
 */
void pat_spread_tree(pat_plan *plan, const pat_spread *what, const pat_tree *tree)
{
    const int rank = plan->rank, parent = pat_tree_parent(tree, rank);
    if (parent >= 0) {
        pat_plan_next_step(plan);
        pat_spread_in_step(plan, what, parent, rank, 0);
    }
    for (int64_t at = 0; at < what->bytes; at += what->segment) {
        pat_plan_next_step(plan);
        if (parent >= 0)
            pat_spread_in_step(plan, what, parent, rank, at + what->segment);
        for (int i = 0; i < pat_tree_num_children(tree, rank); i++)
            pat_spread_in_step(plan, what, rank, pat_tree_child(tree, rank, i), at);
    }
}

void pat_spread_begin(pat_plan *plan, int64_t bytes)
{
    pat_plan_next_step(plan);
    pat_plan_in_step(plan, pat_plan_arrive(plan));
    if (plan->rank > 0)
        return;
    pat_plan_next_step(plan);
    pat_plan_in_step(plan, pat_plan_copy(plan, pat_own(0), pat_result(0), bytes));
}

static void build(pat_plan *plan, const pat_tree *tree, int64_t bytes, int64_t segment)
{
    const pat_spread message = {.bytes = bytes, .segment = segment > 0 && segment < bytes ? segment : bytes};
    pat_spread_begin(plan, bytes);
    pat_spread_tree(plan, &message, tree);
}

static void segmented(pat_plan *plan, const pat_job *job, enum pat_tree_kind kind, int fanout)
{
    const pat_tree tree = {.kind = kind, .num_ranks = job->num_ranks, .fanout = fanout};
    build(plan, &tree, job->block_bytes, job->segment_bytes);
}

void pat_bcast_linear_build(pat_plan *plan, const pat_job *job, int rank)
{
    pat_tree tree = {.kind = PAT_TREE_FLAT, .num_ranks = job->num_ranks};
    (void)rank;
    build(plan, &tree, job->block_bytes, 0);
}

void pat_bcast_chain_build(pat_plan *plan, const pat_job *job, int rank)
{
    (void)rank;
    segmented(plan, job, PAT_TREE_CHAIN, 1);
}

void pat_bcast_kchain_build(pat_plan *plan, const pat_job *job, int rank)
{
    (void)rank;
    segmented(plan, job, PAT_TREE_CHAIN, PAT_TREE_CHAINS);
}

void pat_bcast_binary_build(pat_plan *plan, const pat_job *job, int rank)
{
    (void)rank;
    segmented(plan, job, PAT_TREE_BINARY, 0);
}

void pat_bcast_binomial_build(pat_plan *plan, const pat_job *job, int rank)
{
    (void)rank;
    segmented(plan, job, PAT_TREE_BINOMIAL, 0);
}

/*
 * ---- Formulas, after Nuriyev 2021, chapter 4 ----
 *
 * Numbers in brackets are the thesis' equations. Corrected against the print:
 *  - binomial [4.7] ends in a "-1" that no term of its derivation stands for: two ranks and one segment would cost nothing;
 *  - K-chain [4.11]: with K chains the longest has (P-1)/K ranks rounded up, not down;
 *  - the root has no more children than there are ranks: two ranks and one segment are one message on any tree.
 */

/* So many stages of a segment to each of `children`. */
static void add_stages(pat_formula *formula, const pat_job *job, int children, int64_t stages)
{
    const bool cut = job->segment_bytes > 0 && job->segment_bytes < job->block_bytes;
    pat_part_add(formula, children, stages, stages * (cut ? job->segment_bytes : job->block_bytes));
}

/* In these each segment but the first follows another one. */
static void follow(pat_formula *formula, const pat_job *job, int children)
{
    pat_part_follow(formula, children, pat_part_segments(job) - 1);
}

/* [4.1] */
void pat_bcast_linear_formula(pat_formula *formula, const pat_job *job)
{
    const int messages = job->num_ranks - 1;
    pat_part_add(formula, 1, messages, messages * job->block_bytes);
}

/* [4.8] */
void pat_bcast_chain_formula(pat_formula *formula, const pat_job *job)
{
    add_stages(formula, job, 1, job->num_ranks + pat_part_segments(job) - 2);
    follow(formula, job, 1);
}

/* [4.11] */
void pat_bcast_kchain_formula(pat_formula *formula, const pat_job *job)
{
    const int ranks = job->num_ranks - 1, chains = ranks < PAT_TREE_CHAINS ? ranks : PAT_TREE_CHAINS;
    add_stages(formula, job, 1, (ranks - 1) / chains); /* the last segment down the longest chain */
    add_stages(formula, job, chains, pat_part_segments(job));
    follow(formula, job, chains);
}

/* [4.10] */
void pat_bcast_binary_formula(pat_formula *formula, const pat_job *job)
{
    const int children = job->num_ranks > 2 ? 2 : 1;
    add_stages(formula, job, children, pat_part_log_down(job->num_ranks) + pat_part_segments(job) - 1);
    follow(formula, job, children);
}

/* [4.7]: while the root is the dearest, and then the last segment on its way down. */
void pat_bcast_binomial_formula(pat_formula *formula, const pat_job *job)
{
    const int children = pat_part_log_up(job->num_ranks), depth = pat_part_log_down(job->num_ranks);
    add_stages(formula, job, children, pat_part_segments(job));
    follow(formula, job, children);
    for (int i = 1; i < depth; i++)
        add_stages(formula, job, children - i, 1);
}

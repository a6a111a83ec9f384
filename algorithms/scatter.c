/*
 * scatter.c — two plain scatters from rank 0, which contributes a block for each rank.
 *
 * What:     linear: the root sends every rank its block, all at once. Binomial: a rank gets the blocks of its whole subtree in one
 *           message, keeps its own and passes on the others, the largest subtree first.
 * Source:   the usual ones (Open MPI's coll/base has both).
 * Cost:     P-1 blocks out of the root's link; linear: no rank sends any more; binomial: log2(P) messages one after the other, and
 *           blocks are sent again by those in between.
 * Memory:   binomial: the blocks of the subtree.
 * Example:  P = 4. Linear: 0>1 b, 0>2 c, 0>3 d. Binomial: 0>2 cd, 0>1 b | 2>3 d.
 */
#include "parts.h"
#include "tree.h"

static void begin(pat_plan *plan, int64_t bytes)
{
    pat_plan_personal(plan);
    pat_plan_next_step(plan);
    pat_plan_in_step(plan, pat_plan_arrive(plan));
    pat_plan_next_step(plan);
    if (plan->rank == 0)
        pat_plan_in_step(plan, pat_plan_copy(plan, pat_own(0), pat_result(0), bytes));
}

void pat_scatter_linear_build(pat_plan *plan, const pat_job *job, int rank)
{
    const int64_t bytes = job->block_bytes;
    begin(plan, bytes);
    for (int64_t at = 0; rank > 0 && at < bytes; at += PAT_MAX_MESSAGE)
        pat_plan_in_step(plan, pat_plan_recv_to(plan, 0, pat_result(at), pat_part_message(at, bytes)));
    for (int to = 1; rank == 0 && to < job->num_ranks; to++)
        for (int64_t at = 0; at < bytes; at += PAT_MAX_MESSAGE)
            pat_plan_in_step(
                plan, pat_plan_send_from(plan, to, pat_own(to * bytes + at), pat_part_message(at, bytes)));
}

/* A rank's subtree: so many ranks from it on. */
static int subtree(const pat_tree *tree, int rank)
{
    int ranks = 1;
    if (rank == 0)
        return tree->num_ranks;
    while ((rank & ranks) == 0 && ranks < tree->num_ranks)
        ranks *= 2;
    return rank + ranks <= tree->num_ranks ? ranks : tree->num_ranks - rank;
}

void pat_scatter_binomial_build(pat_plan *plan, const pat_job *job, int rank)
{
    const pat_tree tree = {.kind = PAT_TREE_IN_ORDER, .num_ranks = job->num_ranks};
    const int64_t bytes = job->block_bytes;
    const int mine = subtree(&tree, rank), children = pat_tree_num_children(&tree, rank);
    pat_address from = pat_own(0);
    begin(plan, bytes);
    if (rank > 0 && mine == 1) {
        pat_plan_in_step(plan, pat_plan_recv_to(plan, pat_tree_parent(&tree, rank), pat_result(0), bytes));
    } else if (rank > 0) {
        from = pat_plan_scratch(plan, mine * bytes);
        pat_plan_in_step(plan, pat_plan_recv_to(plan, pat_tree_parent(&tree, rank), from, mine * bytes));
        pat_plan_next_step(plan);
    }
    for (int i = children - 1; i >= 0; i--) {
        const int child = pat_tree_child(&tree, rank, i);
        const pat_address blocks = {from.space, from.offset + (child - rank) * bytes};
        pat_plan_in_step(plan, pat_plan_send_from(plan, child, blocks, subtree(&tree, child) * bytes));
    }
    if (rank > 0 && mine > 1)
        pat_plan_in_step(plan, pat_plan_copy(plan, from, pat_result(0), bytes));
}

void pat_scatter_linear_formula(pat_formula *formula, const pat_job *job)
{
    pat_part_add(formula, 1, 1, (job->num_ranks - 1) * job->block_bytes);
}

/* The root sends P-1 blocks; the first message, of half of them, goes on down the tree. */
void pat_scatter_binomial_formula(pat_formula *formula, const pat_job *job)
{
    const int depth = pat_part_log_up(job->num_ranks);
    pat_part_add(formula, 1, depth, (job->num_ranks - 1) * job->block_bytes);
}

/*
 * gather_binomial.c — gather to rank 0 up a binomial tree whose subtrees are runs of ranks.
 *
 * What:     a rank receives its children's runs of blocks, nearest child first, and sends them with its own in one
 *           message to its parent.
 * Source:   Open MPI's coll/base (binomial); Nuriyev 2021, 4.2.
 * Cost:     ceil(log2 P) messages into rank 0, of 1, 2, 4, ... blocks; P-1 blocks together.
 * Memory:   inner ranks hold their subtree's blocks.
 * Limits:   a late rank holds up its subtree's parent and all its later children.
 * Example:  P = 6: 1>0 (1), 3>2 (3), 5>4 (5); 2>0 (2, 3), 4>0 (4, 5).
 */
#include "parts.h"
#include "tree.h"

/* The ranks from `rank` on that are below it or it. */
static int subtree(const pat_tree *tree, int rank)
{
    int last = rank;
    for (int n; (n = pat_tree_num_children(tree, last)) > 0;)
        last = pat_tree_child(tree, last, n - 1);
    return last - rank + 1;
}

void pat_gather_binomial_build(pat_plan *plan, const pat_job *job, int rank)
{
    pat_tree tree = {.kind = PAT_TREE_IN_ORDER, .num_ranks = job->num_ranks};
    int64_t bytes = job->block_bytes;
    pat_plan_next_step(plan);
    pat_part_arrive(plan, job, rank);
    for (int i = 0; i < pat_tree_num_children(&tree, rank); i++) {
        int child = pat_tree_child(&tree, rank, i);
        pat_plan_next_step(plan);
        pat_plan_in_step(plan, pat_plan_recv(plan, child, child * bytes, subtree(&tree, child) * bytes));
    }
    pat_plan_next_step(plan);
    if (rank > 0)
        pat_plan_in_step(plan, pat_plan_send(plan, pat_tree_parent(&tree, rank), rank * bytes,
                                             subtree(&tree, rank) * bytes));
}

/* Nuriyev 2021, [4.15]; corrected against the print, which sums up as if P were a power of two: the root takes P-1 blocks. */
void pat_gather_binomial_formula(pat_formula *formula, const pat_job *job)
{
    pat_part_add(formula, 1, pat_part_log_up(job->num_ranks), (job->num_ranks - 1) * job->block_bytes);
}

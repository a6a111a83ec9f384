/*
 * stages.c — see stages.h. A rank at depth d handles segment s (from 1) in stage d+s; with H depths and n segments
 * there are H+n-1 stages.
 */
#include "stages.h"

#include <errno.h>
#include <stdlib.h>

/*
 * As many shared-memory sends as the ratio says count as one over the network [4.19]; equation 5.6 leaves out the
 * sender, and then one child would cost less than one message.
 */
double pat_stage_of_rank(const pat_stage_link *link, int network_children, int shared_children)
{
    if (network_children == 0)
        return shared_children ? pat_gamma_of(link->shared, shared_children + 1) / link->ratio : 0;
    int as_network = shared_children ? (int)(shared_children / link->ratio) : 0;
    return pat_gamma_of(link->network, network_children + as_network + 1);
}

int pat_stage_costs_of(pat_stage_costs *costs, const pat_tree *tree, const pat_stage_link *link)
{
    int *depth = malloc((size_t)tree->num_ranks * sizeof(*depth)), error = 0;
    if (!depth)
        return ENOMEM;
    costs->num_depths = 0;
    for (int rank = 0; rank < tree->num_ranks && !error; rank++) {
        int children = pat_tree_num_children(tree, rank), away = 0;
        depth[rank] = rank ? depth[pat_tree_parent(tree, rank)] + 1 : 0;
        for (int i = 0; i < children; i++)
            away += link->ranks_per_node < 2 ||
                    pat_tree_child(tree, rank, i) / link->ranks_per_node != rank / link->ranks_per_node;
        if (children == 0)
            continue;
        if (depth[rank] >= PAT_MAX_DEPTHS) {
            error = EINVAL;
            break;
        }
        for (; costs->num_depths <= depth[rank]; costs->num_depths++)
            costs->at[costs->num_depths] = 0;
        double cost = pat_stage_of_rank(link, away, children - away);
        if (cost > costs->at[depth[rank]])
            costs->at[depth[rank]] = cost;
    }
    free(depth);
    return error;
}

static double dearest(const pat_stage_costs *costs, int64_t from, int64_t to)
{
    double most = 0;
    for (int64_t d = from; d < to; d++)
        most = costs->at[d] > most ? costs->at[d] : most;
    return most;
}

double pat_stages_sum(const pat_stage_costs *costs, int64_t segments)
{
    /* Beyond as many segments as depths, every further one adds a stage in which all depths are at work. */
    int64_t depths = costs->num_depths, further = segments > depths ? segments - depths : 0,
            n = segments - further;
    double sum = (double)further * dearest(costs, 0, depths);
    for (int64_t stage = 1; stage < depths + n; stage++)
        sum += dearest(costs, stage > n ? stage - n : 0, stage < depths ? stage : depths);
    return sum;
}

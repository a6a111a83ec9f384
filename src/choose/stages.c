/*
 * stages.c — see stages.h. A rank at depth d handles segment s (from 1) in stage d+s; with H depths and n segments
 * there are H+n-1 stages.
 */
#include "stages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* Do two ranks of a tree lie on different nodes? */
static bool is_away(const pat_stage_link *link, int num_ranks, int a, int b)
{
    const int ppn = link->ranks_per_node;
    return ppn < 2 || (a + link->root) % num_ranks / ppn != (b + link->root) % num_ranks / ppn;
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
            away += is_away(link, tree->num_ranks, rank, pat_tree_child(tree, rank, i));
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

/* ---- Broadcasts ---- */

/* One message of an unsegmented kind between two ranks, in units of one over the network. */
static double message(const pat_stage_link *link, int num_ranks, int from, int to)
{
    return is_away(link, num_ranks, from, to) ? 1 : 1 / link->ratio;
}

/* The root's messages, one after the other. */
static double flat(const pat_stage_link *link, int num_ranks)
{
    double sum = 0;
    for (int rank = 1; rank < num_ranks; rank++)
        sum += message(link, num_ranks, 0, rank);
    return sum;
}

/* The dearest of the exchanges of halves; with an even number of ranks the root gives the last one what it has not. */
static double dearest_exchange(const pat_stage_link *link, int num_ranks)
{
    double most = num_ranks % 2 == 0 ? message(link, num_ranks, 0, num_ranks - 1) : 0;
    for (int rank = 1; rank + 1 < num_ranks; rank += 2) {
        const double one = message(link, num_ranks, rank, rank + 1);
        most = one > most ? one : most;
    }
    return most;
}

static int64_t segments_of(int64_t bytes, int64_t segment)
{
    return (bytes + segment - 1) / segment;
}

int pat_stages_bcast(pat_form_cost *cost, const pat_algorithm *alg, const pat_job *job,
                     const pat_stage_link *link)
{
    static const struct {
        const char *name;
        pat_tree tree;
        int parts; /* into which the message is cut, each of them going down another side */
    } trees[] = {
        {"bcast_linear", {.kind = PAT_TREE_FLAT}, 1},
        {"bcast_chain", {.kind = PAT_TREE_CHAIN, .fanout = 1}, 1},
        {"bcast_kchain", {.kind = PAT_TREE_CHAIN, .fanout = PAT_TREE_CHAINS}, 1},
        {"bcast_binary", {.kind = PAT_TREE_BINARY}, 1},
        {"bcast_split", {.kind = PAT_TREE_BINARY}, 2},
        {"bcast_binomial", {.kind = PAT_TREE_BINOMIAL}, 1},
    };
    const size_t num = sizeof(trees) / sizeof(trees[0]);
    const char *const name = pat_algorithm_runs_as(alg, job)->name;
    size_t at = 0;
    while (at < num && strcmp(trees[at].name, name) != 0)
        at++;
    if (at == num)
        return EINVAL;
    pat_tree tree = trees[at].tree;
    tree.num_ranks = job->num_ranks;
    if (tree.kind == PAT_TREE_FLAT) {
        cost->messages = flat(link, job->num_ranks);
        cost->bytes = cost->messages * (double)job->block_bytes;
        return 0;
    }
    pat_stage_costs stages;
    const int error = pat_stage_costs_of(&stages, &tree, link);
    if (error)
        return error;
    const int64_t part = (job->block_bytes + trees[at].parts - 1) / trees[at].parts,
                  segment = job->segment_bytes > 0 && job->segment_bytes < part ? job->segment_bytes : part;
    const double sum = pat_stages_sum(&stages, segments_of(part, segment)),
                 exchange = trees[at].parts > 1 ? dearest_exchange(link, job->num_ranks) : 0;
    cost->messages = sum + exchange;
    cost->bytes = sum * (double)segment + exchange * (double)(job->block_bytes - part);
    return 0;
}

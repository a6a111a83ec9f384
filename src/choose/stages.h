/*
 * stages.h — what a broadcast costs on the tree it really runs on: stage by stage, each as costly as its
 * costliest rank. The general rule that the closed forms are special cases of (Nuriyev 2021, equations 4.3 to 4.6 and 4.16
 * to 4.28). Must never call MPI.
 */
#ifndef PAT_STAGES_H
#define PAT_STAGES_H

#include "closed_form.h"
#include "tree.h"

/*
 * Where the ranks are, and what messages between them cost. The unit of all costs is one message of a segment over the
 * network.
 */
typedef struct pat_stage_link {
    int ranks_per_node; /* ranks lie node by node; 0 or 1: every rank on a node of its own */
    int root;           /* the rank that the tree's rank 0 is */
    double ratio;       /* a message over the network takes so many times as long as one inside a node */
    pat_gamma network, shared;
} pat_stage_link;

enum { PAT_MAX_DEPTHS = 2048 };

/* For each depth of the tree: what its costliest rank takes for one segment. */
typedef struct pat_stage_costs {
    int num_depths; /* depths at which ranks have children */
    double at[PAT_MAX_DEPTHS];
} pat_stage_costs;

/* What one rank takes that has so many children on other nodes of the cluster and so many on its own. */
double pat_stage_of_rank(const pat_stage_link *link, int network_children, int shared_children);

/* Returns 0, EINVAL for a tree of too many depths, or ENOMEM. */
int pat_stage_costs_of(pat_stage_costs *costs, const pat_tree *tree, const pat_stage_link *link);

/* What so many segments take. From `num_depths` segments on, each further one adds the cost of the costliest depth. */
double pat_stages_sum(const pat_stage_costs *costs, int64_t segments);

/*
 * What a broadcast takes that runs down one of the trees, counted as pat_closed_form does, in messages over the network: the flat tree's
 * messages one after the other [4.16]; the split broadcast's halves down the sides of one tree, then the dearest of the exchanges
 * [4.28]; the others segment by segment. With fewer than two segments the split one is the chain, as its plan is. At least two ranks
 * and one byte. Returns as pat_stage_costs_of, and EINVAL for an algorithm without such a tree.
 */
int pat_stages_bcast(pat_form_cost *cost, const pat_algorithm *alg, const pat_job *job,
                     const pat_stage_link *link);

#endif

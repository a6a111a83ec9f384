/*
 * stages.h — what a segmented broadcast costs on the tree it really runs on: stage by stage, each as dear as its
 * dearest rank. The general rule that the closed forms are special cases of (Nuriyev 2021, equations 4.3 to 4.6 and 4.19
 * to 4.28). Must never call MPI.
 */
#ifndef PAT_STAGES_H
#define PAT_STAGES_H

#include "closed_form.h"
#include "tree.h"

/* The unit of all costs: one message of a segment over the network. */
typedef struct pat_stage_link {
    int ranks_per_node; /* ranks lie node by node; 0 or 1: every rank on a node of its own */
    double ratio;       /* a message over the network takes so many times as long as one inside a node */
    pat_gamma network, shared;
} pat_stage_link;

enum { PAT_MAX_DEPTHS = 2048 };

/* By depth: what its dearest rank takes for one segment. */
typedef struct pat_stage_costs {
    int num_depths; /* that have children */
    double at[PAT_MAX_DEPTHS];
} pat_stage_costs;

/* One rank with so many children on other nodes and so many on its own. */
double pat_stage_of_rank(const pat_stage_link *link, int network_children, int shared_children);

/* Returns 0, EINVAL for a tree of too many depths, or ENOMEM. */
int pat_stage_costs_of(pat_stage_costs *costs, const pat_tree *tree, const pat_stage_link *link);

/* All stages of so many segments. From `num_depths` segments on it grows by the dearest depth's cost for each. */
double pat_stages_sum(const pat_stage_costs *costs, int64_t segments);

#endif

/*
 * nodes.h — which ranks share a node of the cluster, and in what order a ring should visit ranks: node by node, so that every node's
 * link carries a block once and not once for each of its ranks, however the launcher numbers them.
 */
#ifndef PAT_NODES_H
#define PAT_NODES_H

#include <mpi.h>
#include <stdbool.h>

#include "placing.h"

/*
 * Collective over comm: (*node_of)[r] is the number of rank r's node, which is the lowest rank there, and (*node_of)[P + r], with P ranks, is the rank's
 * number among those of its node. *node is a communicator of the ranks of this rank's node, which have those numbers there. Both are the caller's to free. Returns an MPI error code. Ranks share a node when the MPI
 * library says that they can share memory.
 */
int pat_nodes_find(MPI_Comm comm, MPI_Comm *node, int **node_of);

/*
 * Fill in order[i], the rank that stands at place i of a ring of `count` ranks on these nodes. That is rank i where such a ring leaves
 * a node no more often than it must; else ranks are sorted by node, and by number within a node. Returns whether they are sorted.
 */
bool pat_nodes_order(const int *node_of, int count, int *order);

/* Number the ranks of each node from 0, in the order of their numbers: numbers[r] is rank r's. */
void pat_nodes_number(const int *node_of, int count, int *numbers);

/* What plans take as the node of a rank of the world, again by its lowest rank: another one where PAT_RANKS_PER_NODE, if above 0, says that the MPI library does not know. */
static inline int pat_nodes_planned(int node, int rank, int ranks_per_node)
{
    return ranks_per_node > 0 ? rank - rank % ranks_per_node : node;
}

/* How many nodes there are, and how many ranks those with the fewest and with the most have. scratch: room for `count` numbers. */
typedef struct pat_nodes_sizes {
    int nodes, fewest, most;
} pat_nodes_sizes;
pat_nodes_sizes pat_nodes_count(const int *node_of, int count, int *scratch);

/* How `count` ranks are placed that are on these nodes. scratch: as above. */
pat_placing pat_nodes_placing(const int *node_of, int count, int *scratch);

/* Collective over comm: how its ranks are placed, and how many of them are on this rank's node. Returns an MPI error code. */
int pat_nodes_find_placing(MPI_Comm comm, int *mates, pat_placing *placing);

#endif

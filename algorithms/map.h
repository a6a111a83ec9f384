/*
 * map.h — where the ranks of a job are: on which nodes of the cluster, and who serves whose block there. A block comes to each node once,
 * to the rank there that serves it, which hands it to the others of its node. Which one that is follows from the owner's number among the
 * ranks of its own node: so as many ranks of a node share the work as there are, and their messages go side by side.
 *
 * As in all of a plan's building, ranks stand for places (pat_job.order), and all ranks find the same. Nodes are numbered in the order of
 * their first ranks, and a ring of nodes goes by these numbers.
 */
#ifndef PAT_MAP_H
#define PAT_MAP_H

#include "parts.h"

typedef struct pat_map {
    int num_nodes;
    int *node_of;    /* of each rank: its node */
    int *number;     /* of each rank: which of its node's ranks it is, from 0 */
    int *ranks;      /* all of them, node by node */
    int *first;      /* of each node, and one more: where its ranks begin there */
    int most_served; /* how many blocks of other nodes one rank serves, at most */
} pat_map;

/* Returns whether there is memory, else the plan's error is set; pat_map_free is to be called in any case. */
bool pat_map_make(pat_map *map, pat_plan *plan, const pat_job *job);
void pat_map_free(pat_map *map);

/* How many ranks a node has. */
static inline int pat_map_count(const pat_map *map, int node)
{
    return map->first[node + 1] - map->first[node];
}

/* The rank on this node that a block comes to, or at home its owner. */
static inline int pat_map_server(const pat_map *map, int node, int owner)
{
    return map->ranks[map->first[node] + map->number[owner] % pat_map_count(map, node)];
}

/* The neighbours of a node in the ring of nodes. */
static inline int pat_map_next(const pat_map *map, int node)
{
    return node + 1 < map->num_nodes ? node + 1 : 0;
}

static inline int pat_map_before(const pat_map *map, int node)
{
    return node > 0 ? node - 1 : map->num_nodes - 1;
}

#endif

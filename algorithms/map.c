/*
 * map.c — see map.h.
 */
#include "map.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Number the nodes, and count their ranks in first[node + 1]. found: room for a number per rank; each node's first rank
 * comes there. A rank's node is mostly that of the rank before, so nodes are looked for from the last one on.
 */
static void number_nodes(pat_map *map, const pat_job *job, int *found)
{
    for (int r = 0; r < job->num_ranks; r++) {
        int node = job->node_of ? map->num_nodes - 1 : -1;
        while (node >= 0 && job->node_of[found[node]] != job->node_of[r])
            node--;
        if (node < 0) {
            node = map->num_nodes++;
            found[node] = r;
        }
        map->node_of[r] = node;
        map->number[r] = map->first[node + 1]++;
    }
}

/* Nobody serves more than the first rank of the node with the fewest ranks. Its own node counts as one block there. */
static int most_served(const pat_map *map)
{
    int fewest = pat_map_count(map, 0), served = 0;
    for (int node = 1; node < map->num_nodes; node++)
        fewest = pat_map_count(map, node) < fewest ? pat_map_count(map, node) : fewest;
    for (int node = 0; node < map->num_nodes; node++)
        served += (pat_map_count(map, node) - 1) / fewest + 1;
    return served - 1;
}

bool pat_map_make(pat_map *map, pat_plan *plan, const pat_job *job)
{
    const size_t P = (size_t)job->num_ranks;
    *map = (pat_map){0};
    map->node_of = malloc(P * sizeof *map->node_of);
    map->number = malloc(P * sizeof *map->number);
    map->ranks = malloc(P * sizeof *map->ranks);
    map->first = calloc(P + 1, sizeof *map->first);
    if (!map->node_of || !map->number || !map->ranks || !map->first) {
        plan->error = ENOMEM;
        return false;
    }
    number_nodes(map, job, map->ranks); /* which is filled afterwards */
    for (int node = 0; node < map->num_nodes; node++)
        map->first[node + 1] += map->first[node];
    for (int r = 0; r < job->num_ranks; r++)
        map->ranks[map->first[map->node_of[r]] + map->number[r]] = r;
    map->most_served = most_served(map);
    return true;
}

void pat_map_free(pat_map *map)
{
    free(map->node_of);
    free(map->number);
    free(map->ranks);
    free(map->first);
    *map = (pat_map){0};
}

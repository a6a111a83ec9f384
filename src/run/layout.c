/*
 * layout.c — see layout.h.
 */
#include "layout.h"

#include <stdlib.h>

#include "nodes.h"
#include "runtime.h"

/*
 * Are all of comm's ranks of this world, and are they on one node? Of each rank node_of is its node, planned what plans
 * are to take as that, mate_of its number there, or -1 on another node, and world_rank its number in the world; NULL: not wanted. Needs no memory of its own,
 * because what ranks decide by it must not differ where one of them has none left.
 */
static bool look(MPI_Comm comm, int size, int *node_of, int *planned, int *mate_of, int *world_rank,
                 bool *one_node)
{
    enum { AT_ONCE = 256 };
    int ranks[AT_ONCE], in_world[AT_ONCE], first_node = 0, me, num_world;
    MPI_Group group, world;
    bool inside = true;
    *one_node = true;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(pat_rt.world, &world);
    PMPI_Group_rank(world, &me);
    PMPI_Group_size(world, &num_world);
    for (int begin = 0; begin < size && inside; begin += AT_ONCE) {
        const int count = size - begin < AT_ONCE ? size - begin : AT_ONCE;
        for (int i = 0; i < count; i++)
            ranks[i] = begin + i;
        PMPI_Group_translate_ranks(group, count, ranks, world, in_world);
        for (int i = 0; i < count && inside; i++) {
            inside = in_world[i] != MPI_UNDEFINED;
            const int node = inside ? pat_rt.node_of[in_world[i]] : 0;
            first_node = begin + i == 0 ? node : first_node;
            *one_node = *one_node && node == first_node;
            if (node_of) {
                node_of[begin + i] = node;
                planned[begin + i] = pat_nodes_planned(node, in_world[i], pat_rt.config.ranks_per_node);
            }
            if (world_rank)
                world_rank[begin + i] = in_world[i];
            if (mate_of)
                mate_of[begin + i] =
                    inside && node == pat_rt.node_of[me] ? pat_rt.node_of[num_world + in_world[i]] : -1;
        }
    }
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return inside;
}

/*
 * What plans go by: nodes, and in which order a ring is to visit the ranks. scratch: room for a number per rank, which may
 * become the order.
 */
static bool lay_out(pat_layout *l, const int *node_of, int size, int **scratch)
{
    const pat_nodes_sizes sizes = pat_nodes_count(node_of, size, *scratch);
    l->even = sizes.fewest == sizes.most;
    l->blocks_in = sizes.fewest < size ? size - sizes.fewest : size - 1;
    const bool sorted = pat_nodes_order(node_of, size, *scratch);
    if (sizes.most > 1) {
        l->node_of = malloc((size_t)size * sizeof(*l->node_of));
        for (int i = 0; i < size && l->node_of; i++)
            l->node_of[i] = node_of[(*scratch)[i]];
    }
    if (sorted) {
        l->order = *scratch;
        *scratch = NULL;
    }
    return l->node_of || sizes.most == 1;
}

bool pat_layout_find(pat_layout *l, MPI_Comm comm, int size)
{
    const size_t room = (size_t)size * sizeof(int);
    int *node_of = malloc(room), *order = malloc(room), *planned = malloc(room);
    *l = (pat_layout){.mates = {pat_rt.bells, pat_rt.reach, pat_rt.bells ? malloc(room) : NULL}};
    bool found = node_of && order && planned && (l->mates.mate_of || !l->mates.bells) &&
                 look(comm, size, node_of, planned, l->mates.mate_of, NULL, &l->one_node);
    if (found) {
        l->placing = pat_nodes_placing(node_of, size, order);
        l->one_a_node = l->placing.ranks_per_node == 1;
        found = lay_out(l, planned, size, &order);
    }
    free(node_of);
    free(order);
    free(planned);
    return found;
}

void pat_layout_free(pat_layout *l)
{
    free(l->mates.mate_of);
    free(l->order);
    free(l->node_of);
}

bool pat_layout_look(MPI_Comm comm, int size, bool *one_node)
{
    return look(comm, size, NULL, NULL, NULL, NULL, one_node);
}

bool pat_layout_ranks(MPI_Comm comm, int size, int world_rank[])
{
    bool one_node;
    return look(comm, size, NULL, NULL, NULL, world_rank, &one_node);
}

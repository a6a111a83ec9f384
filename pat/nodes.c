/*
 * nodes.c — see nodes.h. Must never depend on anything that differs between ranks: all of them sort the same numbers.
 */
#include "nodes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

void pat_nodes_number(const int *node_of, int count, int *numbers)
{
    /* A node's first rank counts those that were numbered, until all are. */
    for (int r = 0; r < count; r++)
        numbers[r] = node_of[r] == r ? 0 : ++numbers[node_of[r]];
    for (int r = 0; r < count; r++)
        if (node_of[r] == r)
            numbers[r] = 0;
}

int pat_nodes_find(MPI_Comm comm, MPI_Comm *node, int **node_of)
{
    int rank, size, lowest;
    *node_of = NULL;
    int rc = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Comm_set_errhandler(*node, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    int *all = malloc(2 * (size_t)size * sizeof(*all));
    int have = all != NULL, all_have = 0;
    rc = PMPI_Allreduce(&have, &all_have, 1, MPI_INT, MPI_MIN, comm);
    if (rc == MPI_SUCCESS && !all_have)
        rc = pat_error(MPI_ERR_NO_MEM, "no memory for the nodes of %d ranks", size);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, *node);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allgather(&lowest, 1, MPI_INT, all, 1, MPI_INT, comm);
    if (rc != MPI_SUCCESS) {
        free(all);
        PMPI_Comm_free(node);
        return rc;
    }
    pat_nodes_number(all, size, all + size);
    *node_of = all;
    return MPI_SUCCESS;
}

/* Of a ring through the ranks in this order: how often it goes from one node to another. */
static int crossings(const int *node_of, int count, const int *order)
{
    int crossed = 0;
    for (int i = 0; i < count; i++)
        crossed += node_of[order[i]] != node_of[order[(i + 1) % count]];
    return crossed;
}

static int by_node(const void *a, const void *b, void *arg)
{
    const int *node_of = arg, x = *(const int *)a, y = *(const int *)b;
    if (node_of[x] != node_of[y])
        return node_of[x] < node_of[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static int by_number(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

pat_nodes_sizes pat_nodes_count(const int *node_of, int count, int *scratch)
{
    pat_nodes_sizes sizes = {0, count, 1};
    int begin = 0;
    memcpy(scratch, node_of, (size_t)count * sizeof(*scratch));
    qsort(scratch, (size_t)count, sizeof(*scratch), by_number);
    for (int i = 1; i <= count; i++)
        if (i == count || scratch[i] != scratch[begin]) {
            sizes.fewest = i - begin < sizes.fewest ? i - begin : sizes.fewest;
            sizes.most = i - begin > sizes.most ? i - begin : sizes.most;
            sizes.nodes++;
            begin = i;
        }
    return sizes;
}

bool pat_nodes_order(const int *node_of, int count, int *order)
{
    for (int r = 0; r < count; r++)
        order[r] = r;
    const int unsorted = crossings(node_of, count, order);
    qsort_r(order, (size_t)count, sizeof(*order), by_node, (void *)(uintptr_t)node_of);
    if (crossings(node_of, count, order) < unsorted)
        return true;
    for (int r = 0; r < count; r++)
        order[r] = r;
    return false;
}

pat_placing pat_nodes_placing(const int *node_of, int count, int *scratch)
{
    const pat_nodes_sizes sizes = pat_nodes_count(node_of, count, scratch);
    pat_placing p = {count, sizes.fewest == sizes.most ? sizes.most : 0, PAT_NODE_BY_NODE};
    if (!pat_nodes_order(node_of, count, scratch))
        return p;
    p.numbering = PAT_ACROSS_NODES;
    for (int r = sizes.nodes; r < count; r++)
        if (node_of[r] != node_of[r - sizes.nodes])
            p.numbering = PAT_ANOTHER_ORDER;
    return p;
}

int pat_nodes_find_placing(MPI_Comm comm, int *mates, pat_placing *placing)
{
    MPI_Comm node;
    int *node_of, size;
    int rc = pat_nodes_find(comm, &node, &node_of);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_size(node, mates);
    *placing = pat_nodes_placing(node_of, size, node_of + size); /* what stands there is not needed */
    free(node_of);
    return PMPI_Comm_free(&node);
}

/*
 * mock_nodes.c — see mock_nodes.h.
 */
#include "mock_nodes.h"

#include <stdlib.h>

#include "error.h"
#include "nodes.h"

static void enter_list(pat_mock_nodes *n, pat_mock_all_nodes *all)
{
    pthread_mutex_lock(&all->lock);
    n->all = all;
    n->next = all->first;
    if (n->next)
        n->next->before = n;
    all->first = n;
    pthread_mutex_unlock(&all->lock);
}

static void leave_list(pat_mock_nodes *n)
{
    pthread_mutex_lock(&n->all->lock);
    *(n->before ? &n->before->next : &n->all->first) = n->next;
    if (n->next)
        n->next->before = n->before;
    pthread_mutex_unlock(&n->all->lock);
}

/* The function that frees such an attribute. */
static int delete_nodes(MPI_Comm comm, int keyval, void *attribute, void *extra)
{
    pat_mock_nodes *n = attribute;
    (void)comm;
    (void)keyval;
    (void)extra;
    MPI_Comm *comms[] = {&n->own, &n->node, &n->lane};
    for (int i = 0; i < 3; i++)
        if (*comms[i] != MPI_COMM_NULL)
            PMPI_Comm_free(comms[i]);
    if (n->all)
        leave_list(n);
    free(n->node_of);
    free(n);
    return MPI_SUCCESS;
}

int pat_mock_nodes_begin(pat_mock_all_nodes *all, int ranks_per_node)
{
    *all = (pat_mock_all_nodes){.ranks_per_node = ranks_per_node, .keyval = MPI_KEYVAL_INVALID};
    pthread_mutex_init(&all->lock, NULL);
    return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_nodes, &all->keyval, NULL);
}

void pat_mock_nodes_end(pat_mock_all_nodes *all)
{
    while (all->first) /* which its removal takes out of the list */
        PMPI_Comm_delete_attr(all->first->user, all->keyval);
    if (all->keyval != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&all->keyval);
    pthread_mutex_destroy(&all->lock);
}

const pat_mock_nodes *pat_mock_nodes_known(MPI_Comm comm, int keyval)
{
    pat_mock_nodes *n;
    int found = 0;
    return PMPI_Comm_get_attr(comm, keyval, &n, &found) == MPI_SUCCESS && found ? n : NULL;
}

/* From the lowest rank of each rank's node to all that the lists say. */
static void number(pat_mock_nodes *n, int rank, int size)
{
    pat_nodes_number(n->node_of, size, n->number_of);
    for (int i = 0; i <= size; i++)
        n->begin[i] = 0;
    n->num = 0;
    for (int r = 0; r < size; r++) /* a node's lowest rank comes before its others */
        n->node_of[r] = n->node_of[r] == r ? n->num++ : n->node_of[n->node_of[r]];
    for (int r = 0; r < size; r++)
        n->begin[n->node_of[r] + 1]++;
    n->even = true;
    for (int i = 1; i <= n->num; i++) {
        n->even = n->even && n->begin[i] == n->begin[1];
        n->begin[i] += n->begin[i - 1];
    }
    n->consecutive = true;
    for (int r = 0; r < size; r++) {
        n->place[r] = n->begin[n->node_of[r]] + n->number_of[r];
        n->consecutive = n->consecutive && n->place[r] == r;
    }
    n->mine = n->node_of[rank];
    n->number = n->number_of[rank];
    n->size = n->begin[n->mine + 1] - n->begin[n->mine];
}

static int split_nodes(MPI_Comm own, int rank, int ranks_per_node, MPI_Comm *node)
{
    int in_world;
    if (ranks_per_node <= 0)
        return PMPI_Comm_split_type(own, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, node);
    PMPI_Comm_rank(MPI_COMM_WORLD, &in_world);
    return PMPI_Comm_split(own, in_world / ranks_per_node, rank, node);
}

static int make(MPI_Comm comm, int ranks_per_node, int rank, int size, pat_mock_nodes *n)
{
    int lowest;
    int rc = PMPI_Comm_split(comm, 0, rank, &n->own);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_set_errhandler(n->own, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS)
        rc = split_nodes(n->own, rank, ranks_per_node, &n->node);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, n->node);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allgather(&lowest, 1, MPI_INT, n->node_of, 1, MPI_INT, n->own);
    if (rc != MPI_SUCCESS)
        return rc;
    number(n, rank, size);
    rc = PMPI_Comm_split(n->own, n->number, n->mine, &n->lane);
    if (rc == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(n->node, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(n->lane, MPI_ERRORS_RETURN);
    return rc;
}

/*
 * After what a rank does alone: is it well on all of them? Returns an error code of MPI that is a success on all ranks or on none. Not to be
 * asked after an error in a call that others wait in: they do not come here.
 */
static int agree(MPI_Comm comm, int own)
{
    int all_are = 0;
    const int is_well = own == MPI_SUCCESS;
    const int rc = PMPI_Allreduce(&is_well, &all_are, 1, MPI_INT, MPI_MIN, comm);
    if (rc != MPI_SUCCESS || all_are)
        return rc;
    return is_well ? pat_error(MPI_ERR_OTHER, "what is known of the nodes has failed on another rank") : own;
}

int pat_mock_nodes_get(MPI_Comm comm, pat_mock_all_nodes *all, const pat_mock_nodes **nodes)
{
    const int keyval = all->keyval;
    int rank, size;
    *nodes = pat_mock_nodes_known(comm, keyval);
    if (*nodes)
        return MPI_SUCCESS;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    pat_mock_nodes *n = malloc(sizeof(*n));
    int *lists = malloc((4 * (size_t)size + 1) * sizeof(*lists));
    int rc = MPI_SUCCESS;
    if (!n || !lists)
        rc = pat_error(MPI_ERR_NO_MEM, "no memory for the nodes of %d ranks", size);
    rc = agree(comm, rc);
    if (rc != MPI_SUCCESS) {
        free(n);
        free(lists);
        return rc;
    }
    *n = (pat_mock_nodes){.user = comm,
                          .own = MPI_COMM_NULL,
                          .node = MPI_COMM_NULL,
                          .lane = MPI_COMM_NULL,
                          .node_of = lists,
                          .number_of = lists + size,
                          .place = lists + 2 * size,
                          .begin = lists + 3 * size};
    rc = make(comm, all->ranks_per_node, rank, size, n);
    bool is_set = false;
    if (rc == MPI_SUCCESS) { /* a rank that had it alone would make calls in which the others are not */
        rc = PMPI_Comm_set_attr(comm, keyval, n);
        is_set = rc == MPI_SUCCESS;
        rc = agree(comm, rc);
    }
    if (rc != MPI_SUCCESS && is_set)
        PMPI_Comm_delete_attr(comm, keyval); /* which frees it */
    else if (rc != MPI_SUCCESS)
        delete_nodes(comm, keyval, n, NULL);
    if (rc != MPI_SUCCESS)
        return rc;
    enter_list(n, all);
    *nodes = n;
    return MPI_SUCCESS;
}

/*
 * mock_nodes.h — which ranks of a communicator share a node, and communicators for the mock-ups that go by nodes: made at the first
 * such call, kept as an attribute. Their messages cannot meet the program's.
 */
#ifndef PAT_MOCK_NODES_H
#define PAT_MOCK_NODES_H

#include <mpi.h>
#include <stdbool.h>

typedef struct pat_mock_nodes {
    MPI_Comm user; /* whose attribute this is */
    MPI_Comm own;  /* the same ranks */
    MPI_Comm node; /* those of this rank's node, in the order of their ranks */
    MPI_Comm
        lane; /* of each node the rank with this rank's number there, node by node; number 0: the leaders */
    int num, mine;    /* how many nodes, and which is this rank's; they are numbered by their lowest ranks */
    int number, size; /* this rank's in its node, and how many there are */
    bool even;        /* nodes have equal numbers of ranks */
    bool consecutive; /* blocks that stand node by node stand in the order of ranks */
    int *node_of, *number_of; /* of each rank */
    int *place;               /* of each rank: where its block stands when blocks stand node by node */
    int *begin;               /* of each node the first place, and past the last one */
    struct pat_mock_nodes *before, *next; /* in the list of all */
    struct pat_mock_nodes **first;
} pat_mock_nodes;

/* Local. NULL: not made yet. */
const pat_mock_nodes *pat_mock_nodes_known(MPI_Comm comm, int keyval);

/* Collective over comm. ranks_per_node: as of pat_mock_scratch_make; all: the list it goes to. */
int pat_mock_nodes_get(MPI_Comm comm, int keyval, int ranks_per_node, pat_mock_nodes **all,
                       const pat_mock_nodes **nodes);

/* The function that frees such an attribute. */
int pat_mock_nodes_delete(MPI_Comm comm, int keyval, void *attribute, void *extra);

#endif

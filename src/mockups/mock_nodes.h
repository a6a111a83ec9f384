/*
 * mock_nodes.h — which ranks of a communicator share a node, and communicators for the mock-ups that go by nodes: made at the first
 * such call, kept as an attribute. Their messages cannot meet the program's.
 */
#ifndef PAT_MOCK_NODES_H
#define PAT_MOCK_NODES_H

#include <mpi.h>
#include <pthread.h>
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
    struct pat_mock_all_nodes *all;       /* NULL: not in it yet */
} pat_mock_nodes;

/* Of all communicators that have them; any thread may free one. */
typedef struct pat_mock_all_nodes {
    int ranks_per_node; /* as of pat_mock_scratch_make */
    int keyval;
    pthread_mutex_t lock;
    pat_mock_nodes *first; /* under the lock */
} pat_mock_all_nodes;

/* Local. NULL: not made yet. */
const pat_mock_nodes *pat_mock_nodes_known(MPI_Comm comm, int keyval);

/* Collective over comm. */
int pat_mock_nodes_get(MPI_Comm comm, pat_mock_all_nodes *all, const pat_mock_nodes **nodes);

/* Returns an error code of MPI. To be ended in either case, while MPI still runs. */
int pat_mock_nodes_begin(pat_mock_all_nodes *all, int ranks_per_node);
void pat_mock_nodes_end(pat_mock_all_nodes *all);

#endif

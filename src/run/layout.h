/*
 * layout.h — on which nodes of the cluster a communicator's ranks are, and in which order rings visit them.
 */
#ifndef PAT_LAYOUT_H
#define PAT_LAYOUT_H

#include <mpi.h>
#include <stdbool.h>

#include "bells.h"
#include "placing.h"

typedef struct pat_layout {
    pat_mates mates;           /* who of its ranks is on this node; their numbers are its own */
    int *order;                /* the order in which rings visit ranks; NULL: by number */
    int *node_of;              /* see pat_job, as order */
    bool one_node, one_a_node; /* all ranks are on one node of the cluster; every rank is on one of its own */
    bool even;                 /* of the nodes that plans go by each has equally many of its ranks */
    pat_placing placing;
    int blocks_in; /* blocks of an all-gather that come in to the node with the fewest ranks; on one node, to a rank */
} pat_layout;

/*
 * Are all of comm's ranks of this world? And are they on one node? No MPI message, and no memory: what every member asks before anything
 * collective must not differ between them.
 */
bool pat_layout_look(MPI_Comm comm, int size, bool *one_node);

/* The number in the library's communicator of all ranks of each of comm's. Local. False: one is of another world. */
bool pat_layout_ranks(MPI_Comm comm, int size, int world_rank[]);

/* The layout of a communicator with so many ranks. Local. False: there is no memory, or a rank is of another world; it is to be freed all the same. */
bool pat_layout_find(pat_layout *layout, MPI_Comm comm, int size);
void pat_layout_free(pat_layout *layout);

#endif

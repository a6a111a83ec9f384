/*
 * clock_tree.h — who tells whom the time. Ranks of one node that read the same clock need no round trips between them: one of them, the
 * leader, measures it, and tells the others.
 *
 * The leaders are a binomial tree whose root is rank 0: round trips are made along it, and their errors add up. Below each leader is
 * another one, of its node. Where ranks of one node do not read the same clock each rank is a leader.
 */
#ifndef PAT_CLOCK_TREE_H
#define PAT_CLOCK_TREE_H

#include <mpi.h>
#include <stdbool.h>

enum { PAT_CLOCK_CHILDREN = 31 }; /* of a rank in one tree: as many as its number has bits */

typedef struct pat_clock_tie {
    int peer;
    bool same; /* both read the same clock */
    int step;  /* later than all ties of lower steps above it */
    int child; /* the number of the lower one among leaders, or among the ranks of its node */
} pat_clock_tie;

typedef struct pat_clock_tree {
    pat_clock_tie up; /* peer -1: none; the clock of all ranks is that of this one */
    pat_clock_tie down[2 * PAT_CLOCK_CHILDREN];
    int num_down;
    bool root; /* this rank reads the clock of rank 0 */
} pat_clock_tree;

/*
 * Collective over comm. node_of: as of pat_nodes_find; NULL: each rank is taken to be on a node of its own. Returns an MPI error code.
 */
int pat_clock_tree_find(pat_clock_tree *tree, MPI_Comm comm, const int *node_of);

#endif

/*
 * tree.h — the trees along which broadcasts and gathers run. Ranks are counted from the root, which is 0: rank v of a
 * tree is rank (v + root) mod P of the communicator.
 *
 * Shapes and the order of children are those of Open MPI's coll/base (4.1), so that what is modelled here is what
 * runs there.
 */
#ifndef PAT_TREE_H
#define PAT_TREE_H

#include <stdbool.h>

enum {
    PAT_TREE_MAX_CHILDREN = 32, /* that one rank may have; the root of a flat tree may have more */
    PAT_TREE_CHAINS = 4,        /* Open MPI's chain fan-out, unless it is set */
};

enum pat_tree_kind {
    PAT_TREE_FLAT,     /* the root serves everybody */
    PAT_TREE_CHAIN,    /* `fanout` chains from the root, the first (P-1) mod fanout of them one longer */
    PAT_TREE_BINARY,   /* balanced; odd ranks are below child 1, even ones below child 2 */
    PAT_TREE_BINOMIAL, /* balanced: children at distances 1, 2, 4, ... beyond the rank's own highest bit */
    PAT_TREE_IN_ORDER, /* binomial, each subtree holds consecutive ranks: children at distances below the lowest bit */
};

typedef struct pat_tree {
    enum pat_tree_kind kind;
    int num_ranks;
    int fanout; /* of CHAIN, at least 1 */
} pat_tree;

/* The rank from which `rank` receives in a broadcast, and to which it sends in a gather; -1 at the root. */
int pat_tree_parent(const pat_tree *tree, int rank);

/* Children in the order in which they are served. */
int pat_tree_num_children(const pat_tree *tree, int rank);
int pat_tree_child(const pat_tree *tree, int rank, int index);

#endif

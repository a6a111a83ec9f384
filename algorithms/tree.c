/*
 * tree.c — see tree.h. Nothing is stored: parents and children follow from the rank's number.
 *
 * Example:  seven ranks. BINARY: 0 > 1, 2; 1 > 3, 5; 2 > 4, 6.   BINOMIAL: 0 > 1, 2, 4; 1 > 3, 5; 2 > 6.
 *           IN_ORDER: 0 > 1, 2, 4; 2 > 3; 4 > 5, 6.   CHAIN, fanout 4: 0 > 1 > 2; 0 > 3 > 4; 0 > 5; 0 > 6.
 */
#include "tree.h"

/* The smallest power of two above n; 1 for 0. */
static int power_above(int n)
{
    int power = 1;
    while (power <= n)
        power *= 2;
    return power;
}

/* ---- Chains: the first `num_long` of `count` have `length` ranks, the others one less ---- */

typedef struct chains {
    int count, length, num_long;
} chains;

static chains chains_of(const pat_tree *t)
{
    int others = t->num_ranks - 1,
        fanout = t->fanout < PAT_TREE_MAX_CHILDREN ? t->fanout : PAT_TREE_MAX_CHILDREN;
    int count = others < fanout ? others : fanout;
    if (count < 1)
        return (chains){0, 0, 0};
    int length = (others + count - 1) / count;
    return (chains){count, length, others - (length - 1) * count};
}

static int chain_head(const chains *c, int chain)
{
    return 1 + chain * c->length - (chain > c->num_long ? chain - c->num_long : 0);
}

/* The chain that a rank other than the root is in. */
static int chain_of(const chains *c, int rank)
{
    int in_long = c->num_long * c->length;
    return rank <= in_long ? (rank - 1) / c->length : c->num_long + (rank - 1 - in_long) / (c->length - 1);
}

/* ---- Binary: ranks of a level are 2^level apart from their children ---- */

/* 2^level of the level that `rank` is on; level 0 is rank 0 alone, level 1 ranks 1 and 2, and so on. */
static int level_size(int rank)
{
    return power_above(rank + 1) / 2;
}

/* ---- All of them ---- */

int pat_tree_parent(const pat_tree *t, int rank)
{
    int size;
    chains c;
    if (rank == 0)
        return -1;
    switch (t->kind) {
    case PAT_TREE_FLAT:
        break;
    case PAT_TREE_CHAIN:
        c = chains_of(t);
        return rank == chain_head(&c, chain_of(&c, rank)) ? 0 : rank - 1;
    case PAT_TREE_BINARY:
        size =
            level_size(rank) / 2; /* of the parent's level: its children are `size` and 2 * size beyond it */
        return rank - (rank - size < 2 * size - 1 ? size : 2 * size);
    case PAT_TREE_BINOMIAL:
        return rank ^ power_above(rank) / 2;
    case PAT_TREE_IN_ORDER:
        return rank & (rank - 1);
    }
    return 0;
}

int pat_tree_num_children(const pat_tree *t, int rank)
{
    int count = 0, others = t->num_ranks - 1;
    switch (t->kind) {
    case PAT_TREE_FLAT:
        return rank == 0 ? others : 0;
    case PAT_TREE_CHAIN: {
        chains c = chains_of(t);
        if (rank == 0)
            return c.count;
        return rank < others && chain_head(&c, chain_of(&c, rank + 1)) != rank + 1;
    }
    case PAT_TREE_BINARY:
        return (rank + level_size(rank) <= others) + (rank + 2 * level_size(rank) <= others);
    case PAT_TREE_BINOMIAL:
        for (int mask = power_above(rank); rank + mask <= others; mask *= 2)
            count++;
        return count;
    case PAT_TREE_IN_ORDER:
        for (int mask = 1; (rank & mask) == 0 && rank + mask <= others; mask *= 2)
            count++;
        return count;
    }
    return 0;
}

int pat_tree_child(const pat_tree *t, int rank, int index)
{
    chains c;
    switch (t->kind) {
    case PAT_TREE_FLAT:
        break;
    case PAT_TREE_CHAIN:
        c = chains_of(t);
        return rank == 0 ? chain_head(&c, index) : rank + 1;
    case PAT_TREE_BINARY:
        return rank + (index + 1) * level_size(rank);
    case PAT_TREE_BINOMIAL:
        return rank + (power_above(rank) << index);
    case PAT_TREE_IN_ORDER:
        return rank + (1 << index);
    }
    return index + 1;
}

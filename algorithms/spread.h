/*
 * spread.h — parts of broadcasts: how bytes of the result get from rank 0 to all others, down a tree. A rank gets the
 * whole result, or, after a gather, only what it lacks: not the block that it has contributed itself, because in a plan
 * every byte gets to a rank once.
 */
#ifndef PAT_SPREAD_H
#define PAT_SPREAD_H

#include "parts.h"
#include "tree.h"

typedef struct pat_spread {
    int64_t bytes;   /* from byte 0 of the result on */
    int64_t segment; /* at least 1, and at most `bytes` */
    int64_t held;    /* rank r has the r-th run of so many bytes itself; 0: rank 0 alone has anything */
} pat_spread;

/*
 * Add to the open step the message from rank ends[0] to rank ends[1] with the bytes [at, at + length), without those
 * that the receiver has: two messages where these lie in the middle, none where it has them all. (bcast_split.c)
 */
void pat_spread_piece(pat_plan *plan, const pat_spread *what, const int ends[2], int64_t at, int64_t length);

/* The same, of the segment at `at`; beyond the last one there is none. */
static inline void pat_spread_in_step(pat_plan *plan, const pat_spread *what, int from, int to, int64_t at)
{
    if (at < what->bytes)
        pat_spread_piece(plan, what, (int[]){from, to}, at, pat_part_least(what->segment, what->bytes - at));
}

/* ARRIVE, and at rank 0 then COPY: nobody does anything before his own call. (bcast_tree.c) */
void pat_spread_begin(pat_plan *plan, int64_t bytes);

/* Down the tree, in segments; begins with a step of its own. (bcast_tree.c) */
void pat_spread_tree(pat_plan *plan, const pat_spread *what, const pat_tree *tree);

/* Half of it down each side of a binary tree, then an exchange; of at least two segments. (bcast_split.c) */
void pat_spread_split(pat_plan *plan, const pat_spread *what);

#endif

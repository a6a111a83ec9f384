/*
 * shapes.h — what a lane's calls were about, and what the next one is taken to be about, by the order in which they came. The same on all
 * ranks, since all make the same calls.
 */
#ifndef PAT_SHAPES_H
#define PAT_SHAPES_H

#include <stdbool.h>
#include <stdint.h>

#include "plan.h"
#include "sequence.h"

/* What a call is about, the same on all ranks. */
typedef struct pat_blocks {
    int64_t bytes;         /* the longest block's; PAT_NO_CALL (exchange.h): no call, or none that is known */
    const int64_t *starts; /* where each begins, and the end; NULL: all are equally long */
    int64_t mean_bytes;    /* what an algorithm is chosen by */
    int64_t element_bytes; /* of what is reduced; 0: nothing is */
    int root;              /* 0 where there is none */
} pat_blocks;

/* What an algorithm is chosen by. */
static inline int64_t pat_blocks_mean(pat_blocks blocks)
{
    return blocks.mean_bytes > 0 ? blocks.mean_bytes : blocks.bytes;
}

static inline bool pat_blocks_same(pat_blocks a, pat_blocks b, int num_ranks)
{
    return a.bytes == b.bytes && a.element_bytes == b.element_bytes && a.root == b.root &&
           pat_starts_same(a.starts, b.starts, num_ranks);
}

/* So many shapes are kept; the one that has not been called for longest gives way. */
enum { PAT_SHAPES = 8 };

typedef struct pat_shape {
    int64_t kind; /* the shape's number, which no other one of the lane ever gets; 0: nothing is kept here */
    int64_t used; /* the number of its last call */
    pat_blocks blocks;
    int64_t *starts; /* memory for those of `blocks`; NULL: none yet */
} pat_shape;

typedef struct pat_shapes {
    pat_shape kept[PAT_SHAPES];
    pat_sequence sequence; /* of kinds */
    int64_t num_kinds, num_calls;
    pat_blocks
        guess; /* what the next call is taken to be about; `starts` stay as long as no other call is noted */
} pat_shapes;

/* No call has been: the guess is that there will be none. */
void pat_shapes_begin(pat_shapes *s);

/* A call is over. Returns 0, or ENOMEM with the shapes as they were. */
int pat_shapes_note(pat_shapes *s, pat_blocks blocks, int num_ranks);

void pat_shapes_free(pat_shapes *s);

#endif

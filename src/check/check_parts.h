/*
 * check_parts.h — what the checker's files share: its working state, how it refuses a plan, and its parts in the order in which
 * they are called.
 */
#ifndef PAT_CHECK_PARTS_H
#define PAT_CHECK_PARTS_H

#include <stddef.h>

#include "collective.h"

enum { NUM_SPACES = 3 };

typedef struct check {
    const pat_plan *plans;
    int num_ranks;
    const pat_collective *collective;
    char *why;
    size_t why_size;

    int num_nodes, max_nodes; /* of all ranks; of the largest plan */
    int *first;               /* first[r] + i is the number of rank r's node i over all ranks */
    int *owner;               /* rank of every node */

    /*
     * Messages. All from rank s to rank d are lane s*P+d here (it has nothing to do with pat_lane). Lane l has lane_count[l] of
     * them, by match from send[lane_at[l]] on; those below lane_low[l] are complete.
     */
    int *lane_at, *lane_count, *lane_low;
    int *send;    /* sending nodes */
    int *partner; /* the other end of every message, numbered over all ranks */

    /* All nodes of all ranks in an order in which they may complete; both ends of a message stand side by side. */
    int *queue;
    int *missing; /* predecessors not yet complete, or still to be found */
    unsigned char *state;

    int64_t base[NUM_SPACES]; /* the spaces of a rank one behind the other: where each begins */
} check;

static inline const pat_node *pat_check_node(const check *c, int node)
{
    return &c->plans[c->owner[node]].nodes[node - c->first[c->owner[node]]];
}

/* An address as one number: the byte's number if all spaces of a rank stood one behind the other. */
static inline int64_t pat_check_byte(const check *c, pat_address at)
{
    return c->base[at.space] + at.offset;
}

static inline bool pat_check_reads(const pat_node *n)
{
    return n->length > 0 &&
           (n->kind == PAT_NODE_COPY || n->kind == PAT_NODE_REDUCE || n->kind == PAT_NODE_SEND);
}

static inline bool pat_check_writes(const pat_node *n)
{
    return n->length > 0 &&
           (n->kind == PAT_NODE_COPY || n->kind == PAT_NODE_REDUCE || n->kind == PAT_NODE_RECV);
}

/* Write the reason to `why`, for a node of a rank's plan or, with node -1, for the plans as a whole. Returns EINVAL. */
int pat_check_refuse(const check *c, int rank, int node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* For a reason: which byte this is, as "byte 7", "own byte 7" or "scratch byte 7". Overwritten by the next call but one. */
const char *pat_check_name(const check *c, int64_t byte);

/* The parts. Each returns 0, ENOMEM, or EINVAL with the reason written. */

/* Rank r's plan by itself: do its nodes and edges make sense? (check_shape.c) */
int pat_check_shape(const check *c, int r);

/*
 * Find the two ends of every message. Do unordered receives wait as PAT_RECV_WINDOW says? Are the pieces of a block sent in the
 * order in which they lie in it? (check_messages.c)
 */
int pat_check_match(check *c);
int pat_check_windows(const check *c);
int pat_check_front_first(const check *c);

/* Does everything finish? Fills the queue. (check_messages.c) */
int pat_check_finish(const check *c);

/* In every rank's plan: of two nodes that touch the same byte, one of them writing, does one wait for the other? (check_order.c) */
int pat_check_order(const check *c);

/* Do the bytes hold in the end what the collective says? To be called only when all of the above is right. (check_value.c) */
int pat_check_values(const check *c);

#endif

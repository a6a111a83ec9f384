/*
 * check_parts.h — what the checker's two files share: its working state and how it says no.
 */
#ifndef PAT_CHECK_PARTS_H
#define PAT_CHECK_PARTS_H

#include "check.h"

typedef struct check {
    const pat_plan *plans;
    int num_ranks;
    enum pat_op op;
    char *why;
    size_t why_size;

    int num_nodes, max_nodes; /* of all ranks; of the largest plan */
    int *first;               /* first[r] + i is the number of rank r's node i over all ranks */
    int *owner;               /* rank of every node */
    int *missing;             /* predecessors not yet complete, or still to be found */

    /* Messages. The pair (s, d) is lane s*P+d; its messages, by match: send[lane_at[l]] up to the next
     * lane's. */
    int *lane_at, *lane_count, *lane_low;
    int *send;    /* sending nodes */
    int *partner; /* the other end of every message, numbered over all ranks */

    /* Bytes. The points where any range begins or ends cut the result space into intervals, numbered from 0.
     */
    int64_t *table_key; /* open hash: point, -1 for an empty place */
    int *table_index;
    size_t table_size, num_points;
    int64_t *points;  /* ascending */
    int *low, *high;  /* every node's range as intervals low .. high-1 */
    size_t set_words; /* of a set of intervals */

    /* Per rank, used again for the next one. */
    uint64_t *sets; /* per node: the intervals surely here when it starts, then the nodes surely complete */
    uint64_t *have; /* intervals delivered so far */
    int *step_at, *step_nodes;
    int *awaits, num_awaits;

    unsigned char *state;
    int *queue;
} check;

/* Say why, for a node of a rank's plan or, with node -1, for the plans as a whole. Returns EINVAL. */
int pat_check_refuse(const check *c, int rank, int node, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Cut the result space into intervals at every point where a range begins or ends. 0 or ENOMEM.
 * (check_flow.c) */
int pat_check_cut_intervals(check *c);

/* Rank r's plan: is every byte surely here before it is sent, and here exactly once in the end?
 * (check_flow.c) */
int pat_check_flow(check *c, int r);

#endif

/*
 * parts.h — what the files of this directory share: the list of all algorithms, and the parts that several
 * algorithms are put together from. Nobody outside algorithms/ reads it.
 *
 * Build functions are called with at least two ranks and one byte per block: pat_algorithm_plan sees to
 * the rest.
 */
#ifndef PAT_PARTS_H
#define PAT_PARTS_H

#include "algorithms.h"

/*
 * Every algorithm that builds plans: X(name, operation, kind, summary). A new one is its file and one line
 * here. REGULAR: knows nothing of arrivals; PREDICTED: its plan depends on the round's arrival estimates; AHEAD: it
 * moves early data without any. ANY_ORDER: a message holds a block or less, so that ranks may stand in any order, and a ring can
 * go from node to node.
 */
#define PAT_ALLGATHERS(X)                                                                                    \
    X(ring, PAT_OP_ALLGATHER, REGULAR | ANY_ORDER, "parallel ring, P-1 steps to the right neighbour")        \
    X(nex, PAT_OP_ALLGATHER, REGULAR, "neighbour exchange, P/2 steps; ring for odd P")                       \
    X(lnbc, PAT_OP_ALLGATHER, REGULAR, "linear gather to rank 0, then broadcast")                            \
    X(bdr, PAT_OP_ALLGATHER, PREDICTED | ANY_ORDER,                                                          \
      "background disseminated ring: early ranks send ahead of the ring")                                    \
    X(bslb, PAT_OP_ALLGATHER, PREDICTED, "background sorted linear gather to rank 0, then broadcast")        \
    X(relay, PAT_OP_ALLGATHER, AHEAD | ANY_ORDER,                                                            \
      "chunked ring that sets out and is passed on without waiting for anybody")
#define PAT_GATHERS(X)                                                                                       \
    X(gather_linear, PAT_OP_GATHER, REGULAR, "one rank after the other")                                     \
    X(gather_sync, PAT_OP_GATHER, REGULAR, "one rank after the other, each when it is asked")                \
    X(gather_binomial, PAT_OP_GATHER, REGULAR, "up a binomial tree")
#define PAT_BCASTS(X)                                                                                        \
    X(bcast_linear, PAT_OP_BCAST, REGULAR, "from rank 0 to each rank, whole")                                \
    X(bcast_chain, PAT_OP_BCAST, REGULAR, "from rank to rank, in segments")                                  \
    X(bcast_kchain, PAT_OP_BCAST, REGULAR, "four chains, in segments")                                       \
    X(bcast_binary, PAT_OP_BCAST, REGULAR, "down a binary tree, in segments")                                \
    X(bcast_split, PAT_OP_BCAST, REGULAR, "half the message down each side of a binary tree, then exchange") \
    X(bcast_binomial, PAT_OP_BCAST, REGULAR, "down a binomial tree, in segments")

/* Halves of others, not to be chosen. */
#define PAT_HALVES(X)                                                                                        \
    X(bsls, PAT_OP_GATHER, PREDICTED, "background sorted linear synchronized gather to rank 0")

#define PAT_DECLARE(name, op, kind, summary)                                                                 \
    void pat_##name##_build(pat_plan *plan, const pat_job *job, int rank);
PAT_ALLGATHERS(PAT_DECLARE)
PAT_GATHERS(PAT_DECLARE)
PAT_BCASTS(PAT_DECLARE)
PAT_HALVES(PAT_DECLARE)
#undef PAT_DECLARE

static inline int64_t pat_part_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The square root, rounded down; 0 for what has none. */
static inline int64_t pat_part_root(int64_t square)
{
    int64_t root = 0;
    for (int64_t bit = (int64_t)1 << 30; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= square)
            root += bit;
    return root;
}

/* ARRIVE and, right after it, the COPY of the rank's own block; both join the open step. (table.c) */
void pat_part_arrive(pat_plan *plan, const pat_job *job, int rank);

/*
 * Broadcast of the whole result from rank 0. It begins with a step of its own, so it waits for all that the
 * plan's last step holds; that step must imply COPY and, at rank 0, every receive of the gather. (bcast.c)
 */
void pat_part_bcast(pat_plan *plan, const pat_job *job, int rank);

/*
 * All ranks from the first predicted arrival to the last; of equal ones the lower rank comes first, so that
 * every rank has the same order. The caller frees it; NULL, and the plan's error set, when memory is short.
 * In bsls.c.
 */
int *pat_part_by_arrival(pat_plan *plan, const pat_job *job);

#endif

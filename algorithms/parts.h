/*
 * parts.h — what the files of this directory share: the lists of all algorithms, and the parts that several
 * algorithms are put together from. Nobody outside algorithms/ reads it.
 *
 * Build functions are called with at least two ranks and one byte per block: pat_algorithm_plan sees to
 * the rest.
 */
#ifndef PAT_PARTS_H
#define PAT_PARTS_H

#include "algorithms.h"

/*
 * Every algorithm, one list per collective. A new one is its file and one line here:
 *  LEFT(name, op, kind, summary): left to others. It builds no plan;
 *  OURS(name, op, kind, summary): has a build function;
 *  HALF(name, op, kind, summary): likewise, but it is only half of another one and cannot be chosen.
 * The kind: REGULAR: knows nothing of arrivals; PREDICTED: its plan depends on the round's arrival estimates; AHEAD: it
 * moves early data without any. CHOOSES: takes one of the others, call by call. REDUCES: its plans join contributions.
 * ANY_ORDER: a message holds a block or less, so that ranks may stand in any order, and a ring can go from node to node.
 */
#define PAT_ALLGATHERS(LEFT, OURS, HALF, op)                                                                 \
    LEFT(auto, op, AHEAD | CHOOSES, "relay or native, call by call")                                         \
    LEFT(native, op, REGULAR, "the MPI library's own all-gather")                                            \
    OURS(ring, op, REGULAR | ANY_ORDER, "parallel ring, P-1 steps to the right neighbour")                   \
    OURS(nex, op, REGULAR, "neighbour exchange, P/2 steps; ring for odd P")                                  \
    OURS(lnbc, op, REGULAR, "linear gather to rank 0, then broadcast")                                       \
    OURS(bdr, op, PREDICTED | ANY_ORDER, "background disseminated ring: early ranks send ahead of the ring") \
    OURS(bslb, op, PREDICTED, "background sorted linear gather to rank 0, then broadcast")                   \
    OURS(relay, op, AHEAD | ANY_ORDER,                                                                       \
         "chunked ring that sets out and is passed on without waiting for anybody")
#define PAT_GATHERS(LEFT, OURS, HALF, op)                                                                    \
    LEFT(gather_auto, op, CHOOSES, "the fastest by calibration, size by size; else gather_native")           \
    LEFT(gather_native, op, REGULAR, "the MPI library's own gather")                                         \
    OURS(gather_linear, op, REGULAR, "one rank after the other")                                             \
    OURS(gather_sync, op, REGULAR, "one rank after the other, each when it is asked")                        \
    OURS(gather_binomial, op, REGULAR, "up a binomial tree")                                                 \
    HALF(bsls, op, PREDICTED, "background sorted linear synchronized gather to rank 0")
#define PAT_BCASTS(LEFT, OURS, HALF, op)                                                                     \
    LEFT(bcast_auto, op, CHOOSES, "the fastest by calibration, size by size; else bcast_native")             \
    LEFT(bcast_native, op, REGULAR, "the MPI library's own broadcast")                                       \
    OURS(bcast_linear, op, REGULAR, "from rank 0 to each rank, whole")                                       \
    OURS(bcast_chain, op, REGULAR, "from rank to rank, in segments")                                         \
    OURS(bcast_kchain, op, REGULAR, "four chains, in segments")                                              \
    OURS(bcast_binary, op, REGULAR, "down a binary tree, in segments")                                       \
    OURS(bcast_split, op, REGULAR, "half the message down each side of a binary tree, then exchange")        \
    OURS(bcast_binomial, op, REGULAR, "down a binomial tree, in segments")
#define PAT_ALLREDUCES(LEFT, OURS, HALF, op)                                                                 \
    LEFT(allreduce_auto, op, CHOOSES, "for now always allreduce_native")                                     \
    LEFT(allreduce_native, op, REGULAR, "the MPI library's own all-reduce")                                  \
    OURS(allreduce_doubling, op, REGULAR | REDUCES, "recursive doubling, the whole vector in each step")     \
    OURS(allreduce_ring, op, REGULAR | REDUCES, "a ring, in P parts; for operations that commute")           \
    OURS(allreduce_converge, op, PREDICTED | REDUCES,                                                        \
         "up a tree to the rank that comes last, which finds all sums waiting, then down a chain")

/* Every collective with its list, in the order of the table. */
#define PAT_LISTS(LIST)                                                                                      \
    LIST(PAT_ALLGATHERS, PAT_OP_ALLGATHER)                                                                   \
    LIST(PAT_GATHERS, PAT_OP_GATHER)                                                                         \
    LIST(PAT_BCASTS, PAT_OP_BCAST)                                                                           \
    LIST(PAT_ALLREDUCES, PAT_OP_ALLREDUCE)

#define PAT_NOTHING(name, op, kind, summary)
#define PAT_DECLARE(name, op, kind, summary)                                                                 \
    void pat_##name##_build(pat_plan *plan, const pat_job *job, int rank);
#define PAT_DECLARE_ALL(LIST, op) LIST(PAT_NOTHING, PAT_DECLARE, PAT_DECLARE, op)
PAT_LISTS(PAT_DECLARE_ALL)
#undef PAT_DECLARE_ALL
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

/*
 * ARRIVE and, right after it, the COPY of what the rank contributes to its place in the result; both join the open step.
 * (table.c)
 */
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

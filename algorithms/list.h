/*
 * list.h — every collective and every algorithm, once: what programs, tools and tests know of them comes from here. It is made of
 * macros only: a file that uses one of them says what a row expands to.
 *
 * A new algorithm is its file and one line in its collective's list. A new collective is a row and a list here, its algorithms' files,
 * its calls in src/face/faces.h and their declaration in include/pat.h.
 */
#ifndef PAT_LIST_H
#define PAT_LIST_H

/*
 * Every algorithm, one list per collective:
 *  LEFT(name, op, kind, summary): has no build function: it stands for the MPI library's own, or chooses one of the others;
 *  OURS(name, op, kind, summary): has a build function, pat_<name>_build, and a formula, pat_<name>_formula.
 * The kind: REGULAR: it knows nothing of arrivals; PREDICTED: its plan depends on when each rank is expected to arrive;
 * AHEAD: it moves data early without knowing that. LAST_CALLS: a PREDICTED one that sends nothing before a rank has
 * called, so that where nobody has given an estimate it can go by when ranks came to the last calls. CHOOSES: it takes
 * one of the others, call by call. REDUCES: its plans join contributions. NEIGHBOURS: a rank sends only to the one before it and the one
 * after it, so that what goes round comes to a node once where ranks are numbered node by node. PLACES: it heeds itself which ranks share a node. ANY_ORDER: a message holds a block or less,
 * so that ranks may stand in any order: a ring can go from one node of the cluster to the next, and any rank can be the
 * root of a PREDICTED gather. DIRECT: every message goes from the rank that gives its bytes to the one that keeps them, so that a block may have a length that only these two know. REPEATS, of an
 * all-gather that may run non-blocking calls: a block that several ranks of a node need is sent to each of them.
 */
#define PAT_ALLGATHERS(LEFT, OURS, op)                                                                       \
    LEFT(auto, op, AHEAD | CHOOSES, "relay, native or another one, call by call")                            \
    LEFT(native, op, REGULAR, "the MPI library's own all-gather")                                            \
    OURS(direct, op, REGULAR | REPEATS, "every rank sends its block to each other one, all at once")         \
    OURS(bruck, op, REGULAR | REPEATS, "in log2(P) steps, for short blocks")                                 \
    OURS(ring, op, REGULAR | ANY_ORDER, "parallel ring, P-1 steps to the right neighbour")                   \
    OURS(nex, op, REGULAR, "neighbour exchange, P/2 steps; ring for odd P")                                  \
    OURS(lnbc, op, REGULAR, "linear gather to rank 0, then broadcast")                                       \
    OURS(bdr, op, PREDICTED | ANY_ORDER, "background disseminated ring: early ranks send ahead of the ring") \
    OURS(bslb, op, PREDICTED, "background sorted linear gather to rank 0, then broadcast")                   \
    OURS(relay, op, AHEAD | ANY_ORDER,                                                                       \
         "chunked ring of nodes that sets out and is passed on without waiting for anybody")
#define PAT_GATHERS(LEFT, OURS, op)                                                                          \
    LEFT(gather_auto, op, CHOOSES, "the fastest by calibration, size by size; else gather_native")           \
    LEFT(gather_native, op, REGULAR, "the MPI library's own gather")                                         \
    OURS(gather_together, op, REGULAR | DIRECT, "all ranks at once")                                         \
    OURS(gather_linear, op, REGULAR | DIRECT, "one rank after the other")                                    \
    OURS(gather_sync, op, REGULAR | DIRECT, "one rank after the other, each when it is asked")               \
    OURS(gather_binomial, op, REGULAR, "up a binomial tree")                                                 \
    OURS(gather_bsls, op, PREDICTED | ANY_ORDER,                                                             \
         "one rank after the other, sorted by predicted arrival, in the background")
#define PAT_BCASTS(LEFT, OURS, op)                                                                           \
    LEFT(bcast_auto, op, CHOOSES, "the fastest by calibration, size by size; else bcast_native")             \
    LEFT(bcast_native, op, REGULAR, "the MPI library's own broadcast")                                       \
    OURS(bcast_linear, op, REGULAR, "from rank 0 to each rank, whole")                                       \
    OURS(bcast_chain, op, REGULAR, "from rank to rank, in segments")                                         \
    OURS(bcast_kchain, op, REGULAR, "four chains, in segments")                                              \
    OURS(bcast_binary, op, REGULAR, "down a binary tree, in segments")                                       \
    OURS(bcast_split, op, REGULAR, "half the message down each side of a binary tree, then exchange")        \
    OURS(bcast_binomial, op, REGULAR, "down a binomial tree, in segments")
#define PAT_ALLREDUCES(LEFT, OURS, op)                                                                       \
    LEFT(allreduce_auto, op, AHEAD | CHOOSES, "allreduce_converge or allreduce_native, call by call")        \
    LEFT(allreduce_native, op, REGULAR, "the MPI library's own all-reduce")                                  \
    OURS(allreduce_doubling, op, REGULAR | REDUCES, "recursive doubling, the whole vector in each step")     \
    OURS(allreduce_ring, op, REGULAR | REDUCES, "a ring, in P parts; for operations that commute")           \
    OURS(allreduce_halving, op, REGULAR | REDUCES | PLACES, "every rank sums up a part, and hands it round") \
    OURS(allreduce_converge, op, PREDICTED | LAST_CALLS | REDUCES,                                           \
         "every rank joins a share of the vector, the smaller the later it is expected")

#define PAT_ALLTOALLS(LEFT, OURS, op)                                                                        \
    LEFT(alltoall_auto, op, CHOOSES, "for now always alltoall_native")                                       \
    LEFT(alltoall_native, op, REGULAR, "the MPI library's own all-to-all")                                   \
    OURS(alltoall_linear, op, REGULAR | DIRECT, "all blocks at once")                                        \
    OURS(alltoall_pairwise, op, REGULAR | DIRECT,                                                            \
         "P-1 steps, in each a block to one rank and one from another")

#define PAT_REDUCES(LEFT, OURS, op)                                                                          \
    LEFT(reduce_auto, op, CHOOSES, "for now always reduce_native")                                           \
    LEFT(reduce_native, op, REGULAR, "the MPI library's own reduce")                                         \
    OURS(reduce_binomial, op, REGULAR | REDUCES, "up a binomial tree, in segments")                          \
    OURS(reduce_chain, op, REGULAR | REDUCES | NEIGHBOURS, "from rank to rank, in segments")                 \
    OURS(reduce_halving, op, REGULAR | REDUCES | PLACES,                                                     \
         "every rank sums up a part, and sends it to the root")

#define PAT_SCATTERS(LEFT, OURS, op)                                                                         \
    LEFT(scatter_auto, op, CHOOSES, "for now always scatter_native")                                         \
    LEFT(scatter_native, op, REGULAR, "the MPI library's own scatter")                                       \
    OURS(scatter_linear, op, REGULAR | DIRECT, "from the root to each rank, all at once")                    \
    OURS(scatter_binomial, op, REGULAR, "down a binomial tree")

#define PAT_REDUCE_SCATTERS(LEFT, OURS, op)                                                                  \
    LEFT(reduce_scatter_auto, op, CHOOSES, "for now always reduce_scatter_native")                           \
    LEFT(reduce_scatter_native, op, REGULAR, "the MPI library's own reduce-scatter")                         \
    OURS(reduce_scatter_halving, op, REGULAR | REDUCES | PLACES,                                             \
         "in each step half of the blocks that a rank still has to do with; any number of ranks")            \
    OURS(reduce_scatter_pairwise, op, REGULAR | REDUCES,                                                     \
         "P-1 steps, in each a block to one rank and one from another")

/*
 * COLLECTIVE(NAME, name, LIST, title, call, setting, default, FIELDS): the enumerator PAT_OP_NAME; its name as tools and files spell it; its
 * algorithms; its name as sentences spell it; the call of MPI; the setting that names its algorithm, and what runs it where nobody has
 * named one; and what more there is to say, as fields of its pat_collective (src/check/collective.h).
 */
#define PAT_COLLECTIVES(COLLECTIVE)                                                                          \
    COLLECTIVE(ALLGATHER, allgather, PAT_ALLGATHERS, "all-gather", "MPI_Allgather", "PAT_ALG", "auto",       \
               .yardstick = "ring", .all_give = true, .all_get = true, .moves_early = true)                  \
    COLLECTIVE(BCAST, bcast, PAT_BCASTS, "broadcast", "MPI_Bcast", "PAT_ALG_BCAST", "bcast_auto",            \
               .yardstick = "bcast_binomial", .rooted = true, .all_get = true)                               \
    COLLECTIVE(GATHER, gather, PAT_GATHERS, "gather", "MPI_Gather", "PAT_ALG_GATHER", "gather_auto",         \
               .yardstick = "gather_linear", .rooted = true, .all_give = true, .moves_early = true)          \
    COLLECTIVE(ALLREDUCE, allreduce, PAT_ALLREDUCES, "all-reduce", "MPI_Allreduce", "PAT_ALG_ALLREDUCE",     \
               "allreduce_auto", .all_give = true, .all_get = true, .reduces = true, .moves_early = true)    \
    COLLECTIVE(ALLTOALL, alltoall, PAT_ALLTOALLS, "all-to-all", "MPI_Alltoall", "PAT_ALG_ALLTOALL",          \
               "alltoall_auto", .all_give = true, .all_get = true, .personal = true)                         \
    COLLECTIVE(REDUCE, reduce, PAT_REDUCES, "reduce", "MPI_Reduce", "PAT_ALG_REDUCE", "reduce_auto",         \
               .rooted = true, .all_give = true, .reduces = true)                                            \
    COLLECTIVE(SCATTER, scatter, PAT_SCATTERS, "scatter", "MPI_Scatter", "PAT_ALG_SCATTER", "scatter_auto",  \
               .rooted = true, .all_get = true, .personal = true)                                            \
    COLLECTIVE(REDUCE_SCATTER, reduce_scatter, PAT_REDUCE_SCATTERS, "reduce-scatter", "MPI_Reduce_scatter",  \
               "PAT_ALG_REDUCE_SCATTER", "reduce_scatter_auto", .all_give = true, .all_get = true,           \
               .reduces = true, .personal = true)

#endif

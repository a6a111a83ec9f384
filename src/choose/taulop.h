/*
 * taulop.h — what collectives cost inside a node of the cluster, by the model tau-Lop, which counts the transfers that run at once
 * (Rico-Gallego, Diaz-Martin 2015); tau is their number here. Beside it the models LogGP and log_nP, in which a message costs the
 * same whatever else runs. Must never call MPI or read a clock.
 */
#ifndef PAT_TAULOP_H
#define PAT_TAULOP_H

#include <stdint.h>

enum { PAT_MAX_TRANSFER_SIZES = 24, PAT_MAX_TAUS = 8 };

/* What was measured of messages between ranks that share memory. All axes rise, and each has a point at least. */
typedef struct pat_transfers {
    int copies; /* of each segment: 2 through a buffer that both ranks share, 1 without one */
    int64_t
        segment_bytes; /* a longer message goes in segments of so many bytes; 0: every message is one segment */
    int tree_degree;   /* children of a rank in the broadcast through a tree of shared buffers */

    /*
     * o(m): until a message's data enters the channel; from threshold_bytes on (0: never) the protocol comes on top. It is told for each
     * tau, since where ranks share cores a message first waits until its ranks have one, however long it is.
     */
    double overhead_us[PAT_MAX_TAUS], protocol_us;
    int64_t threshold_bytes;

    /* L(m, tau): microseconds of one copy of m bytes while tau copies run at once. */
    int num_sizes, num_taus;
    int64_t bytes[PAT_MAX_TRANSFER_SIZES];
    int tau[PAT_MAX_TAUS];
    double us[PAT_MAX_TAUS][PAT_MAX_TRANSFER_SIZES];

    /* Messages that were measured alone, from one rank to another: all that LogGP and log_nP go by. */
    int num_alone;
    int64_t alone_bytes[PAT_MAX_TRANSFER_SIZES];
    double alone_us[PAT_MAX_TRANSFER_SIZES];
} pat_transfers;

/* L, interpolated linearly along both axes, beyond the points as between the last two, never below 0. */
double pat_transfer_us(const pat_transfers *t, int64_t bytes, int tau);

/* o(m) of a message beside which so many copies run. */
double pat_overhead_us(const pat_transfers *t, int64_t bytes, int tau);

/* What a message is taken to cost. */
enum pat_node_model {
    PAT_TAULOP,       /* its segments' copies, each beside all others of the same stage */
    PAT_TAULOP_AGAIN, /* the same where messages follow one another without a pause: no copy runs alone */
    PAT_TAULOP_WHOLE, /* the same as if messages were not segmented */
    PAT_LOGGP, /* latency, gap per byte and gap per segment, by the line through the messages measured alone */
    PAT_LOGNP, /* as measured alone */
    PAT_NUM_NODE_MODELS
};

/* What ranks on one node of the cluster do together. (PAT_NODE_ in plan.h is about the nodes of a plan.) */
enum pat_node_op {
    PAT_NODE_MESSAGE,  /* one rank to another */
    PAT_NODE_STREAM,   /* one of many messages that follow one another */
    PAT_NODE_BINOMIAL, /* broadcast of m bytes */
    PAT_NODE_TREE, /* the same down a tree of buffers, which all children of a rank read (Open MPI's coll/sm) */
    PAT_NODE_SCATTER,  /* binomial, m bytes for every rank */
    PAT_NODE_RING,     /* all-gather of m bytes from every rank */
    PAT_NODE_DOUBLING, /* the same by recursive doubling; ranks: a power of two */
    PAT_NUM_NODE_OPS
};

/* Microseconds of one operation among ranks of one node. */
double pat_node_us(const pat_transfers *t, enum pat_node_model model, enum pat_node_op op, int ranks,
                   int64_t bytes);

#endif

/*
 * taulop.h — what collectives cost inside a node of the cluster, by the model tau-Lop, which counts the transfers that run at once
 * (Rico-Gallego, Diaz-Martin 2015); tau is their number here. Beside it the models LogGP and log_nP, in which a message costs the
 * same whatever else runs. Must never call MPI or read a clock.
 */
#ifndef PAT_TAULOP_H
#define PAT_TAULOP_H

#include <stdint.h>

enum { PAT_MAX_TRANSFER_SIZES = 16, PAT_MAX_TAUS = 8 };

/* L(m, tau): microseconds of one copy of m bytes while tau copies run at once, as measured; both axes rising. */
typedef struct pat_transfers {
    int num_sizes, num_taus;
    int64_t bytes[PAT_MAX_TRANSFER_SIZES];
    int tau[PAT_MAX_TAUS];
    double us[PAT_MAX_TAUS][PAT_MAX_TRANSFER_SIZES];
    double overhead_us; /* o: until a message's data enters the channel */
} pat_transfers;

/* Interpolated linearly along both axes, beyond the points as between the last two, never below 0. There must be a point. */
double pat_transfer_us(const pat_transfers *t, int64_t bytes, int tau);

/* What a message is taken to cost. */
enum pat_node_model {
    PAT_TAULOP, /* two copies, each beside all others of the same step */
    PAT_LOGGP,  /* latency and gap per byte, by the line through the messages measured alone */
    PAT_LOGNP,  /* two copies as measured alone */
};

enum pat_node_op {
    PAT_NODE_MESSAGE,  /* one rank to another */
    PAT_NODE_BINOMIAL, /* broadcast of m bytes */
    PAT_NODE_SCATTER,  /* binomial, m bytes for every rank */
    PAT_NODE_RING,     /* all-gather of m bytes from every rank */
    PAT_NODE_DOUBLING, /* the same by recursive doubling; ranks: a power of two */
};

/* Microseconds of one operation among ranks of one node, through buffers they share, unsegmented. */
double pat_node_us(const pat_transfers *t, enum pat_node_model model, enum pat_node_op op, int ranks,
                   int64_t bytes);

#endif

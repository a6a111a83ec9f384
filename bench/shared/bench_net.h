/*
 * bench_net.h — the network as the bound, the forecasts and tau see it.
 */
#ifndef BENCH_NET_H
#define BENCH_NET_H

#include <stdint.h>

typedef struct bench_net {
    int num_ranks, num_nodes, ppn;
    const int *node_of; /* per rank */
    int64_t lambda_ns, beta_ps;
    int64_t burst_bytes; /* what a token bucket lets through at once: no link time is counted for it */
} bench_net;

int64_t bench_tau_ns(const bench_net *net, int64_t block_bytes);

#endif

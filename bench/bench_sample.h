/*
 * bench_sample.h — from what every rank measured in one iteration to the iteration's figures, and from those
 * to a row. Arithmetic only: no MPI and no clock.
 */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include "bench_table.h"
#include "model.h"

/* What a rank measures. Times on the shared clock. */
typedef struct bench_report {
    int64_t margin_ns; /* knew of the agreed start this long before it */
    int64_t late_ns;   /* began the iteration this much after the agreed start */
    int64_t slip_ns;   /* arrived this much later than planned */
    int64_t arrival_ns, exit_ns;
    int64_t waiting_cpu_ns; /* processor time of the calling thread inside the call */
    int64_t thread_cpu_ns;  /* processor time of the library's thread, whole iteration */
    int64_t bytes_received, bytes_early;
    int64_t wrong_at; /* first wrong byte of the result, -1: all right */
} bench_report;

/* The network as the bound and tau see it. */
typedef struct bench_net {
    int num_ranks, num_nodes, ppn;
    const int *node_of; /* per rank */
    int64_t lambda_ns, beta_ps;
    int64_t burst_bytes; /* what a token bucket lets through at once: no link time is counted for it */
} bench_net;

int64_t bench_tau_ns(const bench_net *net, int64_t block_bytes);

/*
 * Smallest possible mean elapsed time over all ranks in ns, given these arrivals. Blocks from other nodes are
 * counted once per node, blocks of the same node cost nothing but waiting for them. *last_exit_ns, unless NULL, is
 * the time at which the last rank is done.
 */
double bench_bound_ns(const bench_net *net, int64_t block_bytes, const int64_t *arrival_ns,
                      int64_t *last_exit_ns);

/* The textbook ring without any overhead, by the predictor: mean elapsed in ns for these arrivals. */
typedef struct bench_ring {
    int num_ranks;
    pat_plan *plans;
} bench_ring;

int bench_ring_make(bench_ring *ring, int num_ranks, int64_t block_bytes); /* 0, or an errno value */
void bench_ring_free(bench_ring *ring);
double bench_ring_ns(const bench_ring *ring, const bench_net *net,
                     const int64_t *arrival_ns); /* NaN: not made */

/* One iteration of one algorithm. */
typedef struct bench_sample {
    bool valid;
    double elapsed_ms, past_last_ms, run_ms, omega_ms, bound_ms, bound_past_last_ms, ideal_ring_ms, slip_ms;
    double thread_cpu_ms, waiting_cpu_ms;
    int64_t bytes_received, bytes_early;
} bench_sample;

bench_sample bench_sample_make(const bench_report *reports, const bench_net *net, int64_t block_bytes,
                               const bench_ring *ring);

/*
 * Means over the valid ones of num samples go into the row, whose cell and algorithm are already named.
 * flat_run_ms: run time of the algorithm without delays. Returns 0 or ENOMEM.
 */
int bench_row_fill(bench_row *row, const bench_sample *samples, int num, const bench_net *net,
                   double flat_run_ms);

#endif

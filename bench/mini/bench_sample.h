/*
 * bench_sample.h — from what every rank measured in one iteration to the iteration's figures, and from those
 * to a row. Arithmetic only: no MPI and no clock.
 */
#ifndef BENCH_SAMPLE_H
#define BENCH_SAMPLE_H

#include "bench_forecast.h"
#include "bench_table.h"

/* What a rank measures. Times on the shared clock. */
typedef struct bench_report {
    int64_t margin_ns; /* knew of the agreed start this long before it */
    int64_t late_ns;   /* began the iteration this much after the agreed start */
    int64_t slip_ns;   /* arrived this much later than planned */
    int64_t arrival_ns, exit_ns;
    int64_t waiting_cpu_ns; /* processor time of the calling thread inside the call */
    int64_t thread_cpu_ns;  /* processor time of the library's thread, whole iteration */
    int64_t bytes_received, bytes_early;
    int64_t estimates, estimates_off_ns; /* this rank had announced its call, and by how much it was wrong */
    int64_t wrong_at;                    /* first wrong byte of the result, -1: all right */
    int ran; /* the algorithm that ran the call, by pat_algorithm_at; -1: not known */
} bench_report;

/*
 * Smallest possible mean elapsed time over all ranks in ns, given these arrivals. What comes from other nodes is
 * counted once per node, what comes from the same node costs nothing but waiting for it. *last_exit_ns, unless NULL, is
 * the time at which the last rank is done.
 */
double bench_bound_ns(enum pat_op op, const bench_net *net, int64_t block_bytes, const int64_t *arrival_ns,
                      int64_t *last_exit_ns);

/* One iteration of one algorithm. */
typedef struct bench_sample {
    bool valid;
    double elapsed_ms, past_last_ms, run_ms, omega_ms, bound_ms, bound_past_last_ms, ideal_ring_ms, slip_ms;
    double predicted_ms, predicted_past_last_ms;
    double thread_cpu_ms, waiting_cpu_ms;
    int64_t bytes_received, bytes_early;
    double announced;         /* the share of ranks that had announced their call */
    double estimate_off_ms;   /* by how much these were wrong, mean over them */
    const pat_algorithm *ran; /* who ran the call on rank 0; NULL: not known */
} bench_sample;

/* ideal_ring: the textbook ring without any overhead; own: the algorithm that ran. NULL: no forecast. */
bench_sample bench_sample_make(enum pat_op op, const bench_report *reports, const bench_net *net,
                               int64_t block_bytes, const bench_forecast *ideal_ring,
                               const bench_forecast *own);

/*
 * Means over the valid ones of num samples go into the row, whose cell and algorithm are already named.
 * flat_run_ms: run time of the algorithm without delays. Returns 0 or ENOMEM.
 */
int bench_row_fill(bench_row *row, const bench_sample *samples, int num, const bench_net *net,
                   double flat_run_ms);

#endif

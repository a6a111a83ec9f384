/*
 * bench_loop.h — the measurement: every cell, every iteration, every algorithm in turn. Collective over
 * MPI_COMM_WORLD; rank 0 keeps the results.
 */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include <mpi.h>

#include "bench_clock.h"
#include "bench_options.h"
#include "bench_progress.h"
#include "bench_sample.h"
#include "pat.h"

typedef struct bench_run {
    const bench_options *options;
    const bench_net *net;
    bench_table *table;      /* rank 0: rows are added cell by cell */
    bench_progress progress; /* rank 0 */
    pat_clock clock;
    int64_t clock_error_ns; /* largest over ranks and cells */
    int same_machine;       /* all ranks read one clock */
    int rank, num_ranks;
    /* Called on rank 0 after every cell, with all its rows in the table. 0, or the run ends as failed. */
    int (*after_cell)(struct bench_run *run);
    void *arg;
    char why[512]; /* rank 0: why the run failed */
    /* The rest is the loop's own. */
    int64_t count, block_bytes;
    uint64_t calls;   /* so far: makes the data of every call new */
    int64_t slack_ns; /* rank 0: how far ahead the next start is put */
    char *sendbuf, *recvbuf;
    PAT_Request requests[BENCH_MAX_ALGS];
    bench_forecast ideal_ring, forecast[BENCH_MAX_ALGS]; /* rank 0 */
    bench_report *reports;                               /* rank 0 */
    bench_sample *samples;                               /* rank 0: [algorithm][iteration] */
} bench_run;

/* Measure everything. Returns 0, or 1 on every rank, with the reason in `why` on rank 0. */
int bench_loop(bench_run *run);

/* Expected milliseconds of the whole run, for the progress bar and for people in a hurry. */
double bench_loop_expected_ms(const bench_run *run);

/* A start later than this makes an iteration of blocks that long invalid. */
int64_t bench_tolerance_ns(const bench_options *o, const bench_net *net, int64_t block_bytes);

#endif

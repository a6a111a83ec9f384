/*
 * guide_measure.h — the samples of a campaign. Collective over the communicator of the run; rank 0 keeps the results.
 *
 * A sample begins together on all ranks and is the longest time of all ranks in the call, or the time from the first start to the last end. The first calls of a side
 * are no samples: they make connections, and their result is held against the native call's. A start that a rank has missed is repeated. Algorithms take turns in
 * an order that is drawn anew each time, until each has its samples or its time.
 */
#ifndef GUIDE_MEASURE_H
#define GUIDE_MEASURE_H

#include "guide_arrival.h"
#include "guide_data.h"
#include "guide_input.h"
#include "guide_options.h"
#include "guide_sync.h"

typedef struct guide_run {
    const guide_options *o;
    MPI_Comm comm;
    int rank, size, launch;
    guide_grid grid;
    guide_arrival arrival;
    guide_sync sync;
    pat_mock_scratch *scratch;
    bench_progress *progress;             /* of all that is measured */
    guide_results results, past, barrier; /* past: by the time past the last arrival, where ranks come late */
} guide_run;

/* What a barrier takes: 500 samples or 2 seconds, in ranks that begin as the line says. */
void guide_measure_barrier(guide_run *run, const guide_line *line);

/* A collective at one size, by all of these sides; the first one is the left side. */
void guide_measure_size(guide_run *run, const guide_line *line, int64_t bytes, const guide_side *sides,
                        int num);

#endif

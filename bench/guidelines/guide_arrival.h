/*
 * guide_arrival.h — how late each rank comes to a sample: not at all, by a pattern of pat-bench, or as the ranks of a program came that has left a trace.
 */
#ifndef GUIDE_ARRIVAL_H
#define GUIDE_ARRIVAL_H

#include "bench_recorded.h"
#include "guide_options.h"
#include "guide_results.h"

typedef struct guide_arrival {
    const guide_options *o;
    bench_recorded
        recorded; /* of as many ranks as come; num is 0 where nothing recorded is meant, and on other ranks than 0 before guide_arrival_share */
} guide_arrival;

/* On one rank; reads the whole trace, once for each number of ranks of a sweep. False, with a text in `why`, where there is no recorded program as the options have it; then there is nothing to free. */
bool guide_arrival_make(guide_arrival *a, const guide_options *o, int ranks, char *why, size_t why_size);
/* Collective: what rank 0 has made, on all ranks. */
void guide_arrival_share(guide_arrival *a, MPI_Comm comm);
void guide_arrival_free(guide_arrival *a);

/* What results have it called: "none", "uniform:4"; "trace:app.c:10+1a2b3c4d", with a digest of all times, since two traces may have one place. */
void guide_arrival_name(const guide_arrival *a, char to[GUIDE_NAME]);

/* In that sample of a series. balanced_ms: what the left side takes where ranks come together; the recorded root is this one. */
int64_t guide_arrival_late_ns(const guide_arrival *a, int sample, int rank, int size, int root,
                              double balanced_ms);

#endif

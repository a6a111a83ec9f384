/*
 * taulop_measure.h — measures what the models go by: copies while others run, and messages alone. All members call, and get the same.
 */
#ifndef TAULOP_MEASURE_H
#define TAULOP_MEASURE_H

#include "taulop_way.h"

enum { TAULOP_MAX_RUNS = 31 };

typedef struct taulop_plan {
    int runs; /* through all measurements, one after the other; of each the median counts */
    int64_t segment_bytes, least_bytes, most_bytes;
    int each; /* print every length, not only means */
} taulop_plan;

/* Microseconds of one call of work, which is repeated as often as makes it long against the clock. */
double taulop_each_us(taulop_member *m, int workers, taulop_work *work, void *arg);

/* L(S, tau) in that set-up, S the plan's segment: the mean over messages of more and more segments. */
double taulop_setup_us(taulop_member *m, const taulop_plan *plan, const taulop_way *way,
                       enum taulop_setup setup, int tau);

/* o(m), L by the way's set-up for up to as many copies at once as there are members, and messages alone. */
void taulop_measure(taulop_member *m, const taulop_plan *plan, const taulop_way *way, pat_transfers *t);

/* Of so many runs of it: t[0] becomes the median of each number. */
void taulop_median(pat_transfers *t, int runs);

#endif

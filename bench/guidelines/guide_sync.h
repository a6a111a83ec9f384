/*
 * guide_sync.h — how all ranks begin a sample together: after a barrier, or at a moment on one clock that all have been told; and late by as much as they are
 * meant to be.
 */
#ifndef GUIDE_SYNC_H
#define GUIDE_SYNC_H

#include <stdbool.h>

#include "bench_clock.h"

typedef struct guide_sync {
    MPI_Comm comm;
    pat_clock clock;
    int same_machine;
    int64_t measured_ns; /* when, by the own clock */
    int64_t lead_ns;     /* from telling the moment to the moment */
} guide_sync;

/* Collective: the clock, and how long it takes to tell all ranks of the communicator something. */
void guide_sync_make(guide_sync *s, MPI_Comm comm);

/* Collective: the clock anew, where ranks have several that drift apart and it was measured more than a second ago. */
void guide_sync_again(guide_sync *s);

/* How this rank has begun; the largest of all ranks is how the sample has. */
enum guide_start {
    GUIDE_IN_TIME,
    GUIDE_OVERSLEPT, /* it had not the processor when the moment came */
    GUIDE_HEARD_LATE /* the moment was told too shortly before */
};

/*
 * Collective: returns at the moment, or delay_ns later. Where a rank was not in time, nothing that follows is a sample; where one has heard of it too late,
 * all ranks call guide_sync_widen, which puts the moment farther off.
 */
enum guide_start guide_sync_begin(const guide_sync *s, bool round_time, int64_t delay_ns);
void guide_sync_widen(guide_sync *s);

static inline double guide_sync_now_ns(const guide_sync *s)
{
    return (double)pat_clock_now_ns(&s->clock);
}

#endif

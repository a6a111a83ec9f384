/*
 * clock_sync.h — one clock for all ranks: this process's monotonic clock plus its measured offset to world rank 0.
 */
#ifndef PAT_CLOCK_SYNC_H
#define PAT_CLOCK_SYNC_H

#include <mpi.h>
#include <stdint.h>

#include "clock.h"
#include "clock_tree.h"

typedef struct pat_clock {
    int64_t offset_ns; /* add to the local clock to get rank 0's */
    int64_t
        error_ns; /* half the smallest round trip seen, summed over the steps from rank 0: the offset is right to within this */
    int64_t measured_ns; /* the local time at which that was so; clocks drift apart: see timekeeper.h */
} pat_clock;

/* The time on the clock of all ranks; any thread, no MPI. */
static inline int64_t pat_clock_now_ns(const pat_clock *clock)
{
    return pat_clock_local_ns() + clock->offset_ns;
}

/*
 * Collective over comm, the library's own: measure the offset to its rank 0 along the tree, by `rounds` round trips, at least 1, between
 * each rank and the one above it that reads another clock. The farthest is log2(N) such steps from rank 0, with N nodes, and the errors of the steps add up. It takes
 * as long as log2(N) * (rounds + 1) round trips. Returns an MPI error code.
 */
int pat_clock_sync(pat_clock *clock, MPI_Comm comm, const pat_clock_tree *tree, int rounds);

#endif

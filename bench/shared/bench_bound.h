/*
 * bench_bound.h — what no algorithm of a collective can beat, from arrivals and one link. Arithmetic only: no MPI and no clock.
 */
#ifndef BENCH_BOUND_H
#define BENCH_BOUND_H

#include "collective.h"

/* Is there a bound for it? There is for those in which every rank contributes, and all get the same result. */
static inline bool bench_is_bounded(const pat_collective *collective)
{
    return collective->all_give && collective->all_get && !collective->personal;
}

/*
 * The earliest exit time of every rank, and in *last_ns that of the rank that is through last. block_bytes: as in pat_job.
 * Returns 0, or ENOMEM.
 */
int bench_bound_exits(const pat_collective *collective, int num_ranks, int64_t block_bytes,
                      const int64_t *arrival_ns, int64_t lambda_ns, int64_t beta_ps, int64_t *exit_ns,
                      int64_t *last_ns);

#endif

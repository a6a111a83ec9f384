/*
 * plan_cache.h — plans that were built on a communicator, kept for the next call that needs the same: a program that alternates between
 * collectives, lengths or roots builds none twice. Bounded in memory; plans in use are never thrown away. Must never call MPI.
 *
 * All of it belongs to one communicator, whose nodes, order of ranks and limits of messages stay as they are: they are no part of what is compared. What messages are
 * reckoned to take is: non-blocking calls may differ in that. One thread at a time.
 */
#ifndef PAT_PLAN_CACHE_H
#define PAT_PLAN_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "algorithms.h"

/* At most so many plans are kept, of so many bytes in all. Plans in use count, and stay even beyond that. */
enum { PAT_CACHED_PLANS = 16, PAT_CACHED_BYTES = 4 << 20 };

typedef struct pat_cached_plan pat_cached_plan;

typedef struct pat_plan_cache {
    pat_cached_plan *newest; /* a list, by when they were last asked for */
    int64_t num_built;       /* ever; for tests */
} pat_plan_cache;

/*
 * Get rank `rank`'s plan of `alg` for `job`, which is built if it is not there. It stays as it is until
 * pat_plan_cache_release. A plan that goes by arrivals (job->arrival_ns) is built anew each time, and not kept. Returns
 * 0, ENOMEM or EINVAL, as pat_algorithm_plan does.
 */
int pat_plan_cache_get(pat_plan_cache *cache, const pat_algorithm *alg, const pat_job *job, int rank,
                       const pat_plan **plan);

/* Say that the plan *plan is not used any more, and set *plan to NULL. Does nothing where it is NULL. */
void pat_plan_cache_release(pat_plan_cache *cache, const pat_plan **plan);

/* The algorithm that built a plan of the cache, and whether the ranks were taken to call together. */
const pat_algorithm *pat_plan_cache_algorithm(const pat_plan *plan);
bool pat_plan_cache_together(const pat_plan *plan);

/* Free all plans, those in use too. */
void pat_plan_cache_free(pat_plan_cache *cache);

#endif

/*
 * plan_build.h — for the tests of algorithms: the plans of all ranks for a simple job.
 */
#ifndef PAT_TESTS_PLAN_BUILD_H
#define PAT_TESTS_PLAN_BUILD_H

#include "algorithms.h"

enum { MAX_RANKS = 64 };

static pat_plan plans[MAX_RANKS];

static inline void build(const char *name, const pat_job *job)
{
    const pat_algorithm *alg = pat_algorithm_find(name);
    assert_non_null(alg);
    for (int r = 0; r < job->num_ranks; r++)
        assert_int_equal(pat_algorithm_plan(alg, job, r, &plans[r]), 0);
}

static inline void release(int num_ranks)
{
    for (int r = 0; r < num_ranks; r++)
        pat_plan_free(&plans[r]);
}

static inline pat_job make_job(int num_ranks, int64_t block_bytes, const int64_t *arrival_ns)
{
    return (pat_job){.num_ranks = num_ranks,
                     .block_bytes = block_bytes,
                     .element_bytes = 1,
                     .arrival_ns = arrival_ns,
                     .tau_ns = 1000,
                     .alpha_ns = 100000,
                     .beta_ps = 80000};
}

static inline uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

#endif

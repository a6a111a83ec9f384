/*
 * bench_bound.c — see bench_bound.h. Must never go by what an algorithm took.
 */
#include "bench_bound.h"

#include "model.h"

int bench_bound_exits(const pat_collective *collective, int num_ranks, int64_t block_bytes,
                      const int64_t *arrival_ns, int64_t lambda_ns, int64_t beta_ps, int64_t *exit_ns,
                      int64_t *last_ns)
{
    int rc;
    *last_ns = INT64_MIN;
    if (collective->reduces)
        rc = pat_model_allreduce_bound(num_ranks, block_bytes, arrival_ns,
                                       &(pat_cost){.alpha_ns = lambda_ns, .beta_ps = beta_ps}, exit_ns,
                                       last_ns);
    else
        rc = pat_model_bound(num_ranks, block_bytes, arrival_ns,
                             &(pat_cost){.alpha_ns = lambda_ns, .beta_ps = beta_ps}, exit_ns);
    for (int r = 0; rc == 0 && r < num_ranks; r++)
        *last_ns = exit_ns[r] > *last_ns ? exit_ns[r] : *last_ns;
    return rc;
}

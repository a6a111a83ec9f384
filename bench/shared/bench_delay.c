/*
 * bench_delay.c — see bench_delay.h. Must never depend on the algorithm or on a clock.
 */
#include "bench_delay.h"

#include <string.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

static const char *const names[BENCH_NUM_PATTERNS] = {
    [BENCH_UNIFORM] = "uniform",          [BENCH_NONE] = "none",
    [BENCH_ONE_LATE] = "one-late",        [BENCH_ASCENDING] = "ascending",
    [BENCH_DESCENDING] = "descending",    [BENCH_GAUSSIAN] = "gaussian",
    [BENCH_ROTATING] = "rotating-late",   [BENCH_ALTERNATING] = "alternating-late",
    [BENCH_SWITCHING] = "switching-late",
};

const char *bench_pattern_name(enum bench_pattern pattern)
{
    return names[pattern];
}

int bench_pattern_find(const char *name)
{
    for (int i = 0; i < BENCH_NUM_PATTERNS; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

const char *bench_pattern_names(void)
{
    return "uniform, none, one-late, ascending, descending, gaussian, rotating-late, alternating-late, "
           "switching-late";
}

/* A share of the largest delay, 0..1, drawn for this rank and iteration alone. */
static double draw(enum bench_pattern pattern, uint64_t seed, int iteration, int rank)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, (uint32_t)bench_mix(bench_mix(bench_mix(seed) + (uint64_t)iteration) + (uint64_t)rank));
    double share = gsl_rng_uniform(rng);
    while (pattern == BENCH_GAUSSIAN) {
        share = 0.5 + gsl_ran_gaussian(rng, 1.0 / 6.0);
        if (share >= 0 && share <= 1)
            break;
    }
    gsl_rng_free(rng);
    return share;
}

int64_t bench_delay_ns(enum bench_pattern pattern, uint64_t seed, int iteration, int rank, int num_ranks,
                       int64_t max_ns)
{
    const int last = num_ranks > 1 ? num_ranks - 1 : 1;
    switch (pattern) {
    case BENCH_UNIFORM:
    case BENCH_GAUSSIAN:
        return (int64_t)(draw(pattern, seed, iteration, rank) * (double)max_ns);
    case BENCH_ONE_LATE:
        return rank == num_ranks - 1 ? max_ns : 0;
    case BENCH_ASCENDING:
        return max_ns * rank / last;
    case BENCH_DESCENDING:
        return max_ns * (num_ranks - 1 - rank) / last;
    case BENCH_ROTATING:
        return iteration % num_ranks == rank ? max_ns : 0;
    case BENCH_ALTERNATING:
        return iteration % 2 == 1 && rank == num_ranks - 1 ? max_ns : 0;
    case BENCH_SWITCHING: /* drawn for all ranks alike */
        return rank == num_ranks - 1 && draw(BENCH_UNIFORM, seed, iteration, num_ranks) < 0.5 ? max_ns : 0;
    default:
        return 0;
    }
}

/*
 * outlook.c — see outlook.h. The bound is of an all-gather whose messages take no time but the link's; with the time that
 * the contender needs for a block, measured when all ranks call at once, in place of the link's it is the contender's own.
 */
#include "outlook.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "model.h"

/*
 * Up to how many times what the MPI library takes relay may be tried at all, so that a try in 64 calls costs 3 %; and by
 * what part of the MPI library's time the one that is not in use must be ahead.
 */
enum { BEARABLE_TIMES = 3 };
static const double CLEARLY = 0.03;

/* When ranks leave an all-gather that is bound by one block's time alone. */
static int relay(double *us, int ranks, double block_us, const int64_t *arrival_ns, int64_t last_ns,
                 enum pat_goal goal)
{
    int64_t *exit_ns = malloc((size_t)ranks * sizeof(*exit_ns));
    if (!exit_ns)
        return ENOMEM;
    int rc = pat_model_bound(ranks, 1, arrival_ns,
                             &(pat_cost){.alpha_ns = 0, .beta_ps = llrint(1e6 * block_us)}, exit_ns);
    double mean_ns = 0;
    int64_t out_ns = INT64_MIN;
    for (int r = 0; rc == 0 && r < ranks; r++) {
        mean_ns += (double)(exit_ns[r] - arrival_ns[r]) / ranks;
        out_ns = exit_ns[r] > out_ns ? exit_ns[r] : out_ns;
    }
    *us = (goal == PAT_GOAL_MEAN ? mean_ns : (double)(out_ns - last_ns)) / 1e3;
    free(exit_ns);
    return rc;
}

int pat_outlook_make(pat_outlook *outlook, const pat_outlook_case *of, const int64_t *arrival_ns,
                     enum pat_goal goal)
{
    const int ranks = of->ranks;
    const pat_algorithm *native = pat_algorithm_native(of->contender->op);
    *outlook = (pat_outlook){0, pat_calibration_us(of->calibration, native, ranks, of->bytes),
                             pat_calibration_us(of->calibration, of->contender, ranks, of->bytes)};
    if (!arrival_ns || ranks < 2)
        return 0;
    int64_t last_ns = arrival_ns[0];
    for (int r = 1; r < ranks; r++)
        last_ns = arrival_ns[r] > last_ns ? arrival_ns[r] : last_ns;
    for (int r = 0; r < ranks && goal == PAT_GOAL_MEAN; r++)
        outlook->waiting_us += (double)(last_ns - arrival_ns[r]) / 1e3 / ranks;
    outlook->native_us += outlook->waiting_us;
    if (isnan(outlook->relay_us))
        return 0;
    return relay(&outlook->relay_us, ranks, outlook->relay_us / (ranks - 1), arrival_ns, last_ns, goal);
}

bool pat_outlook_is_known(const pat_outlook *o)
{
    return o->native_us > 0 && o->relay_us > 0; /* not with NaN */
}

enum pat_verdict pat_outlook_verdict(const pat_outlook *together)
{
    if (together->relay_us > BEARABLE_TIMES * together->native_us)
        return PAT_RELAY_NEVER;
    return together->relay_us <= together->native_us ? PAT_RELAY_ALWAYS : PAT_RELAY_BY_ARRIVALS;
}

bool pat_outlook_relay_pays(const pat_outlook *o, bool relay_runs)
{
    const double margin_us =
        CLEARLY * (o->native_us - o->waiting_us); /* who waits for whom is nobody's gain */
    return o->relay_us < o->native_us + (relay_runs ? margin_us : -margin_us);
}

/*
 * bench_forecast.h — what the predictor says of an iteration: an algorithm's plans, the same as the library runs,
 * walked from the arrivals that were measured. Arithmetic only: no MPI and no clock.
 */
#ifndef BENCH_FORECAST_H
#define BENCH_FORECAST_H

#include "algorithms.h"
#include "bench_net.h"
#include "model.h"

typedef struct bench_forecast {
    const pat_algorithm *alg; /* NULL: nothing is foretold */
    pat_job job;
    int64_t alpha_ns,
        beta_ps; /* what a message takes, in place of the job's latency and the net's rate; beta 0: as these */
    int num_plans; /* 0: no plans, or they depend on the arrivals and are made for each walk */
    pat_plan *plans;
} bench_forecast;

/*
 * Forecasts of `alg` for this job; job.alpha_ns is the latency that every message is taken to have. NULL, an algorithm
 * without plans, and very many ranks make one that foretells nothing. Returns 0, or an errno value.
 */
int bench_forecast_make(bench_forecast *f, const pat_algorithm *alg, const pat_job *job);
void bench_forecast_free(bench_forecast *f);

/* In ns: mean over ranks of exit - arrival, and last exit - last arrival. NaN: nothing is foretold. */
typedef struct bench_times {
    double elapsed_ns, past_last_ns;
} bench_times;

/*
 * Every message is taken to be eager, and a token bucket's credit is taken off once, as for the bound. An algorithm that
 * goes by predictions gets these very arrivals as its prediction.
 */
bench_times bench_forecast_walk(const bench_forecast *f, const bench_net *net, const int64_t *arrival_ns);

#endif

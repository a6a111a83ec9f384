/*
 * model_regressors.h — which regressor finds the parameters again that made-up experiments were made with. No MPI, no clock.
 */
#ifndef MODEL_REGRESSORS_H
#define MODEL_REGRESSORS_H

#include <stdint.h>

#include "bench_fit.h"

/* Experiments: how many, and how they are disturbed beyond 2 % of noise. */
typedef struct regressor_mix {
    const char *what;
    int closings; /* closing gathers of so many lengths, 1 or 3, for each of ten lengths of a broadcast */
    int late;     /* so many experiments take longer */
    double least, most; /* by a factor drawn from these */
} regressor_mix;

/* NULL beyond the last one. */
const regressor_mix *regressor_mix_at(int index);

/* Parts of the trials, 0 to 1; and the error that 95 % of them are within. */
typedef struct regressor_result {
    double segment_good; /* in which a segment's time is found within 3 % */
    double all_good;     /* and alpha and beta within 10 % too */
    double negative;     /* in which a parameter came out below 0 */
    double segment_off_95;
} regressor_result;

/* trials: at least 1. Returns 0 or ENOMEM. */
int regressor_try(regressor_result *result, const regressor_mix *mix, bench_fit_how how, int trials,
                  uint64_t seed);

/* Print the table of all regressors and mixes. Returns 0 or ENOMEM. */
int model_regressors(int trials, uint64_t seed);

#endif

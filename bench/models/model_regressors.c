/*
 * model_regressors.c — see model_regressors.h. The experiments are those of pat-calibrate: a broadcast down the binary tree and a closing gather,
 * 90 ranks, 8 KiB to 4 MiB.
 */
#include "model_regressors.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_delay.h"
#include "bench_stats.h"
#include "model_printed.h"

enum { SIZES = 10, MOST_CLOSINGS = 3, MOST_ROWS = SIZES * MOST_CLOSINGS };
static const double alpha_s = 2e-5, beta_s = 2.5e-9, noise = 0.02;

const regressor_mix *regressor_mix_at(int index)
{
    static const regressor_mix mixes[] = {
        {"30 runs", 3, 0, 1, 1},
        {"1 of 30 ten times", 3, 1, 10, 10},
        {"3 of 30 ten times", 3, 3, 10, 10},
        {"9 of 30 ten times", 3, 9, 10, 10},
        {"9 of 30 1 to 3 times", 3, 9, 1, 3},
        {"15 of 30 1 to 1.5 times", 3, 15, 1, 1.5},
        {"10 runs", 1, 0, 1, 1},
        {"1 of 10 ten times", 1, 1, 10, 10},
    };
    return index >= 0 && index < (int)(sizeof(mixes) / sizeof(mixes[0])) ? &mixes[index] : NULL;
}

/* Uniform from 0 to 1. */
static double draw(uint64_t *random)
{
    *random = bench_mix(*random);
    return (double)(*random >> 11) / (double)(UINT64_C(1) << 53);
}

/* Returns how many. */
static int make(bench_fit_row *rows, const regressor_mix *mix, uint64_t *random)
{
    static const double closings[MOST_CLOSINGS] = {1024, 64, 4096};
    const printed_set *const grisou = printed_at(0);
    const int num = SIZES * mix->closings, others = grisou->ranks - 1;
    for (int i = 0; i < num; i++) {
        const pat_job job = {.num_ranks = grisou->ranks,
                             .block_bytes = (int64_t)PRINTED_SEGMENT << i % SIZES,
                             .segment_bytes = PRINTED_SEGMENT};
        const pat_form_cost c =
            pat_closed_form(pat_algorithm_find("bcast_binary"), &job, grisou->link.network);
        rows[i] = (bench_fit_row){c.messages + others, c.bytes + others * closings[i / SIZES], 0};
        rows[i].seconds =
            (rows[i].messages * alpha_s + rows[i].bytes * beta_s) * (1 + noise * (2 * draw(random) - 1));
    }
    /* Which ones are late: a rank of a random order each, by taking and not putting back. */
    int left[MOST_ROWS];
    for (int i = 0; i < num; i++)
        left[i] = i;
    for (int k = 0; k < mix->late; k++) {
        const int at = (int)(draw(random) * (num - k));
        rows[left[at]].seconds *= mix->least + (mix->most - mix->least) * draw(random);
        left[at] = left[num - k - 1];
    }
    return num;
}

static double off(double is, double should_be)
{
    return fabs(is / should_be - 1);
}

int regressor_try(regressor_result *result, const regressor_mix *mix, bench_fit_how how, int trials,
                  uint64_t seed)
{
    double *segment_off = malloc((size_t)trials * sizeof(*segment_off));
    int error = segment_off ? 0 : ENOMEM;
    uint64_t random = bench_mix(seed);
    *result = (regressor_result){0};
    for (int t = 0; !error && t < trials; t++) {
        bench_fit_row rows[MOST_ROWS];
        bench_fit fit;
        const int num = make(rows, mix, &random), rc = bench_fit_by(&fit, rows, num, how);
        error = rc == ENOMEM ? rc : 0;
        segment_off[t] =
            rc == 0 ? off(fit.alpha_s + PRINTED_SEGMENT * fit.beta_s, alpha_s + PRINTED_SEGMENT * beta_s)
                    : INFINITY;
        const bool good = segment_off[t] <= 0.03;
        result->segment_good += good;
        result->all_good += good && off(fit.alpha_s, alpha_s) <= 0.1 && off(fit.beta_s, beta_s) <= 0.1;
        result->negative += rc == 0 && fit.clamped;
    }
    if (!error) {
        result->segment_good /= trials;
        result->all_good /= trials;
        result->negative /= trials;
        result->segment_off_95 = bench_quantile(segment_off, trials, 0.95);
    }
    free(segment_off);
    return error;
}

static int print_mix(const regressor_mix *mix, int trials, uint64_t seed)
{
    printf("\n# %s\n%-16s %-9s %10s %10s %10s %10s\n", mix->what, "regressor", "errors", "segment",
           "all three", "negative", "95 % off");
    for (int k = 0; k < 2 * BENCH_NUM_REGRESSORS; k++) {
        const bench_fit_how how = {(enum bench_regressor)(k / 2), k % 2 == 1};
        regressor_result r;
        const int error = regressor_try(&r, mix, how, trials, seed);
        if (error)
            return error;
        printf("%-16s %-9s %8.1f %% %8.1f %% %8.1f %% %8.1f %%\n", bench_regressor_name(how.by),
               how.relative ? "relative" : "seconds", 100 * r.segment_good, 100 * r.all_good,
               100 * r.negative, 100 * r.segment_off_95);
    }
    return 0;
}

int model_regressors(int trials, uint64_t seed)
{
    int error = 0;
    printf("# %d trials, alpha %g us, beta %g ns, %g %% of noise. segment: trials that find the time of a "
           "segment within 3 %%; all three: and "
           "alpha and beta within 10 %%\n",
           trials, 1e6 * alpha_s, 1e9 * beta_s, 100 * noise);
    for (int i = 0; !error && regressor_mix_at(i); i++)
        error = print_mix(regressor_mix_at(i), trials, seed);
    return error;
}

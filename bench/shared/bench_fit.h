/*
 * bench_fit.h — latency and reciprocal rate of one algorithm from timed runs of it: robust, non-negative, and honest
 * about what the runs do not tell.
 */
#ifndef BENCH_FIT_H
#define BENCH_FIT_H

#include <stdbool.h>

#include "bench_regress.h"

/* One experiment: messages * alpha + bytes * beta is expected to be `seconds`. */
typedef struct bench_fit_row {
    double messages, bytes, seconds;
} bench_fit_row;

typedef struct bench_fit {
    double alpha_s, beta_s; /* seconds, seconds a byte */
    /*
     * How many parameters the experiments tell apart. 1: in all of them bytes are the same multiple of messages, so only
     * alpha + multiple * beta is known, and it is given as if half of it came from either.
     */
    int rank;
    double condition; /* of the system, its columns scaled to length 1; 1 is best, above 1000 the rank is 1 */
    double spread;    /* median of |predicted - measured| / measured */
    bool clamped;     /* a parameter came out negative, and is 0 */
} bench_fit;

/* How to fit. relative: errors as parts of what was measured, else in seconds for each message. */
typedef struct bench_fit_how {
    enum bench_regressor by;
    bool relative;
} bench_fit_how;

/*
 * Least squares of relative errors with Huber's weights, so that single runs that were disturbed count little; a
 * parameter that would be negative is 0 and the other one fitted again. Columns are scaled before, since alpha and beta are
 * orders of magnitude apart. Returns 0; EINVAL for fewer than 3 rows or one that is not positive and finite; ENOMEM.
 */
int bench_fit_hockney(bench_fit *fit, const bench_fit_row *rows, int num);

/* The same by another regressor. */
int bench_fit_by(bench_fit *fit, const bench_fit_row *rows, int num, bench_fit_how how);

#endif

/*
 * bench_regress.h — regressors: what solves more equations than there are unknowns, some of them disturbed.
 */
#ifndef BENCH_REGRESS_H
#define BENCH_REGRESS_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

enum bench_regressor {
    BENCH_LEAST_SQUARES,
    BENCH_HUBER,     /* least squares, but what is far off counts by its distance only */
    BENCH_BISQUARE,  /* and what is very far off does not count */
    BENCH_THEIL_SEN, /* the median of the slopes of all pairs of points, and of the intercepts with it */
    BENCH_RANSAC, /* least squares over the largest set of equations that two of them agree with within 5 % */
    BENCH_NUM_REGRESSORS
};

const char *bench_regressor_name(enum bench_regressor by);

/*
 * x * c = y, where all numbers in x and y are positive and x has one column or two. For two, Theil-Sen divides by the first. Returns 0,
 * ENOMEM, or ERANGE where no solution is found.
 */
int bench_regress(enum bench_regressor by, const gsl_matrix *x, const gsl_vector *y, gsl_vector *c);

#endif

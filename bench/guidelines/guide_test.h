/*
 * guide_test.h — is the right side of a guideline faster than its left side, beyond chance? One-tailed tests of two samples at 5 %, an effect size, and a
 * correction for many tests. Arithmetic only: no MPI and no clock.
 *
 * A new test is a file guide_test_NAME.c with its guide_test, and a line in GUIDE_TESTS.
 */
#ifndef GUIDE_TEST_H
#define GUIDE_TEST_H

#include <stdbool.h>

/* Run times, one at least and none of them NaN. */
typedef struct guide_sample {
    const double *x;
    int n;
} guide_sample;

typedef struct guide_test {
    const char *name, *title;
    /* Negative where the right side is faster; NaN where the samples are too few for it. */
    double (*statistic)(guide_sample left, guide_sample right);
    /* Degrees of freedom for the critical value, by Student's distribution below 25. */
    int (*freedom)(guide_sample left, guide_sample right);
    /* How probable a right side as fast as this is where both sides are alike. */
    double (*p)(guide_sample left, guide_sample right);
} guide_test;

/* All of them, by number from 0 on. */
#define GUIDE_TESTS(X)                                                                                       \
    X(t)                                                                                                     \
    X(rank_sum)                                                                                              \
    X(mann_whitney)
#define GUIDE_DECLARE(name) extern const guide_test guide_test_##name;
GUIDE_TESTS(GUIDE_DECLARE)
#undef GUIDE_DECLARE

/* NULL after the last. */
const guide_test *guide_test_number(int number);

/* What the statistic must be below, taken negative. */
double guide_critical(int freedom);

/* A statistic of NaN is no violation. */
static inline bool guide_is_violation(double statistic, double critical)
{
    return statistic < -critical;
}

/* The same rank for equal values, and correct for them: what the two rank tests have as z has no such correction, as the method has it. */
double guide_rank_z(guide_sample left, guide_sample right, bool correct_for_ties);

/*
 * Cliff's delta: how much more often a run of the right side is faster than one of the left side than the other way round, -1 to 1. Above 0 the
 * right side is faster.
 */
double guide_cliffs_delta(guide_sample left, guide_sample right);

double guide_mean(guide_sample s);
double guide_variance(guide_sample s); /* unbiased; NaN for one value */
double guide_median(guide_sample s);   /* of an even number the mean of the two in the middle */

/* Holm's correction: p[i] becomes the level at which all tests together would still call it; NaN stays, and is no test. */
void guide_holm(double *p, int num);

#endif

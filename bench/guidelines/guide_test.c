/*
 * guide_test.c — see guide_test.h: the list of tests, and what they share. Must never call a violation what is merely not slower: the statistic has to
 * be below the negative critical value.
 */
#include "guide_test.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "bench_stats.h"
#include "guide_need.h"

static const double level = 0.05;
enum { BY_STUDENT = 25 };

#define ROW(name) &guide_test_##name,
static const guide_test *const tests[] = {GUIDE_TESTS(ROW)};

const guide_test *guide_test_number(int number)
{
    return number >= 0 && number < (int)(sizeof(tests) / sizeof(tests[0])) ? tests[number] : NULL;
}

double guide_critical(int freedom)
{
    if (freedom < 1)
        return NAN;
    return freedom < BY_STUDENT ? gsl_cdf_tdist_Qinv(level, freedom) : gsl_cdf_ugaussian_Qinv(level);
}

double guide_mean(guide_sample s)
{
    return gsl_stats_mean(s.x, 1, (size_t)s.n);
}

double guide_variance(guide_sample s)
{
    return s.n > 1 ? gsl_stats_variance(s.x, 1, (size_t)s.n) : NAN;
}

double guide_median(guide_sample s)
{
    double *copy = guide_need_array((size_t)s.n, sizeof(*copy));
    memcpy(copy, s.x, (size_t)s.n * sizeof(*copy));
    const double median = bench_median(copy, s.n);
    free(copy);
    return median;
}

/* In the order of p; of equal ones the first comes first. */
void guide_holm(double *p, int num)
{
    size_t *order = guide_need_array((size_t)num, sizeof(*order));
    double *known = guide_need_array((size_t)num, sizeof(*known));
    int tests_left = 0;
    for (int i = 0; i < num; i++) {
        known[i] = isnan(p[i]) ? HUGE_VAL : p[i];
        tests_left += !isnan(p[i]);
    }
    gsl_sort_index(order, known, 1, (size_t)num);
    double least = 0;
    for (int k = 0; k < num && !isinf(known[order[k]]); k++) {
        least = fmax(least, fmin(1, tests_left-- * known[order[k]]));
        p[order[k]] = least;
    }
    free(order);
    free(known);
}

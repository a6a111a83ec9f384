/*
 * bench_stats.c — see bench_stats.h. Must never drop a value because it looks odd: only what the run marked
 * invalid.
 */
#include "bench_stats.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

/* The values that count, in an array of the caller's to free; NULL when there are none (or no memory). */
static double *kept(const double *x, int n, int *used)
{
    double *y = malloc((size_t)(n > 0 ? n : 1) * sizeof(*y));
    *used = 0;
    for (int i = 0; y && i < n; i++)
        if (!isnan(x[i]))
            y[(*used)++] = x[i];
    return y;
}

double bench_mean(const double *x, int n, int *used)
{
    int count;
    double *y = kept(x, n, &count);
    double mean = count > 0 ? gsl_stats_mean(y, 1, (size_t)count) : NAN;
    free(y);
    if (used)
        *used = count;
    return mean;
}

/* How many standard deviations half the interval has. */
static double deviations(int n)
{
    return gsl_cdf_tdist_Pinv(0.975, n - 1) / sqrt(n);
}

double bench_ci95(const double *x, int n)
{
    int count;
    double *y = kept(x, n, &count);
    double half = NAN;
    if (count >= 2)
        half = deviations(count) * gsl_stats_sd(y, 1, (size_t)count);
    free(y);
    return half;
}

static int says_nothing(const double *x, int n)
{
    return n < 3 || !(gsl_stats_sd(x, 1, (size_t)n) > 0);
}

double bench_lag1(const double *x, int n)
{
    return says_nothing(x, n) ? 0 : gsl_stats_lag1_autocorrelation(x, 1, (size_t)n);
}

int bench_is_dependent(double lag1, int n)
{
    return fabs(lag1) > gsl_cdf_ugaussian_Pinv(0.975) / sqrt(n);
}

double bench_normal_p(const double *x, int n)
{
    if (says_nothing(x, n))
        return 1;
    const double skew = gsl_stats_skew(x, 1, (size_t)n), excess = gsl_stats_kurtosis(x, 1, (size_t)n);
    return gsl_cdf_chisq_Q(n / 6.0 * (skew * skew + excess * excess / 4), 2);
}

double bench_sd_of_ci95(double half, int n)
{
    return n >= 2 ? half / deviations(n) : NAN;
}

double bench_quantile(double *x, int n, double share)
{
    gsl_sort(x, 1, (size_t)n);
    return gsl_stats_quantile_from_sorted_data(x, 1, (size_t)n, share);
}

double bench_median(double *x, int n)
{
    return bench_quantile(x, n, 0.5);
}

void bench_quartiles(double *x, int n, double *low, double *mid, double *high)
{
    *low = bench_quantile(x, n, 0.25);
    *mid = bench_quantile(x, n, 0.5);
    *high = bench_quantile(x, n, 0.75);
}

bench_paired bench_compare(const double *a, const double *b, int n)
{
    bench_paired p = {.diff = NAN, .diff_ci = NAN, .ratio = NAN};
    double *diff = calloc((size_t)(n > 0 ? n : 1), sizeof(*diff));
    double sum_a = 0, sum_b = 0;
    for (int i = 0; diff && i < n; i++) {
        diff[i] = a[i] - b[i]; /* NaN where either does not count */
        if (!isnan(diff[i])) {
            sum_a += a[i];
            sum_b += b[i];
        }
    }
    if (diff) {
        p.diff = bench_mean(diff, n, &p.n);
        p.diff_ci = bench_ci95(diff, n);
        if (sum_b > 0)
            p.ratio = sum_a / sum_b;
    }
    free(diff);
    return p;
}

int bench_is_above(const bench_paired *p)
{
    return p->n >= 2 && p->diff > p->diff_ci;
}

/*
 * bench_stats.h — means, 95 % confidence intervals, paired differences. NaN marks an iteration that does not
 * count.
 */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

/* Mean of the values that are not NaN; NaN when there are none. Their number goes to *used when not NULL. */
double bench_mean(const double *x, int n, int *used);

/* Half-width of the 95 % confidence interval of the mean (Student's t); NaN for fewer than two values. */
double bench_ci95(const double *x, int n);

/*
 * What that interval takes for granted. How much a value goes by the one before it: the autocorrelation at distance 1, -1 to 1, and whether
 * it is beyond what independent values have in 95 of 100 cases. How probable skewness and excess as great as these are where values are
 * normally distributed (Jarque and Bera's test; of few values it finds only gross departures). Of n values none of which is NaN; of fewer
 * than three, or of equal ones: 0, false and 1.
 */
double bench_lag1(const double *x, int n);
int bench_is_dependent(double lag1, int n);
double bench_normal_p(const double *x, int n);

/* The standard deviation of n values whose mean has this confidence interval; NaN for fewer than two. */
double bench_sd_of_ci95(double half, int n);

/* Of n values, one at least and none of them NaN, which are sorted: the one that `share` of them lie below, 0 to 1. */
double bench_quantile(double *x, int n, double share);
double bench_median(double *x, int n);
void bench_quartiles(double *x, int n, double *low, double *mid, double *high);

/* Two series over the same iterations, compared where both count. */
typedef struct bench_paired {
    int n;
    double diff, diff_ci; /* mean of a - b and its 95 % half-width */
    double ratio;         /* mean a / mean b */
} bench_paired;

bench_paired bench_compare(const double *a, const double *b, int n);

/* Is the mean difference above 0 beyond its confidence interval? False with fewer than two pairs. */
int bench_is_above(const bench_paired *p);

#endif

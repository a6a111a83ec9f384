/*
 * guide_test_t.c — Student's test of two samples with one variance for both.
 */
#include <math.h>

#include <gsl/gsl_cdf.h>

#include "guide_test.h"

static int freedom(guide_sample left, guide_sample right)
{
    return left.n + right.n - 2;
}

/* Of one value there is no variance, and it adds none. */
static double squares(guide_sample s)
{
    return s.n > 1 ? (s.n - 1) * guide_variance(s) : 0;
}

static double statistic(guide_sample left, guide_sample right)
{
    const double difference = guide_mean(right) - guide_mean(left);
    if (freedom(left, right) < 1)
        return NAN;
    const double deviation = sqrt((squares(left) + squares(right)) / freedom(left, right));
    const double both = (double)left.n * right.n / (left.n + right.n);
    if (deviation > 0)
        return sqrt(both) * difference / deviation;
    return difference == 0 ? 0 : copysign(HUGE_VAL, difference);
}

static double p_of(guide_sample left, guide_sample right)
{
    const double t = statistic(left, right);
    if (isnan(t) || isinf(t))
        return isnan(t) ? NAN : t > 0;
    return gsl_cdf_tdist_P(t, freedom(left, right));
}

const guide_test guide_test_t = {"t", "t-test", statistic, freedom, p_of};

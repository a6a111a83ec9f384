/*
 * guide_test_ranks.c — Wilcoxon's rank-sum test, and the same by Mann and Whitney's count; Cliff's delta. Equal values have the mean of their ranks.
 */
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>

#include "guide_need.h"
#include "guide_test.h"

typedef struct ranks {
    double left, right; /* sums */
    double ties;        /* the sum of t^3 - t, for each t that are equal */
} ranks;

static ranks rank_both(guide_sample left, guide_sample right)
{
    const size_t num = (size_t)left.n + (size_t)right.n;
    double *x = guide_need_array(num, sizeof(*x));
    size_t *order = guide_need_array(num, sizeof(*order));
    ranks r = {0, 0, 0};
    for (size_t i = 0; i < num; i++)
        x[i] = i < (size_t)left.n ? left.x[i] : right.x[i - (size_t)left.n];
    gsl_sort_index(order, x, 1, num);
    for (size_t i = 0, end; i < num; i = end) {
        for (end = i + 1; end < num && x[order[end]] == x[order[i]]; end++)
            ;
        const double equal = (double)(end - i), rank = ((double)i + 1 + (double)end) / 2;
        r.ties += equal * equal * equal - equal;
        for (size_t k = i; k < end; k++)
            *(order[k] < (size_t)left.n ? &r.left : &r.right) += rank;
    }
    free(x);
    free(order);
    return r;
}

static double deviation(guide_sample left, guide_sample right, double ties)
{
    const double n1 = left.n, n2 = right.n, n = n1 + n2;
    return sqrt(n1 * n2 / 12 * (n + 1 - ties / (n * (n - 1))));
}

double guide_rank_z(guide_sample left, guide_sample right, bool correct_for_ties)
{
    const ranks r = rank_both(left, right);
    const double expected = right.n * (left.n + right.n + 1.0) / 2;
    const double sd = deviation(left, right, correct_for_ties ? r.ties : 0);
    return sd > 0 ? (r.right - expected) / sd : 0;
}

/* In how many pairs the right side's run takes longer; an equal pair is half of one. */
static double longer(guide_sample left, guide_sample right)
{
    const double n1 = left.n, n2 = right.n;
    return n1 * n2 + n1 * (n1 + 1) / 2 - rank_both(left, right).left;
}

double guide_cliffs_delta(guide_sample left, guide_sample right)
{
    return 1 - 2 * longer(left, right) / ((double)left.n * right.n);
}

static double rank_sum(guide_sample left, guide_sample right)
{
    return guide_rank_z(left, right, false);
}

static double mann_whitney(guide_sample left, guide_sample right)
{
    return (longer(left, right) - (double)left.n * right.n / 2) / deviation(left, right, 0);
}

static int smaller(guide_sample left, guide_sample right)
{
    return left.n < right.n ? left.n : right.n;
}

static double p_of(guide_sample left, guide_sample right)
{
    return gsl_cdf_ugaussian_P(guide_rank_z(left, right, true));
}

const guide_test guide_test_rank_sum = {"rank-sum", "Wilcoxon rank-sum test", rank_sum, smaller, p_of};
const guide_test guide_test_mann_whitney = {"mann-whitney", "Wilcoxon-Mann-Whitney test", mann_whitney,
                                            smaller, p_of};

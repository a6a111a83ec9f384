/*
 * bench_regress.c — see bench_regress.h. Weighted least squares are GSL's; Theil-Sen and RANSAC it has not. RANSAC tries all pairs of equations
 * and not random ones, since they are few.
 */
#include "bench_regress.h"

#include <errno.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bench_stats.h"

static const double agrees = 0.05;

const char *bench_regressor_name(enum bench_regressor by)
{
    static const char *const names[BENCH_NUM_REGRESSORS] = {"least squares", "Huber", "bisquare", "Theil-Sen",
                                                            "RANSAC"};
    return names[by];
}

/*
 * GSL takes the spread of y for what errors are at least, and 1 where y is all the same, as it is where errors are relative: then
 * nothing would be far off, and no weight other than 1. So every second equation is negated, which changes no other thing.
 */
static int robust(const gsl_multifit_robust_type *type, const gsl_matrix *x, const gsl_vector *y,
                  gsl_vector *c)
{
    gsl_matrix *cov = gsl_matrix_alloc(x->size2, x->size2), *left = gsl_matrix_alloc(x->size1, x->size2);
    gsl_vector *right = gsl_vector_alloc(x->size1);
    gsl_multifit_robust_workspace *work = gsl_multifit_robust_alloc(type, x->size1, x->size2);
    int rc = cov && left && right && work ? 0 : ENOMEM;
    if (rc == 0) {
        gsl_matrix_memcpy(left, x);
        gsl_vector_memcpy(right, y);
        for (size_t i = 1; i < x->size1; i += 2) {
            gsl_vector_view row = gsl_matrix_row(left, i);
            gsl_vector_scale(&row.vector, -1);
            gsl_vector_set(right, i, -gsl_vector_get(y, i));
        }
        gsl_multifit_robust_maxiter(1000, work);
        rc = gsl_multifit_robust(left, right, c, cov, work) == GSL_SUCCESS ? 0 : ERANGE;
    }
    gsl_matrix_free(cov);
    gsl_matrix_free(left);
    gsl_vector_free(right);
    if (work)
        gsl_multifit_robust_free(work);
    return rc;
}

/* The right side divided by a column: of one column alone, the solutions of the single equations. */
static double solution(const gsl_matrix *x, const gsl_vector *y, size_t i)
{
    return gsl_vector_get(y, i) / gsl_matrix_get(x, i, 0);
}

/* Theil and Sen: y/x0 = c0 + c1 * x1/x0. */
static int theil_sen(const gsl_matrix *x, const gsl_vector *y, gsl_vector *c)
{
    const size_t n = x->size1;
    double *found = malloc(n * n * sizeof(*found));
    int num = 0, rc = found ? 0 : ENOMEM;
    for (size_t i = 0; rc == 0 && x->size2 == 2 && i < n; i++)
        for (size_t k = 0; k < i; k++) {
            const double apart = gsl_matrix_get(x, i, 1) / gsl_matrix_get(x, i, 0) -
                                 gsl_matrix_get(x, k, 1) / gsl_matrix_get(x, k, 0);
            if (apart != 0)
                found[num++] = (solution(x, y, i) - solution(x, y, k)) / apart;
        }
    if (rc == 0 && x->size2 == 2 && num == 0)
        rc = ERANGE;
    if (rc == 0) {
        const double slope = x->size2 == 2 ? bench_median(found, num) : 0;
        for (size_t i = 0; i < n; i++)
            found[i] = solution(x, y, i) -
                       (x->size2 == 2 ? slope * gsl_matrix_get(x, i, 1) / gsl_matrix_get(x, i, 0) : 0);
        gsl_vector_set(c, 0, bench_median(found, (int)n));
        if (x->size2 == 2)
            gsl_vector_set(c, 1, slope);
    }
    free(found);
    return rc;
}

/* The solution of two equations, or, of one column, of the first of them. */
static bool of_pair(const gsl_matrix *x, const gsl_vector *y, size_t i, size_t k, double c[2])
{
    c[0] = solution(x, y, i);
    c[1] = 0;
    if (x->size2 == 1)
        return true;
    const double a = gsl_matrix_get(x, i, 0), b = gsl_matrix_get(x, i, 1), d = gsl_matrix_get(x, k, 0),
                 e = gsl_matrix_get(x, k, 1), det = a * e - b * d;
    if (fabs(det) < 1e-12 * (fabs(a * e) + fabs(b * d)))
        return false;
    c[0] = (gsl_vector_get(y, i) * e - b * gsl_vector_get(y, k)) / det;
    c[1] = (a * gsl_vector_get(y, k) - gsl_vector_get(y, i) * d) / det;
    return true;
}

static bool in_consensus(const gsl_matrix *x, const gsl_vector *y, size_t i, const double c[2])
{
    const double is = gsl_matrix_get(x, i, 0) * c[0] + (x->size2 == 2 ? gsl_matrix_get(x, i, 1) * c[1] : 0);
    return fabs(is - gsl_vector_get(y, i)) <= agrees * gsl_vector_get(y, i);
}

/* Least squares over the equations that agree with c, `num` of them. */
static int of_consensus(const gsl_matrix *x, const gsl_vector *y, const double with[2], size_t num,
                        gsl_vector *c)
{
    gsl_matrix *those = gsl_matrix_alloc(num, x->size2);
    gsl_vector *right = gsl_vector_alloc(num);
    int rc = those && right ? 0 : ENOMEM;
    for (size_t i = 0, at = 0; rc == 0 && i < x->size1; i++)
        if (in_consensus(x, y, i, with)) {
            gsl_vector_const_view row = gsl_matrix_const_row(x, i);
            gsl_matrix_set_row(those, at, &row.vector);
            gsl_vector_set(right, at++, gsl_vector_get(y, i));
        }
    if (rc == 0)
        rc = robust(gsl_multifit_robust_ols, those, right, c);
    gsl_matrix_free(those);
    gsl_vector_free(right);
    return rc;
}

static int ransac(const gsl_matrix *x, const gsl_vector *y, gsl_vector *c)
{
    double best[2] = {0}, now[2];
    size_t most = 0;
    for (size_t i = 0; i < x->size1; i++)
        for (size_t k = 0; k < (x->size2 == 2 ? i : 1); k++) {
            size_t num = 0;
            if (!of_pair(x, y, i, k, now))
                continue;
            for (size_t j = 0; j < x->size1; j++)
                num += in_consensus(x, y, j, now);
            if (num > most) {
                most = num;
                best[0] = now[0];
                best[1] = now[1];
            }
        }
    if (most > x->size2)
        return of_consensus(x, y, best, most, c);
    for (size_t j = 0; j < x->size2; j++)
        gsl_vector_set(c, j, best[j]);
    return most > 0 ? 0 : ERANGE;
}

int bench_regress(enum bench_regressor by, const gsl_matrix *x, const gsl_vector *y, gsl_vector *c)
{
    switch (by) {
    case BENCH_THEIL_SEN:
        return theil_sen(x, y, c);
    case BENCH_RANSAC:
        return ransac(x, y, c);
    case BENCH_LEAST_SQUARES:
        return robust(gsl_multifit_robust_ols, x, y, c);
    case BENCH_BISQUARE:
        return robust(gsl_multifit_robust_bisquare, x, y, c);
    default:
        return robust(gsl_multifit_robust_huber, x, y, c);
    }
}

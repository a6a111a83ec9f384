/*
 * bench_fit.c — see bench_fit.h.
 */
#include "bench_fit.h"

#include <errno.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bench_stats.h"

enum { PARAMETERS = 2 };
static const double worst_condition = 1000;

/* x * c = y, the columns of length 1 each. */
typedef struct scaled {
    gsl_matrix *x;
    gsl_vector *y;
    double length[PARAMETERS], unit_s; /* unit_s: how much 1 of y is */
} scaled;

static bool scale(scaled *s, const bench_fit_row *rows, int num, bool relative)
{
    s->x = gsl_matrix_alloc((size_t)num, PARAMETERS);
    s->y = gsl_vector_alloc((size_t)num);
    if (!s->x || !s->y)
        return false;
    for (int i = 0; i < num; i++) {
        const double by = relative ? rows[i].seconds : rows[i].messages;
        gsl_matrix_set(s->x, (size_t)i, 0, rows[i].messages / by);
        gsl_matrix_set(s->x, (size_t)i, 1, rows[i].bytes / by);
        gsl_vector_set(s->y, (size_t)i, rows[i].seconds / by);
    }
    s->unit_s = gsl_vector_min(s->y);
    gsl_vector_scale(s->y, 1 / s->unit_s);
    for (size_t j = 0; j < PARAMETERS; j++) {
        gsl_vector_view column = gsl_matrix_column(s->x, j);
        s->length[j] = sqrt(gsl_stats_tss_m(column.vector.data, column.vector.stride, column.vector.size, 0));
        gsl_vector_scale(&column.vector, 1 / s->length[j]);
    }
    return true;
}

/* Ratio of the singular values: how well the columns can be told apart. */
static int condition(const scaled *s, double *ratio)
{
    gsl_matrix *u = gsl_matrix_alloc(s->x->size1, PARAMETERS), *v = gsl_matrix_alloc(PARAMETERS, PARAMETERS);
    gsl_vector *values = gsl_vector_alloc(PARAMETERS), *work = gsl_vector_alloc(PARAMETERS);
    int rc = u && v && values && work ? 0 : ENOMEM;
    if (rc == 0) {
        gsl_matrix_memcpy(u, s->x);
        gsl_linalg_SV_decomp(u, v, values, work);
        const double least = gsl_vector_get(values, 1);
        *ratio = least > 0 ? gsl_vector_get(values, 0) / least : INFINITY;
    }
    gsl_matrix_free(u);
    gsl_matrix_free(v);
    gsl_vector_free(values);
    gsl_vector_free(work);
    return rc;
}

/* Regression on the given columns (a bit each); those left out get 0. */
static int regress(const scaled *s, enum bench_regressor by, unsigned columns, double c[PARAMETERS])
{
    const size_t n = s->x->size1, p = columns == 3 ? 2 : 1;
    gsl_matrix *x = gsl_matrix_alloc(n, p);
    gsl_vector *found = gsl_vector_alloc(p);
    int rc = x && found ? 0 : ENOMEM;
    if (rc == 0) {
        for (size_t j = 0, at = 0; j < PARAMETERS; j++)
            if (columns >> j & 1) {
                gsl_vector_const_view from = gsl_matrix_const_column(s->x, j);
                gsl_matrix_set_col(x, at++, &from.vector);
            }
        rc = bench_regress(by, x, s->y, found);
        for (size_t j = 0, at = 0; j < PARAMETERS; j++)
            c[j] = columns >> j & 1 ? gsl_vector_get(found, at++) : 0;
    }
    gsl_matrix_free(x);
    gsl_vector_free(found);
    return rc;
}

/* Sum of |error| of c: which of two one-parameter fits is the better one. */
static double misfit(const scaled *s, const double *c)
{
    double sum = 0;
    for (size_t i = 0; i < s->x->size1; i++)
        sum += fabs(gsl_matrix_get(s->x, i, 0) * c[0] + gsl_matrix_get(s->x, i, 1) * c[1] -
                    gsl_vector_get(s->y, i));
    return sum;
}

static int solve(const scaled *s, enum bench_regressor by, bench_fit *fit, double c[PARAMETERS])
{
    double alone[PARAMETERS][PARAMETERS];
    int rc = condition(s, &fit->condition);
    fit->rank = fit->condition > worst_condition ? 1 : 2;
    if (rc == 0 && fit->rank == 2)
        rc = regress(s, by, 3, c);
    if (rc != 0 || (fit->rank == 2 && c[0] >= 0 && c[1] >= 0))
        return rc;
    fit->clamped = fit->rank == 2;
    for (int j = 0; j < PARAMETERS && rc == 0; j++)
        rc = regress(s, by, 1u << j, alone[j]);
    if (rc != 0)
        return rc;
    if (fit->rank == 1) { /* the columns are the same but for their length */
        c[0] = alone[0][0] / 2;
        c[1] = alone[1][1] / 2;
    } else {
        const double *better = misfit(s, alone[0]) < misfit(s, alone[1]) ? alone[0] : alone[1];
        c[0] = better[0];
        c[1] = better[1];
    }
    return 0;
}

static double median_error(const bench_fit *fit, const bench_fit_row *rows, int num, double *errors)
{
    for (int i = 0; i < num; i++)
        errors[i] =
            fabs((rows[i].messages * fit->alpha_s + rows[i].bytes * fit->beta_s) / rows[i].seconds - 1);
    return bench_median(errors, num);
}

int bench_fit_hockney(bench_fit *fit, const bench_fit_row *rows, int num)
{
    return bench_fit_by(fit, rows, num, (bench_fit_how){BENCH_HUBER, true});
}

int bench_fit_by(bench_fit *fit, const bench_fit_row *rows, int num, bench_fit_how how)
{
    *fit = (bench_fit){0};
    if (num < 3)
        return EINVAL;
    for (int i = 0; i < num; i++)
        if (!(rows[i].messages > 0 && rows[i].bytes > 0 && rows[i].seconds > 0) ||
            !isfinite(rows[i].messages + rows[i].bytes + rows[i].seconds))
            return EINVAL;
    gsl_error_handler_t *old = gsl_set_error_handler_off();
    scaled s = {0};
    double c[PARAMETERS] = {0}, *errors = malloc((size_t)num * sizeof(*errors));
    int rc = errors && scale(&s, rows, num, how.relative) ? solve(&s, how.by, fit, c) : ENOMEM;
    if (rc == 0) {
        fit->alpha_s = c[0] * s.unit_s / s.length[0];
        fit->beta_s = c[1] * s.unit_s / s.length[1];
        fit->spread = median_error(fit, rows, num, errors);
    }
    gsl_matrix_free(s.x);
    gsl_vector_free(s.y);
    free(errors);
    gsl_set_error_handler(old);
    return rc;
}

/*
 * closed_form.c — see closed_form.h. The formulas stand with their algorithms.
 */
#include "closed_form.h"

double pat_gamma_of(pat_gamma g, int p)
{
    if (p <= 2 || g.count < 1)
        return 1;
    if (p - 2 < g.count)
        return g.at[p - 2];
    double n = g.count, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
    for (int i = 0; i < g.count; i++) {
        sum_x += i;
        sum_y += g.at[i];
        sum_xx += (double)i * i;
        sum_xy += i * g.at[i];
    }
    double spread = n * sum_xx - sum_x * sum_x;
    double slope = spread > 0 ? (n * sum_xy - sum_x * sum_y) / spread : 0;
    return (sum_y - slope * sum_x) / n + slope * (p - 2);
}

pat_form_cost pat_closed_form(const pat_algorithm *alg, const pat_job *job, pat_gamma gamma)
{
    pat_formula formula = {.runs_as = NULL};
    pat_form_cost cost = {.messages = 0};
    alg->formula(&formula, job);
    for (int k = 1; k <= PAT_MAX_AT_ONCE; k++) {
        const double times = formula.messages[k] > 0 ? pat_gamma_of(gamma, k + 1) : 0;
        cost.messages += times * (double)formula.messages[k];
        cost.bytes += times * (double)formula.bytes[k];
        cost.pieces += times * (double)formula.pieces[k];
    }
    return cost;
}

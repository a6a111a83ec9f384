/*
 * bench_versus.c — one algorithm against all others and against the bound, by imbalance factor (bench_report.h).
 * Ratios above 1 in favour of the algorithm, but for those over the bound, which can only be 1 or more.
 */
#include "bench_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_GROUPS = 32 };

/* Geometric mean and worst of a ratio. */
typedef struct ratio {
    int num;
    double logs, least, most;
} ratio;

typedef struct group {
    double factor; /* planned: largest delay over tau, to the nearest power of two; 0: no delay */
    int cells;
    ratio regular, aware, bound;                /* mean elapsed */
    ratio regular_past, aware_past, bound_past; /* time past the last arrival */
} group;

static void add(ratio *r, double value)
{
    if (!(value > 0) || isinf(value))
        return;
    r->least = r->num == 0 || value < r->least ? value : r->least;
    r->most = r->num == 0 || value > r->most ? value : r->most;
    r->logs += log(value);
    r->num++;
}

static double planned_factor(const bench_cell *c)
{
    if (!(c->max_delay_ms > 0) || !(c->tau_ms > 0))
        return 0;
    return exp2(round(log2(c->max_delay_ms / c->tau_ms)));
}

/* The others' best: of the regular ones, or of the arrival-aware ones but `alg`. */
static void best_others(const bench_table *t, const bench_cell *c, const char *alg, bool aware,
                        double *elapsed_ms, double *past_last_ms)
{
    const char *names[64];
    int num = bench_table_algs(t, names, 64);
    *elapsed_ms = *past_last_ms = INFINITY;
    for (int i = 0; i < num; i++) {
        const bench_row *r = bench_cell_row(t, c, names[i]);
        if (!r || strcmp(names[i], alg) == 0 || bench_is_aware(names[i]) != aware)
            continue;
        *elapsed_ms = fmin(*elapsed_ms, r->elapsed_ms);
        *past_last_ms = fmin(*past_last_ms, r->past_last_ms);
    }
}

static void add_cell(const bench_table *t, const bench_cell *c, const bench_row *ours, group *g)
{
    double elapsed, past;
    g->cells++;
    best_others(t, c, ours->alg, false, &elapsed, &past);
    add(&g->regular, elapsed / ours->elapsed_ms);
    add(&g->regular_past, past / ours->past_last_ms);
    best_others(t, c, ours->alg, true, &elapsed, &past);
    add(&g->aware, elapsed / ours->elapsed_ms);
    add(&g->aware_past, past / ours->past_last_ms);
    add(&g->bound, ours->elapsed_ms / ours->bound_ms);
    add(&g->bound_past, ours->past_last_ms / ours->bound_past_last_ms);
}

static void print_ratio(const ratio *r, bool high_is_worst, FILE *to)
{
    if (r->num)
        fprintf(to, " %6.3f %6.3f", exp(r->logs / r->num), high_is_worst ? r->most : r->least);
    else
        fprintf(to, " %6s %6s", "-", "-");
}

static int by_factor(const void *va, const void *vb)
{
    const group *a = va, *b = vb;
    return (a->factor > b->factor) - (a->factor < b->factor);
}

void bench_versus_print(const bench_table *table, const char *alg, FILE *to)
{
    bench_cell *cells;
    group groups[MAX_GROUPS] = {{0}};
    int num_groups = 0, unknown = 0;
    const int num = bench_table_cells(table, &cells);
    for (int i = 0; i < num; i++) {
        const bench_row *ours = bench_cell_row(table, &cells[i], alg);
        if (!ours || isnan(ours->elapsed_ms))
            continue;
        if (isnan(cells[i].tau_ms)) {
            unknown++;
            continue;
        }
        const double factor = planned_factor(&cells[i]);
        int k = 0;
        while (k < num_groups && groups[k].factor != factor)
            k++;
        if (k == MAX_GROUPS)
            continue;
        num_groups += k == num_groups;
        groups[k].factor = factor;
        add_cell(table, &cells[i], ours, &groups[k]);
    }
    free(cells);
    qsort(groups, (size_t)num_groups, sizeof(groups[0]), by_factor);
    fprintf(to,
            "\n# %s against the others, by largest delay over tau: geometric mean and worst cell. regular, "
            "aware: the "
            "best regular\n# and the best other arrival-aware algorithm over %s; bound: %s over the bound. "
            "First mean "
            "elapsed time, then\n# time past the last arrival.\n",
            alg, alg, alg);
    if (strcmp(table->lab_check, "fail") == 0)
        fprintf(to, "# The emulated cluster failed its own check. Doubt these figures.\n");
    fprintf(to, "%9s %5s |%14s%14s%14s |%14s%14s%14s\n", "delay/tau", "cells", "regular", "aware", "bound",
            "regular", "aware", "bound");
    for (int k = 0; k < num_groups; k++) {
        const group *g = &groups[k];
        fprintf(to, "%9.4g %5d |", g->factor, g->cells);
        print_ratio(&g->regular, false, to);
        print_ratio(&g->aware, false, to);
        print_ratio(&g->bound, true, to);
        fprintf(to, " |");
        print_ratio(&g->regular_past, false, to);
        print_ratio(&g->aware_past, false, to);
        print_ratio(&g->bound_past, true, to);
        fprintf(to, "\n");
    }
    if (unknown)
        fprintf(to, "# left out: %d cells from a CSV, which does not tell tau; give the JSON\n", unknown);
    if (num_groups == 0)
        fprintf(to, "no cell has %s\n", alg);
}

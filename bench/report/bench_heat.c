/*
 * bench_heat.c — see bench_heat.h. Must never give a figure's data away without saying which cells are doubtful.
 */
#include "bench_heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PLACES = 128 };

/* What lies along an axis, in the order in which it is drawn: two numbers for each place. */
typedef struct axis {
    double at[MAX_PLACES][2];
    int num;
} axis;

static int place(axis *a, double first, double second)
{
    for (int i = 0; i < a->num; i++)
        if (a->at[i][0] == first && a->at[i][1] == second)
            return i;
    if (a->num == MAX_PLACES)
        return -1;
    a->at[a->num][0] = first;
    a->at[a->num][1] = second;
    return a->num++;
}

bool bench_heat_speedup(const bench_table *table, const bench_cell *cells, int num, char *name, size_t size,
                        FILE *to)
{
    axis across = {.num = 0}, up = {.num = 0};
    double delays[MAX_PLACES];
    bool any = false;
    const int num_delays = bench_cells_delays(cells, num, delays, MAX_PLACES);
    for (int d = 0; d < num_delays; d++)
        place(&across, delays[d], 0);
    snprintf(name, size, "speedup-p%d", cells->procs);
    if (cells->ppn != 1 || strcmp(cells->pattern, "uniform") != 0)
        snprintf(name + strlen(name), size - strlen(name), "-ppn%d-%s", cells->ppn, cells->pattern);
    fputs("across,up,procs,ppn,segment_kib,total_kfloats,max_delay_ms,pattern,imbalance_factor,doubtful,"
          "fastest,"
          "speedup,beyond_doubt\n",
          to);
    for (int i = 0; i < num; i++) {
        const bench_cell *c = &cells[i];
        const int x = place(&across, c->max_delay_ms, 0);
        const int y = place(&up, (double)c->count, 0); /* the cells are ordered by size */
        if (!(c->speedup > 0) || x < 0 || y < 0)
            continue;
        fprintf(to, "%d,%d,%d,%d,%.6g,%.6g,%.6g,%s,%.4g,%d,%s,%.4f,%d\n", x, y, c->procs, c->ppn,
                (double)c->segment_bytes / 1024, (double)c->count / 1024, c->max_delay_ms, c->pattern,
                c->factor, c->doubtful, table->rows[c->best].alg, c->speedup, c->beyond_doubt);
        any = true;
    }
    return any;
}

static int by_number(const void *va, const void *vb)
{
    const double a = *(const double *)va, b = *(const double *)vb;
    return (a > b) - (a < b);
}

/* The planned factors, ascending, are the places across. */
static void place_factors(const bench_cell *cells, int num, axis *across)
{
    double factors[MAX_PLACES];
    int n = 0;
    for (int i = 0; i < num && n < MAX_PLACES; i++)
        if (!isnan(bench_cell_planned_factor(&cells[i])))
            factors[n++] = bench_cell_planned_factor(&cells[i]);
    qsort(factors, (size_t)n, sizeof(factors[0]), by_number);
    for (int i = 0; i < n; i++)
        place(across, factors[i], 0);
}

bool bench_heat_bound(const bench_table *table, const bench_cell *cells, int num, const char *alg, char *name,
                      size_t size, FILE *to)
{
    axis across = {.num = 0}, up = {.num = 0};
    int shown = 0;
    place_factors(cells, num, &across);
    snprintf(name, size, "over-bound-%s", alg);
    if (strcmp(cells->pattern, "uniform") != 0)
        snprintf(name + strlen(name), size - strlen(name), "-%s", cells->pattern);
    fputs("across,up,procs,ppn,segment_kib,delay_in_segments,max_delay_ms,pattern,doubtful,alg,over_bound\n",
          to);
    for (int i = 0; i < num; i++) {
        const bench_cell *c = &cells[i];
        const bench_row *r = bench_cell_row(table, c, alg);
        if (!r || !(r->elapsed_ms > 0) || !(r->bound_ms > 0) || isnan(bench_cell_planned_factor(c)))
            continue;
        const double factor = bench_cell_planned_factor(c);
        const int x = place(&across, factor, 0),
                  y = place(&up, c->procs + 1e-6 * c->ppn, (double)c->segment_bytes);
        if (x < 0 || y < 0)
            continue;
        fprintf(to, "%d,%d,%d,%d,%.6g,%.6g,%.6g,%s,%d,%s,%.4f\n", x, y, c->procs, c->ppn,
                (double)c->segment_bytes / 1024, factor, c->max_delay_ms, c->pattern, c->doubtful, alg,
                r->elapsed_ms / r->bound_ms);
        shown++;
    }
    return shown > 1;
}

/*
 * bench_heat.c — see bench_heat.h. Must never draw a figure of a doubtful lab without saying so in its title.
 */
#include "bench_heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_plot.h"

enum { MAX_PLACES = 128, LABEL = 48 };

/* The labels of an axis, in the order in which they are drawn. */
typedef struct axis {
    char label[MAX_PLACES][LABEL];
    int num;
} axis;

static int place(axis *a, const char *label)
{
    for (int i = 0; i < a->num; i++)
        if (strcmp(a->label[i], label) == 0)
            return i;
    if (a->num == MAX_PLACES)
        return -1;
    snprintf(a->label[a->num], LABEL, "%s", label);
    return a->num++;
}

static void write_axis(char which, const axis *a, const char *title, FILE *to)
{
    fprintf(to, "set %clabel '%s'\nset %ctics (", which, title, which);
    for (int i = 0; i < a->num; i++)
        fprintf(to, "%s'%s' %d", i ? ", " : "", a->label[i], i);
    fprintf(to, ")\nset %crange [-0.5:%g]\n", which, a->num - 0.5);
}

/* Squares of the data block $heat: place across, place up, value, text. */
static void write_squares(const char *dir, const char *name, FILE *to)
{
    fprintf(
        to,
        "set tics nomirror scale 0\nset border 0\nunset key\nset style fill solid border lc rgb 'white'\n");
    for (int kind = 0; kind < 2; kind++) {
        bench_plot_terminal(dir, name, kind, to);
        fprintf(to,
                "plot $heat using 1:2:($1-0.5):($1+0.5):($2-0.5):($2+0.5):3 with boxxyerror fc palette, \\\n"
                "  $heat using 1:2:4 with labels noenhanced\nunset output\n");
    }
}

void bench_heat_speedup(const bench_table *table, const bench_cell *cells, int num, const char *dir, FILE *to)
{
    axis across = {.num = 0}, up = {.num = 0};
    double delays[MAX_PLACES], extreme = 1.15;
    char name[96], label[LABEL];
    const int num_delays = bench_cells_delays(cells, num, delays, MAX_PLACES);
    for (int d = 0; d < num_delays; d++) {
        snprintf(label, sizeof(label), "%.6g", delays[d]);
        place(&across, label);
    }
    snprintf(name, sizeof(name), "speedup-p%d", cells->procs);
    if (cells->ppn != 1 || strcmp(cells->pattern, "uniform") != 0)
        snprintf(name + strlen(name), sizeof(name) - strlen(name), "-ppn%d-%s", cells->ppn, cells->pattern);
    fprintf(to, "reset\n$heat << EOD\n");
    for (int i = 0; i < num; i++) {
        snprintf(label, sizeof(label), "%.6g", cells[i].max_delay_ms);
        const int x = place(&across, label);
        snprintf(label, sizeof(label), "%.6g", (double)cells[i].count / 1024);
        const int y = place(&up, label); /* the cells are ordered by size */
        if (!(cells[i].speedup > 0) || x < 0 || y < 0)
            continue;
        extreme = fmax(extreme, fmax(cells[i].speedup, 1 / cells[i].speedup));
        fprintf(to, "%d %d %.4f \"%s\\n%.2f%s\\n(%.3g)\"\n", x, y, cells[i].speedup,
                table->rows[cells[i].best].alg, cells[i].speedup, cells[i].beyond_doubt ? "*" : "",
                cells[i].factor);
    }
    fprintf(to,
            "EOD\nset title \"Best regular over best arrival-aware algorithm, mean elapsed time: %d ranks, "
            "%d per node (%s)%s\\n"
            "in the box: fastest algorithm, ratio (* beyond the 95 %% confidence interval), imbalance "
            "factor\" noenhanced\n",
            cells->procs, cells->ppn, cells->pattern, bench_plot_doubt(table));
    write_axis('x', &across, "maximum delay [ms]", to);
    write_axis('y', &up, "gathered data [K floats]", to);
    /* Blue: regular is faster; orange: arrival-aware is. Both light enough for black text. */
    fprintf(
        to,
        "set palette defined (-1 '#6AAED6', 0 '#FFFFFF', 1 '#F5A35C')\nset logscale cb\nset cbrange "
        "[%.4f:%.4f]\n"
        "set cblabel 'speed-up' offset 1,0\nset format cb '%%.2f'\nset cbtics (%.4f, %.4f, 1, %.4f, %.4f)\n",
        1 / extreme, extreme, 1 / extreme, 1 / sqrt(extreme), sqrt(extreme), extreme);
    write_squares(dir, name, to);
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
    for (int i = 0; i < n; i++) {
        char label[LABEL];
        snprintf(label, sizeof(label), "%.6g", factors[i]);
        place(across, label);
    }
}

int bench_heat_bound(const bench_table *table, const bench_cell *cells, int num, const char *alg,
                     const char *dir, FILE *to)
{
    axis across = {.num = 0}, up = {.num = 0};
    char name[96], label[LABEL];
    int shown = 0;
    place_factors(cells, num, &across);
    fprintf(to, "reset\n$heat << EOD\n");
    for (int i = 0; i < num; i++) {
        const bench_row *r = bench_cell_row(table, &cells[i], alg);
        if (!r || !(r->elapsed_ms > 0) || !(r->bound_ms > 0) || isnan(bench_cell_planned_factor(&cells[i])))
            continue;
        snprintf(label, sizeof(label), "%.6g", bench_cell_planned_factor(&cells[i]));
        const int x = place(&across, label);
        snprintf(label, sizeof(label), "%d ranks, %.6g KiB", cells[i].procs,
                 (double)cells[i].segment_bytes / 1024);
        if (cells[i].ppn != 1)
            snprintf(label + strlen(label), sizeof(label) - strlen(label), ", %d per node", cells[i].ppn);
        const int y = place(&up, label);
        if (x < 0 || y < 0)
            continue;
        fprintf(to, "%d %d %.4f \"%.2f\"\n", x, y, r->elapsed_ms / r->bound_ms, r->elapsed_ms / r->bound_ms);
        shown++;
    }
    fprintf(to, "EOD\n");
    if (shown < 2)
        return 0;
    fprintf(
        to,
        "set title \"%s over the bound, mean elapsed time (1: no algorithm can be faster), delays: %s%s\" "
        "noenhanced\n",
        alg, cells->pattern, bench_plot_doubt(table));
    write_axis('x', &across, "largest delay [times of a segment, to the nearest power of two]", to);
    write_axis('y', &up, "", to);
    fprintf(to, "set palette defined (0 '#FFFFFF', 1 '#F5A35C', 2 '#D55E00')\nset cbrange [1:1.5]\n"
                "set cblabel 'over the bound' offset 1,0\nset format cb '%%.2f'\n");
    snprintf(name, sizeof(name), "over-bound-%s", alg);
    if (strcmp(cells->pattern, "uniform") != 0)
        snprintf(name + strlen(name), sizeof(name) - strlen(name), "-%s", cells->pattern);
    write_squares(dir, name, to);
    return 1;
}

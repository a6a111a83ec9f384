/*
 * bench_plot.c — see bench_plot.h. Must never give a figure's data away without saying which cells are doubtful.
 */
#include "bench_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_draw.h"
#include "bench_growth.h"
#include "bench_heat.h"
#include "bench_wins.h"
#include "collective.h"

/* ---- Elapsed time, along one axis ----------------------------------------------------------------------- */

/* What lies along the horizontal axis of a figure; the rest of a cell's place is the same for the whole
 * figure. */
enum axis { BY_SIZE, BY_DELAY, BY_PROCS };
static const char *const axis_name[] = {[BY_SIZE] = "size", [BY_DELAY] = "delay", [BY_PROCS] = "ranks"};

typedef struct figure {
    const bench_table *table;
    const bench_cell **cells; /* in the axis's order */
    int num;
    enum axis axis;
} figure;

static bool fits(enum axis axis, const bench_cell *a, const bench_cell *b)
{
    return a->ppn == b->ppn && strcmp(a->pattern, b->pattern) == 0 &&
           (axis == BY_PROCS || a->procs == b->procs) && (axis == BY_SIZE || a->count == b->count) &&
           (axis == BY_DELAY || a->max_delay_ms == b->max_delay_ms);
}

static void name_elapsed(const figure *f, char *name, size_t size)
{
    const bench_cell *c = f->cells[0];
    const double kilo = (double)c->count / 1024;
    char suffix[48] = "";
    if (c->ppn != 1 || strcmp(c->pattern, "uniform") != 0)
        snprintf(suffix, sizeof(suffix), "-ppn%d-%s", c->ppn, c->pattern);
    if (f->axis == BY_SIZE)
        snprintf(name, size, "elapsed-by-size-p%d-md%g%s", c->procs, c->max_delay_ms, suffix);
    else if (f->axis == BY_DELAY)
        snprintf(name, size, "elapsed-by-delay-p%d-n%gk%s", c->procs, kilo, suffix);
    else
        snprintf(name, size, "elapsed-by-ranks-n%gk-md%g%s", kilo, c->max_delay_ms, suffix);
}

/* "nan" where there is none. */
static void put(double value, FILE *to)
{
    if (isnan(value))
        fputs(",nan", to);
    else
        fprintf(to, ",%.6g", value);
}

/* By algorithm, and then in the axis's order. */
static void write_elapsed(const figure *f, FILE *to)
{
    const char *algs[BENCH_TABLE_ALGS];
    const int num_algs = bench_table_algs(f->table, algs, BENCH_TABLE_ALGS);
    fputs("axis,place,procs,ppn,segment_kib,total_kfloats,max_delay_ms,pattern,imbalance_factor,doubtful,alg,"
          "elapsed_ms,elapsed_ci_ms,bound_ms,ideal_ring_ms\n",
          to);
    for (int a = 0; a < num_algs; a++)
        for (int i = 0; i < f->num; i++) {
            const bench_cell *c = f->cells[i];
            const bench_row *r = bench_cell_row(f->table, c, algs[a]);
            if (!r || isnan(r->elapsed_ms))
                continue;
            fprintf(to, "%s,%d,%d,%d,%.6g,%.6g,%.6g,%s,%.4g,%d,%s,%.6g", axis_name[f->axis], i, c->procs,
                    c->ppn, (double)c->segment_bytes / 1024, (double)c->count / 1024, c->max_delay_ms,
                    c->pattern, c->factor, c->doubtful, algs[a], r->elapsed_ms);
            put(r->elapsed_ci_ms, to);
            put(c->bound_ms > 0 ? c->bound_ms : NAN, to);
            put(c->ideal_ring_ms > 0 ? c->ideal_ring_ms : NAN, to);
            fputc('\n', to);
        }
}

/* ---- All figures ---------------------------------------------------------------------------------------- */

static void all_elapsed(const bench_table *table, const bench_cell *cells, int num, bench_sheets *s)
{
    figure f = {.table = table, .cells = calloc((size_t)(num > 0 ? num : 1), sizeof(*f.cells))};
    for (int axis = BY_SIZE; axis <= BY_PROCS && f.cells; axis++)
        for (int i = 0; i < num && s->num >= 0; i++) {
            /* A cell opens a figure when no earlier one belongs to the same. */
            char name[96];
            bool first = true;
            f.axis = (enum axis)axis;
            f.num = 0;
            for (int k = 0; k < num; k++)
                if (fits(f.axis, &cells[i], &cells[k])) {
                    first = first && k >= i;
                    f.cells[f.num++] = &cells[k];
                }
            if (!first || f.num < 2 || !bench_sheet_begin(s))
                continue;
            name_elapsed(&f, name, sizeof(name));
            write_elapsed(&f, s->to);
            bench_sheet_end(s, "elapsed.gp", name, true);
        }
    free(f.cells);
}

static void all_heat(const bench_table *table, const bench_cell *cells, int num, const char *versus,
                     bench_sheets *s)
{
    char name[96];
    for (int i = 0, n; i < num && s->num >= 0; i += n) {
        for (n = 1; i + n < num && cells[i].procs == cells[i + n].procs && cells[i].ppn == cells[i + n].ppn &&
                    strcmp(cells[i].pattern, cells[i + n].pattern) == 0;
             n++)
            ;
        if (n > 1 && bench_sheet_begin(s))
            bench_sheet_end(s, "speedup.gp", name,
                            bench_heat_speedup(table, &cells[i], n, name, sizeof(name), s->to));
    }
    for (int i = 0, n; versus && i < num && s->num >= 0; i += n) {
        for (n = 1; i + n < num && strcmp(cells[i].pattern, cells[i + n].pattern) == 0; n++)
            ;
        if (bench_sheet_begin(s))
            bench_sheet_end(s, "over-bound.gp", name,
                            bench_heat_bound(table, &cells[i], n, versus, name, sizeof(name), s->to));
    }
}

static void add_all(const bench_table *table, const char *versus, bench_sheets *s)
{
    bench_cell *cells;
    char name[96];
    const int num = bench_table_cells(table, &cells);
    all_elapsed(table, cells, num, s);
    if (s->num >= 0)
        all_heat(table, cells, num, versus, s);
    for (int i = 0; i < num && s->num >= 0; i++)
        if (bench_sheet_begin(s))
            bench_sheet_end(s, "growth.gp", name,
                            bench_growth_data(table, cells, num, i, name, sizeof(name), s->to));
    if (s->num >= 0 && bench_sheet_begin(s))
        bench_sheet_end(s, "winners.gp", name, bench_wins_data(table, cells, num, name, sizeof(name), s->to));
    free(cells);
}

int bench_plot_data(const bench_table *table, const char *versus, const char *dir, const char *templates,
                    FILE *calls, char *why, size_t why_size)
{
    bench_sheets s = {.dir = dir, .templates = templates, .calls = calls, .why = why, .why_size = why_size};
    add_all(table, versus, &s);
    return s.num;
}

/* ---- Gnuplot -------------------------------------------------------------------------------------------- */

typedef struct drawing {
    const bench_table *table;
    const char *versus;
} drawing;

static void draw_all(bench_sheets *s, const void *with)
{
    const drawing *d = with;
    add_all(d->table, d->versus, s);
}

int bench_plot_make(const bench_table *table, const char *versus, const char *dir, char *why, size_t why_size)
{
    for (int i = 0; i < table->num; i++)
        if (table->rows[i].op != PAT_OP_ALLGATHER) {
            snprintf(why, why_size, "no figures: they are of all-gathers, and there are results of %ss",
                     pat_collective_of(table->rows[i].op)->title);
            return -1;
        }
    return bench_draw(dir, draw_all, &(drawing){table, versus}, why, why_size);
}

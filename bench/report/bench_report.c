/*
 * bench_report.c — see bench_report.h. Must never show a figure of a doubtful lab without saying so.
 */
#include "bench_report.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_doubt.h"
#include "bench_growth.h"
#include "bench_item.h"
#include "bench_stats.h"
#include "bench_wins.h"
#include "tool_options.h"

enum { MAX_ALGS = BENCH_TABLE_ALGS, WIDTH = 11, MAX_DELAYS = 128 };

static void upper(char *to, size_t size, const char *from)
{
    size_t i = 0;
    for (; from[i] && i + 1 < size; i++)
        to[i] = (char)toupper((unsigned char)from[i]);
    to[i] = '\0';
}

/* "12.3", with as many decimals as make sense beside its neighbours; "-" for what does not exist. */
static void number(char *to, size_t size, double value)
{
    if (isnan(value) || isinf(value))
        snprintf(to, size, "-");
    else
        snprintf(to, size, "%.*f",
                 fabs(value) >= 100   ? 0
                 : fabs(value) >= 10  ? 1
                 : fabs(value) >= 0.1 ? 2
                                      : 3,
                 value);
}

/* A size in K items: whole as a rule, two decimals where it was rounded down to a multiple of the ranks. */
static double kilo(const bench_cell *c)
{
    return round((double)c->count / 1024 * 100) / 100;
}

/* The paper's word for a cell: the algorithm, and how much faster it is when it is arrival-aware. */
static void verdict(const bench_table *table, const bench_cell *c, char *to, size_t size)
{
    if (c->best < 0) {
        snprintf(to, size, "-");
        return;
    }
    upper(to, size, bench_short_name(table->rows[c->best].alg));
    const size_t used = strlen(to);
    if (c->best == c->best_aware && !isnan(c->speedup))
        snprintf(to + used, size - used, "%.2f%s", c->speedup, c->beyond_doubt ? "*" : "");
    else if (c->beyond_doubt)
        snprintf(to + used, size - used, "*");
}

static bool same_block(const bench_cell *a, const bench_cell *b)
{
    return a->procs == b->procs && a->ppn == b->ppn && strcmp(a->pattern, b->pattern) == 0;
}

/* One block of the paper's table: sizes down, delays across. The cells are in that order, but some may be
 * missing. */
static void print_block(const bench_table *table, const bench_cell *cells, int num, FILE *to)
{
    double delays[MAX_DELAYS];
    const int num_delays = bench_cells_delays(cells, num, delays, MAX_DELAYS);
    fprintf(to, "\nProcess number: %d, %d per node; delays: %s\n%-16s", cells->procs, cells->ppn,
            cells->pattern, "MD [ms] ->");
    for (int d = 0; d < num_delays; d++)
        fprintf(to, "%*.6g", WIDTH, delays[d]);
    fprintf(to, "\nSize [K %ss]\n", bench_item_of(cells->op)->name);
    for (int i = 0; i < num;) {
        char line[2][MAX_DELAYS * WIDTH + 32], text[32];
        const int64_t count = cells[i].count;
        snprintf(line[0], sizeof(line[0]), "%-16.6g", kilo(&cells[i]));
        snprintf(line[1], sizeof(line[1]), "%-16s", "  factor");
        for (int d = 0; d < num_delays; d++) {
            const bool here = i < num && cells[i].count == count && cells[i].max_delay_ms == delays[d];
            char *end = line[0] + strlen(line[0]);
            snprintf(text, sizeof(text), "-");
            if (here)
                verdict(table, &cells[i], text, sizeof(text));
            snprintf(end, (size_t)(line[0] + sizeof(line[0]) - end), "%*s", WIDTH, text);
            end = line[1] + strlen(line[1]);
            number(text, sizeof(text), here ? cells[i].factor : NAN);
            snprintf(end, (size_t)(line[1] + sizeof(line[1]) - end), "%*s", WIDTH, text);
            i += here;
        }
        fprintf(to, "%s\n%s\n", line[0], line[1]);
    }
}

static double elapsed(const bench_row *r)
{
    return r->elapsed_ms;
}
static double elapsed_ci(const bench_row *r)
{
    return r->elapsed_ci_ms;
}
static double sigma(const bench_row *r)
{
    return bench_sd_of_ci95(r->elapsed_ci_ms, r->iters);
}
static double past_last(const bench_row *r)
{
    return r->past_last_ms;
}

/* The algorithms that occur in these cells. Returns their number. */
static int algs_of(const bench_table *table, const bench_cell *cells, int num, const char **algs)
{
    int kept = 0;
    const int all = bench_table_algs(table, algs, MAX_ALGS);
    for (int a = 0; a < all; a++) {
        bool occurs = false;
        for (int i = 0; i < num; i++)
            occurs = occurs || bench_cell_row(table, &cells[i], algs[a]);
        if (occurs)
            algs[kept++] = algs[a];
    }
    return kept;
}

/* One line per cell, one column per algorithm. */
static void print_times(const bench_table *table, const bench_cell *cells, int num,
                        double (*figure)(const bench_row *), double (*half)(const bench_row *), FILE *to)
{
    const char *algs[MAX_ALGS];
    const int num_algs = algs_of(table, cells, num, algs);
    const int width = half ? 15 : 10;
    char items[32];
    snprintf(items, sizeof(items), "K %ss", bench_item_of(cells->op)->name);
    fprintf(to, "%5s %9s %9s %9s %9s", "procs", "per rank", items, "MD [ms]", "factor");
    for (int a = 0; a < num_algs; a++)
        fprintf(to, " %*s", width, bench_short_name(algs[a]));
    fprintf(to, half ? " %10s %10s\n" : "\n", "ideal ring", "bound");
    for (int i = 0; i < num; i++) {
        const bench_cell *c = &cells[i];
        char text[64], other[32], bytes[32];
        number(text, sizeof(text), c->factor);
        tool_bytes_text(bytes, sizeof(bytes), c->segment_bytes);
        fprintf(to, "%5d %9s %9.6g %9.6g %9s", c->procs, bytes, kilo(c), c->max_delay_ms, text);
        for (int a = 0; a < num_algs; a++) {
            const bench_row *r = bench_cell_row(table, c, algs[a]);
            number(text, sizeof(text), r ? figure(r) : NAN);
            if (half && r) {
                number(other, sizeof(other), half(r));
                snprintf(text + strlen(text), sizeof(text) - strlen(text), "+-%s", other);
            }
            fprintf(to, " %*s", width, text);
        }
        if (half) {
            number(text, sizeof(text), c->ideal_ring_ms);
            number(other, sizeof(other), c->bound_ms);
            fprintf(to, " %10s %10s", text, other);
        }
        fprintf(to, "\n");
    }
}

static void print_summary(const bench_table *table, const bench_cell *cells, int num, FILE *to)
{
    const bench_summary s = bench_summarize(cells, num);
    bool paired = false;
    int repeats = 0, lost = 0;
    for (int i = 0; i < num; i++)
        paired = paired || cells[i].paired;
    for (int i = 0; i < table->num; i++) {
        if (table->rows[i].op != cells->op)
            continue;
        repeats += table->rows[i].repeats;
        if (table->rows[i].num_iters > table->rows[i].iters)
            lost += table->rows[i].num_iters - table->rows[i].iters;
    }
    fprintf(
        to,
        "\n# Cells with 2 <= imbalance factor <= 4 P, best arrival-aware against best regular algorithm\n");
    bench_warn_if_doubtful(table, to);
    if (s.cells == 0)
        fprintf(to, "none\n");
    else
        fprintf(to,
                "cells                                   %d\n"
                "arrival-aware fastest                   %d (%.0f %%)\n"
                "  beyond doubt (95 %%, %s            %d (%.0f %%)\n"
                "  and the two means' intervals apart    %d (%.0f %%)\n"
                "speed-up, geometric mean                %.3f\n"
                "speed-up, largest                       %.3f\n",
                s.cells, s.aware_wins, 100.0 * s.aware_wins / s.cells, paired ? "paired)  " : "unpaired)",
                s.aware_sure, 100.0 * s.aware_sure / s.cells, s.aware_apart, 100.0 * s.aware_apart / s.cells,
                s.geomean, s.best);
    if (repeats || lost)
        fprintf(to,
                "# %d iterations were repeated because a rank began late, %d are missing for that reason\n",
                repeats, lost);
}

/* "native, ring, nex, lnbc" */
static void print_regular_ones(enum pat_op op, FILE *to)
{
    const char *separator = "";
    for (int i = 0; i < pat_algorithm_count(); i++) {
        const pat_algorithm *alg = pat_algorithm_at(i);
        if (alg->op != op || alg->arrival_aware || alg->chooses)
            continue;
        fprintf(to, "%s%s", separator, bench_short_name(alg->name));
        separator = ", ";
    }
}

/* The cells of one collective. */
static void print_cells(const bench_table *table, const bench_cell *cells, int num, FILE *to)
{
    fprintf(to,
            "\n# Fastest %s by mean elapsed time; where it is arrival-aware, its speed-up over the best "
            "regular one\n"
            "# (best of ",
            pat_collective_of(cells->op)->title);
    print_regular_ones(cells->op, to);
    fprintf(to, "). *: beyond the 95 %% confidence interval of the difference.\n");
    bench_warn_if_doubtful(table, to);
    for (int i = 0, n; i < num; i += n) {
        for (n = 1; i + n < num && same_block(&cells[i], &cells[i + n]); n++)
            ;
        print_block(table, &cells[i], n, to);
    }
    fprintf(to, "\n# Mean elapsed time in ms, +- half the 95 %% confidence interval; ideal ring: predicted, "
                "without any "
                "overhead\n");
    bench_warn_if_doubtful(table, to);
    print_times(table, cells, num, elapsed, elapsed_ci, to);
    fprintf(to, "\n# Standard deviation of the elapsed time over the iterations (sigma) in ms\n");
    bench_warn_if_doubtful(table, to);
    print_times(table, cells, num, sigma, NULL, to);
    fprintf(to, "\n# Time past the last arrival in ms\n");
    bench_warn_if_doubtful(table, to);
    print_times(table, cells, num, past_last, NULL, to);
    bench_growth_print(table, cells, num, to);
    bench_wins_print(table, cells, num, to);
    print_summary(table, cells, num, to);
}

void bench_report_print(const bench_table *table, FILE *to)
{
    bench_cell *cells;
    const int num = bench_table_cells(table, &cells);
    for (int i = 0, n; i < num; i += n) {
        for (n = 1; i + n < num && cells[i + n].op == cells[i].op; n++)
            ;
        print_cells(table, &cells[i], n, to);
    }
    free(cells);
}

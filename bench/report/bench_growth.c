/*
 * bench_growth.c — see bench_growth.h. Must never give a figure's data away without saying which cells are doubtful.
 */
#include "bench_growth.h"

#include <math.h>
#include <string.h>

#include "bench_delay.h"
#include "bench_doubt.h"

enum { MAX_PLACES = 32, MAX_ALGS = BENCH_TABLE_ALGS };

/* Cells of one segment length, by number of ranks. */
typedef struct series {
    const bench_cell *cells[MAX_PLACES];
    int num;
} series;

/* Between one rank's call and the next one's, in times of a segment. */
static double gap_of(const bench_cell *c)
{
    return c->max_delay_ms / c->tau_ms / (c->procs - 1);
}

/*
 * The series that cells[first] opens: same segment, ranks per node and, to a tenth, gap; empty when an earlier cell
 * belongs to the same, or it is too short.
 */
static series series_of(const bench_cell *cells, int num, int first)
{
    const bench_cell *f = &cells[first];
    series s = {.num = 0};
    if (strcmp(f->pattern, bench_pattern_name(BENCH_ASCENDING)) != 0 || !(f->tau_ms > 0))
        return s;
    for (int i = 0; i < num; i++) {
        const bool same = strcmp(cells[i].pattern, f->pattern) == 0 && cells[i].tau_ms > 0 &&
                          cells[i].segment_bytes == f->segment_bytes && cells[i].ppn == f->ppn &&
                          fabs(gap_of(&cells[i]) - gap_of(f)) <= 0.1 * gap_of(f) &&
                          (s.num == 0 || s.cells[s.num - 1]->procs < cells[i].procs);
        if (!same || s.num == MAX_PLACES)
            continue;
        if (i < first)
            return (series){.num = 0};
        s.cells[s.num++] = &cells[i];
    }
    return s.num > 1 ? s : (series){.num = 0};
}

static double in_tau(const bench_table *table, const bench_cell *c, const char *alg)
{
    const bench_row *r = bench_cell_row(table, c, alg);
    return r ? r->past_last_ms / c->tau_ms : NAN;
}

static double bound_in_tau(const bench_table *table, const bench_cell *c)
{
    return table->rows[c->first].bound_past_last_ms / c->tau_ms;
}

static void print_number(double value, FILE *to)
{
    if (isnan(value))
        fprintf(to, " %8s", "-");
    else
        fprintf(to, " %8.2f", value);
}

void bench_growth_print(const bench_table *table, const bench_cell *cells, int num, FILE *to)
{
    const char *algs[MAX_ALGS];
    const int num_algs = bench_table_algs(table, algs, MAX_ALGS);
    for (int i = 0; i < num; i++) {
        const series s = series_of(cells, num, i);
        if (s.num == 0)
            continue;
        const double gap = gap_of(s.cells[0]);
        fprintf(to,
                "\n# Ranks arrive one after the other, %.3g segments' time apart, segments of %.6g KiB: time "
                "past "
                "the last\n# arrival in times of a segment, and the last number of ranks over the first\n",
                gap, (double)cells[i].segment_bytes / 1024);
        bench_warn_if_doubtful(table, to);
        fprintf(to, "%-10s", "ranks");
        for (int k = 0; k < s.num; k++)
            fprintf(to, " %8d", s.cells[k]->procs);
        fprintf(to, " %8s\n", "growth");
        for (int a = 0; a <= num_algs; a++) {
            double value = NAN, first = NAN;
            fprintf(to, "%-10s", a < num_algs ? algs[a] : "bound");
            for (int k = 0; k < s.num; k++) {
                value = a < num_algs ? in_tau(table, s.cells[k], algs[a]) : bound_in_tau(table, s.cells[k]);
                first = k == 0 ? value : first;
                print_number(value, to);
            }
            print_number(value / first, to);
            fprintf(to, "\n");
        }
    }
}

bool bench_growth_data(const bench_table *table, const bench_cell *cells, int num, int first, char *name,
                       size_t size, FILE *to)
{
    const char *algs[MAX_ALGS];
    const int num_algs = bench_table_algs(table, algs, MAX_ALGS);
    const series s = series_of(cells, num, first);
    const double kib = (double)cells[first].segment_bytes / 1024;
    if (s.num == 0)
        return false;
    snprintf(name, size, "growth-%gk-gap%.2g", kib, gap_of(s.cells[0]));
    if (cells[first].ppn != 1)
        snprintf(name + strlen(name), size - strlen(name), "-ppn%d", cells[first].ppn);
    fputs("procs,ppn,segment_kib,gap_in_segments,max_delay_ms,pattern,doubtful,alg,past_last_in_segments\n",
          to);
    for (int a = 0; a <= num_algs; a++)
        for (int k = 0; k < s.num; k++) {
            const bench_cell *c = s.cells[k];
            const double value = a < num_algs ? in_tau(table, c, algs[a]) : bound_in_tau(table, c);
            if (!isnan(value))
                fprintf(to, "%d,%d,%g,%.3g,%.6g,%s,%d,%s,%.4f\n", c->procs, c->ppn, kib, gap_of(c),
                        c->max_delay_ms, c->pattern, c->doubtful, a < num_algs ? algs[a] : "bound", value);
        }
    return true;
}

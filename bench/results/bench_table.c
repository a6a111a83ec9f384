/*
 * bench_table.c — see bench_table.h. Must never compare rows of different cells.
 */
#include "bench_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms.h"
#include "bench_stats.h"

bench_row *bench_table_add(bench_table *table)
{
    if (table->num == table->cap) {
        int cap = table->cap ? 2 * table->cap : 32;
        bench_row *rows = realloc(table->rows, (size_t)cap * sizeof(*rows));
        if (!rows)
            return NULL;
        table->rows = rows;
        table->cap = cap;
    }
    bench_row *row = &table->rows[table->num++];
    *row = (bench_row){.tau_ms = NAN,
                       .ideal_ring_ms = NAN,
                       .bound_past_last_ms = NAN,
                       .predicted_ms = NAN,
                       .predicted_past_last_ms = NAN,
                       .slip_ms = NAN,
                       .announced = NAN,
                       .estimate_off_ms = NAN,
                       .estimate_off_95_ms = NAN,
                       .doubtful = strcmp(table->lab_check, "fail") == 0};
    return row;
}

void bench_table_free(bench_table *table)
{
    for (int i = 0; i < table->num; i++) {
        free(table->rows[i].iter_elapsed_ms);
        free(table->rows[i].iter_ran);
    }
    free(table->rows);
    *table = (bench_table){0};
}

bool bench_is_doubtful(const bench_table *table)
{
    bool doubtful = false;
    for (int i = 0; i < table->num; i++)
        doubtful = doubtful || table->rows[i].doubtful;
    return doubtful;
}

bool bench_is_aware(const char *alg)
{
    const pat_algorithm *a = pat_algorithm_find(alg);
    return a && a->arrival_aware;
}

static bool same_cell(const bench_cell *c, const bench_row *r)
{
    return c->op == r->op && c->procs == r->procs && c->ppn == r->ppn && c->count == r->count &&
           c->max_delay_ms == r->max_delay_ms && strcmp(c->pattern, r->pattern) == 0;
}

static int by_place(const void *va, const void *vb)
{
    const bench_cell *a = va, *b = vb;
    int order = (a->op > b->op) - (a->op < b->op);
    if (order == 0)
        order = strcmp(a->pattern, b->pattern);
    if (order == 0)
        order = (a->procs > b->procs) - (a->procs < b->procs);
    if (order == 0)
        order = (a->ppn > b->ppn) - (a->ppn < b->ppn);
    if (order == 0)
        order = (a->count > b->count) - (a->count < b->count);
    if (order == 0)
        order = (a->max_delay_ms > b->max_delay_ms) - (a->max_delay_ms < b->max_delay_ms);
    return order;
}

static void keep_best(const bench_table *t, int *best, int row)
{
    if (*best < 0 || t->rows[row].elapsed_ms < t->rows[*best].elapsed_ms)
        *best = row;
}

/* Regular against aware, the best of each kind: on the same iterations when they are there. */
static void judge(const bench_table *t, bench_cell *c)
{
    c->speedup = c->diff_ms = c->diff_ci_ms = NAN;
    if (c->best_regular < 0 || c->best_aware < 0)
        return;
    const bench_row *reg = &t->rows[c->best_regular], *aware = &t->rows[c->best_aware];
    c->speedup = reg->elapsed_ms / aware->elapsed_ms;
    c->apart = fabs(reg->elapsed_ms - aware->elapsed_ms) > reg->elapsed_ci_ms + aware->elapsed_ci_ms;
    c->beyond_doubt = c->apart;
    if (reg->iter_elapsed_ms && aware->iter_elapsed_ms && reg->num_iters == aware->num_iters) {
        bench_paired p = bench_compare(reg->iter_elapsed_ms, aware->iter_elapsed_ms, reg->num_iters);
        bench_paired q = bench_compare(aware->iter_elapsed_ms, reg->iter_elapsed_ms, reg->num_iters);
        c->paired = true;
        c->diff_ms = p.diff;
        c->diff_ci_ms = p.diff_ci;
        if (!isnan(p.ratio))
            c->speedup = p.ratio;
        c->beyond_doubt = bench_is_above(c->speedup >= 1 ? &p : &q);
    }
}

static void finish(const bench_table *t, bench_cell *c)
{
    double sum_factor = 0, sum_bound = 0, sum_ideal = 0, sum_tau = 0;
    c->best = c->best_regular = c->best_aware = -1;
    for (int i = 0; i < t->num; i++) {
        const bench_row *r = &t->rows[i];
        if (!same_cell(c, r))
            continue;
        c->num_algs++;
        c->doubtful = c->doubtful || r->doubtful;
        sum_factor += r->imbalance_factor;
        sum_bound += r->bound_ms;
        sum_ideal += r->ideal_ring_ms;
        sum_tau += r->tau_ms;
        if (isnan(r->elapsed_ms))
            continue; /* no valid iteration */
        keep_best(t, &c->best, i);
        keep_best(t, bench_is_aware(r->alg) ? &c->best_aware : &c->best_regular, i);
    }
    c->factor = sum_factor / c->num_algs;
    c->bound_ms = sum_bound / c->num_algs;
    c->ideal_ring_ms = sum_ideal / c->num_algs;
    c->tau_ms = sum_tau / c->num_algs;
    judge(t, c);
}

int bench_table_cells(const bench_table *table, bench_cell **cells)
{
    int num = 0;
    bench_cell *list = calloc((size_t)(table->num ? table->num : 1), sizeof(*list));
    *cells = list;
    if (!list)
        return -1;
    for (int i = 0; i < table->num; i++) {
        const bench_row *r = &table->rows[i];
        int k = 0;
        while (k < num && !same_cell(&list[k], r))
            k++;
        if (k == num)
            list[num++] = (bench_cell){.op = r->op,
                                       .procs = r->procs,
                                       .ppn = r->ppn,
                                       .count = r->count,
                                       .segment_bytes = r->segment_bytes,
                                       .max_delay_ms = r->max_delay_ms,
                                       .pattern = r->pattern,
                                       .first = i};
    }
    for (int k = 0; k < num; k++)
        finish(table, &list[k]);
    qsort(list, (size_t)num, sizeof(*list), by_place);
    return num;
}

const bench_row *bench_cell_row(const bench_table *table, const bench_cell *cell, const char *alg)
{
    for (int i = 0; i < table->num; i++)
        if (same_cell(cell, &table->rows[i]) && strcmp(table->rows[i].alg, alg) == 0)
            return &table->rows[i];
    return NULL;
}

/* The mean over every second iteration, from `first` on; NaN: there is none. */
static double half_mean(const bench_row *row, int first)
{
    double sum = 0;
    int num = 0;
    for (int i = first; row->iter_elapsed_ms && i < row->num_iters; i += 2)
        if (!isnan(row->iter_elapsed_ms[i])) {
            sum += row->iter_elapsed_ms[i];
            num++;
        }
    return num > 0 ? sum / num : NAN;
}

const bench_row *bench_cell_best_half(const bench_table *table, const bench_cell *cell, const char *but,
                                      int first)
{
    const bench_row *best = NULL;
    double least_ms = INFINITY;
    for (int i = 0; i < table->num; i++) {
        const bench_row *row = &table->rows[i];
        /* Of a cell that was measured several times, as of all others, the first row counts. */
        if (row != bench_cell_row(table, cell, row->alg) || strcmp(row->alg, but) == 0)
            continue;
        const double mean_ms = half_mean(row, first);
        if (mean_ms < least_ms) { /* never with NaN */
            best = row;
            least_ms = mean_ms;
        }
    }
    return best;
}

double bench_cell_planned_factor(const bench_cell *cell)
{
    if (isnan(cell->tau_ms))
        return NAN;
    return cell->max_delay_ms > 0 ? exp2(round(log2(cell->max_delay_ms / cell->tau_ms))) : 0;
}

int bench_cells_delays(const bench_cell *cells, int num, double *delays, int max)
{
    int n = 0;
    for (int i = 0; i < num; i++) {
        int at = 0;
        while (at < n && delays[at] < cells[i].max_delay_ms)
            at++;
        if ((at < n && delays[at] == cells[i].max_delay_ms) || n == max)
            continue;
        memmove(&delays[at + 1], &delays[at], (size_t)(n - at) * sizeof(delays[0]));
        delays[at] = cells[i].max_delay_ms;
        n++;
    }
    return n;
}

static bool occurs(const bench_table *table, const char *alg)
{
    for (int i = 0; i < table->num; i++)
        if (strcmp(table->rows[i].alg, alg) == 0)
            return true;
    return false;
}

int bench_table_algs(const bench_table *table, const char **algs, int max)
{
    int num = 0;
    for (int i = 0; i < pat_algorithm_count() && num < max; i++)
        if (occurs(table, pat_algorithm_at(i)->name))
            algs[num++] = pat_algorithm_at(i)->name;
    for (int i = 0; i < table->num && num < max; i++) {
        bool known = false;
        for (int k = 0; k < num; k++)
            known = known || strcmp(algs[k], table->rows[i].alg) == 0;
        if (!known)
            algs[num++] = table->rows[i].alg;
    }
    return num;
}

bench_summary bench_summarize(const bench_cell *cells, int num)
{
    bench_summary s = {.geomean = NAN, .best = NAN};
    double logs = 0;
    for (int i = 0; i < num; i++) {
        const bench_cell *c = &cells[i];
        if (isnan(c->speedup) || c->factor < 2 || c->factor > 4.0 * c->procs)
            continue;
        s.cells++;
        logs += log(c->speedup);
        if (isnan(s.best) || c->speedup > s.best)
            s.best = c->speedup;
        if (c->speedup <= 1)
            continue;
        s.aware_wins++;
        s.aware_sure += c->beyond_doubt;
        s.aware_apart += c->beyond_doubt && c->apart;
    }
    if (s.cells)
        s.geomean = exp(logs / s.cells);
    return s;
}

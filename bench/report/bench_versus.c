/*
 * bench_versus.c — one algorithm against all others, the bound and the predictor, by imbalance factor
 * (bench_versus.h). Ratios above 1 in favour of the algorithm, but for those over the bound, which can only be 1 or
 * more.
 */
#include "bench_versus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms.h"
#include "bench_doubt.h"
#include "bench_item.h"
#include "bench_stats.h"

enum { MAX_GROUPS = 32, MAX_ALGS = 64, LONG_BYTES = 16384, HIGH_FACTOR = 4 };

/* Geometric mean and extremes of a ratio. */
typedef struct ratio {
    int num;
    double logs, least, most;
} ratio;

typedef struct group {
    double factor; /* planned */
    int cells;
    ratio regular, published, bound;                /* mean elapsed */
    ratio regular_past, published_past, bound_past; /* time past the last arrival */
    ratio most, most_past; /* what the bound would gain over the best regular one: nothing can gain more */
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

static double mean(const ratio *r)
{
    return exp(r->logs / r->num);
}

/* The published arrival-aware algorithms are those that go by predictions. */
static bool is_published(const char *name)
{
    const pat_algorithm *alg = pat_algorithm_find(name);
    return alg && alg->uses_arrivals;
}

/* The best of the regular or of the published arrival-aware algorithms, by each of the two measures. */
typedef struct rivals {
    const bench_row *elapsed, *past_last;
} rivals;

static rivals find_rivals(const bench_table *t, const bench_cell *c, const char *alg, bool published)
{
    const char *names[MAX_ALGS];
    const int num = bench_table_algs(t, names, MAX_ALGS);
    rivals best = {NULL, NULL};
    for (int i = 0; i < num; i++) {
        const bench_row *r = bench_cell_row(t, c, names[i]);
        if (!r || isnan(r->elapsed_ms) || strcmp(names[i], alg) == 0 ||
            (published ? !is_published(names[i]) : bench_is_aware(names[i])))
            continue;
        if (!best.elapsed || r->elapsed_ms < best.elapsed->elapsed_ms)
            best.elapsed = r;
        if (!best.past_last || r->past_last_ms < best.past_last->past_last_ms)
            best.past_last = r;
    }
    return best;
}

static void add_cell(const bench_table *t, const bench_cell *c, const bench_row *ours, group *g)
{
    g->cells++;
    const rivals regular = find_rivals(t, c, ours->alg, false),
                 published = find_rivals(t, c, ours->alg, true);
    if (regular.elapsed) {
        add(&g->regular, regular.elapsed->elapsed_ms / ours->elapsed_ms);
        add(&g->regular_past, regular.past_last->past_last_ms / ours->past_last_ms);
        add(&g->most, regular.elapsed->elapsed_ms / ours->bound_ms);
        add(&g->most_past, regular.past_last->past_last_ms / ours->bound_past_last_ms);
    }
    if (published.elapsed) {
        add(&g->published, published.elapsed->elapsed_ms / ours->elapsed_ms);
        add(&g->published_past, published.past_last->past_last_ms / ours->past_last_ms);
    }
    add(&g->bound, ours->elapsed_ms / ours->bound_ms);
    add(&g->bound_past, ours->past_last_ms / ours->bound_past_last_ms);
}

static void print_ratio(const ratio *r, bool high_is_worst, FILE *to)
{
    if (r->num)
        fprintf(to, " %6.3f %6.3f %6.3f", mean(r), high_is_worst ? r->most : r->least,
                high_is_worst ? r->least : r->most);
    else
        fprintf(to, " %6s %6s %6s", "-", "-", "-");
}

static void print_group(const char *label, const group *g, FILE *to)
{
    fprintf(to, "%9s %5d |", label, g->cells);
    print_ratio(&g->regular, false, to);
    print_ratio(&g->published, false, to);
    print_ratio(&g->bound, true, to);
    fprintf(to, " |");
    print_ratio(&g->regular_past, false, to);
    print_ratio(&g->published_past, false, to);
    print_ratio(&g->bound_past, true, to);
    fprintf(to, "\n");
}

static int by_factor(const void *va, const void *vb)
{
    const group *a = va, *b = vb;
    return (a->factor > b->factor) - (a->factor < b->factor);
}

static group *group_of(group *groups, int *num, double factor)
{
    for (int k = 0; k < *num; k++)
        if (groups[k].factor == factor)
            return &groups[k];
    if (*num == MAX_GROUPS)
        return NULL;
    groups[*num].factor = factor;
    return &groups[(*num)++];
}

/* Cells with segments of LONG_BYTES and more, or with shorter ones. */
static void print_groups(const bench_table *t, const bench_cell *cells, int num, const char *alg, bool longer,
                         FILE *to)
{
    group groups[MAX_GROUPS] = {{0}}, low = {0}, high = {0};
    int num_groups = 0;
    for (int i = 0; i < num; i++) {
        const bench_row *ours = bench_cell_row(t, &cells[i], alg);
        const double factor = bench_cell_planned_factor(&cells[i]);
        if (!ours || isnan(ours->elapsed_ms) || isnan(factor) ||
            (cells[i].segment_bytes >= LONG_BYTES) != longer)
            continue;
        group *g = group_of(groups, &num_groups, factor);
        if (!g)
            continue;
        add_cell(t, &cells[i], ours, g);
        add_cell(t, &cells[i], ours, factor < HIGH_FACTOR ? &low : &high);
    }
    if (num_groups == 0)
        return;
    qsort(groups, (size_t)num_groups, sizeof(groups[0]), by_factor);
    fprintf(to, "\nSegments of %s KiB%s\n%15s |%63s |%63s\n%9s %5s |%21s%21s%21s |%21s%21s%21s\n",
            longer ? "16" : "less than 16", longer ? " and more" : "", "", "mean elapsed time",
            "time past the last arrival", "delay/tau", "cells", "regular", "published", "bound", "regular",
            "published", "bound");
    for (int k = 0; k < num_groups; k++) {
        char label[32];
        snprintf(label, sizeof(label), "%.4g", groups[k].factor);
        print_group(label, &groups[k], to);
    }
    if (low.cells > 0 && high.cells > 0 && num_groups > 2) {
        print_group("below 4", &low, to);
        print_group("4 and up", &high, to);
    }
    if (high.most.num > 0)
        fprintf(to,
                "The bound itself over the best regular ones, 4 and up: %.3f in mean elapsed time, %.3f past "
                "the last "
                "arrival.\n",
                mean(&high.most), mean(&high.most_past));
}

/* Cells in which the algorithm is slower than the best regular one, and how sure that is. */
static void print_losses(const bench_table *t, const bench_cell *cells, int num, const char *alg, FILE *to)
{
    int losses = 0, compared = 0;
    for (int i = 0; i < num; i++) {
        const bench_row *ours = bench_cell_row(t, &cells[i], alg);
        if (!ours || isnan(ours->elapsed_ms))
            continue;
        const bench_row *best = find_rivals(t, &cells[i], alg, false).elapsed;
        compared += best != NULL;
        if (!best || ours->elapsed_ms <= best->elapsed_ms * 1.02)
            continue;
        const char *sure = "";
        if (ours->iter_elapsed_ms && best->iter_elapsed_ms && ours->num_iters == best->num_iters) {
            bench_paired p = bench_compare(ours->iter_elapsed_ms, best->iter_elapsed_ms, ours->num_iters);
            sure = bench_is_above(&p) ? ", beyond doubt" : ", within the confidence interval";
        }
        fprintf(to, "%s %d ranks, %.6g KiB, delay %.6g ms: %s %.3f times as fast as %s%s\n",
                losses++ ? "           " : "\nslower by more than 2 %:\n           ", cells[i].procs,
                (double)cells[i].segment_bytes / 1024, cells[i].max_delay_ms, alg,
                best->elapsed_ms / ours->elapsed_ms, best->alg, sure);
    }
    if (compared == 0)
        fprintf(to, "\nNo regular algorithm to compare with.\n");
    else if (losses == 0)
        fprintf(to, "\nIn none of %d cells more than 2 %% slower than the best regular algorithm.\n",
                compared);
}

/* Predicted over measured, for every algorithm that has a plan. */
static void print_predictions(const bench_table *t, FILE *to)
{
    const char *names[MAX_ALGS];
    const int num = bench_table_algs(t, names, MAX_ALGS);
    bool any = false;
    for (int a = 0; a < num; a++) {
        ratio elapsed = {0}, past = {0};
        for (int i = 0; i < t->num; i++) {
            const bench_row *r = &t->rows[i];
            if (strcmp(r->alg, names[a]) != 0)
                continue;
            add(&elapsed, r->predicted_ms / r->elapsed_ms);
            add(&past, r->predicted_past_last_ms / r->past_last_ms);
        }
        if (elapsed.num == 0)
            continue;
        if (!any)
            fprintf(to, "\nPredicted over measured: geometric mean, least, most\n%-9s %5s |%21s |%21s\n", "",
                    "cells", "mean elapsed", "past last");
        any = true;
        fprintf(to, "%-9s %5d |", bench_short_name(names[a]), elapsed.num);
        print_ratio(&elapsed, false, to);
        fprintf(to, " |");
        print_ratio(&past, false, to);
        fprintf(to, "\n");
    }
}

void bench_versus_print(const bench_table *table, const char *alg, FILE *to)
{
    bench_cell *cells;
    const int num = bench_table_cells(table, &cells);
    int unknown = 0, with = 0;
    for (int i = 0; i < num; i++) {
        const bench_row *ours = bench_cell_row(table, &cells[i], alg);
        with += ours != NULL;
        unknown += ours && isnan(cells[i].tau_ms);
    }
    fprintf(
        to,
        "\n# %s against the others, by largest delay over tau (to the nearest power of two): geometric mean, "
        "worst and best cell. regular, "
        "published:\n# the best regular algorithm, and the best other one that goes by predictions, over "
        "%s; "
        "bound: %s over\n# the bound.\n",
        alg, alg, alg);
    bench_warn_if_doubtful(table, to);
    if (with == 0) {
        fprintf(to, "no cell has %s\n", alg);
    } else {
        print_groups(table, cells, num, alg, true, to);
        print_groups(table, cells, num, alg, false, to);
        print_losses(table, cells, num, alg, to);
        print_predictions(table, to);
    }
    if (unknown)
        fprintf(to, "# left out: %d cells from a CSV, which does not tell tau; give the JSON\n", unknown);
    free(cells);
}

/*
 * bench_choice.c — what an algorithm that chooses loses (bench_choice.h). The best one is found by every second iteration and timed in the others,
 * both ways round: of several that are alike somebody always seems faster by the iterations that it is timed in. So a loss may be below 0.
 */
#include "bench_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_doubt.h"
#include "bench_item.h"
#include "bench_stats.h"

enum { MAX_ALGS = 64, MAX_SIZES = 32 };

/* How many of something each algorithm has. */
typedef struct counted {
    const char *name;
    int count;
} counted;

typedef struct tally {
    int num;
    counted of[MAX_ALGS];
} tally;

typedef struct losses {
    int64_t segment_bytes; /* 0: of all lengths */
    int cells;
    double sum, worst, worst_over_native;
    tally best, ran; /* best in half of a cell's iterations; ran a call */
} losses;

typedef struct verdict {
    double loss, over_native; /* NaN: not known */
    tally best, ran;
} verdict;

static void count(tally *t, const char *name, int times)
{
    int i = 0;
    while (i < t->num && strcmp(t->of[i].name, name) != 0)
        i++;
    if (i == MAX_ALGS)
        return;
    if (i == t->num) {
        t->of[t->num].name = name;
        t->of[t->num++].count = 0;
    }
    t->of[i].count += times;
}

static void count_all(tally *t, const tally *more)
{
    for (int i = 0; i < more->num; i++)
        count(t, more->of[i].name, more->of[i].count);
}

static int by_count(const void *va, const void *vb)
{
    const counted *a = va, *b = vb;
    return a->count != b->count ? (a->count < b->count) - (a->count > b->count) : strcmp(a->name, b->name);
}

/* "relay 8, native 2", the most first. */
static void text_of(const tally *t, char *text, size_t size)
{
    tally sorted = *t;
    size_t used = 0;
    qsort(sorted.of, (size_t)sorted.num, sizeof(sorted.of[0]), by_count);
    text[0] = '\0';
    for (int i = 0; i < sorted.num && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s %d", i ? ", " : "",
                                 bench_short_name(sorted.of[i].name), sorted.of[i].count);
}

/* The times of every second iteration, from `first` on, of which both have one: delays are not the same in all of them. */
static void add_pairs(const bench_row *a, const bench_row *b, int first, double *sum_a, double *sum_b)
{
    for (int i = first; i < a->num_iters && i < b->num_iters; i += 2)
        if (!isnan(a->iter_elapsed_ms[i]) && !isnan(b->iter_elapsed_ms[i])) {
            *sum_a += a->iter_elapsed_ms[i];
            *sum_b += b->iter_elapsed_ms[i];
        }
}

static verdict judge(const bench_table *t, const bench_cell *cell, const bench_row *ours)
{
    verdict v = {.loss = NAN, .over_native = NAN};
    const bench_row *native = bench_cell_row(t, cell, pat_algorithm_native(cell->op)->name);
    double ours_ms = 0, best_ms = 0;
    for (int first = 0; first < 2; first++) {
        const bench_row *best = bench_cell_best_half(t, cell, ours->alg, first);
        if (!best)
            return v;
        add_pairs(ours, best, 1 - first, &ours_ms, &best_ms);
        count(&v.best, best->alg, 1);
    }
    for (int i = 0; ours->iter_ran && i < ours->num_iters; i++)
        if (ours->iter_ran[i])
            count(&v.ran, ours->iter_ran[i]->name, 1);
    if (best_ms > 0)
        v.loss = 100 * (ours_ms / best_ms - 1);
    if (native && native->iter_elapsed_ms && native->num_iters == ours->num_iters)
        v.over_native = bench_compare(ours->iter_elapsed_ms, native->iter_elapsed_ms, ours->num_iters).ratio;
    return v;
}

static void add(losses *l, const verdict *v)
{
    l->worst = l->cells == 0 ? v->loss : fmax(l->worst, v->loss);
    l->worst_over_native = l->cells == 0 ? v->over_native : fmax(l->worst_over_native, v->over_native);
    l->sum += v->loss;
    l->cells++;
    count_all(&l->best, &v->best);
    count_all(&l->ran, &v->ran);
}

static losses *of_size(losses *sizes, int *num, int64_t bytes)
{
    for (int i = 0; i < *num; i++)
        if (sizes[i].segment_bytes == bytes)
            return &sizes[i];
    if (*num == MAX_SIZES)
        return NULL;
    sizes[*num] = (losses){.segment_bytes = bytes};
    return &sizes[(*num)++];
}

static int by_size(const void *va, const void *vb)
{
    const losses *a = va, *b = vb;
    return (a->segment_bytes > b->segment_bytes) - (a->segment_bytes < b->segment_bytes);
}

/* "1.234", or "-" where it is not known. */
static void ratio_text(char *text, size_t size, double ratio)
{
    snprintf(text, size, isnan(ratio) ? "-" : "%.3f", ratio);
}

static void print_losses(const losses *l, FILE *to)
{
    char best[256], ran[256], kib[32] = "all", over[32];
    text_of(&l->best, best, sizeof(best));
    text_of(&l->ran, ran, sizeof(ran));
    ratio_text(over, sizeof(over), l->worst_over_native);
    if (l->segment_bytes > 0)
        snprintf(kib, sizeof(kib), "%.6g", (double)l->segment_bytes / 1024);
    fprintf(to, "%8s %5d %8.2f %8.2f %11s  best: %s", kib, l->cells, l->sum / l->cells, l->worst, over, best);
    if (ran[0])
        fprintf(to, "; ran: %s", ran);
    fputc('\n', to);
}

static void print_cell(const bench_cell *c, const verdict *v, FILE *to)
{
    char best[64], ran[256], over[32];
    text_of(&v->best, best, sizeof(best));
    text_of(&v->ran, ran, sizeof(ran));
    ratio_text(over, sizeof(over), v->over_native);
    fprintf(to, "%5d %4d %8.6g %-12s %10.4g %8.2f %11s  %-20s %s\n", c->procs, c->ppn,
            (double)c->segment_bytes / 1024, c->pattern, bench_cell_planned_factor(c), v->loss, over, best,
            ran);
}

static void print_head(const bench_table *table, const char *alg, FILE *to)
{
    fprintf(to,
            "\n# What %s loses by choosing, in per cent of the elapsed time of whoever is the best of the "
            "others in "
            "every second iteration, timed\n# in the rest, both ways round. over native: %s over the MPI "
            "library's "
            "own. Best in so many halves; ran so many calls.\n",
            alg, alg);
    bench_warn_if_doubtful(table, to);
    fprintf(to, "%5s %4s %8s %-12s %10s %8s %11s  %-20s %s\n", "ranks", "ppn", "KiB", "pattern", "delay/tau",
            "loss %", "over native", "best", "ran");
}

void bench_choice_print(const bench_table *table, const char *alg, FILE *to)
{
    bench_cell *cells;
    losses sizes[MAX_SIZES], all = {0};
    int num_sizes = 0, left_out = 0;
    const int num = bench_table_cells(table, &cells);
    for (int i = 0; i < num; i++) {
        const bench_row *ours = bench_cell_row(table, &cells[i], alg);
        verdict v = {.loss = NAN};
        if (ours && ours->iter_elapsed_ms)
            v = judge(table, &cells[i], ours);
        if (isnan(v.loss)) {
            left_out += ours != NULL;
            continue;
        }
        if (all.cells == 0)
            print_head(table, alg, to);
        print_cell(&cells[i], &v, to);
        losses *size = of_size(sizes, &num_sizes, cells[i].segment_bytes);
        if (size)
            add(size, &v);
        add(&all, &v);
    }
    free(cells);
    if (all.cells > 0)
        fprintf(to, "\n%8s %5s %8s %8s %s\n", "KiB", "cells", "mean %", "worst %", "over native, at most");
    qsort(sizes, (size_t)num_sizes, sizeof(sizes[0]), by_size);
    for (int i = 0; i < num_sizes; i++)
        print_losses(&sizes[i], to);
    if (all.cells > 0)
        print_losses(&all, to);
    if (left_out > 0)
        fprintf(to,
                "# left out: %d cells in which nobody else was measured, or with too few valid iterations; a "
                "CSV has no "
                "single iterations: give the JSON\n",
                left_out);
}

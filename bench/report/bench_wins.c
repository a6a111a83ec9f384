/*
 * bench_wins.c — see bench_wins.h. Must never count a cell of a doubtful lab without saying so.
 */
#include "bench_wins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_doubt.h"
#include "bench_item.h"
#include "bench_paper.h"

enum { MAX_VALUES = 128, MAX_ALGS = BENCH_TABLE_ALGS, NUM_AXES = 2 };

/* A cell that has a winner. */
typedef struct win {
    double at[NUM_AXES]; /* largest delay in ms, K items in all */
    const char *alg;
    bool doubtful;
} win;

/* How often each algorithm wins where a cell lies at one value of an axis. */
typedef struct tally {
    double value[MAX_VALUES];
    int won[MAX_VALUES][MAX_ALGS], cells[MAX_VALUES], doubtful[MAX_VALUES];
    int num;
} tally;

static int by_number(const void *va, const void *vb)
{
    const double a = *(const double *)va, b = *(const double *)vb;
    return (a > b) - (a < b);
}

static int place_of(const tally *t, double value)
{
    int i = 0;
    while (i < t->num && t->value[i] != value)
        i++;
    return i;
}

/* The winners' names, each once, in the order in which they are first met in `order`. */
static int winners(const win *wins, int num, const char *const *order, int num_order, const char **algs)
{
    int kept = 0;
    for (int a = 0; a < num_order; a++) {
        bool found = false;
        for (int i = 0; i < num && !found; i++)
            found = strcmp(wins[i].alg, order[a]) == 0;
        if (found && kept < MAX_ALGS)
            algs[kept++] = order[a];
    }
    return kept;
}

static void count(tally *t, const win *wins, int num, int axis, const char *const *algs, int num_algs)
{
    *t = (tally){.num = 0};
    for (int i = 0; i < num && t->num < MAX_VALUES; i++)
        if (place_of(t, wins[i].at[axis]) == t->num)
            t->value[t->num++] = wins[i].at[axis];
    qsort(t->value, (size_t)t->num, sizeof(t->value[0]), by_number);
    for (int i = 0; i < num; i++) {
        const int at = place_of(t, wins[i].at[axis]);
        if (at == t->num)
            continue;
        t->cells[at]++;
        t->doubtful[at] += wins[i].doubtful;
        for (int a = 0; a < num_algs; a++)
            t->won[at][a] += strcmp(wins[i].alg, algs[a]) == 0;
    }
}

static void print(const win *wins, int num, const char *const *algs, int num_algs, const char *items,
                  FILE *to)
{
    tally *t = malloc(sizeof(*t));
    for (int axis = 0; t && axis < NUM_AXES; axis++) {
        char head[32];
        snprintf(head, sizeof(head), "K %ss", items);
        count(t, wins, num, axis, algs, num_algs);
        fprintf(to, "%12s %6s", axis == 0 ? "MD [ms]" : head, "cells");
        for (int a = 0; a < num_algs; a++)
            fprintf(to, " %9s", bench_short_name(algs[a]));
        fputc('\n', to);
        for (int i = 0; i < t->num; i++) {
            fprintf(to, "%12.6g %6d", t->value[i], t->cells[i]);
            for (int a = 0; a < num_algs; a++)
                fprintf(to, " %9d", t->won[i][a]);
            fputc('\n', to);
        }
    }
    free(t);
}

/* Those of the cells that have a winner, for the caller to free; NULL: no memory. */
static win *wins_of(const bench_table *table, const bench_cell *cells, int num, int *num_wins)
{
    win *wins = malloc((size_t)(num > 0 ? num : 1) * sizeof(*wins));
    *num_wins = 0;
    for (int i = 0; wins && i < num; i++)
        if (cells[i].best >= 0 && cells[i].num_algs > 1)
            wins[(*num_wins)++] = (win){{cells[i].max_delay_ms, round((double)cells[i].count / 1024)},
                                        table->rows[cells[i].best].alg,
                                        cells[i].doubtful};
    return wins;
}

void bench_wins_print(const bench_table *table, const bench_cell *cells, int num, FILE *to)
{
    const char *order[MAX_ALGS], *algs[MAX_ALGS];
    int num_wins;
    win *wins = wins_of(table, cells, num, &num_wins);
    const int num_algs = winners(wins, num_wins, order, bench_table_algs(table, order, MAX_ALGS), algs);
    if (num_wins > 1) {
        fprintf(to, "\n# In how many cells each is the fastest by mean elapsed time, by largest delay and by "
                    "size (all ranks and patterns)\n");
        bench_warn_if_doubtful(table, to);
        print(wins, num_wins, algs, num_algs, bench_item_of(cells->op)->name, to);
    }
    free(wins);
}

void bench_wins_print_paper(FILE *to)
{
    static const char *const order[] = {"ring", "nex", "lnbc", "bdr", "bslb"};
    enum { NUM_ORDER = sizeof(order) / sizeof(order[0]) };
    const bench_paper_cell *cells;
    const int num = bench_paper_cells(&cells);
    win *wins = malloc((size_t)num * sizeof(*wins));
    for (int i = 0; wins && i < num; i++)
        wins[i] = (win){{cells[i].max_delay_ms, cells[i].size_k}, cells[i].best, false};
    if (wins) {
        fprintf(to, "\n# The same in the paper (Figure 6): 4 to 48 ranks, one per node, 1 Gbit/s\n");
        print(wins, num, order, NUM_ORDER, bench_item_of(PAT_OP_ALLGATHER)->name, to);
    }
    free(wins);
}

bool bench_wins_data(const bench_table *table, const bench_cell *cells, int num, char *name, size_t size,
                     FILE *to)
{
    static const char *const axes[NUM_AXES] = {"delay", "size"};
    const char *order[MAX_ALGS], *algs[MAX_ALGS];
    bool worth_it = false;
    int num_wins;
    win *wins = wins_of(table, cells, num, &num_wins);
    tally *t = malloc(sizeof(*t));
    const int num_algs = winners(wins, num_wins, order, bench_table_algs(table, order, MAX_ALGS), algs);
    snprintf(name, size, "winners");
    fputs("axis,place,value,cells,doubtful,alg,below,won\n", to);
    for (int axis = 0; wins && t && axis < NUM_AXES; axis++) {
        count(t, wins, num_wins, axis, algs, num_algs);
        worth_it = worth_it || t->num > 1;
        for (int i = 0; i < t->num; i++)
            for (int a = 0, below = 0; a < num_algs; below += t->won[i][a++])
                fprintf(to, "%s,%d,%.6g,%d,%d,%s,%d,%d\n", axes[axis], i, t->value[i], t->cells[i],
                        t->doubtful[i], algs[a], below, t->won[i][a]);
    }
    free(t);
    free(wins);
    return worth_it;
}

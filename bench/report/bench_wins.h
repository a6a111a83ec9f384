/*
 * bench_wins.h — in how many cells each algorithm is the fastest, by largest delay and by size: the paper's Figure 6.
 */
#ifndef BENCH_WINS_H
#define BENCH_WINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench_table.h"

/* Two tables of these cells, which are of one collective; nothing where there are fewer than two cells. */
void bench_wins_print(const bench_table *table, const bench_cell *cells, int num, FILE *to);

/* The same of the paper's cells. */
void bench_wins_print_paper(FILE *to);

/*
 * The first as a figure's data, as CSV. Returns whether there is anything to draw: two delays or sizes at least. In `name` is what the figure is
 * called.
 */
bool bench_wins_data(const bench_table *table, const bench_cell *cells, int num, char *name, size_t size,
                     FILE *to);

#endif

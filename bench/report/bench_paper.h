/*
 * bench_paper.h — our cells beside those of Proficz 2021.
 */
#ifndef BENCH_PAPER_H
#define BENCH_PAPER_H

#include <stdio.h>

#include "bench_table.h"

/* Our cells beside the paper's with the same ranks and the nearest imbalance factor. */
void bench_paper_print(const bench_table *table, FILE *to);

/* One cell of the paper: Tables 3 and 4, one process per node, 1 Gbit/s. */
typedef struct bench_paper_cell {
    int procs, size_k;
    double max_delay_ms;
    char best[16];
    double speedup; /* over the best regular one; 1 when that is the best */
} bench_paper_cell;

int bench_paper_cells(const bench_paper_cell **cells); /* their number; made from paper_tables.csv */

/* Expected imbalance factor of such a cell: the mean range of P uniform delays, over the time of a segment.
 */
double bench_paper_factor(const bench_paper_cell *cell);

/*
 * The paper's cell to hold ours against: as many ranks, the same size when its factor is within 1.5 of ours,
 * else the nearest factor of any size; a cell without delays only against cells without. NULL when the paper
 * has no such cell.
 */
const bench_paper_cell *bench_paper_match(const bench_cell *cell);

#endif

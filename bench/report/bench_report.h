/*
 * bench_report.h — the tables people read.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "bench_table.h"

/* All tables: the fastest algorithm per cell in the paper's shape, times per algorithm, and what it comes to.
 */
void bench_report_print(const bench_table *table, FILE *to);

/* A line of warning when the emulated cluster failed its own check: at every table. */
void bench_warn_if_doubtful(const bench_table *table, FILE *to);

/* One algorithm against the others and the bound, by imbalance factor. */
void bench_versus_print(const bench_table *table, const char *alg, FILE *to);

/* Our cells beside those of Proficz 2021 with the same ranks and the nearest imbalance factor. */
void bench_paper_print(const bench_table *table, FILE *to);

/* One cell of the paper: Tables 3 and 4, one process per node, 1 Gbit/s. */
typedef struct bench_paper_cell {
    int procs, size_k;
    double max_delay_ms;
    char best[16];
    double speedup; /* over the best regular one; 1 when that is the best */
} bench_paper_cell;

int bench_paper_cells(const bench_paper_cell **cells); /* their number */

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

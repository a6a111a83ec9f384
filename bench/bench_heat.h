/*
 * bench_heat.h — heat maps for bench_plot.c, as gnuplot commands.
 */
#ifndef BENCH_HEAT_H
#define BENCH_HEAT_H

#include <stdio.h>

#include "bench_table.h"

/* Best regular over best arrival-aware algorithm: num cells of one number of ranks, sizes up, delays across. */
void bench_heat_speedup(const bench_table *table, const bench_cell *cells, int num, const char *dir,
                        FILE *to);

/*
 * `alg` over the bound: num cells of one pattern, those that have it and know their tau: ranks and segments up, delays in
 * tau across. Returns the number of figures: 0 when there is nothing to show.
 */
int bench_heat_bound(const bench_table *table, const bench_cell *cells, int num, const char *alg,
                     const char *dir, FILE *to);

#endif

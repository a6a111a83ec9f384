/*
 * bench_heat.h — the data of heat maps, for bench_plot.c: as CSV, with every box's place.
 */
#ifndef BENCH_HEAT_H
#define BENCH_HEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench_table.h"

/*
 * Best regular over best arrival-aware algorithm: num cells of one number of ranks, sizes up, delays across. Returns whether there
 * is anything to draw, and in `name` what the figure is called.
 */
bool bench_heat_speedup(const bench_table *table, const bench_cell *cells, int num, char *name, size_t size,
                        FILE *to);

/*
 * `alg` over the bound: num cells of one pattern, those that have it and know their tau: ranks and segments up, delays in
 * tau across. The same result.
 */
bool bench_heat_bound(const bench_table *table, const bench_cell *cells, int num, const char *alg, char *name,
                      size_t size, FILE *to);

#endif

/*
 * bench_growth.h — does the time past the last arrival grow with the ranks? For ranks that arrive one after the other
 * (pattern ascending), in times of a segment, so that clusters with other links can be held side by side.
 */
#ifndef BENCH_GROWTH_H
#define BENCH_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench_table.h"

/* One table per segment that was measured with several numbers of ranks; nothing when there is none. */
void bench_growth_print(const bench_table *table, const bench_cell *cells, int num, FILE *to);

/*
 * The same as a figure's data, as CSV, if cells[first] is the first of a series. Returns whether there is anything to draw, and in
 * `name` what the figure is called.
 */
bool bench_growth_data(const bench_table *table, const bench_cell *cells, int num, int first, char *name,
                       size_t size, FILE *to);

#endif

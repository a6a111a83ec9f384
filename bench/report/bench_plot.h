/*
 * bench_plot.h — figures: elapsed time by size (the paper's Figure 7), by delay (8, 9), by ranks (10), heat maps of the speed-up
 * and of one algorithm over the bound, the growth with the ranks, and how often each algorithm is the fastest (6). Of each the data is written here, as CSV; how it is drawn
 * is gnuplot's, by the templates in bench/plots, which a user may change.
 */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench_table.h"

/*
 * Write the data of all figures into `dir`, which is there: a CSV each. versus: also how near to the bound this algorithm is; or
 * NULL. calls: gets a line for each figure that has gnuplot draw it, with the templates of `templates`; or NULL. Returns the number
 * of figures, or -1 with a text in `why`.
 */
int bench_plot_data(const bench_table *table, const char *versus, const char *dir, const char *templates,
                    FILE *calls, char *why, size_t why_size);

/*
 * Make the directory, the data and the figures, each as SVG and PNG. Returns their number, or -1 with a text in `why`. Call it
 * where no MPI is running: it starts a process.
 */
int bench_plot_make(const bench_table *table, const char *versus, const char *dir, char *why,
                    size_t why_size);

#endif

/*
 * bench_plot.h — figures by gnuplot, each as SVG and PNG: elapsed time by size (the paper's Figure 7), by
 * delay (8, 9), by ranks (10), heat maps of the speed-up and of one algorithm over the bound, and the growth with the
 * ranks (bench_growth.h).
 */
#ifndef BENCH_PLOT_H
#define BENCH_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench_table.h"

/*
 * Write the gnuplot script, data included, whose figures go into `dir`. versus: also draw how near to the bound this
 * algorithm is; or NULL. Returns the number of figures.
 */
int bench_plot_script(const bench_table *table, const char *versus, const char *dir, FILE *to);

typedef struct bench_style {
    const char *colour;
    int shape; /* gnuplot's point type */
} bench_style;

bench_style bench_plot_style(int number); /* of the number-th line in a figure */

/* What a title has to say of a doubtful table: a line, or nothing. */
const char *bench_plot_doubt(const bench_table *table);

/* The gnuplot commands that open figure `name`: kind 0 as SVG, 1 as PNG. */
void bench_plot_terminal(const char *dir, const char *name, int kind, FILE *to);

bool bench_plot_available(void); /* is gnuplot on the PATH? */

/*
 * Make the directory and the figures. Returns their number, or -1 with a text in `why`. Call it where no MPI
 * is running: it starts a process.
 */
int bench_plot_make(const bench_table *table, const char *versus, const char *dir, char *why,
                    size_t why_size);

#endif

/*
 * bench_draw.h — pictures by gnuplot: of each the data as a CSV, and a line for gnuplot that has it drawn by a template of bench/plots, as SVG and PNG.
 */
#ifndef BENCH_DRAW_H
#define BENCH_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A picture's data, as it is written, and where it goes. */
typedef struct bench_sheets {
    const char *dir, *templates;
    FILE *calls, *to; /* calls NULL: no picture is drawn */
    char *text;
    size_t length;
    int num; /* of pictures so far; -1: something went wrong, as `why` says */
    char *why;
    size_t why_size;
} bench_sheets;

/* Where the next picture's data goes; NULL: something went wrong. */
FILE *bench_sheet_begin(bench_sheets *s);
/* It is NAME.csv, and drawn by the template; worth_it: there is something to draw. */
void bench_sheet_end(bench_sheets *s, const char *template, const char *name, bool worth_it);

bool bench_plot_available(void); /* is gnuplot on the PATH? */

/*
 * Make the directory and whatever pictures `fill` adds. Returns their number, or -1 with a text in `why`. Call it where no MPI is running: it starts a process.
 */
int bench_draw(const char *dir, void (*fill)(bench_sheets *s, const void *with), const void *with, char *why,
               size_t why_size);

#endif

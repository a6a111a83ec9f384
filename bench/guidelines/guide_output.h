/*
 * guide_output.h — a campaign's files in a directory, each whole or not there: <collective>.txt and .csv, MPI_Results.txt and .csv, MPI_Totals.txt and
 * guidelines.json.
 */
#ifndef GUIDE_OUTPUT_H
#define GUIDE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "guide_compare.h"

typedef struct guide_shape {
    const guide_comparer *comparer;
    bool merge, csv, more; /* one table of all too; CSV too; our columns too */
} guide_shape;

/* Makes the directory, and those above it, where they are missing. 0, or an errno value with a text in `why`. */
int guide_dir_make(const char *dir, char *why, size_t why_size);

/* The same. */
int guide_output_write(const guide_results *r, const guide_shape *shape, const char *dir, char *why,
                       size_t why_size);

/* All tables and the totals for people. */
void guide_output_print(const guide_results *r, const guide_shape *shape, FILE *to);

#endif

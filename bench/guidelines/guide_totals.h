/*
 * guide_totals.h — a campaign in a few figures: how many guidelines are violated, by which collectives, by how much, and one score for the library.
 */
#ifndef GUIDE_TOTALS_H
#define GUIDE_TOTALS_H

#include "guide_results.h"
#include "guide_sheet.h"

typedef struct guide_totals {
    int cells;   /* that were judged */
    int not_run; /* right sides; all of a cell's where its left side did not run */
    int brave, cautious,
        certain;  /* cells with a violation; those without starred ones; those that are certain */
    double worst; /* slow-down of a violation, at least 1 */
    /*
     * How fast the library is, in per cent, for a program that calls every cell as often as the others in time, compared with the same program with every violated
     * collective replaced: 100 times the geometric mean over cells of the fastest mock-up's median over the left side's where the guideline is violated and the
     * violation not starred, 1 elsewhere. A mean of ratios to the library's own times, so that grids, sizes and libraries of any speed can be compared; 100: nothing is
     * violated.
     */
    double score;
} guide_totals;

/* Of the cells of a collective (NULL: of all) on a grid (NULL: on all). */
guide_totals guide_total(const guide_results *r, const char *mpi, const guide_grid *grid);

/* A row for each grid, each collective and all; and the cells with the largest slow-downs, `most` at most. */
void guide_totals_sheet(guide_sheet *sheet, const guide_results *r);
void guide_top_sheet(guide_sheet *sheet, const guide_results *r, int most);

/* The collectives with the highest and the lowest score, of equal ones those with fewer and with more violations; NULL: nothing was judged. */
const char *guide_best(const guide_results *r);
const char *guide_worst(const guide_results *r);

/* All of that, for people. */
void guide_totals_print(const guide_results *r, FILE *to);

#endif

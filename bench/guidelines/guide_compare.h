/*
 * guide_compare.h — the tables of a campaign, each by its comparer: what of every cell stands in a row. A new one is a function and a line in
 * guide_compare.c. Times are in ms.
 */
#ifndef GUIDE_COMPARE_H
#define GUIDE_COMPARE_H

#include "guide_results.h"
#include "guide_sheet.h"

typedef struct guide_comparer {
    const char *name, *columns;
    const char *more; /* columns of ours beyond those of the method; NULL: none */
    void (*rows)(guide_sheet *sheet, const char *before, const guide_cell *cell, bool more);
} guide_comparer;

/* By number: 0 simple, 1 absolute median, 2 relative median, 3 violation, 4 detailed, 5 grouped; NULL after the last. */
const guide_comparer *guide_comparer_number(int number);

/*
 * The table of one collective, or of all where it is NULL; that one begins with the collective's name, which some comparers have anyhow. more: the further
 * columns too.
 */
void guide_compare(guide_sheet *sheet, const guide_comparer *comparer, const guide_results *r,
                   const char *mpi, bool more);

/* What stands below a table for people: what the stars are, and what did not run and why. */
void guide_compare_notes(const guide_results *r, const char *mpi, FILE *to);

#endif

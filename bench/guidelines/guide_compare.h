/*
 * guide_compare.h — the tables of a campaign, each by its comparer: what of every cell stands in a row. Times are in ms. A new one is a file
 * guide_compare_NAME.c with its guide_comparer, and a line in GUIDE_COMPARERS.
 */
#ifndef GUIDE_COMPARE_H
#define GUIDE_COMPARE_H

#include "guide_results.h"
#include "guide_sheet.h"

typedef struct guide_comparer {
    const char *name, *title, *columns;
    const char *more; /* columns of ours beyond those of the method; NULL: none */
    void (*rows)(guide_sheet *sheet, const char *before, const guide_cell *cell, bool more);
} guide_comparer;

/* All of them, by number from 0 on. */
#define GUIDE_COMPARERS(X)                                                                                   \
    X(simple)                                                                                                \
    X(absolute)                                                                                              \
    X(relative)                                                                                              \
    X(violation)                                                                                             \
    X(detailed)                                                                                              \
    X(grouped)
#define GUIDE_DECLARE(name) extern const guide_comparer guide_comparer_##name;
GUIDE_COMPARERS(GUIDE_DECLARE)
#undef GUIDE_DECLARE

/* NULL after the last. */
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

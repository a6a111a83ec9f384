/*
 * guide_views.h — several campaigns side by side: each grid of each of them is a view, with what it is called.
 */
#ifndef GUIDE_VIEWS_H
#define GUIDE_VIEWS_H

#include <stddef.h>

#include "guide_results.h"

enum { GUIDE_LABEL = 512 };

typedef struct guide_view {
    const guide_results *r;
    guide_grid grid;
    char label[GUIDE_LABEL]; /* "Open MPI v4.1.4, 36x2" and what is not as usual */
    /* What views of other numbers of ranks may have in common: the label without the grid, and without the digest of a recorded program's arrivals, which are
     * others on another number of ranks. */
    char kind[GUIDE_LABEL];
    int group; /* views of one sweep have the same; others where they are alike in their ranks per node, or each on one node */
} guide_view;

typedef struct guide_views {
    guide_results *results;
    int num_results;
    guide_view *views;
    int num;
} guide_views;

/* Of the directories that campaigns have written. 0, or EINVAL or what open said with a text in `why`; then there is nothing to free. */
int guide_views_read(guide_views *v, const char *const *dirs, int num, char *why, size_t why_size);
void guide_views_free(guide_views *v);

/* The view's cell of a collective and size; NULL: it was not judged. */
const guide_cell *guide_view_cell(const guide_view *view, const char *mpi, int64_t bytes);

/*
 * All collectives and sizes that any view has: collectives as they come first, sizes ascending. For the caller to free.
 */
typedef struct guide_place {
    const char *mpi;
    int64_t bytes;
} guide_place;
guide_place *guide_views_places(const guide_views *v, int *num);

/* The left side's median over that of the fastest right side, whether that is significant or not. */
double guide_cell_ratio(const guide_cell *c);

#endif

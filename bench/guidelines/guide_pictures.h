/*
 * guide_pictures.h — pictures of campaigns side by side, by gnuplot: a heat map of slow-downs for each view, their largest by size, the ratio by size for
 * each collective, that by the number of ranks where there are several, and totals. Beside each its data, as CSV.
 */
#ifndef GUIDE_PICTURES_H
#define GUIDE_PICTURES_H

#include <stddef.h>

#include "guide_views.h"

/* Into a directory that exists. How many, or -1 with a text in `why`. */
int guide_pictures_make(const guide_views *v, const char *dir, char *why, size_t why_size);

#endif

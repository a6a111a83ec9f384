/*
 * taulop_compare.h — operations as they are measured against what the models say they take. All members call; the first one prints.
 */
#ifndef TAULOP_COMPARE_H
#define TAULOP_COMPARE_H

#include "taulop_measure.h"

/*
 * Measures what the models go by and what operations take, so many times one after the other: what else the machine does then comes to both.
 * Prints L, and a line for each operation that the way has: the mean error over lengths from the plan's least to its most. -1 when
 * memory is short.
 */
int taulop_compare(taulop_member *m, const taulop_plan *plan, const taulop_way *way);

#endif

/*
 * guide_plan.h — what is to be measured: the input file's collectives, by the algorithms of the list.
 */
#ifndef GUIDE_PLAN_H
#define GUIDE_PLAN_H

#include "guide_input.h"
#include "guide_options.h"
#include "guide_side.h"

typedef struct guide_plan {
    const guide_options *o;
    guide_input input;
    guide_list list;
    bool needs_pat; /* a side is PAT's */
} guide_plan;

/* Needs no ranks. 0, or the exit status with a text in `why`. To be freed in any case. */
int guide_plan_read(guide_plan *p, const guide_options *o, char *why, size_t why_size);
void guide_plan_free(guide_plan *p);

/* The sides of a collective, the left one first; for the caller to free. */
guide_side *guide_plan_sides(const guide_plan *p, const char *mpi, int *num);

/* How long its series take together, at most. */
double guide_plan_ms(const guide_plan *p);

/* Writes the list of all algorithms. Needs no ranks. Returns the exit status. */
int guide_plan_write_list(const guide_options *o);

#endif

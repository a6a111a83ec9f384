/*
 * guide_keep.h — where a campaign's results go on rank 0: what earlier launches have left there, and its files, which are written anew after each collective.
 */
#ifndef GUIDE_KEEP_H
#define GUIDE_KEEP_H

#include "guide_measure.h"
#include "guide_plan.h"

typedef struct guide_keep {
    const guide_plan *plan;
    guide_run *run;                             /* its results */
    const char *threads;                        /* the level that MPI was started with */
    char *dir, *raw, *past, *past_raw, *beyond; /* directories; NULL: there is no output directory */
} guide_keep;

/* dir NULL: nothing is written. Makes no directory yet. */
void guide_keep_make(guide_keep *k, const guide_plan *plan, guide_run *run, const char *threads,
                     const char *dir);
void guide_keep_free(guide_keep *k);

/* Takes over what earlier launches have left. Changes no file. 0, or the exit status with a text in `why`. */
int guide_keep_check(guide_keep *k, char *why, size_t why_size);
/* The same. */
int guide_keep_make_dirs(const guide_keep *k, char *why, size_t why_size);
/* Away with what --fresh is to remove: not before the directories of all that is to be measured are there. The same. */
int guide_keep_clear(const guide_keep *k, char *why, size_t why_size);

/*
 * Judge and write all that there is so far; line: the one that was measured last, NULL: the barrier. 0, or an errno value with a text in `why`.
 */
int guide_keep_write(const guide_keep *k, const guide_line *line, bool complete, char *why, size_t why_size);

/* For people. */
void guide_keep_print(const guide_keep *k, FILE *to);

#endif

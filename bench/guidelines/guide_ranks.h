/*
 * guide_ranks.h — the numbers of ranks of a sweep: "2,4,6-16", "8-64:8" or "all".
 */
#ifndef GUIDE_RANKS_H
#define GUIDE_RANKS_H

#include <stdbool.h>

enum { GUIDE_RANGES = 64 };

/* For messages. */
#define GUIDE_RANKS_ACCEPTED                                                                                 \
    "all, or numbers from 2 on and ranges of them, as 2,4,6-16 or 8-64:8, at most 64 of these"

typedef struct guide_ranks {
    struct guide_range {
        int first, last, step; /* last 0: as far as there are ranks */
    } ranges[GUIDE_RANGES];
    int num; /* 0: no sweep is meant */
} guide_ranks;

/* False: it is no such list. */
bool guide_ranks_read(guide_ranks *r, const char *text);

/* Those of the list, each once, in ascending order, where there are so many ranks at most. For the caller to free. */
int *guide_ranks_all(const guide_ranks *r, int most, int *num);

/* The largest that is named; 0: only `all` is. */
int guide_ranks_largest(const guide_ranks *r);

#endif

/*
 * overhead.h — what the measurements of pat-overhead have in common.
 */
#ifndef OVERHEAD_H
#define OVERHEAD_H

#include <stddef.h>

typedef struct overhead_options {
    const char *mode;
    int rounds;      /* 0: the mode's own default; so for the next */
    double phase_ms; /* thread: of computation; copies: rank 0 is late by this */
    int segment;     /* bytes */
    const char *alg;
} overhead_options;

/* Ends the job with a text when a call of the library failed. */
void overhead_must(int rc, const char *what);

#define MUST(call) overhead_must((call), #call)

/* Memory, or the end of the job. */
void *overhead_alloc(size_t count, size_t size);

/* Median and quartiles of v[0..n-1]; v is sorted. */
void overhead_quartiles(double *v, int n, double *low, double *mid, double *high);

#endif

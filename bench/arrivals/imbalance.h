/*
 * imbalance.h — the measurements of pat-imbalance. Collective over MPI_COMM_WORLD with the library started; rank 0 prints.
 *
 * The first two are after A. Faraj, P. Patarasu and X. Yuan, A study of process arrival patterns for MPI collective operations (2008).
 */
#ifndef IMBALANCE_H
#define IMBALANCE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench_call.h"
#include "bench_progress.h"

enum { IMBALANCE_MOST = 32 };

typedef struct imbalance_options {
    const char *mode;
    const bench_form *form;           /* replay: NULL, the trace says which */
    const char *trace, *place;        /* replay: a directory; NULL: the place with most waiting */
    const char *algs[IMBALANCE_MOST]; /* the first one is what the others are held against */
    int num_algs;
    int64_t bytes[IMBALANCE_MOST];
    int num_bytes;
    int64_t most[IMBALANCE_MOST]; /* controlled: the largest imbalance, in messages' times */
    int num_most;
    double compute_ms[IMBALANCE_MOST]; /* balanced: of one computation */
    int num_compute;
    int iterations, patterns;
    bool burns; /* late ranks keep a core busy instead of sleeping */
    int64_t seed;
    const char *csv_path;
    FILE *csv; /* of rank 0; NULL: none */
    enum bench_progress_mode progress;
} imbalance_options;

/* Each rank comes a number of messages' times late that is drawn once for a pattern; which algorithm is best, and from where on? */
void imbalance_controlled(const imbalance_options *o);

/* All ranks compute the same, again and again, and are never synchronised but by the collective: how far apart do they come? */
void imbalance_balanced(const imbalance_options *o);

/*
 * The arrivals of a place in a recorded program, call by call. Sets o->form. Returns false on all ranks, after a message, where the trace has no such calls.
 */
bool imbalance_replay(imbalance_options *o);

/* Does that algorithm run by the MPI library itself, so that the library is not asked at all? */
bool imbalance_is_native(const char *alg);

#endif

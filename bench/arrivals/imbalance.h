/*
 * imbalance.h — the two measurements of pat-imbalance. Collective over MPI_COMM_WORLD with the library started; rank 0 prints.
 *
 * Both are after A. Faraj, P. Patarasu and X. Yuan, A study of process arrival patterns for MPI collective operations (2008).
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
    const bench_form *form;
    const char *algs[IMBALANCE_MOST]; /* the first one is what the others are held against */
    int num_algs;
    int64_t bytes[IMBALANCE_MOST];
    int num_bytes;
    int64_t most[IMBALANCE_MOST]; /* controlled: the largest imbalance, in messages' times */
    int num_most;
    double compute_ms[IMBALANCE_MOST]; /* balanced: of one computation */
    int num_compute;
    int iterations, patterns;
    bool burns; /* controlled: ranks keep a core busy while they compute */
    int64_t seed;
    const char *csv_path;
    FILE *csv; /* of rank 0; NULL: none */
    enum bench_progress_mode progress;
} imbalance_options;

/* Each rank comes a number of messages' times late that is drawn once for a pattern; which algorithm is best, and from where on? */
void imbalance_controlled(const imbalance_options *o);

/* All ranks compute the same, again and again, and are never synchronised but by the collective: how far apart do they come? */
void imbalance_balanced(const imbalance_options *o);

/* Does that algorithm run by the MPI library itself, so that the library is not asked at all? */
bool imbalance_is_native(const char *alg);

#endif

/*
 * trace_models.h — what the calls of a place would have taken by other algorithms, by the model (replay.h), under the arrivals that were recorded.
 */
#ifndef TRACE_MODELS_H
#define TRACE_MODELS_H

#include "algorithms.h"
#include "log.h"
#include "trace_sums.h"

typedef struct trace_model {
    const pat_algorithm *alg;
    double ms; /* of a call, the mean over ranks and the calls that were looked at */
} trace_model;

typedef struct trace_models {
    int calls;        /* so many were looked at */
    double took_ms;   /* what these took */
    double spared_ms; /* of a rank's time at the place, by the best algorithm; 0: nothing clearly */
    int num;
    trace_model of[PAT_MAX_ALGS]; /* the least first */
} trace_models;

/*
 * For the places where most time went. Nothing is known of any where there is not a node for each rank, or too many ranks, or where it is not known what messages take. Without memory some are left out.
 */
void trace_models_make(trace_sums *sums, const pat_log *log);

#endif

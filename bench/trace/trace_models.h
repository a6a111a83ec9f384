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
    int calls;                    /* so many were looked at; 0: nothing is known */
    double took_ms;               /* what these took */
    trace_model of[PAT_MAX_ALGS]; /* the least first */
    int num;
} trace_models;

/* Is there a node for each rank, few enough of them, and is it known what messages take? Else nothing is known of any place. */
bool trace_models_can(const pat_log *log);

/* Of one place. */
void trace_models_make(trace_models *models, const pat_log *log, int site);

/* What the best of them would have spared of a rank's time at the place; 0: nothing clearly. */
double trace_models_spared_ms(const trace_models *models, const pat_log *log, const trace_place *place);

#endif

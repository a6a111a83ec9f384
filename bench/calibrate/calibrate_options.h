/*
 * calibrate_options.h — the command line of pat-calibrate.
 */
#ifndef CALIBRATE_OPTIONS_H
#define CALIBRATE_OPTIONS_H

#include <argp.h>

#include "bench_progress.h"
#include "calibrate_run.h"

typedef struct calibrate_options {
    const char *out; /* NULL: a file of the store */
    const char *rules, *rules_json;
    bool quick, again, check, library;
    enum pat_op op;   /* the only collective; PAT_NUM_OPS: all */
    double longest_s; /* one run of an experiment, as far as the link tells */
    calibrate_patience patience;
    enum bench_progress_mode progress;
} calibrate_options;

/* Is this collective to be measured, or checked? */
static inline bool calibrate_options_want(const calibrate_options *o, enum pat_op op)
{
    return o->op == PAT_NUM_OPS || o->op == op;
}

/* Fills in a calibrate_options that is all zero. */
extern const struct argp calibrate_argp;

#endif

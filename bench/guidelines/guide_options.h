/*
 * guide_options.h — the command line of pat-guidelines.
 */
#ifndef GUIDE_OPTIONS_H
#define GUIDE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench_delay.h"
#include "bench_progress.h"
#include "guide_output.h"
#include "guide_ranks.h"
#include "guide_test.h"

enum { GUIDE_REPORTS = 1024 };

typedef struct guide_options {
    /* One of these says what is done. */
    const char *input, *replay, *judge, *write_algorithms;
    bool report;
    const char *of_measuring,
        *of_judging;                 /* an option that was given and is of use there alone; NULL: none */
    const char *dirs[GUIDE_REPORTS]; /* of --report */
    int num_dirs;

    guide_shape shape;
    const guide_test *test;
    const char *outdir; /* NULL: none */
    bool verbose;
    const char *algorithms; /* a file with the list; NULL: all that there are */
    bool own;               /* PAT's own algorithms as right sides too */
    const char *left;
    bool in_series; /* one series after the other, else all of a size in random order */
    uint64_t seed;
    int launch; /* 0: the campaign has one */
    bool fresh; /* away with what an earlier campaign has left in outdir */
    enum bench_pattern pattern;
    double factor; /* how late ranks are at most, in times of the left side's own time */
    const char *trace,
        *place; /* how late they are is recorded there; NULL: it is not; at the place with most waiting */
    guide_ranks ranks;             /* that of a sweep */
    bool beyond;                   /* guidelines that hold a collective against itself at another size */
    const char *profile_dir;       /* NULL: none is written */
    int64_t data_bytes, int_bytes; /* of the mock-ups' scratch */
    enum bench_progress_mode progress;
} guide_options;

/* Do ranks come late to samples, by a pattern or as recorded? */
static inline bool guide_is_late(const guide_options *o)
{
    return o->trace || o->pattern != BENCH_NONE;
}

/* Ends the program with status 2 and a message where something is wrong. */
void guide_options_read(guide_options *o, int argc, char **argv);

#endif

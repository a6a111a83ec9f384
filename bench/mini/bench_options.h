/*
 * bench_options.h — pat-bench's command line as a struct. Needs no MPI and prints nothing: every rank parses
 * the same arguments to the same end, and the caller decides who speaks.
 */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bench_delay.h"
#include "bench_progress.h"
#include "collective.h"

enum { BENCH_MAX_LIST = 128, BENCH_MAX_ALGS = 16, BENCH_MAX_RANKS = 1024 };

enum bench_action { BENCH_RUN, BENCH_HELP, BENCH_VERSION, BENCH_FROM };

typedef struct bench_options {
    enum bench_action action;
    enum pat_op op; /* the collective that is measured */
    int num_algs;
    const char *algs[BENCH_MAX_ALGS]; /* names from the table of algorithms */
    int num_bytes;
    int64_t bytes[BENCH_MAX_LIST]; /* of a block, as given; else counts are */
    int num_counts;
    int64_t counts[BENCH_MAX_LIST]; /* items of the result, as given, or by bench_options_sizes */
    int num_delays;
    double delays_ms[BENCH_MAX_LIST];
    int iters, warmup, flat_iters, retries;
    double base_ms;
    double tolerance_ms; /* a start later than this makes an iteration invalid; negative: by the rule in the
                            help */
    enum bench_pattern pattern;
    uint64_t seed;
    bool burn, persistent, paper, no_milestones;
    int num_edges;
    double edges[BENCH_MAX_LIST]; /* in percent of a computation */
    bool pause;                   /* a delay is one pause */
    bool link_set;
    double link_latency_us, link_mbit;
    enum bench_progress_mode progress;
    const char *csv, *json, *plot; /* NULL: not wanted; they point into argv */
    int num_from;
    char *from[BENCH_MAX_LIST]; /* allocated */
    const char *versus;         /* name of an algorithm, or NULL */
    int bad_word;               /* the word of argv that was no option */
    char error[512];
} bench_options;

/*
 * Parse argv (argp reorders it). progress_env: value of PAT_PROGRESS or NULL, used when --progress is not
 * given. Returns 0, or EINVAL with the text in o->error: the bad value and the accepted ones.
 * bench_options_free either way.
 */
int bench_options_parse(bench_options *o, int argc, char **argv, const char *progress_env);
void bench_options_free(bench_options *o);
void bench_options_help(FILE *to);

/*
 * The number of ranks is known: sizes that were given per rank become counts. Returns 0, or EINVAL with the text in o->error.
 */
int bench_options_sizes(bench_options *o, int num_ranks);

/*
 * Items of the result, rounded down to what all its blocks have alike: those of an all-gather are as many as ranks, an all-reduce
 * has one, the vector. 0 when not even one item is left for each block.
 */
int64_t bench_round_count(enum pat_op op, int64_t count, int num_ranks);

/* The bytes of one block, what a rank contributes, when the result has so many items. */
int64_t bench_block_bytes(enum pat_op op, int64_t count, int num_ranks);

#endif

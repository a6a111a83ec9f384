/*
 * bench_help.h — the options of pat-bench, and what --help says of them.
 */
#ifndef BENCH_HELP_H
#define BENCH_HELP_H

#include <argp.h>

enum bench_key {
    BENCH_KEY_OP = 256,
    BENCH_KEY_ALG,
    BENCH_KEY_BYTES,
    BENCH_KEY_COUNT,
    BENCH_KEY_DELAY,
    BENCH_KEY_ITERS,
    BENCH_KEY_BASE,
    BENCH_KEY_PATTERN,
    BENCH_KEY_SEED,
    BENCH_KEY_WARMUP,
    BENCH_KEY_FLAT,
    BENCH_KEY_RETRIES,
    BENCH_KEY_TOLERANCE,
    BENCH_KEY_LINK,
    BENCH_KEY_BURN,
    BENCH_KEY_NO_MILESTONES,
    BENCH_KEY_EDGES,
    BENCH_KEY_PAUSE,
    BENCH_KEY_PERSISTENT,
    BENCH_KEY_CSV,
    BENCH_KEY_JSON,
    BENCH_KEY_PLOT,
    BENCH_KEY_FROM,
    BENCH_KEY_PAPER,
    BENCH_KEY_VERSUS,
    BENCH_KEY_PROGRESS,
};

extern const struct argp_option bench_help_options[];
extern const char bench_help_text[];

#endif

/*
 * bench_delay.h — how late each rank is in each iteration. A function of (seed, iteration, rank) and nothing
 * else, so that every algorithm meets the same delays (paired comparison) and no two ranks share theirs.
 */
#ifndef BENCH_DELAY_H
#define BENCH_DELAY_H

#include <stdint.h>

enum bench_pattern {
    BENCH_UNIFORM, /* the paper's: 0..max, every rank on its own */
    BENCH_NONE,
    BENCH_ONE_LATE,    /* the last rank is late by max, the others are on time */
    BENCH_ASCENDING,   /* rank r is late by max * r / (P-1) */
    BENCH_DESCENDING,  /* the other way round */
    BENCH_GAUSSIAN,    /* mean max/2, standard deviation max/6, cut off at 0 and max */
    BENCH_ROTATING,    /* rank (iteration mod P) is late by max */
    BENCH_ALTERNATING, /* the last rank is late by max in every second iteration, nobody in the others */
    BENCH_SWITCHING,   /* likewise, in iterations drawn at random */
    BENCH_NUM_PATTERNS,
};

const char *bench_pattern_name(enum bench_pattern pattern);
int bench_pattern_find(const char *name); /* -1: there is none of that name */
const char *bench_pattern_names(void);    /* "uniform, none, ..." for messages */

/* Delay in nanoseconds, 0..max_ns. */
int64_t bench_delay_ns(enum bench_pattern pattern, uint64_t seed, int iteration, int rank, int num_ranks,
                       int64_t max_ns);

/* One step of the SplitMix64 generator: also used to make the data and to mix seeds. */
static inline uint64_t bench_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#endif

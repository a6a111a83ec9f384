/*
 * bench_known.h — how well a measured time is known, and how that stands in a file.
 */
#ifndef BENCH_KNOWN_H
#define BENCH_KNOWN_H

#include <jansson.h>
#include <stdbool.h>

typedef struct bench_known {
    int runs;
    bool unsure;           /* the limit of repetitions was hit before the mean was precise */
    double mean_us, ci_us; /* ci_us: half-width of the 95 % confidence interval */
    double lag1, normal_p; /* are repetitions independent, and normally distributed? See bench_stats.h */
    /* Of the measured time, what the closing gather takes by itself; negative: there was none. */
    double closing_share;
} bench_known;

/* Add it to the object of what was measured. False: no memory. */
bool bench_known_put(json_t *to, const bench_known *known);

/* Out of such an object. False: something is missing or wrong; *error says what, or nothing where a number is beyond what is accepted. */
bool bench_known_get(bench_known *known, json_t *from, json_error_t *error);

#endif

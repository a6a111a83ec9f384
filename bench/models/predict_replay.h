/*
 * predict_replay.h — how well predictors say when ranks come to their next call, replayed on made-up arrivals and on recorded ones: those of
 * the library (predict.h), the one that it takes from call to call, and two that the literature uses, for comparison.
 */
#ifndef PREDICT_REPLAY_H
#define PREDICT_REPLAY_H

#include <stdint.h>

/* No more ranks than these. */
enum { REPLAY_MOST_RANKS = 256 };

/*
 * Print a table on the standard output. files: recorded arrivals, a call a line: when each rank came, in ms, since whenever; none: made-up
 * ones of so many ranks. block_ms: what a contribution takes on the link, which arrivals are measured by. Returns 0; 1 when memory is short;
 * 2 for a file that cannot be used, after a message on the standard error.
 */
int predict_replay(const char *const *files, int num_files, int num_ranks, double block_ms, uint64_t seed);

#endif

/*
 * bench_rules.h — a calibration's choices as a file of rules for Open MPI's own collectives (coll/tuned), for those who want
 * only that.
 */
#ifndef BENCH_RULES_H
#define BENCH_RULES_H

#include <stdbool.h>

#include "calibration.h"

/*
 * Broadcast and gather, for communicators of 2, 4, 8 ... ranks, up to four times as many as were measured, and messages of
 * every power of two. Classic text (version 1, which every Open MPI reads), or the JSON of Open MPI 6. Where the MPI
 * library's own choice is the best, the rule says so. Whole or not at all. Returns 0 or an error number.
 */
int bench_rules_write(const pat_calibration *c, const char *path, bool json);

#endif

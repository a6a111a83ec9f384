/*
 * bench_rules.h — what was measured of the MPI library's own algorithms as a file of rules for Open MPI's coll/tuned, for those who want
 * only that.
 */
#ifndef BENCH_RULES_H
#define BENCH_RULES_H

#include <stdbool.h>

#include "bench_library.h"

/*
 * All-gather, broadcast and gather, for communicators of 2, 4, 8 ... ranks, up to four times as many as were measured, and messages of every
 * power of two. Classic text (version 1, which every Open MPI reads), or the JSON of Open MPI 6. Where the MPI library's own choice is the
 * best, or nothing was measured, the rule says "ignore". Whole or not at all. Returns 0 or an error number.
 */
int bench_rules_write(const bench_library *l, const char *path, bool json);

#endif

/*
 * bench_doubt.h — the warning that stands at every table that people read, when some of its figures are in doubt.
 */
#ifndef BENCH_DOUBT_H
#define BENCH_DOUBT_H

#include <stdio.h>

#include "bench_table.h"

/* Print which cells the emulated cluster failed its own check in; nothing when there is none. */
void bench_warn_if_doubtful(const bench_table *table, FILE *to);

#endif

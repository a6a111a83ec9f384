/*
 * bench_versus.h — one algorithm held against all others.
 */
#ifndef BENCH_VERSUS_H
#define BENCH_VERSUS_H

#include <stdio.h>

#include "bench_table.h"

/* One algorithm against the others and the bound, by imbalance factor. */
void bench_versus_print(const bench_table *table, const char *alg, FILE *to);

#endif

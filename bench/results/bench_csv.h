/*
 * bench_csv.h — rows as CSV and back.
 */
#ifndef BENCH_CSV_H
#define BENCH_CSV_H

#include <stddef.h>
#include <stdio.h>

#include "bench_table.h"

#define BENCH_CSV_OLD_HEADER                                                                                 \
    "alg,procs,ppn,count,segment_bytes,max_delay_ms,pattern,iters,elapsed_ms,elapsed_ci_ms,past_last_ms,"    \
    "run_ms,absorption_ms,imbalance_factor,bound_ms,early_share,thread_cpu_ms,waiting_cpu_ms"
/* Files without the last column are of all-gathers. */
#define BENCH_CSV_HEADER BENCH_CSV_OLD_HEADER ",op"

/* The text of a file, in memory for the caller to free; NULL without memory. */
char *bench_csv_text(const bench_table *table, size_t *length);

/* Append the rows of a file that is open; path is for texts. 0, or EINVAL or ENOMEM with a text in `why`. */
int bench_csv_parse(bench_table *table, const char *path, FILE *from, char *why, size_t why_size);

#endif

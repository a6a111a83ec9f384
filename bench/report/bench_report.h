/*
 * bench_report.h — the tables that people read of every result.
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "bench_table.h"

/* All tables: the fastest algorithm per cell in the paper's shape, times per algorithm, and what it comes to. */
void bench_report_print(const bench_table *table, FILE *to);

#endif

/*
 * bench_choice.h — what an algorithm that chooses loses against whoever would have been the best one.
 */
#ifndef BENCH_CHOICE_H
#define BENCH_CHOICE_H

#include <stdio.h>

#include "bench_table.h"

/* By cell and by length of a segment: how much longer it takes, who was the best one, and whom it let run. */
void bench_choice_print(const bench_table *table, const char *alg, FILE *to);

#endif

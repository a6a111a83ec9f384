/*
 * bench_data.h — what the ranks send: words from a generator that the receiver runs as well, so that every
 * byte of a result is checked without a second copy of it. New data for every call: what an earlier call left
 * is wrong.
 */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include <stdint.h>

/* Key of the data that `rank` sends; `call` numbers the calls of the run. */
uint64_t bench_data_key(uint64_t seed, uint64_t call, int rank);

void bench_data_make(char *to, uint64_t key, int64_t bytes);

/* Offset of the first wrong byte of a whole result, num_ranks blocks in rank order; -1: all right. */
int64_t bench_data_check(const char *result, uint64_t seed, uint64_t call, int num_ranks,
                         int64_t block_bytes);

/* The terms of a sum: whole numbers as doubles, so small that they add up to the same in every order. */
void bench_data_make_terms(double *to, uint64_t key, int64_t num);

/* Offset of the first wrong byte of the sum of the terms that all ranks have made; -1: all right. */
int64_t bench_data_check_sum(const double *result, uint64_t seed, uint64_t call, int num_ranks, int64_t num);

#endif

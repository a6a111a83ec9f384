/*
 * bench_data.c — see bench_data.h. Must never check a sample instead of the whole.
 */
#include "bench_data.h"

#include <string.h>

#include "bench_delay.h"

enum { PIECE = 4096 };

uint64_t bench_data_key(uint64_t seed, uint64_t call, int rank)
{
    return bench_mix(bench_mix(bench_mix(seed ^ UINT64_C(0x5041542d64617461)) + call) + (uint64_t)rank);
}

static void make_words(char *to, uint64_t key, int64_t first_word, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += 8) {
        const uint64_t word = bench_mix(key + (uint64_t)(first_word + i / 8));
        memcpy(to + i, &word, (size_t)(bytes - i < 8 ? bytes - i : 8));
    }
}

void bench_data_make(char *to, uint64_t key, int64_t bytes)
{
    make_words(to, key, 0, bytes);
}

int64_t bench_data_check(const char *result, uint64_t seed, uint64_t call, int num_ranks, int64_t block_bytes)
{
    char expected[PIECE];
    for (int r = 0; r < num_ranks; r++) {
        const char *block = result + r * block_bytes;
        const uint64_t key = bench_data_key(seed, call, r);
        for (int64_t at = 0; at < block_bytes; at += PIECE) {
            const int64_t n = block_bytes - at < PIECE ? block_bytes - at : PIECE;
            make_words(expected, key, at / 8, n);
            if (memcmp(block + at, expected, (size_t)n) == 0)
                continue;
            for (int64_t i = 0; i < n; i++)
                if (block[at + i] != expected[i])
                    return r * block_bytes + at + i;
        }
    }
    return -1;
}

/* Below 2^40, so that 2^13 ranks' add up to less than 2^53. */
static int64_t term(uint64_t key, int64_t i)
{
    return (int64_t)(bench_mix(key + (uint64_t)i) >> 24);
}

void bench_data_make_terms(double *to, uint64_t key, int64_t num)
{
    for (int64_t i = 0; i < num; i++)
        to[i] = (double)term(key, i);
}

int64_t bench_data_check_sum(const double *result, uint64_t seed, uint64_t call, int num_ranks, int64_t num)
{
    int64_t sums[PIECE / 8];
    for (int64_t at = 0; at < num; at += PIECE / 8) {
        const int64_t n = num - at < PIECE / 8 ? num - at : PIECE / 8;
        memset(sums, 0, sizeof(sums));
        for (int r = 0; r < num_ranks; r++) {
            const uint64_t key = bench_data_key(seed, call, r);
            for (int64_t i = 0; i < n; i++)
                sums[i] += term(key, at + i);
        }
        for (int64_t i = 0; i < n; i++) {
            const double expected = (double)sums[i];
            const char *is = (const char *)&result[at + i], *should = (const char *)&expected;
            for (int b = 0; b < 8; b++)
                if (is[b] != should[b])
                    return (at + i) * 8 + b;
        }
    }
    return -1;
}

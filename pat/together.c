/*
 * together.c — see together.h. Integers only: every rank must come to the same answer.
 */
#include "together.h"

#include <stdlib.h>

static int by_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool pat_arrivals_together(int64_t *arrival_ns, int num_ranks, int64_t block_ns)
{
    int64_t bound = 0, halves = 0; /* after the first arrival */
    qsort(arrival_ns, (size_t)num_ranks, sizeof(*arrival_ns), by_time);
    for (int k = 0; k < num_ranks; k++) {
        int lacking =
            k == 0 ? num_ranks - 1 : num_ranks - k; /* blocks: of the k-th to arrive and all later ones */
        int64_t done = arrival_ns[k] - arrival_ns[0] + lacking * block_ns;
        int64_t passed_on = done + (num_ranks - 1 - lacking) * block_ns / 2;
        bound = done > bound ? done : bound;
        halves = passed_on > halves ? passed_on : halves;
    }
    return halves <= bound;
}

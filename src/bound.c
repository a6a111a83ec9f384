/*
 * bound.c — the physical bound of an all-gather: what no algorithm can beat, from arrivals and one link
 * alone.
 */
#include "model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* When `blocks` blocks that none could start before `from` can have come through a link, rounded down. */
static int64_t through_link(int64_t from, int64_t lambda_ns, int blocks, int64_t block_bytes, int64_t beta_ps)
{
    wide ns = (wide)from + lambda_ns + (wide)block_bytes * blocks * beta_ps / 1000;
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

int pat_model_bound(int num_ranks, int64_t block_bytes, const int64_t *arrival_ns, int64_t lambda_ns,
                    int64_t beta_ps, int64_t *exit_ns)
{
    size_t n = (size_t)num_ranks;
    int64_t *sorted = malloc(2 * n * sizeof(*sorted));
    if (!sorted)
        return ENOMEM;
    int64_t *bound = sorted + n, most = INT64_MIN;
    memcpy(sorted, arrival_ns, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), compare_times);
    /*
     * Rank i is at position p of the order of arrival. A rank k at a later position leaves the blocks from k
     * on to come; one at an earlier position the same without i's own. Among ranks that arrive together the
     * first of them other than i gives the count of the formula, the rest give less.
     */
    for (int p = num_ranks - 1; p >= 0; p--) {
        int64_t value = through_link(sorted[p], lambda_ns, num_ranks - p, block_bytes, beta_ps);
        bound[p] = most > sorted[p] ? most : sorted[p];
        most = value > most ? value : most;
    }
    most = INT64_MIN;
    for (int p = 0; p < num_ranks; p++) {
        int64_t value = through_link(sorted[p], lambda_ns, num_ranks - p - 1, block_bytes, beta_ps);
        bound[p] = most > bound[p] ? most : bound[p];
        most = value > most ? value : most;
    }
    for (int r = 0; r < num_ranks; r++) {
        const int64_t *at = bsearch(&arrival_ns[r], sorted, n, sizeof(*sorted), compare_times);
        exit_ns[r] = bound[at - sorted];
    }
    free(sorted);
    return 0;
}

/*
 * bound.c — the physical bounds of an all-gather and an all-reduce: what no algorithm can beat, from arrivals and one link
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

/* Shell's sort, with Ciura's gaps: a choice sorts arrivals for each call, and the times of few ranks take qsort twice as long. */
static void sort(int64_t *times, size_t num)
{
    static const size_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++)
        for (size_t i = gaps[g]; i < num; i++) {
            const int64_t time = times[i];
            size_t at = i;
            for (; at >= gaps[g] && times[at - gaps[g]] > time; at -= gaps[g])
                times[at] = times[at - gaps[g]];
            times[at] = time;
        }
}

/* When so many bytes that none could start before `from` can have come through a link, rounded down. */
static int64_t through_link(int64_t from, const pat_cost *link, wide bytes)
{
    int64_t short_ps, short_ns; /* as a rule no more is needed, and it divides ten times as fast */
    if (bytes >= 0 && bytes <= INT64_MAX && link->beta_ps >= 0 &&
        !__builtin_mul_overflow((int64_t)bytes, link->beta_ps, &short_ps) &&
        !__builtin_add_overflow(from, link->alpha_ns, &short_ns) &&
        !__builtin_add_overflow(short_ns, short_ps / 1000, &short_ns))
        return short_ns;
    wide ns = (wide)from + link->alpha_ns + bytes * link->beta_ps / 1000;
    return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

int64_t *pat_model_sorted(const int64_t *times, int num)
{
    const size_t n = (size_t)num;
    int64_t *sorted = malloc(2 * n * sizeof(*sorted));
    if (!sorted)
        return NULL;
    memcpy(sorted, times, n * sizeof(*sorted));
    sort(sorted, n);
    return sorted;
}

void pat_model_bound_sorted(int num_ranks, int64_t block_bytes, const int64_t *sorted, const pat_cost *link,
                            int64_t *bound)
{
    int64_t most = INT64_MIN;
    /*
     * Rank i is at position p of the order of arrival. A rank k at a later position leaves the blocks from k
     * on to come; one at an earlier position the same without i's own. Among ranks that arrive together the
     * first of them other than i gives the count of the formula, the rest give less.
     */
    for (int p = num_ranks - 1; p >= 0; p--) {
        int64_t value = through_link(sorted[p], link, (wide)block_bytes * (num_ranks - p));
        bound[p] = most > sorted[p] ? most : sorted[p];
        most = value > most ? value : most;
    }
    most = INT64_MIN;
    for (int p = 0; p < num_ranks; p++) {
        int64_t value = through_link(sorted[p], link, (wide)block_bytes * (num_ranks - p - 1));
        bound[p] = most > bound[p] ? most : bound[p];
        most = value > most ? value : most;
    }
}

int pat_model_bound(int num_ranks, int64_t block_bytes, const int64_t *arrival_ns, const pat_cost *link,
                    int64_t *exit_ns)
{
    const size_t n = (size_t)num_ranks;
    int64_t *sorted = pat_model_sorted(arrival_ns, num_ranks);
    if (!sorted)
        return ENOMEM;
    int64_t *bound = sorted + n;
    pat_model_bound_sorted(num_ranks, block_bytes, sorted, link, bound);
    for (int r = 0; r < num_ranks; r++) {
        const int64_t *at = bsearch(&arrival_ns[r], sorted, n, sizeof(*sorted), compare_times);
        exit_ns[r] = bound[at - sorted];
    }
    free(sorted);
    return 0;
}

int64_t pat_model_allreduce_bound_sorted(int num_ranks, int64_t bytes, const int64_t *sorted,
                                         const pat_cost *link)
{
    const int P = num_ranks;
    int64_t last_ns = sorted[P - 1];
    /* When P-p ranks arrive no sooner than the one at position p, P-p-1 transfers join what they have and P-1 spread it. */
    for (int p = 0; p < P && P > 1; p++) {
        const wide moved = (wide)bytes * (P - p > 2 ? 2 * P - p - 2 : P) / P;
        const int64_t value = through_link(sorted[p], link, moved);
        last_ns = value > last_ns ? value : last_ns;
    }
    return last_ns;
}

int pat_model_allreduce_bound(int num_ranks, int64_t bytes, const int64_t *arrival_ns, const pat_cost *link,
                              int64_t *exit_ns, int64_t *last_ns)
{
    const int P = num_ranks;
    int64_t *sorted = pat_model_sorted(arrival_ns, P);
    if (!sorted)
        return ENOMEM;
    *last_ns = pat_model_allreduce_bound_sorted(P, bytes, sorted, link);
    /* Every rank takes in a vector that none could make before the last of the others had arrived. */
    for (int r = 0; r < P; r++) {
        exit_ns[r] = arrival_ns[r];
        if (P == 1)
            break;
        const int64_t others = arrival_ns[r] == sorted[P - 1] ? sorted[P - 2] : sorted[P - 1];
        const int64_t value = through_link(others, link, bytes);
        exit_ns[r] = value > exit_ns[r] ? value : exit_ns[r];
    }
    free(sorted);
    return 0;
}

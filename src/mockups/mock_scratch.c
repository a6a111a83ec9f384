/*
 * mock_scratch.c — see mockups.h: memory that is made once, for each call that is run at the same time.
 */
#include "mock_scratch.h"

#include <stdlib.h>

static bool make_pool(pat_mock_pool *pool, int64_t bytes)
{
    enum { LINE = 64 };
    pool->bytes = bytes;
    return bytes <= INT64_MAX - LINE &&
           posix_memalign((void **)&pool->memory, LINE, bytes ? (size_t)bytes : 1) == 0;
}

static void free_pools(pat_mock_pools *pools)
{
    free(pools->data.memory);
    free(pools->ints.memory);
    free(pools);
}

static pat_mock_pools *make_pools(const pat_mock_scratch *s)
{
    pat_mock_pools *pools = calloc(1, sizeof(*pools));
    if (!pools)
        return NULL;
    if (make_pool(&pools->data, s->data_bytes) && make_pool(&pools->ints, s->int_bytes))
        return pools;
    free_pools(pools);
    return NULL;
}

pat_mock_pools *pat_mock_pools_take(pat_mock_scratch *s)
{
    pthread_mutex_lock(&s->lock);
    pat_mock_pools *pools = s->idle;
    if (pools)
        s->idle = pools->next;
    pthread_mutex_unlock(&s->lock);
    return pools ? pools : make_pools(s);
}

void pat_mock_pools_give(pat_mock_scratch *s, pat_mock_pools *pools)
{
    pthread_mutex_lock(&s->lock);
    s->data_peak = pools->data.used > s->data_peak ? pools->data.used : s->data_peak;
    s->int_peak = pools->ints.used > s->int_peak ? pools->ints.used : s->int_peak;
    pools->data.used = pools->ints.used = 0;
    pools->next = s->idle;
    s->idle = pools;
    pthread_mutex_unlock(&s->lock);
}

pat_mock_scratch *pat_mock_scratch_make(size_t data_bytes, size_t int_bytes, int ranks_per_node)
{
    pat_mock_scratch *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->data_bytes = data_bytes <= INT64_MAX ? (int64_t)data_bytes : INT64_MAX;
    s->int_bytes = int_bytes <= INT64_MAX ? (int64_t)int_bytes : INT64_MAX;
    s->idle = make_pools(s); /* for the first thread, so that its first call pays for no memory */
    if (pat_mock_nodes_begin(&s->nodes, ranks_per_node) == MPI_SUCCESS && s->idle)
        return s;
    pat_mock_scratch_free(s);
    return NULL;
}

void pat_mock_scratch_free(pat_mock_scratch *s)
{
    if (!s)
        return;
    pat_mock_nodes_end(&s->nodes);
    for (pat_mock_pools *pools = s->idle, *next; pools; pools = next) {
        next = pools->next;
        free_pools(pools);
    }
    pthread_mutex_destroy(&s->lock);
    free(s);
}

pat_mock_need pat_mock_scratch_peak(const pat_mock_scratch *s)
{
    return (pat_mock_need){.data_bytes = s->data_peak, .int_bytes = s->int_peak};
}

void pat_mock_scratch_reset_peak(pat_mock_scratch *s)
{
    s->data_peak = s->int_peak = 0;
}

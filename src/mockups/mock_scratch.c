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

static pat_mock_pools *take_idle(pat_mock_scratch *s)
{
    pthread_mutex_lock(&s->lock);
    pat_mock_pools *pools = s->idle;
    if (pools)
        s->idle = pools->next;
    pthread_mutex_unlock(&s->lock);
    return pools ? pools : make_pools(s);
}

static void give_idle(pat_mock_scratch *s, pat_mock_pools *pools)
{
    pthread_mutex_lock(&s->lock);
    pools->next = s->idle;
    s->idle = pools;
    pthread_mutex_unlock(&s->lock);
}

pat_mock_pools *pat_mock_pools_take(pat_mock_scratch *s)
{
    pat_mock_pools *pools = atomic_exchange_explicit(&s->spare, NULL, memory_order_acquire);
    return pools ? pools : take_idle(s);
}

static void close_pool(pat_mock_pool *pool, int64_t *peak)
{
    *peak = pool->used > *peak ? pool->used : *peak;
    pool->used = 0;
}

void pat_mock_pools_give(pat_mock_scratch *s, pat_mock_pools *pools)
{
    close_pool(&pools->data, &pools->data_peak);
    close_pool(&pools->ints, &pools->int_peak);
    pat_mock_pools *other = atomic_exchange_explicit(&s->spare, pools, memory_order_acq_rel);
    if (other)
        give_idle(s, other);
}

pat_mock_scratch *pat_mock_scratch_make(size_t data_bytes, size_t int_bytes, int ranks_per_node)
{
    pat_mock_scratch *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    pthread_mutex_init(&s->lock, NULL);
    s->data_bytes = data_bytes <= INT64_MAX ? (int64_t)data_bytes : INT64_MAX;
    s->int_bytes = int_bytes <= INT64_MAX ? (int64_t)int_bytes : INT64_MAX;
    pat_mock_pools *first = make_pools(s); /* so that the first call pays for no memory */
    atomic_init(&s->spare, first);
    if (pat_mock_nodes_begin(&s->nodes, ranks_per_node) == MPI_SUCCESS && first)
        return s;
    pat_mock_scratch_free(s);
    return NULL;
}

void pat_mock_scratch_free(pat_mock_scratch *s)
{
    if (!s)
        return;
    pat_mock_nodes_end(&s->nodes);
    for (pat_mock_pools *pools; (pools = s->idle) != NULL;) {
        s->idle = pools->next;
        free_pools(pools);
    }
    if (s->spare)
        free_pools(s->spare);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* While no call is run, all pools are spare or idle. */
static void add_peak(pat_mock_need *most, const pat_mock_pools *pools)
{
    most->data_bytes = pools->data_peak > most->data_bytes ? pools->data_peak : most->data_bytes;
    most->int_bytes = pools->int_peak > most->int_bytes ? pools->int_peak : most->int_bytes;
}

pat_mock_need pat_mock_scratch_peak(const pat_mock_scratch *s)
{
    pat_mock_need most = {0};
    add_peak(&most, s->spare);
    for (const pat_mock_pools *pools = s->idle; pools; pools = pools->next)
        add_peak(&most, pools);
    return most;
}

void pat_mock_scratch_reset_peak(pat_mock_scratch *s)
{
    pat_mock_pools *spare = s->spare;
    spare->data_peak = spare->int_peak = 0;
    for (pat_mock_pools *pools = s->idle; pools; pools = pools->next)
        pools->data_peak = pools->int_peak = 0;
}

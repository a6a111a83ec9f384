/*
 * bells.c — see bells.h. Whoever rings counts before it asks whether anybody sleeps, and whoever is about to sleep says so before it asks whether
 * anybody has rung: one of the two sees the other. All atomics are sequentially consistent, which that needs.
 */
#include "bells.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/* A process's bell, as all see it. Each has a line of the cache of its own. */
typedef struct bell {
    _Alignas(64) atomic_uint_fast64_t rung; /* the low half counts words, the high half data */
    atomic_int asleep;                      /* threads that sleep, or are about to */
    atomic_int heeding;                     /* those of them that are woken by data too */
    atomic_bool pending;                    /* it was rung for them, and nobody has answered yet */
    atomic_bool failed;                     /* what this process has offered could not be copied */
} bell;

#define DATA_TIMES (UINT64_C(1) << 32)

_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "a lock would be one of each process's own");

struct pat_bells {
    int count, mine; /* ranks of the node, and this one's number */
    bell *all;
    int *fds; /* of each rank: what wakes it */
};

/* What wakes a rank is there to be read, from now on until somebody reads it. */
static void wake(pat_bells *b, int rank)
{
    if (!atomic_exchange(&b->all[rank].pending, true))
        eventfd_write(b->fds[rank], 1);
}

void pat_bells_ring(pat_bells *b, int mate, enum pat_bell what)
{
    bell *at = &b->all[mate];
    atomic_fetch_add(&at->rung, what == PAT_BELL_DATA ? DATA_TIMES : 1);
    if (atomic_load(what == PAT_BELL_DATA ? &at->heeding : &at->asleep) > 0)
        wake(b, mate);
}

void pat_bells_fail(pat_bells *b, int mate)
{
    atomic_store(&b->all[mate].failed, true);
    pat_bells_ring(b, mate, PAT_BELL_WORD);
}

bool pat_bells_failed(const pat_bells *b)
{
    return atomic_load(&b->all[b->mine].failed);
}

uint64_t pat_bells_rung(const pat_bells *b)
{
    return atomic_load(&b->all[b->mine].rung);
}

uint32_t pat_bells_times(uint64_t rung, enum pat_bell what)
{
    return (uint32_t)(what == PAT_BELL_DATA ? rung / DATA_TIMES : rung % DATA_TIMES);
}

bool pat_bells_sleep(pat_bells *b, uint64_t rung, bool heeds)
{
    atomic_fetch_add(&b->all[b->mine].asleep, 1);
    if (heeds)
        atomic_fetch_add(&b->all[b->mine].heeding, 1);
    const uint64_t now = pat_bells_rung(b);
    if (heeds ? now == rung : pat_bells_times(now, PAT_BELL_WORD) == pat_bells_times(rung, PAT_BELL_WORD))
        return true;
    pat_bells_awake(b, heeds, false);
    return false;
}

/*
 * The last one to leave reads what has woken them, since who slept beside it could not see any more that it was there. Whoever has gone to
 * sleep since may have been rung for before `pending` was false again, which has written nothing: it is woken, perhaps for nothing.
 */
void pat_bells_awake(pat_bells *b, bool heeds, bool readable)
{
    bell *const own = &b->all[b->mine];
    eventfd_t times;
    if (heeds)
        atomic_fetch_sub(&own->heeding, 1);
    if (atomic_fetch_sub(&own->asleep, 1) > 1 || !(readable || atomic_load(&own->pending)))
        return;
    eventfd_read(b->fds[b->mine], &times);
    atomic_store(&own->pending, false); /* not before: what is rung in between would wake nobody */
    if (atomic_load(&own->asleep) > 0)
        wake(b, b->mine);
}

int pat_bells_fd(const pat_bells *b)
{
    return b->fds[b->mine];
}

size_t pat_bells_bytes(int count)
{
    return (size_t)count * sizeof(bell);
}

pat_bells *pat_bells_create(int count, int mine, int memory, const int *fds)
{
    pat_bells *b = calloc(1, sizeof(*b));
    int *own = malloc((size_t)count * sizeof(*own));
    void *all = b && own ? mmap(NULL, pat_bells_bytes(count), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0)
                         : MAP_FAILED;
    if (all == MAP_FAILED) {
        free(b);
        free(own);
        return NULL;
    }
    memcpy(own, fds, (size_t)count * sizeof(*own));
    *b = (pat_bells){count, mine, all, own};
    return b;
}

void pat_bells_free(pat_bells *b)
{
    if (!b)
        return;
    for (int r = 0; r < b->count; r++)
        close(b->fds[r]);
    munmap(b->all, pat_bells_bytes(b->count));
    free(b->fds);
    free(b);
}

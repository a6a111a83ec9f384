/*
 * begun.h — the non-blocking collectives of this rank that are under way, by their requests, so that whoever waits for one is known to wait for that call. Local to
 * the process; any thread may ask.
 */
#ifndef PAT_BEGUN_H
#define PAT_BEGUN_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "events.h"

typedef struct pat_begun {
    pthread_mutex_t lock;
    void *calls; /* a tree (tsearch) */
    atomic_int num;
} pat_begun;

/* A request begins to stand for a call. Without memory it does not. */
void pat_begun_add(pat_begun *begun, MPI_Request request, pat_event_turn turn);

/*
 * Those of num requests that stand for calls. Returns how many: they are in *found, which is `room`, where there are `most` places, or, where these are too few, new memory to be freed. 0 where there is none.
 */
int pat_begun_find(pat_begun *begun, const MPI_Request requests[], int num, pat_awaited room[], int most,
                   pat_awaited **found);

/* A call is over that was found: its request stands for it no more. Another thread may have begun another call meanwhile, for which the same handle stands. */
void pat_begun_remove(pat_begun *begun, const pat_awaited *over);

void pat_begun_clear(pat_begun *begun);

#endif

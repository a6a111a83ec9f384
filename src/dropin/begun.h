/*
 * begun.h — the non-blocking collectives of this rank that are under way, by their requests, so that whoever waits for one is known to wait for that call; and its persistent
 * requests of collectives, under way or not, so that whoever starts one is known to start that collective. Local to the process; any thread may ask.
 */
#ifndef PAT_BEGUN_H
#define PAT_BEGUN_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "algorithms.h"
#include "events.h"
#include "profile.h"

typedef struct pat_begun {
    pthread_mutex_t lock;
    void *
        calls; /* a tree (tsearch); those that are persistent are in it from when they are made until they are freed */
    atomic_int num;
    int64_t num_begun; /* so far */
} pat_begun;

/* What every start of a persistent request is. */
typedef struct pat_kept {
    const char *call; /* "MPI_Allgather_init", a string that stays */
    int64_t bytes;
    int root;                 /* negative: there is none, or it is not known */
    int events;               /* the number by which its starts are kept, or a negative one (events.h) */
    bool may_run;             /* its collective is one that the library may run */
    const pat_algorithm *alg; /* with may_run: which runs it; NULL: the MPI library does, */
    enum pat_why why;         /* and why */
} pat_kept;

/* A request begins to stand for a call, which need not be kept. Without memory it does not. */
void pat_begun_add(pat_begun *begun, MPI_Request request, pat_event_turn turn);

/*
 * Those of num requests that stand for calls under way. Returns how many: they are in *found, which is `room`, where there are `most` places, or, where these are too few, new memory to be freed. 0 where there is none, and where requests is NULL, as in a program that does
 * not call MPI rightly.
 */
int pat_begun_find(pat_begun *begun, const MPI_Request requests[], int num, pat_awaited room[], int most,
                   pat_awaited **found);

/* A persistent request was made; it was started; and it is freed, as any request may be. What is asked is whether a request is one, and which: *kept. Without memory it is none. */
void pat_begun_keep(pat_begun *begun, MPI_Request request, const pat_kept *kept);
bool pat_begun_is_kept(pat_begun *begun, MPI_Request request, pat_kept *kept);
void pat_begun_start(pat_begun *begun, MPI_Request request, pat_event_turn turn);
void pat_begun_forget(pat_begun *begun, MPI_Request request);

/* A call is over that was found: its request stands for it no more. Another thread may have begun another call meanwhile, for which the same handle stands. */
void pat_begun_remove(pat_begun *begun, const pat_awaited *over);

void pat_begun_clear(pat_begun *begun);

#endif

/*
 * thread.h — the background thread: sleeps until it is kicked, until the time its work asked for, or until
 * something comes in, then works once. It never spins. What the work is, is told by a function; this file knows
 * nothing of it.
 */
#ifndef PAT_THREAD_H
#define PAT_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include "place.h"

#define PAT_NEVER INT64_MAX

typedef struct pat_visit {
    /* in */
    bool reliable; /* sockets announce what comes in */
    bool by_data;  /* this visit is because of one */
    /* out */
    int64_t next_ns; /* work again at this local time (pat_clock_local_ns); PAT_NEVER: when kicked */
    bool watch;      /* or when a socket has something to read */
    bool sending;    /* or when a full one takes more */
    bool drove;      /* MPI was driven */
    bool moved;      /* some message was completed */
} pat_visit;

/* Work once. */
typedef void pat_thread_work(void *arg, pat_visit *visit);

typedef struct pat_thread pat_thread;

/*
 * Start it with all signals blocked; it chooses its place by `view`, which it then owns, when it first has work. Returns NULL
 * with errno set when it cannot be made; the view is then the caller's still.
 */
pat_thread *pat_thread_start(pat_thread_work *work, void *arg, pat_place_view *view);

/* Wake it soon. Any thread; costs a write to an eventfd. */
void pat_thread_kick(pat_thread *thread);

/* New connections have been opened: look for sockets again. Any thread. */
void pat_thread_rescan(pat_thread *thread);

/*
 * Two-phase stop: ask, let the work that is under way finish, join. After the return it makes no MPI call.
 */
void pat_thread_stop(pat_thread *thread);

/* Processor time and wake-ups so far. */
void pat_thread_usage(pat_thread *thread, int64_t *cpu_ns, int64_t *wakeups);

#endif

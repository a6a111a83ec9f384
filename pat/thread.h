/*
 * thread.h — the background thread: it sleeps until another thread wakes it (kicks it), until the time that its work asked for, or
 * until a socket announces something, then works once. It never spins. The work is a function that it is given.
 */
#ifndef PAT_THREAD_H
#define PAT_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "place.h"
#include "sockets.h"

#define PAT_NEVER INT64_MAX

typedef struct pat_visit {
    /* in */
    pat_sockets_told told; /* of whose messages sockets and bells tell */
    bool by_data;          /* such an announcement is why it works now */
    /* out */
    int64_t next_ns; /* work again at this local time (pat_clock_local_ns); PAT_NEVER: when kicked */
    bool watch;      /* or when a socket has something to read, or the bell is rung */
    bool heeds;      /* also for data */
    bool sending;    /* or when a full one takes more */
    bool drove;      /* MPI was driven */
    bool left_out;   /* not everywhere, or not for long enough to learn whether sockets tell */
    bool moved;      /* some message was completed */
    bool came;       /* one that a socket or a bell should have told of: not an early send */
} pat_visit;

/* Work once. */
typedef void pat_thread_work(void *arg, pat_visit *visit);

typedef struct pat_thread pat_thread;

/*
 * Start the thread, with all signals blocked. It works for the first time at first_ns, as pat_visit.next_ns. It chooses where to run by `view`,
 * which it owns from now on, when it first has work. bells: what wakes it beside sockets, and outlives it; NULL: nothing. Returns NULL with errno set when
 * it cannot be made; the view is then still the caller's.
 */
pat_thread *pat_thread_start(pat_thread_work *work, void *arg, int64_t first_ns, pat_place_view *view,
                             pat_bells *bells);

/* Wake it soon. Any thread; costs a write to an eventfd. */
void pat_thread_kick(pat_thread *thread);

/*
 * Wake it in delay_ns, unless it is to be woken so sooner; but not now, when it might take the processor from whoever needs it. Any thread; costs a
 * call of the kernel.
 */
void pat_thread_kick_later(pat_thread *thread, int64_t delay_ns);

/* Is the caller a background thread? */
bool pat_thread_is_self(void);

/* New connections have been opened: look for sockets again. Any thread. */
void pat_thread_rescan(pat_thread *thread);

/*
 * Ask the thread to end, let it finish the work that is under way, join it and free it. After the return it makes no MPI call.
 */
void pat_thread_stop(pat_thread *thread);

/* The thread's processor time and wake-ups so far. Any thread. */
void pat_thread_usage(pat_thread *thread, int64_t *cpu_ns, int64_t *wakeups);

#endif

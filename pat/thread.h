/*
 * thread.h — the background thread: sleeps until it is kicked or until the time its work asked for, then
 * works once. It never spins: between two pieces of work there is always a wait on a condition variable. What
 * the work is, is told by a function; this file knows nothing of it.
 */
#ifndef PAT_THREAD_H
#define PAT_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include "place.h"

#define PAT_NEVER INT64_MAX

/* Work once; return the local time (pat_clock_local_ns) at which to work again, PAT_NEVER: when kicked. */
typedef int64_t pat_thread_work(void *arg);

typedef struct pat_thread pat_thread;

/*
 * Start it with all signals blocked and placed as `place` says. Returns NULL with errno set when it cannot be
 * made.
 */
pat_thread *pat_thread_start(pat_thread_work *work, void *arg, const pat_place *place);

/* Wake it soon. Any thread; costs a mutex and, if it sleeps, a wake-up. */
void pat_thread_kick(pat_thread *thread);

/*
 * Two-phase stop: ask, let the work that is under way finish, join. After the return it makes no MPI call.
 */
void pat_thread_stop(pat_thread *thread);

/* Processor time and wake-ups so far. */
void pat_thread_usage(pat_thread *thread, int64_t *cpu_ns, int64_t *wakeups);

#endif

/*
 * state.h — what a rank is doing just now, for people who wonder why their program stands still: PAT_SIGNAL names a signal, and each rank that gets it says on the standard error in which call it is, or since when it has been in none.
 */
#ifndef PAT_STATE_H
#define PAT_STATE_H

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Writes the lines of a place, or its name. */
typedef void pat_state_name(void *of, const void *place, char *text, int size);

typedef struct pat_state {
    bool on;
    int signal;
    int64_t begin_ns; /* when MPI had started, by the local clock */
    pat_state_name *name;
    void *of; /* its first argument */
    sem_t asked;
    atomic_bool ends;
    pthread_t thread; /* asleep until it is asked: in a signal's own time nothing may be written */
    int rank;
    char host[64];
    /* Of the thread that has called last. */
    _Atomic(const char *) call; /* NULL: there was none yet */
    _Atomic(const void *) place;
    atomic_bool inside;
    atomic_int_fast64_t since_ns, num_calls;
} pat_state;

/*
 * Take the signal, before MPI starts. It is never given back: who asks where nobody answers, while MPI starts or after MPI_Finalize, must not end the program. Returns 0, or EBUSY: the
 * program has taken it for itself already, and keeps it.
 */
int pat_state_catch(int signal);

/* Of a state in which signal, begin_ns, rank, name and of are set, and all else is 0: from here on there are answers. Returns 0, or an error number of errno. One at a time. */
int pat_state_begin(pat_state *state);
void pat_state_end(pat_state *state);

/* Where it is on: a call begins at a place, or it is over. Any thread; the last one counts. */
static inline void pat_state_enter(pat_state *s, const char *call, const void *place, int64_t now_ns)
{
    atomic_store_explicit(&s->call, call, memory_order_relaxed);
    atomic_store_explicit(&s->place, place, memory_order_relaxed);
    atomic_store_explicit(&s->since_ns, now_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->num_calls, 1, memory_order_relaxed);
    atomic_store_explicit(&s->inside, true, memory_order_relaxed);
}

static inline void pat_state_leave(pat_state *s, int64_t now_ns)
{
    atomic_store_explicit(&s->inside, false, memory_order_relaxed);
    atomic_store_explicit(&s->since_ns, now_ns, memory_order_relaxed);
}

#endif

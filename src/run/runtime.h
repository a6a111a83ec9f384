/*
 * runtime.h — the one runtime object: all mutable state of the library that does not belong to a
 * communicator.
 */
#ifndef PAT_RUNTIME_H
#define PAT_RUNTIME_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "algorithms.h"
#include "calibration.h"
#include "clock.h"
#include "config.h"
#include "engine.h"
#include "milestone.h"
#include "pat.h"
#include "thread.h"

struct pat_comm;
struct pat_dropin;

typedef struct pat_runtime {
    atomic_bool started;
    /* The drop-in starts and ends the library: the program's PAT_Init and PAT_Finalize then do no more than say so. */
    bool hosted;
    bool invited;              /* asked: has the program called PAT_Init? */
    bool tried;                /* the drop-in has started the library, or could not: MPI starts once */
    struct pat_dropin *dropin; /* what it keeps for a report; NULL: nobody wants to know of the calls */
    int patience; /* calls that the MPI library runs on a communicator before it gets a state; the same on all ranks */
    bool settled; /* shutting down: communicators have nothing left to agree on */
    _Atomic(const pat_algorithm *) alg[PAT_NUM_OPS]; /* what PAT_UseAlg chose, the same on all ranks */
    pat_config config;
    pat_calibration *calibration; /* NULL: none; the same on all ranks */
    pat_clock clock;
    MPI_Comm world;                  /* the library's own communicator of all ranks */
    struct pat_agreement *agreement; /* of pat_runtime_agree */
    int *node_of;                    /* of each rank of the world; see pat_nodes_find */
    int comm_keyval, self_keyval;
    int calls_keyval;           /* counts these calls, or says that a communicator never gets one */
    FILE *trace;                /* NULL: nothing is traced */
    bool traced;                /* the library has been started with a trace before */
    pat_thread *thread;         /* NULL: no early data */
    pat_thread_work *visit_all; /* what the thread does at each visit: once to every communicator */
    bool all_threads;           /* agreed: every rank has one */

    pthread_mutex_t
        lock; /* guards the three below; never held while MPI is called or another lock is waited for */
    struct pat_comm *comms;
    struct pat_comm *last; /* the communicator last used: milestones feed it */
    pat_milestone milestone;

    /*
     * Taken for reading by whoever drives a round, for every look anew, and for writing while receives are cancelled
     * that a message may be coming in for: Open MPI's ob1 takes a matched receive off its list before it marks it as
     * matched, and a cancel by another thread in between completes it a second time. Never held while waiting for
     * another rank, never taken twice.
     */
    pthread_rwlock_t driving;

    atomic_int callers;                 /* threads that wait inside a call, and look after what comes in */
    atomic_int_fast64_t stage_bytes;    /* length of all buffers for early data */
    atomic_int_fast64_t early_reserved; /* bytes of PAT_MEM given to rounds that are prepared */

    atomic_int_fast64_t alg_calls[PAT_MAX_ALGS];
    atomic_int_fast64_t bytes_received, bytes_early, bytes_copied, wait_ns, plans_void;
    atomic_int_fast64_t state_ns; /* what making and freeing the states of communicators has taken */
} pat_runtime;

extern pat_runtime pat_rt;

void pat_runtime_reset(void); /* all counters are 0 again */

/*
 * For loops that wait without a background thread: give every other communicator with a round under way one
 * visit, since another rank may be waiting for that. Does nothing where there is a thread.
 */
void pat_runtime_drive_others(void);

/*
 * The library's own communicator of all ranks, and what it takes to agree on something there. It goes at the end, unless an agreement
 * has failed: then MPI may still write by it, and all of it stays.
 */
int pat_runtime_keep_world(MPI_Comm world);
void pat_runtime_forget_world(void);

/*
 * MPI_Allreduce of one or two ints with MPI_MAX over all ranks, driving what must be driven meanwhile. Once it has failed it fails for good:
 * nobody knows any more how many of these calls the others have made, so this rank would wait for them, or they for it.
 */
int pat_runtime_agree(const int *mine, int *most, int count);

/* Remember that `c` was the last communicator to run a plan: milestones feed it. */
void pat_runtime_used(struct pat_comm *c);

/* Does the algorithm of some collective go by the estimates of the ranks? */
bool pat_runtime_estimates(void);

/* Count one call of an algorithm of the table. */
static inline void pat_runtime_count(const pat_algorithm *alg)
{
    atomic_fetch_add_explicit(&pat_rt.alg_calls[alg - pat_algorithm_at(0)], 1, memory_order_relaxed);
}

/* Count what a round has moved. */
static inline void pat_runtime_count_data(const pat_exec_stats *stats)
{
    atomic_fetch_add_explicit(&pat_rt.bytes_received, stats->bytes_received, memory_order_relaxed);
    atomic_fetch_add_explicit(&pat_rt.bytes_early, stats->bytes_early, memory_order_relaxed);
    atomic_fetch_add_explicit(&pat_rt.bytes_copied, stats->bytes_copied, memory_order_relaxed);
}

#endif

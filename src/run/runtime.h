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
#include "bells.h"
#include "reach.h"
#include "calibration.h"
#include "config.h"
#include "engine.h"
#include "milestone.h"
#include "pat.h"
#include "store.h"
#include "thread.h"
#include "timekeeper.h"

struct pat_comm;
struct pat_contact;
struct pat_dropin;
struct pat_state;
struct pat_stand_ins;

typedef struct pat_runtime {
    atomic_bool started;
    /* The drop-in starts and ends the library: the program's PAT_Init and PAT_Finalize then do no more than say so. */
    bool hosted;
    bool invited;    /* the program has called PAT_Init, and not yet PAT_Finalize */
    bool tried;      /* the drop-in has started the library, or failed to, and does not try again */
    int state_error; /* of errno, why PAT_SIGNAL gets no answer; 0: none */
    _Atomic(struct pat_state *) state; /* whom a signal asks (PAT_SIGNAL); NULL: nobody */
    void (*milestone_told)(int64_t local_ns,
                           double percent); /* to whoever wants to know; NULL: nobody does */
    struct pat_dropin *dropin;       /* what the drop-in keeps for a report; NULL: no report is wanted */
    struct pat_stand_ins *stand_ins; /* what the drop-in has mock-ups for; NULL: nothing */
    /* So many first calls on a communicator for which an algorithm chooses are left to the MPI library, without a pat_comm; the same on all ranks. */
    int patience;
    int looks;    /* see pat_link_looks */
    bool settled; /* the library ends: communicators have nothing left to agree on */
    _Atomic(const pat_algorithm *) alg[PAT_NUM_OPS]; /* in use, by setting or PAT_UseAlg; agreed */
    pat_config config;
    /*
     * The calibration of PAT_CALIBRATION, for all communicators; or what was found in the store, of which each communicator takes what is
     * of its link (pat_comm.calibration). Either is NULL where it is not; the same on all ranks, but for what it says of files. Both are
     * made before the background thread and before any communicator's state, and freed after them, so that nobody needs a lock to read them.
     */
    pat_calibration *calibration;
    pat_stored *stored;
    int num_stored;
    pat_timekeeper time;             /* the clock of all ranks */
    MPI_Comm world;                  /* the library's own communicator of all ranks */
    atomic_bool world_stays;         /* messages there may still be under way when the library has ended */
    struct pat_agreement *agreement; /* of pat_runtime_agree */
    struct pat_agreement *kept_agreements; /* that failed: MPI may still write to them */
    int *node_of;                          /* of each rank of the world; see pat_nodes_find */
    pat_reach *reach; /* of this rank's node; NULL: its ranks do not copy from each other's memory */
    pat_bells *bells; /* of this rank's node; NULL: there are none. Freed when nobody sleeps any more */
    int comm_keyval;  /* of a communicator: its pat_comm */
    int local_keyval; /* the same for non-blocking calls */
    int self_keyval;  /* of MPI_COMM_SELF: ends the library in MPI_Finalize */
    int calls_keyval; /* of a communicator: its calls so far, for `patience`, or that it never gets a pat_comm */
    FILE *trace;      /* NULL: nothing is traced */
    atomic_bool told_order; /* people who have asked were told that floating-point numbers keep their order */
    bool traced;            /* the library has been started with a trace before */
    pat_thread *thread;     /* NULL: no early data */
    pat_thread_work *visit_all; /* what the thread does when it works: it visits every communicator once */
    bool all_threads;           /* agreed: every rank has a background thread */
    bool
        all_joined; /* agreed: MPI calls this library on every rank when it looks for messages (progress.h) */
    bool crowded;   /* this node has more ranks than processing units */
    int eager_bytes; /* agreed: longer messages the MPI library asks for first; 0: not known */

    pthread_mutex_t
        lock; /* guards the seven below, and of what is stored `taken` and the digest; never held while MPI is called or another lock is waited for */
    struct pat_comm *comms;
    struct pat_comm *kept;        /* gone, but MPI may still write to their memory: see pat_comm_stays */
    struct pat_contact *contacts; /* that have chosen tags, of all communicators */
    struct pat_comm *last;        /* the communicator last used */
    struct pat_comm *announced;   /* the one that the last PAT_Edge was for */
    int64_t num_comms;            /* that there have been */
    pat_milestone milestone;
    atomic_bool edged; /* this rank has given a milestone, ever */

    pthread_mutex_t keeps_lock; /* guards the next one; no other lock is waited for with it */
    void *keeps;                /* the persistent requests of keep.h: a tree (tsearch) */
    atomic_int num_keeps;

    pthread_mutex_t
        keep; /* see pat_comm_keep; taken before a communicator's lock, and by the background thread only if that needs no waiting */

    /*
     * Taken for reading by whoever drives a round, for every look anew, and for writing while receives are cancelled
     * that a message may be coming in for: Open MPI's ob1 takes a matched receive off its list before it marks it as
     * matched, and a cancel by another thread in between completes it a second time. Never held while waiting for
     * another rank; taken a second time by the same thread only for reading, and only if that needs no waiting: where MPI calls this library (in_mpi.c).
     */
    pthread_rwlock_t driving;

    bool joined;            /* MPI calls this library when it looks for messages: progress.h */
    atomic_int num_pending; /* non-blocking calls under way, on all communicators, */
    atomic_int num_moved;   /* and those of them that the MPI library runs */
    atomic_int_fast64_t
        looked_ns; /* when MPI called last in a thread of the program's, by the local clock; 0: not since a call was started */
    atomic_int_fast64_t
        in_mpi_ns; /* how long threads of the program's have waited in MPI, or in calls of this library, while non-blocking calls were under way */
    atomic_int callers; /* threads that wait inside a call, where they drive what they wait for */
    atomic_int_fast64_t stage_bytes;    /* length of all the library's buffers for early data */
    atomic_int_fast64_t early_reserved; /* bytes of PAT_MEM given to rounds that are prepared */

    atomic_int_fast64_t alg_calls[PAT_MAX_ALGS];
    atomic_int_fast64_t bytes_received, bytes_early, bytes_copied, wait_ns, plans_void;
    atomic_int_fast64_t estimates,
        estimates_off_ns; /* that were sent before their call, and by how much they were wrong in all */
    atomic_int_fast64_t state_ns; /* the time that making and freeing pat_comms has taken */
} pat_runtime;

extern pat_runtime pat_rt;

void pat_runtime_reset(void); /* all counters are 0 again */

/*
 * For loops that wait without a background thread: give every other communicator with a round under way one
 * visit, since another rank may be waiting for that. Does nothing where there is a thread.
 */
void pat_runtime_drive_others(void);

/* How a loop rests that waits for other ranks and has no sockets that tell. */
typedef struct pat_rest {
    int64_t moved_ns; /* by the local clock: when something moved last, or it began */
    int idle;         /* looks in a row in which nothing moved */
} pat_rest;

pat_rest pat_runtime_rest_begin(void);

/*
 * After each of its looks. Where as many in a row have found nothing as it takes to see what MPI takes in at the first: drive others, and let other threads of this
 * machine run, or sleep for a moment, the longer the longer nothing has moved. Linux 6.18 with autogroups was seen to book next to no time on a session in which
 * some threads yield without end while others sleep and wake: nothing else got a processor until they were done. So nobody is to yield for long.
 */
void pat_runtime_rest(pat_rest *rest, bool moved);

/*
 * Keep the library's own communicator of all ranks, and memory for pat_runtime_agree. pat_runtime_forget_world frees both, unless an
 * agreement has failed: then MPI may still write there, and both stay; nor the communicator where world_stays. The first returns an MPI error code.
 */
int pat_runtime_keep_world(MPI_Comm world);
void pat_runtime_forget_world(void);

/*
 * MPI_Allreduce of one or two ints with MPI_MAX over all ranks, driving what must be driven meanwhile. Once it has failed it fails for good:
 * nobody knows any more how many of these calls the others have made, so this rank would wait for them, or they for it. Returns an MPI
 * error code.
 */
int pat_runtime_agree(const int *mine, int *most, int count);

/* Does the algorithm in use for some collective go by the ranks' estimates? */
bool pat_runtime_estimates(void);

/* Is there a calibration that some communicator may take? The same on all ranks. */
static inline bool pat_runtime_calibrated(void)
{
    return pat_rt.calibration || pat_rt.num_stored > 0;
}

/* Count one call of an algorithm of the table. */
static inline void pat_runtime_count(const pat_algorithm *alg)
{
    atomic_fetch_add_explicit(&pat_rt.alg_calls[alg - pat_algorithm_at(0)], 1, memory_order_relaxed);
}

/* It was counted as one of `before`, which has not run it after all. */
static inline void pat_runtime_count_instead(const pat_algorithm *before, const pat_algorithm *alg)
{
    atomic_fetch_sub_explicit(&pat_rt.alg_calls[before - pat_algorithm_at(0)], 1, memory_order_relaxed);
    pat_runtime_count(alg);
}

/* Count what a round has moved. */
static inline void pat_runtime_count_data(const pat_exec_stats *stats)
{
    atomic_fetch_add_explicit(&pat_rt.bytes_received, stats->bytes_received, memory_order_relaxed);
    atomic_fetch_add_explicit(&pat_rt.bytes_early, stats->bytes_early, memory_order_relaxed);
    atomic_fetch_add_explicit(&pat_rt.bytes_copied, stats->bytes_copied, memory_order_relaxed);
}

#endif

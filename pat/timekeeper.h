/*
 * timekeeper.h — the clock of all ranks, kept true while the program runs: this process's monotonic clock plus its offset to rank 0's, which
 * is measured anew now and then, and a bound on how wrong that is. pat_clock_sync has measured it first.
 *
 * Along the same binomial tree (S. Hunold and A. Carpen-Amarie, Hierarchical clock synchronization in MPI, 2018) every rank but 0 meets its
 * parent, at times that it has told it: since both have the same clock, the parent's thread is awake when a question comes, and nobody has to
 * watch for one in between. The nearer two are to rank 0 the sooner they meet, so that a parent has just measured itself what it tells. In a
 * meeting the child asks some times; of these the shortest round trip counts (drift.h). Then it says when it comes again. A child that reads
 * the same clock as its parent (clock_tree.h) asks once, and takes the parent's line; where that is rank 0's clock there is nothing to ask.
 *
 * Nothing is ever received that has not come in, so that no receive is left when the library ends. Then every rank says to its parent that it
 * does not come again, and waits for its children to say so.
 */
#ifndef PAT_TIMEKEEPER_H
#define PAT_TIMEKEEPER_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock_sync.h"
#include "drift.h"

/* A line (drift.h) that is written by one thread and read by others. */
typedef struct pat_shared_line {
    atomic_int_fast64_t ref_ns, offset_ns, error_ns;
    _Atomic double rate, rate_error;
} pat_shared_line;

enum {
    PAT_TIMEKEEPER_WORDS = 6
}; /* of an answer: the time and its error; or a line, and of how many samples */

/* The other end of a meeting. All times of the common clock. */
typedef struct pat_meeting {
    int peer;
    int64_t due_ns;   /* when it is next */
    int64_t since_ns; /* when something came last, or it became due */
    bool over;        /* there is none any more */
    MPI_Request request;
    bool same;                           /* both read the same clock */
    int64_t words[PAT_TIMEKEEPER_WORDS]; /* what MPI sends */
} pat_meeting;

typedef struct pat_timekeeper {
    /* Any thread. The line that is written is never the one that is read, until `turn` says so. */
    atomic_uint turn;
    pat_shared_line lines[2];
    atomic_int_fast64_t next_ns; /* the local time of the next look; INT64_MAX: never */
    atomic_int_fast64_t num_measured;

    pthread_mutex_t lock; /* guards the rest, and the writing of the above */
    MPI_Comm comm;
    pat_meeting up, down[2 * PAT_CLOCK_CHILDREN];
    int num_down;
    pat_drift drift;
    int64_t asked_ns; /* the local time of a question that is not answered; 0: there is none */
    int rounds;       /* answers so far in this meeting */
    pat_drift_sample best;
    int64_t num_agreed; /* samples in a row, or lines */
    bool ending;
    int failed; /* the first error: from then on nothing is sent or received */
} pat_timekeeper;

/* Begin with what was measured. Nothing is measured again, and the bound grows. No other thread may be at it. */
void pat_timekeeper_begin(pat_timekeeper *t, const pat_clock *clock);

/* From here on it is measured again, on all ranks, along the tree, for the first time at first_ns of the common clock, the same on all ranks. */
void pat_timekeeper_track(pat_timekeeper *t, MPI_Comm comm, const pat_clock_tree *tree, int64_t first_ns);

/*
 * Look at what is due, without waiting. *moved: set where a message has come in. An error is kept for pat_timekeeper_stop. Does nothing
 * while another thread is at it, nor after pat_timekeeper_stop: what that has said of errors stays so until pat_timekeeper_end looks.
 */
void pat_timekeeper_look(pat_timekeeper *t, bool *moved);

/* The local time at which to look next. Any thread. */
static inline int64_t pat_timekeeper_next_ns(pat_timekeeper *t)
{
    return atomic_load(&t->next_ns);
}

/* Is a meeting under way, so that the next look should follow at once? */
bool pat_timekeeper_meets(pat_timekeeper *t, int64_t now_ns);

/* Nothing is asked any more. Returns the MPI error that it has failed with, MPI_SUCCESS for none. */
int pat_timekeeper_stop(pat_timekeeper *t);

/*
 * After it, where no rank has failed: to be called on all ranks until *done. Then no message is under way. Returns an MPI error code, after
 * which it is not to be called again, nor its communicator to be freed.
 */
int pat_timekeeper_end(pat_timekeeper *t, bool *done);

/* ---- What others ask; any thread, no MPI ---------------------------------------------------------------- */

static inline pat_line pat_timekeeper_line(pat_timekeeper *t)
{
    pat_line line;
    unsigned turn = atomic_load_explicit(&t->turn, memory_order_acquire), before;
    do { /* again where a new line has come meanwhile: the one after it takes the place that is read */
        pat_shared_line *from = &t->lines[turn % 2];
        before = turn;
        line.ref_ns = atomic_load_explicit(&from->ref_ns, memory_order_acquire);
        line.offset_ns = atomic_load_explicit(&from->offset_ns, memory_order_acquire);
        line.error_ns = atomic_load_explicit(&from->error_ns, memory_order_acquire);
        line.rate = atomic_load_explicit(&from->rate, memory_order_acquire);
        line.rate_error = atomic_load_explicit(&from->rate_error, memory_order_acquire);
        turn = atomic_load_explicit(&t->turn, memory_order_acquire);
    } while (turn != before);
    return line;
}

static inline int64_t pat_timekeeper_offset_ns(pat_timekeeper *t, int64_t local_ns)
{
    const pat_line line = pat_timekeeper_line(t);
    return pat_line_offset_ns(&line, local_ns);
}

/* The time on the clock of all ranks. */
static inline int64_t pat_timekeeper_now_ns(pat_timekeeper *t)
{
    const int64_t local_ns = pat_clock_local_ns();
    return local_ns + pat_timekeeper_offset_ns(t, local_ns);
}

/* The local time at which that clock shows common_ns. */
static inline int64_t pat_timekeeper_local_ns(pat_timekeeper *t, int64_t common_ns)
{
    const pat_line line = pat_timekeeper_line(t);
    return pat_line_local_ns(&line, common_ns);
}

#endif

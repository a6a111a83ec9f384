/*
 * credits.h — keeps ranks together in calls with a root, and in all-gathers in which some block is empty: these do not wait for all
 * ranks by themselves. No rank gets more than two epochs of such calls ahead of another, so what it has sent ahead is little.
 *
 * An epoch of credits is PAT_CREDIT_CALLS such calls by plan on a communicator, or fewer that carry PAT_CREDIT_BYTES together; it is no
 * epoch of a lane. After its last call a rank starts a round of credits: control messages, by a plan like any other, which is done when
 * all ranks have come so far. Only the last call of the next epoch waits for it. Must never depend on anything that differs between ranks.
 */
#ifndef PAT_CREDITS_H
#define PAT_CREDITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "round.h"

/*
 * A round costs some messages and is a matter of some microseconds: a call's part of it must be small beside the call. And what
 * is sent ahead must be little: the longest messages that wait in a receiver's memory are 64 KiB long (TCP's eager limit),
 * so 32 of them are 2 MiB; an epoch of longer calls, which go in segments, is as many bytes.
 */
enum { PAT_CREDIT_CALLS = 32, PAT_CREDIT_BYTES = 2 << 20 };

typedef struct pat_credits {
    /* Set when made. */
    pat_members members;
    pat_tags tags;

    int calls;     /* so far in this epoch */
    int64_t bytes; /* in their results: at a gather's root that is what comes in */
    bool last;     /* the call under way ends the epoch */
    pat_plan plan;
    pat_round round;     /* the one under way */
    int failed;          /* MPI error code of this round: after an error other ranks may wait for this one */
    atomic_bool watched; /* the background thread comes again without being woken */
    bool started;        /* a round has begun since the thread came last */
    int64_t moved_ns;    /* when the thread last saw something come in */
} pat_credits;

/* The caller of all these holds the communicator's lock. */

/* A call with so many bytes in its result begins. */
void pat_credits_count(pat_credits *k, int64_t bytes);

/* The same, for a call that is to be the last of its epoch whatever it carries. */
void pat_credits_end_epoch(pat_credits *k);

/* Is a round of credits under way? */
static inline bool pat_credits_under_way(const pat_credits *k)
{
    return !pat_round_is(&k->round, PAT_ROUND_EMPTY);
}

/* Must the call under way wait? It is the last of its epoch, and the round of the epoch before is not through. */
bool pat_credits_hold(const pat_credits *k);

/* The call is over: if it was the epoch's last one, start a round. Returns an MPI error code, and so do the looks. */
int pat_credits_pass(pat_credits *k);

/* Is the background thread to be woken? True once for all rounds that follow each other soon. */
bool pat_credits_wake(pat_credits *k);

/* A look at the round under way, if there is one. The second is for those who hold pat_rt.driving already. */
int pat_credits_look(pat_credits *k, bool *moved);
int pat_credits_look_driving(pat_credits *k, bool *moved);

/* When the background thread is to come again after a look that has moved something or not; INT64_MAX: when woken. */
int64_t pat_credits_next_look(pat_credits *k, bool moved, int64_t now);

#endif

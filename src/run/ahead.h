/*
 * ahead.h — a non-blocking all-gather's round may be made before the call, so that data of ranks that have called comes in, and is passed on, while this rank
 * still computes. Nobody announces anything: that the next call will be like the last one is a guess, and which algorithm is to run it follows from what earlier
 * calls have told (rival.h). docs/epochs.md, "Non-blocking calls", says why a wrong guess does no harm. Must never decide by how far this rank has come: all members
 * start the same calls in the same order, and call n is learnt from before call n + PAT_PENDING_SLOTS begins on any of them.
 *
 * On a state of comm_local.h. The caller holds the communicator's lock. Functions that return int return MPI error codes.
 */
#ifndef PAT_AHEAD_H
#define PAT_AHEAD_H

#include "comm.h"

/* May rounds of calls that one of these two is to run be made before the call? rival: NULL where there is one only. */
bool pat_ahead_may(const pat_algorithm *alg, const pat_algorithm *rival);

/* A call is started, and is in the list of those that are under way: give it its slot and, if it is such a call, its number. A round that was made for another one is thrown away. */
int pat_ahead_started(pat_comm *c, pat_pending *p);

/* Has it to wait for others of these calls? Or else, for others with its slot? *by_slot: whether it has. */
bool pat_ahead_has_to_queue(pat_comm *c, const pat_pending *p, bool *by_slot);

/* It begins: choose who runs it, and the tags. *made: it has taken over the round that was made before the call. */
pat_tags pat_ahead_begin(pat_comm *c, pat_pending *p, bool *made);

/* Its round has ended, and is still there: learn from it; its memory for early data serves the next one. */
void pat_ahead_ended(pat_comm *c, pat_pending *p);

/* Is a round to be made now, and none there? Then make it; that there is no memory is no error. */
bool pat_ahead_is_due(pat_comm *c);
void pat_ahead_make(pat_comm *c);

/* The lane whose round was made before the call; NULL: none is there. */
pat_lane *pat_ahead_lane(pat_comm *c);

/* No call comes any more. */
int pat_ahead_drop(pat_comm *c);

#endif

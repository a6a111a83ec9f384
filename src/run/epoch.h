/*
 * epoch.h — the life of one call on one communicator: estimates, plan, early part, arrival, result.
 * docs/epochs.md states the protocol and its invariants.
 *
 * The caller holds the communicator's lock. Functions that return int return MPI error codes.
 */
#ifndef PAT_EPOCH_H
#define PAT_EPOCH_H

#include "comm.h"

/* This rank has called. The round is then driven by pat_epoch_progress until the phase is PAT_IDLE again. */
int pat_epoch_begin(pat_comm *c, const pat_call *call, const pat_algorithm *alg);
int pat_epoch_progress(pat_comm *c, bool *moved);

/*
 * Asked when a call is over: is there something here for the background thread to do, in whatever lane? If so it is to
 * be woken, since it leaves the communicator alone while a caller waits.
 */
bool pat_epoch_goes_on(pat_comm *c);

/* One look at what is under way here: the round that was called, or the one that is prepared. */
int pat_epoch_look(pat_comm *c, bool *moved);

/* Drive the call under way to its end. */
int pat_epoch_wait(pat_comm *c);

/*
 * For the background thread, which holds pat_rt.driving: drive the call under way; get a lane's next round ready, if it is known what that
 * is and it is time (guess.h).
 */
int pat_epoch_progress_driving(pat_comm *c, bool *moved);
int pat_epoch_prepare(pat_comm *c, pat_lane *lane);

/*
 * When it is time to get a lane's next round ready, in local time. 0: now; INT64_MAX: not before somebody wakes the
 * thread.
 */
int64_t pat_epoch_prepares_at(pat_comm *c, const pat_lane *lane);

/* Throw away all rounds that were prepared without estimates; only between calls. */
int pat_epoch_drop_ahead(pat_comm *c);

/*
 * The algorithm of a collective has changed, on all members between the same calls. What some may still have prepared for the old
 * one belongs to an epoch in which no message will be sent.
 */
int pat_epoch_new_algorithm(pat_comm *c, enum pat_op op);

/*
 * Withdraw an Edge that was not yet acted on. Returns whether this rank has contributed to an exchange that
 * no call has used yet.
 */
bool pat_epoch_withdraw_edge(pat_comm *c);

/*
 * Between calls, on all members: end the epoch without a call. A member that has announced one in this epoch makes another one necessary, until all have said in the same epoch
 * that no call comes. Begin on all communicators first, then step each until *done, so that members may have them in any order. *moved becomes true if anything
 * has moved.
 */
int pat_epoch_settle_begin(pat_comm *c);
int pat_epoch_settle_step(pat_comm *c, bool *moved, bool *done); /* the caller holds pat_rt.driving */

/* The opened request is freed without a call: early data in its buffer moves to the library's memory. */
int pat_epoch_release_holder(pat_comm *c);

#endif

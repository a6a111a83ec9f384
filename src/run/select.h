/*
 * select.h — which algorithm runs a call. Decides from what all ranks share: the algorithm that is in use, the
 * number of ranks, the bytes and the agreed link. Must never look at a clock or at this rank's own luck.
 */
#ifndef PAT_SELECT_H
#define PAT_SELECT_H

#include "comm.h"

/*
 * `alg` itself, or what it chooses for blocks of so many bytes on this communicator; c NULL: left to MPI. may_measure: the same on
 * all ranks; false leaves it to whoever is in use. *next says more; it may be NULL. The caller drives c, here and below. Changes
 * nothing.
 */
const pat_algorithm *pat_select(const pat_comm *c, const pat_algorithm *alg, int64_t block_bytes,
                                bool may_measure, pat_next *next);

/* A call begins: what its block is to carry, or this rank to say of it. site: where the program calls from; NULL: not known. */
void pat_select_arrive(pat_lane *lane, const void *site);

/*
 * What the blocks of a round have carried that all of them have seen the end of; NULL: nothing. Returns an MPI error code: a
 * rank without memory must not choose by less than the others know.
 */
int pat_select_note(pat_comm *c, pat_lane *lane, const pat_carried *carried, int64_t block_bytes);

/*
 * When ranks came and how long calls took shapes what is chosen. Learnt at the end of a call that is not measured, or of
 * PAT_Wait, and when an all-gather is passed on to the MPI library: places in the program, which are the same on all ranks; the
 * moment at which a round ends in the background is not.
 */
void pat_select_learn(pat_comm *c, pat_lane *lane);
void pat_select_passed_on(pat_comm *c, pat_lane *lane, int64_t block_bytes);

/*
 * A call that is over is measured: ranks tell each other what they know of it, and all learn from that when the last has, before
 * the next one is chosen for.
 */
int pat_select_measure(pat_comm *c, pat_lane *lane, enum pat_runner ran, int64_t block_bytes);

/* See whether all have. The caller of the second holds pat_rt.driving already. */
int pat_select_look(pat_comm *c, bool *moved);
int pat_select_look_driving(pat_comm *c, bool *moved);

/* Wait until all have, if there is something to wait for. Only ranks that are still in the measured call are waited for. */
int pat_select_hear(pat_comm *c);

/*
 * The same for operations with a root: the fastest by calibration, kept for the sizes last asked for. The caller holds the
 * communicator's lock.
 */
const pat_algorithm *pat_select_rooted(pat_comm *c, const pat_algorithm *alg, int64_t bytes);

/* What is to be said of all-gathers of blocks of so many bytes before any has been called. */
pat_judged pat_select_verdict(const pat_comm *c, int64_t block_bytes);

/*
 * What the MPI library's own all-gather takes once the last rank has called: as measured lately, else by calibration, else the
 * least that the link needs.
 */
int64_t pat_select_native_ns(const pat_comm *c, const pat_lane *lane, int64_t block_bytes);

/* Is the call too small for anything but the MPI library, whatever the link? Needs no communicator's state. */
static inline bool pat_select_is_small(int num_ranks, int64_t block_bytes)
{
    enum { SMALL_BYTES = 4096 }; /* that a rank receives; no division, because every short call asks */
    return block_bytes * (num_ranks > 1 ? num_ranks - 1 : 1) < SMALL_BYTES;
}

#endif

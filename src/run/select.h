/*
 * select.h — which algorithm runs a call. Decides from what all ranks share: the algorithm that is in use, the number of ranks, the
 * bytes, the agreed link, and what all have told each other of earlier calls. Must never decide by this rank's clock or by how far
 * this rank has come.
 */
#ifndef PAT_SELECT_H
#define PAT_SELECT_H

#include "comm.h"

/*
 * `alg` itself, or what it chooses for blocks of so many bytes on this communicator; with c NULL that is the MPI library's own.
 * may_measure: may the call be a measured one, as a try is? The same on all ranks. *next, unless NULL, says why this
 * algorithm is taken, and whether the call is measured. Decides nothing for later calls. The caller holds c's lock, here and below.
 */
const pat_algorithm *pat_select(pat_comm *c, const pat_algorithm *alg, int64_t block_bytes, bool may_measure,
                                pat_next *next);

/*
 * A call begins: note when, from where, and whether this rank has announced it, for what the rank's block carries or
 * what the rank says of a measured call. site: the address to which the call returns; NULL: not known.
 */
void pat_select_arrive(pat_comm *c, pat_lane *lane, const void *site);

/*
 * A round is over: note what its blocks have carried, for pat_select_learn; NULL: they carry nothing. Returns an MPI error code: a
 * rank that has no memory for it must not go on choosing, since it would know less than the others.
 */
int pat_select_note(pat_comm *c, pat_lane *lane, const pat_carried *carried, int64_t block_bytes);

/*
 * Learn from when ranks came and how long calls took, which shapes what is chosen. The first is called at the end of a call that is
 * not measured, or of PAT_Wait, the second when a call was passed on to the MPI library: at the same points of the program on
 * all ranks, and not when a round ends in the background, which is at another one on every rank. said: because of what all
 * ranks had said of when they come.
 */
void pat_select_learn(pat_comm *c, pat_lane *lane);
void pat_select_passed_on(pat_comm *c, pat_lane *lane, int64_t block_bytes, bool said);

/* Who runs a call of a lane that goes by estimates, when all ranks have given them. Returns an MPI error code. */
int pat_select_said(pat_comm *c, pat_lane *lane, int64_t block_bytes, const pat_algorithm **alg);

/*
 * A measured call is over: the other ranks are to be told (sample.h). All learn from what was told before the next call's algorithm
 * is chosen.
 */
void pat_select_measure(pat_comm *c, pat_lane *lane, const pat_algorithm *ran, int64_t block_bytes);

/* See whether all have told, and learn from it then. The caller of the second holds pat_rt.driving already. */
int pat_select_look(pat_comm *c, bool *moved);
int pat_select_look_driving(pat_comm *c, bool *moved);

/*
 * If ranks are still telling of a measured call, wait until all have told: that is, for ranks that are still in that
 * call. These three return MPI error codes.
 */
int pat_select_hear(pat_comm *c);

/*
 * `alg` itself, or what it chooses for a call with a root: the fastest by calibration. What was chosen is kept by length.
 */
const pat_algorithm *pat_select_rooted(pat_comm *c, const pat_algorithm *alg, int64_t bytes);

/*
 * Is it such a network as those on which relay was not found slower, or was it measured? Only there do calls go by what ranks say of them. The same on
 * all ranks.
 */
bool pat_select_is_proven(const pat_comm *c);

/* The verdict on calls of a collective with so many bytes of a rank: what calibration, or else the link, says of them. */
pat_judged pat_select_verdict(const pat_comm *c, enum pat_op op, int64_t bytes);

/*
 * What the MPI library's own collective takes once the last rank has called: as measured lately, else by calibration, else the
 * least that the link needs.
 */
int64_t pat_select_native_ns(const pat_comm *c, pat_lane *lane, int64_t block_bytes);

enum { PAT_COPIES_BYTES = 1 << 20 }; /* that a rank receives */

/* Is the call too small for anything but the MPI library, whatever the link? Needs no communicator's state. */
static inline bool pat_select_is_small(enum pat_op op, int num_ranks, int64_t block_bytes)
{
    const bool one_block = num_ranks < 2 || pat_collective_blocks(pat_collective_of(op), num_ranks) == 1;
    const int others = one_block ? 1 : num_ranks - 1;
    return block_bytes * others < PAT_SMALL_BYTES; /* no division, because every short call asks */
}

/*
 * On one node, where ranks copy from each other's memory: may relay gain, which copies each block once? So long calls take a millisecond or so,
 * of which it is not felt that some are measured. Of two ranks there is nothing to be gained.
 */
static inline bool pat_select_copies(enum pat_op op, int num_ranks, int64_t block_bytes)
{
    return op == PAT_OP_ALLGATHER && num_ranks > 2 && block_bytes * (num_ranks - 1) >= PAT_COPIES_BYTES;
}

#endif

/*
 * select.h — which algorithm runs a call. Decides from what all ranks share: the algorithm that is in use, the
 * number of ranks, the bytes and the agreed link. Must never look at a clock or at this rank's own luck.
 */
#ifndef PAT_SELECT_H
#define PAT_SELECT_H

#include "comm.h"

/* `alg` itself, or what it chooses for blocks of so many bytes on this communicator; c NULL: left to MPI. */
const pat_algorithm *pat_select(pat_comm *c, const pat_algorithm *alg, int64_t block_bytes);

/*
 * When the ranks came to a round that all of them have seen the end of; the same on all ranks. The caller drives c. Returns an
 * MPI error code: a rank without memory must not choose by less than the others know.
 */
int pat_select_note(pat_comm *c, const int64_t *arrival_ns, int64_t block_bytes);

/*
 * How far apart ranks have come shapes what is chosen for short blocks. Learnt at the end of a call or of PAT_Wait, and
 * when an all-gather is passed on to the MPI library: places in the program, which are the same on all ranks; the moment
 * at which a round ends in the background is not.
 */
void pat_select_learn(pat_comm *c);
void pat_select_passed_on(pat_comm *c, int64_t block_bytes);

/*
 * The same for operations with a root: the fastest by calibration, kept for the sizes last asked for. The caller holds the
 * communicator's lock.
 */
const pat_algorithm *pat_select_rooted(pat_comm *c, const pat_algorithm *alg, int64_t bytes);

/* What the MPI library's own all-gather takes when all call at once: by calibration, else the least that the link needs. */
int64_t pat_select_native_ns(const pat_comm *c, int64_t block_bytes);

/* Is the call too small for anything but the MPI library, whatever the link? Needs no communicator's state. */
bool pat_select_is_small(int num_ranks, int64_t block_bytes);

#endif

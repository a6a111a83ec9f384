/*
 * select.h — which algorithm runs a call. Decides from what all ranks share: the algorithm that is in use, the
 * number of ranks, the bytes and the agreed link. Must never look at a clock or at this rank's own luck.
 */
#ifndef PAT_SELECT_H
#define PAT_SELECT_H

#include "comm.h"

/* `alg` itself, or what it chooses for blocks of so many bytes on this communicator; c NULL: left to MPI. */
const pat_algorithm *pat_select(const pat_comm *c, const pat_algorithm *alg, int64_t block_bytes);

/* Is the call too small for anything but the MPI library, whatever the link? Needs no communicator's state. */
bool pat_select_is_small(int num_ranks, int64_t block_bytes);

#endif

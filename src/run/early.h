/*
 * early.h — where the early data of a prepared round lands: in the receive buffer of an opened request, the holder, or in the
 * library's memory as far as PAT_MEM reaches. Must never decide what is prepared.
 *
 * The caller holds the communicator's lock.
 */
#ifndef PAT_EARLY_H
#define PAT_EARLY_H

#include "comm.h"

/*
 * Give the lane's prepared round a place for early data. What there is no place for is received once this rank has
 * called.
 */
void pat_early_land(pat_comm *c, pat_lane *lane);

/* Early data has been taken, or is not wanted any more: its share of PAT_MEM is free again. */
void pat_early_release(pat_lane *lane);

/* Move early data out of the holder's buffer into the library's memory. Returns an MPI error code. */
int pat_early_leave_holder(pat_comm *c, pat_lane *lane);

/* Forget the lane's prepared round, if there is one, for which no rank has sent or will send anything. Returns an MPI error code. */
int pat_early_forget(pat_comm *c, pat_lane *lane);

/*
 * Forget the lane's round that was prepared without estimates, if there is one: between calls, when no rank has called it. Returns an MPI
 * error code, as the next one does.
 */
int pat_early_drop_ahead(pat_comm *c, pat_lane *lane);

/* Likewise, and what comes is of the next epoch: on all ranks at the same point of the program. */
int pat_early_new_epoch(pat_comm *c, pat_lane *lane);

#endif

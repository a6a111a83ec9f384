/*
 * settle.h — communicators are brought to rest: what was prepared or exchanged for a next call is ended, so that an algorithm may change,
 * or a communicator or the library may go.
 *
 * All functions are collective, over MPI_COMM_WORLD or the communicator, and return MPI error codes.
 */
#ifndef PAT_SETTLE_H
#define PAT_SETTLE_H

#include "comm.h"

/*
 * Between calls: if any rank has given an estimate for a next call, end that epoch on all communicators without a call. Where a request is
 * started on any rank, nothing is done but to set *busy; with busy NULL such requests are completed first. Then `next`, where it is not NULL, is used
 * for its collective: also on a rank where settling has failed on some communicator, or ranks would run two algorithms on the others.
 */
int pat_settle(const pat_algorithm *next, bool *busy);

/* The library ends: complete non-blocking calls, and the rounds of credits. */
int pat_settle_started(void);

/* A communicator goes: MPI calls this for the attribute that its state hangs on. */
int pat_settle_comm_ends(MPI_Comm comm, int keyval, void *attr, void *extra);

#endif

/*
 * settle.h — communicators are brought to rest: what was prepared or exchanged for a next call is ended, so that an algorithm may change,
 * or a communicator or the library may go.
 *
 * The first two functions are collective over MPI_COMM_WORLD. Those that return int return MPI error codes.
 */
#ifndef PAT_SETTLE_H
#define PAT_SETTLE_H

#include "comm.h"

/*
 * Between calls: if any rank has given an estimate for a next call, end that epoch on all communicators without a call, and those after it until one in which no rank has announced a call. Where a request is
 * started on any rank, nothing is done but to set *busy; with busy NULL such requests are completed first. Then `next`, where it is not NULL, is used
 * for its collective: also on a rank where settling has failed on some communicator, or ranks would run two algorithms on the others.
 */
int pat_settle(const pat_algorithm *next, bool *busy);

/* The library ends: complete non-blocking calls, and the rounds of credits. */
int pat_settle_started(void);

/* Is a non-blocking call under way there, or a round of credits? */
bool pat_settle_started_under_way(const pat_comm *c);

/*
 * After an error the others wait for what this rank has to say of its last call, and it learns from that as they do, or it would not know that they go by
 * estimates from now on. all: wait also until what is said of the next call is told, so that no message comes in for it any more and its memory may go.
 */
void pat_settle_tell(pat_comm *c, bool all);

/* A call that goes by estimates has failed: for the others its epoch is over, and it may have been the last one that went by them. */
void pat_settle_failed_call(pat_comm *c);

/*
 * One look at a communicator that settles, also after an error there: see pat_epoch_settle_step. After an error *done follows all the same. The caller holds
 * its lock and pat_rt.driving. Returns the first error.
 */
int pat_settle_look(pat_comm *c, bool *moved, bool *done);

#endif

/*
 * arrivals.h — when ranks will come to the next call, for plans that go by it: what they have said, or where none of them says anything,
 * when they came to the last calls. The same on all ranks.
 *
 * A lane changes from one to the other, and all ranks change together: to the last calls when in one no rank gave an estimate before it
 * called, and back when in one some rank did. In the first case the exchange has told all ranks, in the second what they say of a measured call
 * (sample.h); neither is still under way when the next round is made.
 *
 * The caller holds the communicator's lock.
 */
#ifndef PAT_ARRIVALS_H
#define PAT_ARRIVALS_H

#include "comm.h"

/*
 * Into c->arrival_ns comes when each rank is expected to call, in a lane and for a plan of `alg`. bytes: of a block. Returns false where
 * nobody knows, or the plan does not ask.
 */
bool pat_arrivals_expected(pat_comm *c, const pat_lane *lane, const pat_algorithm *alg, int64_t bytes);

/* Is it to be known when ranks come to this call, beside what is told anyway? */
bool pat_arrivals_wanted(const pat_lane *lane, const pat_algorithm *alg, int64_t bytes);

/* A call is over of which all ranks know by the exchange when they came. Returns an MPI error code. */
int pat_arrivals_told(pat_comm *c, pat_lane *lane, const pat_algorithm *alg, int64_t bytes);

/* The same of a measured call that went by the last calls. Returns an MPI error code. */
int pat_arrivals_measured(pat_comm *c, pat_lane *lane, const pat_sample *sample);

/* A call is over of which they do not know it. */
void pat_arrivals_missed(pat_lane *lane, int64_t bytes);

#endif

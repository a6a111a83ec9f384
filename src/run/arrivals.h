/*
 * arrivals.h — when ranks will come to the next call, for plans that go by it: what they have said, or where none of them says anything,
 * when they came to the last calls. The same on all ranks.
 *
 * A lane changes from one to the other, and all ranks change together: to the last calls when no rank has ever given a milestone, or
 * none before some calls in a row; and back after a call before which some rank gave one. In the first case the exchange has told all ranks,
 * in the second what they say of a measured call (sample.h); neither is still under way when the next round is made.
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

/* Is this call to be measured, so that ranks know when they came to it? */
bool pat_arrivals_wanted(const pat_lane *lane, const pat_algorithm *alg, int64_t bytes);

/* A call by `alg` is over: learn when ranks came, if the exchange has told. Returns an MPI error code. */
int pat_arrivals_over(pat_comm *c, pat_lane *lane, const pat_algorithm *alg, int64_t bytes);

/*
 * All ranks have given an estimate for a measured call: is it worth going by estimates? At first, and once that was given up where `pays`: this
 * call would have gained by it, or estimates are not felt.
 */
bool pat_arrivals_worth(const pat_lane *lane, bool pays);

/*
 * From now on the lane's calls go by estimates (pat_select_said, in select.h): at the same point of the program on all ranks, and with no round
 * prepared in the lane, which an algorithm runs that chooses. The second: another algorithm is in use, which chooses, or not.
 */
void pat_arrivals_listen(pat_comm *c, pat_lane *lane);
void pat_arrivals_chooses(pat_comm *c, pat_lane *lane, bool chooses);

/*
 * A call is over, or a request has been waited for; left: to the MPI library. Where it went by estimates, and several in a row had not been announced by all ranks, or were all left,
 * the lane's calls no longer go by them.
 */
void pat_arrivals_heard(pat_comm *c, pat_lane *lane, bool left);

/* A call that went by the last calls was measured, and all ranks have told. Returns an MPI error code. */
int pat_arrivals_measured(pat_comm *c, pat_lane *lane, const pat_sample *sample);

#endif

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

/* c->arrival_ns says when ranks came to a call that is over: what is expected of the next ones changes. Returns an MPI error code. */
int pat_arrivals_known(pat_comm *c, pat_lane *lane, int64_t bytes);

/*
 * All ranks have given an estimate for a measured call: is the lane to go by estimates? Yes the first time; once it has
 * given them up, only where `pays` says that this call would have gained by them, or that calls are so rare that
 * estimates are not felt.
 */
bool pat_arrivals_worth(const pat_lane *lane, bool pays);

/*
 * From now on the lane's calls go by estimates (pat_select_said, in select.h). To be called at the same point of the
 * program on all ranks, for a lane in which an algorithm that chooses is in use, and in which no round is prepared. The
 * second function: another algorithm is in use; chooses: whether it is one that chooses.
 */
void pat_arrivals_listen(pat_comm *c, pat_lane *lane);
void pat_arrivals_chooses(pat_comm *c, pat_lane *lane, bool chooses);

/*
 * A call is over, or a request has been waited for. left: it was left to the MPI library. A lane that goes by estimates
 * stops doing so after several calls in a row that not all ranks had announced, or that were all left.
 */
void pat_arrivals_heard(pat_comm *c, pat_lane *lane, bool left);

/* A call that went by the last calls was measured, and all ranks have told. Returns an MPI error code. */
int pat_arrivals_measured(pat_comm *c, pat_lane *lane, const pat_sample *sample);

#endif

/*
 * by_profile.h — a call by an algorithm of PAT's that a profile names for calls of its length, whatever is in use for others: it runs in the call
 * alone, beside all that calls of other lengths have under way.
 */
#ifndef PAT_BY_PROFILE_H
#define PAT_BY_PROFILE_H

#include "explain.h"
#include "face.h"

/*
 * For a call that the MPI library was to run, of blocks or a vector or a buffer, on a communicator of one group; the algorithm is one of mockup_own.h. *why: PAT_WHY_ASKED, and it has run; else
 * why it has not, on all ranks alike, and nothing has been touched: PAT_WHY_ORDER, as calls.h has it; PAT_WHY_CANNOT, there is no plan for it; PAT_WHY_FIRST, it is one
 * of a communicator's first calls, which may be all; PAT_WHY_NOT_KNOWN, no plan runs on this communicator. Returns an MPI error code, which the error handler has been told.
 */
int pat_by_profile_run(const pat_face *face, const pat_args *args, const pat_algorithm *alg,
                       enum pat_why *why);

/* Why no call on a communicator of so many ranks ever runs; PAT_WHY_ASKED: nothing is known against it. */
enum pat_why pat_by_profile_why_never(int ranks);

#endif

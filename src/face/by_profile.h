/*
 * by_profile.h — a call by an algorithm of PAT's that a profile names for calls of its length, whatever is in use for others: it runs in the call
 * alone, beside all that calls of other lengths have under way.
 */
#ifndef PAT_BY_PROFILE_H
#define PAT_BY_PROFILE_H

#include "explain.h"
#include "face.h"

/*
 * For a call that the MPI library was to run; the algorithm is one of mockup_own.h. *why: PAT_WHY_ASKED, and it has run; else why it has not, on all ranks
 * alike, and nothing has been touched. Returns an MPI error code.
 */
int pat_by_profile_run(const pat_face *face, const pat_args *args, const pat_algorithm *alg,
                       enum pat_why *why);

#endif

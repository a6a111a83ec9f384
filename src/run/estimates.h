/*
 * estimates.h — what ranks tell each other of the next call, and what follows from it: which collective comes, of which blocks, run by
 * which algorithm. The same on all ranks.
 *
 * The caller holds the communicator's lock. Functions that return int return MPI error codes.
 */
#ifndef PAT_ESTIMATES_H
#define PAT_ESTIMATES_H

#include "comm.h"
#include "guess.h"

/* A call of a lane as a token, which is how ranks tell it; PAT_NO_CALL for blocks that are no call. */
int64_t pat_estimates_token(const pat_comm *c, const pat_lane *lane, pat_blocks blocks);

/* Post this rank's estimate: one for each epoch, the first. */
int pat_estimates_contribute(pat_comm *c, int64_t arrival_ns, int64_t token, enum pat_certain certain);

/* The same where no call comes: the library settles, or the communicator has been freed. */
int pat_estimates_say_no_call(pat_comm *c);

/* Post this rank's estimate after a PAT_Edge, if the call that is likely to come needs one, and see what the others have said. */
int pat_estimates_hear(pat_comm *c, bool *moved);

/* When the estimate of the last PAT_Edge is to be posted, by the local clock; INT64_MAX: there is none. */
int64_t pat_estimates_due(const pat_comm *c);

/* This rank has called, at arrival_ns of the ranks' clock: how wrong was its estimate? */
void pat_estimates_called(pat_comm *c, int64_t arrival_ns);

/*
 * See whether all ranks have given their estimates; if so it is decided who runs the call that they announce. *moved: set where something
 * has come.
 */
int pat_estimates_test(pat_comm *c, bool *moved);

/* The lane that the ranks' estimates announce; NULL where they are not all here, or not of one mind. */
pat_lane *pat_estimates_announced(pat_comm *c);

/* The same, seen from a lane, or from none: NULL. */
enum pat_announced pat_estimates_announced_to(pat_comm *c, const pat_lane *lane);

/* Is the call under way the one that all have announced, so that c->said runs it? */
bool pat_estimates_chosen(pat_comm *c);

/* The algorithm that runs a lane's calls, as far as it can be said before they come. */
const pat_algorithm *pat_estimates_algorithm(pat_comm *c, const pat_lane *lane);

/* What the next call in a lane is taken to be, if `alg` runs it. */
pat_blocks pat_estimates_expected(pat_comm *c, const pat_lane *lane, const pat_algorithm *alg);

#endif

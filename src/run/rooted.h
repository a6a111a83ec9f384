/*
 * rooted.h — a call of a collective with a root, by a plan that waits for no estimates: broadcast, gather, scatter, reduce. Nothing is prepared for it
 * and nothing moves before the call; it changes no lane's epoch but runs beside them, with tags of its own. A gather that goes by
 * estimates is a call like an all-gather: epoch.h. A call of a collective without a root is run in the same way where an algorithm is named for it
 * alone (by_profile.h): for the lane's epochs and what is prepared in it that call is one that the MPI library runs.
 */
#ifndef PAT_ROOTED_H
#define PAT_ROOTED_H

#include "comm.h"

/* `alg`, or what it chooses for so many bytes. Takes the communicator's lock. */
const pat_algorithm *pat_rooted_choose(pat_comm *c, const pat_algorithm *alg, int64_t bytes);

/*
 * Run the call to its end with `alg`. A rank returns when its part is done, as in MPI: a broadcast's root may return before others
 * have called, and call again, as often as credits.h lets it. Without a root no block may be empty. A request may be started on the communicator, on some ranks still and on others no more. Takes the
 * communicator's lock. Returns an MPI error code.
 */
int pat_rooted_run(pat_comm *c, const pat_call *call, const pat_algorithm *alg);

#endif

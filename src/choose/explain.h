/*
 * explain.h — tells a person, on the standard error, why an algorithm was chosen.
 */
#ifndef PAT_EXPLAIN_H
#define PAT_EXPLAIN_H

#include "calibration.h"
#include "history.h"
#include "rival.h"
#include "store.h"

/*
 * Print one line: the algorithms of a collective, what they take by calibration, and the choice. An algorithm that
 * falls back on another one for such a call is printed with that one's name.
 */
void pat_explain(const pat_calibration *c, enum pat_op op, int ranks, int64_t bytes,
                 const pat_algorithm *choice);

/* For this job an algorithm has not its own plan but that of another one. */
void pat_explain_falls_back(const pat_algorithm *alg, const pat_algorithm *on, const pat_job *job);

/* Segments of so many bytes wait for their receivers where these are on the sender's node: only messages up to the limit do not. */
void pat_explain_waits(int ranks, int64_t segment_bytes, int limit_bytes);

/*
 * The same for all-gathers, whose times depend on when ranks call: the MPI library, all who contend with it, and the verdict between it and
 * the least of them.
 */
void pat_explain_arrivals(const pat_outlook *together, const pat_contest *contest, int64_t bytes,
                          enum pat_verdict verdict);

/*
 * Collectives of so many ranks are left to the MPI library, whatever their length, where it is not named who runs them; without background
 * threads only all-gathers are. but_long: on one node long all-gathers are not.
 */
void pat_explain_left(int ranks, enum pat_why why, bool but_long);

/* The contender runs calls of this profile from now on, and no longer the MPI library, or the other way round. */
void pat_explain_change(const pat_profile *profile, const pat_terms *terms, const pat_algorithm *contender,
                        int ranks);

/* Non-blocking calls are run by the other one of the two from now on (by: PAT_REGULAR, PAT_EARLY). */
void pat_explain_rival(const pat_rival *rival, const pat_algorithm *const by[], int ranks);

/* From now on an algorithm that goes by arrivals goes by when ranks came to the last calls, or by what they give as estimates. */
void pat_explain_arrival(const pat_algorithm *alg, int ranks, bool by_last_calls);

/*
 * From now on each call of a collective is run by the algorithm that takes least if ranks come when they say; or no longer so,
 * and why.
 */
void pat_explain_listens(enum pat_op op, int ranks, bool by_estimates, const char *why);

/*
 * A file of the store, or the store itself, is not taken. As pat_store_listener wants it; to: the number of ranks that do not take it, an
 * int, or NULL where that is nobody.
 */
void pat_explain_not_taken(void *to, const char *path, const char *why);

/* So many ranks take this file of the store. */
void pat_explain_taken(int ranks, const char *path);

/* UCX spins while another thread has its lock; this setting of UCX's makes it sleep. */
void pat_explain_ucx(const char *setting);

/* Name the PAT_* variables of this process that are no settings: see pat_config_stray. */
void pat_explain_strays(void);

#endif

/*
 * history.h — the profiles of a lane's calls (profile.h), kept apart by length and by call site. The same on all
 * ranks. Must never call MPI or read a clock.
 *
 * The call site is rank 0's, since ranks may call from different ones. Relay's blocks carry from where rank 0 calls, and from where
 * it called before; so does what ranks tell each other after a measured call (sample.h). Other calls carry nothing. Before a call
 * its site is predicted: it is the one that followed the last call's site the last time. All ranks predict the same one, whatever
 * the program does; a wrong prediction costs time only.
 */
#ifndef PAT_HISTORY_H
#define PAT_HISTORY_H

#include "plan.h"
#include "profile.h"

/*
 * Sizes of two hash tables: of pairs of profiles, by length and call site, and of call sites. In a full pair the
 * profile that was noted longer ago gives way; of two call sites that share an entry the later one is kept.
 */
enum { PAT_PAIRS = 16, PAT_PLACES = 16 };

typedef struct pat_history {
    pat_profile profiles[PAT_PAIRS][2];
    unsigned char newer[PAT_PAIRS]; /* which of a pair was noted last: the other one gives way */
    uint32_t next_of[PAT_PLACES], place[PAT_PLACES]; /* place[i]: a call site; next_of[i]: what followed it */
    uint32_t site;                                   /* of the next call, as predicted; 0: nothing known */
} pat_history;

/* Sum up when all ranks called, and from where rank 0 did; both NULL: it is not known. bytes: the mean length of a block. */
pat_told pat_told_make(const int64_t *arrival_ns, int num_ranks, const pat_carried *rank_0, int64_t bytes,
                       enum pat_runner ran);

/* The number that stands for a call site, which is an address in the program; never 0. */
uint32_t pat_history_site(const void *address);

/*
 * The profile of calls of this length from the call site that is predicted; where there is none, a new one, made in *fresh. Changes
 * nothing in the history, because the background thread asks too, at a time of its own.
 */
const pat_profile *pat_history_look(const pat_history *h, int64_t bytes, pat_profile *fresh);

/* The same of a call that is over, whose call site is known, and need not be the one that was predicted. */
const pat_profile *pat_history_of(const pat_history *h, const pat_told *told, pat_profile *fresh);

/* Learn from a call that is over. Returns its profile if the other runner has such calls from now on; else NULL. */
const pat_profile *pat_history_note(pat_history *h, const pat_terms *terms, const pat_told *told);

#endif

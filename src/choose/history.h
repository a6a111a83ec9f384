/*
 * history.h — the profiles of a communicator's all-gathers (profile.h), kept apart by length and by call site. The same on all
 * ranks. Must never call MPI or look at a clock.
 *
 * Where from: relay's blocks carry where rank 0 has called from, in this call and in the one before, and so does what ranks tell
 * each other of a measured call. Ranks may call from different places, and other calls carry nothing; so the next call's place
 * is foretold: it is the one that followed the last time. Whatever the program does, all ranks foretell the same; a wrong one
 * costs time only.
 */
#ifndef PAT_HISTORY_H
#define PAT_HISTORY_H

#include "plan.h"
#include "profile.h"

enum { PAT_PAIRS = 16, PAT_PLACES = 16 };

typedef struct pat_history {
    pat_profile profiles[PAT_PAIRS][2];
    unsigned char newer[PAT_PAIRS]; /* which of a pair was noted last: the other one gives way */
    uint32_t next_of[PAT_PLACES], place[PAT_PLACES]; /* what followed which place */
    uint32_t site;                                   /* of the next call, as foretold; 0: nothing known */
} pat_history;

/* Sum up when all ranks called, and from where rank 0 did; both NULL: it is not known. */
pat_told pat_told_make(const int64_t *arrival_ns, int num_ranks, const pat_carried *rank_0, int64_t bytes,
                       enum pat_runner ran);

/* Of a place in the program: never 0. */
uint32_t pat_history_site(const void *address);

/*
 * What is known of calls of this length from the place that is foretold; where that is nothing, *fresh, which says so. Changes
 * nothing, because the background thread asks too, at a time of its own.
 */
const pat_profile *pat_history_look(const pat_history *h, int64_t bytes, pat_profile *fresh);

/* A call of told->bytes is over. Returns its profile if another one runs such calls from now on; else NULL. */
const pat_profile *pat_history_note(pat_history *h, const pat_terms *terms, const pat_told *told);

#endif

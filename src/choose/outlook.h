/*
 * outlook.h — what an all-gather will take when ranks call at given times, by calibration and without a plan: cheap enough
 * to be asked in every round, at any number of ranks. Must never call MPI or look at a clock.
 */
#ifndef PAT_OUTLOOK_H
#define PAT_OUTLOOK_H

#include <stdbool.h>

#include "calibration.h"

/* What an application counts: from a rank's call to its return, mean over ranks; or until the last rank returns. */
enum pat_goal { PAT_GOAL_MEAN, PAT_GOAL_LAST };

typedef struct pat_outlook {
    double
        waiting_us; /* how long a rank waits for the last one on average; 0 where only the last return counts */
    double native_us; /* the MPI library's own all-gather: begins when the last rank has called */
    double
        relay_us; /* the contender: the bound (pat_model_bound) of a network on which a block takes what it takes in it */
} pat_outlook;

/* Calls of so many ranks with blocks of so many bytes, and who contends with the MPI library there. */
typedef struct pat_outlook_case {
    const pat_calibration *calibration;
    const pat_algorithm *contender;
    int ranks;
    int64_t bytes;
} pat_outlook_case;

/*
 * Of the MPI library's own all-gather and of the algorithm that contends with it (pat_calibration_contender), relay as a rule.
 * arrival_ns: times that all ranks know, on one clock; NULL: all call at once. native_us and relay_us include waiting_us and count from the
 * call, or for PAT_GOAL_LAST from the last call. NaN where the calibration does not know. Returns 0 or ENOMEM.
 */
int pat_outlook_make(pat_outlook *outlook, const pat_outlook_case *of, const int64_t *arrival_ns,
                     enum pat_goal goal);

/* What calibration says of blocks of one length, whenever ranks come. */
enum pat_verdict { PAT_RELAY_NEVER = 1, PAT_RELAY_ALWAYS, PAT_RELAY_BY_ARRIVALS };

/*
 * Of the outlook when all call at once: where relay is the faster one then it is so always, since it gains by every wait for
 * a late rank; where it takes several times as long it is not even tried.
 */
enum pat_verdict pat_outlook_verdict(const pat_outlook *together);

/* Does the calibration know both native_us and relay_us? */
bool pat_outlook_is_known(const pat_outlook *outlook);

/* Relay, or the MPI library's own? The one that does not run must be ahead clearly. */
bool pat_outlook_relay_pays(const pat_outlook *outlook, bool relay_runs);

#endif

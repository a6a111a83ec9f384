/*
 * outlook.h — what a collective will take when ranks call at given times, by calibration or by the link and measured calls, and
 * without a plan: cheap enough to be asked in every round, at any number of ranks. Must never call MPI or read a clock.
 */
#ifndef PAT_OUTLOOK_H
#define PAT_OUTLOOK_H

#include <stdbool.h>

#include "calibration.h"
#include "model.h"

/* What an application counts: from a rank's call to its return, mean over ranks; or until the last rank returns. */
enum pat_goal { PAT_GOAL_MEAN, PAT_GOAL_LAST };

typedef struct pat_outlook {
    /* How long a rank waits for the last one on average; 0 where only the last return counts. */
    double waiting_us;
    /* What the MPI library's own takes, waiting_us included: it begins when the last rank has called. */
    double native_us;
    /* The same of the contender that takes least, which is relay as a rule. NaN: no contender's time is known. */
    double relay_us;
    const pat_algorithm *contender; /* that one; NULL: no contender's time is known */
    double ran_us;                  /* the same of the one that has run, if it is a contender; 0: not known */
} pat_outlook;

enum { PAT_MOST_CONTENDERS = 12 };

/* What the MPI library and those who contend with it take when all ranks call at once. */
typedef struct pat_contest {
    int ranks;
    double native_us; /* NaN: not known */
    int num;          /* contenders of which it is known */
    struct {
        const pat_algorithm *alg;
        double us, latency_us; /* in all; and of it the latency of all messages; 0: it is not known */
    } of[PAT_MOST_CONTENDERS];
    const pat_algorithm *ran; /* who has run such a call, of which more is to be known; NULL: nobody */
} pat_contest;

/*
 * For blocks of so many bytes. Where ranks give no estimates (announced is false), only those algorithms contend that
 * move data early without them, since a round is made before anybody has said a word; else all algorithms of the
 * collective contend.
 */
void pat_contest_make(pat_contest *contest, const pat_calibration *c, enum pat_op op, int64_t bytes,
                      bool announced);

/*
 * The same without a calibration, by what the link lets expect, before anything is measured: relay_ns is what `relay`, which moves data ahead of the
 * calls, takes when all ranks call at once, and NaN what the MPI library does. Where ranks give estimates, those contend too that move whole blocks early,
 * with what their formulas say; formulas know nothing of messages that wait until they are asked for, so `link` is NULL where blocks do.
 */
void pat_contest_by_link(pat_contest *contest, const pat_algorithm *relay, int64_t relay_ns, int64_t bytes,
                         const pat_cost *link);

/* What a contender takes; NaN: it is none. */
double pat_contest_us(const pat_contest *contest, const pat_algorithm *alg);

/*
 * Algorithms that move data ahead of the calls were measured to take so much longer than it says, or less where it is below 0; steps_off_ns: the same of those that
 * move only whole blocks early. Neither takes less than least_ns.
 */
void pat_contest_mend(pat_contest *contest, int64_t off_ns, int64_t steps_off_ns, int64_t least_ns);

/*
 * Those that move only whole blocks early are still to show what they take: they might do without the latency of their messages, or with still less, if
 * they were measured to take steps_off_ns less than it says.
 */
void pat_contest_hope(pat_contest *contest, int64_t steps_off_ns);

/*
 * Of the contenders that move data early, the one that takes least when all ranks call at once: its rounds are prepared
 * where nothing else is known. Where no contender's time is known, pat_algorithm_contender; NULL: the collective has
 * none.
 */
const pat_algorithm *pat_contest_early(const pat_contest *contest, enum pat_op op);

/*
 * arrival_ns: times that all ranks know, on one clock; NULL: all call at once. native_us and relay_us include waiting_us and count from the
 * call, or for PAT_GOAL_LAST from the last call. Relay and what reduces take the bound (pat_model_bound) of a network on
 * which a block takes what it takes in them; bdr and bslb, that move whole blocks early, have so many steps less to do; any other begins with the last rank. NaN where it is not known. Returns 0 or ENOMEM.
 */
int pat_outlook_make(pat_outlook *outlook, const pat_contest *of, const int64_t *arrival_ns,
                     enum pat_goal goal);

/* What calibration says of blocks of one length, whenever ranks come. */
enum pat_verdict { PAT_RELAY_NEVER = 1, PAT_RELAY_ALWAYS, PAT_RELAY_BY_ARRIVALS };

/*
 * Of the outlook when all call at once: where relay is clearly the faster one then it is so always, since it gains by every wait for
 * a late rank; where it takes several times as long it is not even tried. Another one that is the faster then need not be so always.
 */
enum pat_verdict pat_outlook_verdict(const pat_outlook *together);

/*
 * The same without a calibration, from the link alone. block_ns: what it needs for a block; alpha_ns: its latency; wake_ns: what a background
 * thread takes to pass a block on. Where either is longer than the block nothing is gained by passing it on.
 */
enum pat_verdict pat_outlook_verdict_by_link(int64_t block_ns, int64_t alpha_ns, int64_t wake_ns);

/* Are both native_us and relay_us known? */
bool pat_outlook_is_known(const pat_outlook *outlook);

/* Relay, or the MPI library's own? The one that does not run must be ahead clearly. */
bool pat_outlook_relay_pays(const pat_outlook *outlook, bool relay_runs);

/* Relay in one call, by a calibration that says nothing of how the program's own calls differ from its: ahead by more than these do. */
bool pat_outlook_surely_pays(const pat_outlook *outlook);

#endif

/*
 * sample.h — a measured call: when it is over, ranks tell each other when they began and ended it, whether the MPI library or a plan
 * has run it. The next call on the communicator hears all of it (tell.h) before it is chosen who runs it: so all ranks choose by the same.
 *
 * The caller of all these holds the communicator's lock. Those that return int return MPI error codes where nothing else is said.
 */
#ifndef PAT_SAMPLE_H
#define PAT_SAMPLE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan.h"
#include "profile.h"
#include "tell.h"

/* What a rank says of a call. */
typedef struct pat_said {
    pat_carried carried; /* arrival and call site, as blocks carry them */
    int64_t edged;       /* 1: it had given an estimate of its arrival */
    int64_t exit_ns;     /* when it returned, on the ranks' common clock */
    int64_t cost_ns;     /* what it has spent on telling this of the last measured call; 0: there was none */
} pat_said;

typedef struct pat_sample {
    bool under_way, sent;
    pat_tell tell;
    const pat_algorithm *alg; /* which ran the call */
    int64_t bytes;            /* of a block, on average */
    int64_t spent_ns;         /* on the one under way, or the last one: see cost_ns */
    pat_said mine, *all;      /* all: one per rank */
} pat_sample;

int pat_sample_init(pat_sample *s, const pat_tellers *who); /* 0 or ENOMEM */
void pat_sample_free(pat_sample *s);                        /* not while it is under way */

/*
 * The call is over on this rank. So that it returns at once, what it says is not sent here but by the first pat_sample_test, or
 * pat_sample_pass that begins. mine: what this rank says; the time of its return and the cost are added here.
 */
void pat_sample_begin(pat_sample *s, const pat_algorithm *alg, int64_t bytes, pat_said mine);

/* Has this rank something to say of a measured call, or to pass on? */
static inline bool pat_sample_owes(const pat_sample *s)
{
    return s->under_way && !s->tell.failed && (!s->sent || !pat_tell_is_over(&s->tell));
}

/*
 * Pass on what others say of the same call; begins: and say what this rank has to, which the thread puts off a little. *moved: set where
 * something has come. The caller holds pat_rt.driving.
 */
int pat_sample_pass(pat_sample *s, bool begins, bool *moved);

/*
 * Say it, if that is still to be done, and see whether all have: then it is no longer under way. *moved: set where something has come.
 * The caller holds pat_rt.driving.
 */
int pat_sample_test(pat_sample *s, bool *moved);

#endif

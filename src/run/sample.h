/*
 * sample.h — a measured call: when it is over, ranks tell each other when they began and ended it, whether the MPI library or a plan
 * has run it. That is a non-blocking all-gather, which the next call on the communicator completes before it is chosen who runs
 * it: so all ranks choose by the same.
 *
 * Where calls go by estimates, in whatever lane, this all-gather has a communicator of its own, made by the first such measured call: estimates
 * are exchanged on the library's other one, by some ranks before the end of a measured call and by some after it, and MPI wants the
 * collectives of a communicator in the same order on all ranks.
 *
 * The caller of all these holds the communicator's lock. All return MPI error codes.
 */
#ifndef PAT_SAMPLE_H
#define PAT_SAMPLE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan.h"
#include "profile.h"

/* What a rank says of a call. */
typedef struct pat_said {
    pat_carried carried; /* arrival and call site, as blocks carry them */
    int64_t edged;       /* 1: it had given an estimate of its arrival */
    int64_t exit_ns;     /* when it returned, on the ranks' common clock */
    int64_t cost_ns;     /* what it has spent on telling this of the last measured call; 0: there was none */
} pat_said;

typedef struct pat_sample {
    MPI_Comm comm; /* MPI_COMM_NULL: there is none yet */
    bool under_way, sent;
    MPI_Comm on; /* where it is sent */
    MPI_Request request;
    enum pat_runner ran; /* who ran the call */
    int64_t bytes;       /* of a block, on average */
    int64_t spent_ns;    /* on the one under way, or the last one: see cost_ns */
    pat_said mine, *all; /* all: one per rank, made with the communicator's state */
} pat_sample;

/* From now on it is told on a communicator of its own. Collective over `user`, and called when all ranks have called a collective there. */
int pat_sample_apart(pat_sample *s, MPI_Comm user);

/*
 * The call on `user` is over on this rank. So that it returns at once, what it says is not sent here but by the first
 * pat_sample_test. own: the library's communicator for `user`. mine: what this rank says; the time of its return and
 * the cost are added here.
 */
int pat_sample_begin(pat_sample *s, MPI_Comm own, enum pat_runner ran, int64_t bytes, pat_said mine);

/* Say it, if that is still to be done, and see whether all have: then it is no longer under way. The caller holds pat_rt.driving. */
int pat_sample_test(pat_sample *s);

#endif

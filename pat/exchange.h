/*
 * exchange.h — every rank tells every other when it expects to arrive, exactly once per epoch.
 *
 * An epoch of estimates goes from the end of one call that waits for them to the end of the next such call, in
 * whichever lane and whoever runs it. A call that needs no estimates leaves it as it is, so it is not the epoch that a
 * lane counts (lane.h). A rank contributes after a PAT_Edge, or else at its call, or else when the communicator is
 * settled or freed, which ends the epoch without a call. Nothing is known before all ranks have contributed: there is no local
 * time-out and no substitute, so all ranks see the same estimates.
 */
#ifndef PAT_EXCHANGE_H
#define PAT_EXCHANGE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "tell.h"

#define PAT_NO_CALL (-1) /* a pat_estimate.token: this rank expects no call */

enum pat_certain {
    PAT_GUESSED,  /* by what has been called before */
    PAT_CERTAIN,  /* it has called, or settles: `token` is no guess */
    PAT_FOR_EVER, /* it has freed the communicator: no call comes any more */
};

typedef struct pat_estimate {
    int64_t arrival_ns; /* on the ranks' common clock */
    int64_t
        token; /* what it will call: a number that stands for a collective and its blocks, or PAT_NO_CALL */
    int64_t certain;  /* enum pat_certain */
    int64_t silent;   /* 1: it has never given a milestone */
    int64_t doubt_ns; /* by how much this rank's estimates were wrong lately */
} pat_estimate;

enum pat_exchange_state {
    PAT_EXCHANGE_NONE,   /* this rank has not contributed */
    PAT_EXCHANGE_POSTED, /* it has, and others are awaited */
    PAT_EXCHANGE_DONE,   /* all have */
};

typedef struct pat_exchange {
    enum pat_exchange_state state;
    pat_tell tell;
    int64_t posted_ns; /* local clock */
    pat_estimate mine;
    pat_estimate *all;      /* one per rank; valid in state DONE */
    int64_t expected_token; /* state DONE: what the ranks agree will be called, or PAT_NO_CALL */
} pat_exchange;

int pat_exchange_init(pat_exchange *x, const pat_tellers *who); /* 0 or ENOMEM */
void pat_exchange_free(pat_exchange *x);                        /* not while POSTED */

/*
 * Contribute. All ranks contribute to the same epochs in the same order. now_ns: the local time. Returns an MPI error code; also
 * after an error the state is POSTED, since MPI may still write to *x.
 */
int pat_exchange_post(pat_exchange *x, pat_estimate mine, int64_t now_ns);

/* See whether all have contributed; state becomes DONE when so. *moved: set where something has come. Returns an MPI error code. */
int pat_exchange_test(pat_exchange *x, bool *moved);

/* Has every rank said that no call comes, and was at least so certain? In state DONE; else false. All ranks see the same. */
bool pat_exchange_no_call(const pat_exchange *x, enum pat_certain certain);

/* The next epoch begins: back to PAT_EXCHANGE_NONE. Not while POSTED. */
void pat_exchange_reset(pat_exchange *x);

#endif

/*
 * ahead_state.h — what a communicator keeps of non-blocking all-gathers whose rounds may be made before the call: ahead.h. What it holds when a certain call begins is the same
 * on all members, but for own_took_us.
 */
#ifndef PAT_AHEAD_STATE_H
#define PAT_AHEAD_STATE_H

#include "algorithms.h"
#include "link.h"
#include "pending.h"
#include "rival.h"

/* A call, and what its blocks have told of it and of the one PAT_PENDING_SLOTS before it. */
typedef struct pat_ahead_call {
    bool known;           /* they have */
    bool is_try;          /* see rival.h, as for the next one */
    int who;              /* has run it */
    int64_t bytes;        /* of a block, on average */
    int64_t came_ns;      /* when ranks called, the mean, by the ranks' common clock; */
    int64_t last_ns;      /* when the last one did, */
    int64_t apart_ns;     /* and how long after the first */
    int64_t before_us;    /* what the earlier one took a rank, the mean; 0: not known */
    uint32_t own_took_us; /* what this one took this rank; 0: it is not over */
} pat_ahead_call;

/* For so many lengths it is known who of the two takes less; the one that has not been called for longest gives way. */
enum { PAT_AHEAD_RIVALS = 8 };

typedef struct pat_ahead {
    const pat_algorithm *alg;   /* who was to run the last call that was started; NULL: none was */
    const pat_algorithm *rival; /* or who else; NULL: there is nobody */
    pat_link link;              /* what messages take, for its plan */
    int64_t number;             /* so many have been started, */
    int64_t learnt;             /* so many have been learnt from, */
    int64_t asks_until;         /* and calls below this number are to tell what they took */
    pat_ahead_call calls[2 * PAT_PENDING_SLOTS]; /* by number */
    pat_rival rivals[PAT_AHEAD_RIVALS];
    int64_t used[PAT_AHEAD_RIVALS]; /* the number of the last call of each */
} pat_ahead;

#endif

/*
 * rival.h — two algorithms may run calls of one length: one that moves data before the last rank has called, and one that does not. Which one takes less is found by
 * trying, from the moment at which the last rank has called: the one that is not in use runs some calls of that length, and takes over if it takes clearly less; else it is
 * tried again after twice as many calls. Where ranks come apart as they did not when it lost, or calls take longer than they would by the other one, it is tried sooner.
 * Must never call MPI, read a clock or keep anything of its own: what all ranks know alike comes in, and so all decide alike.
 *
 * What a call took is known some calls later (ahead.h), so between a try and its verdict other calls run.
 */
#ifndef PAT_RIVAL_H
#define PAT_RIVAL_H

#include <stdbool.h>
#include <stdint.h>

enum { PAT_REGULAR, PAT_EARLY, PAT_NUM_RIVALS };

typedef struct pat_rival {
    int64_t bytes; /* of a block, on average; 0: free */
    int calls;     /* that have been run, as far as they count (pat_rival_asks) */
    int in_use;    /* one of the two */
    int tried;     /* calls that the other one has run in this try, */
    int answers;   /* and of how many of them it is known what they took */
    int left, gap; /* calls until it is tried, and what that began with */
    int changes;   /* how often another one was in use from then on, as far as that counts */
    int64_t past_ns
        [PAT_NUM_RIVALS]; /* what calls by either took past the last arrival: a mean that fades; 0: not known */
    int num_past[PAT_NUM_RIVALS]; /* of how many calls that is, as far as they count */
    int64_t apart_ns,
        lost_apart_ns; /* how far apart ranks came, a mean that fades: now, and when a try was lost */
} pat_rival;

/* Of calls with blocks of so many bytes, of which the first are run by this one. */
pat_rival pat_rival_begin(int64_t bytes, int first);

/* Who runs the next call. least_ns: a call that takes less than this is not worth a try. Changes nothing. */
int pat_rival_next(const pat_rival *rival, int64_t least_ns);

/* Is it to be told what the next call takes, if this one runs it? That costs a short call up to a tenth of its time. */
bool pat_rival_asks(const pat_rival *rival, int who);

/* A call begins that this one runs. Returns whether it is one of a try. */
bool pat_rival_ran(pat_rival *rival, int who);

/* What is known of a call that is over. */
typedef struct pat_rival_told {
    int who;          /* ran it */
    bool is_try;      /* as pat_rival_ran has said */
    int64_t past_ns;  /* until a rank had its result, past the last arrival, mean over ranks */
    int64_t apart_ns; /* from the first arrival to the last */
} pat_rival_told;

/* Learn from it. Calls are told of in the order in which they began, and those of a try always. Returns whether the other one is in use from now on. */
bool pat_rival_learn(pat_rival *rival, const pat_rival_told *told);

#endif

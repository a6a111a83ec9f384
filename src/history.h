/*
 * history.h — what the ranks of a communicator have told each other of its all-gathers, and which algorithm that speaks for:
 * from which place in the program they are called, when ranks came, how long the calls took. Kept apart for every length and
 * place. All of it is the same on all ranks, because it decides what runs: it must never take in a time or a place that has
 * not travelled with data. Must never call MPI or look at a clock.
 *
 * Where: relay's blocks carry where rank 0 has called from, in this call and in the one before. Ranks may call from different
 * places, and a call that the MPI library runs carries nothing; so the next call's place is foretold: it is the one that
 * followed the last time. Whatever the program does, all ranks foretell the same; a wrong one costs time only.
 */
#ifndef PAT_HISTORY_H
#define PAT_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "outlook.h"
#include "plan.h"

enum pat_runner { PAT_BY_MPI, PAT_BY_RELAY, PAT_NUM_RUNNERS };

/* Why it is that one. */
enum pat_why {
    PAT_WHY_NOT_KNOWN,
    PAT_WHY_ASKED,          /* the user has named it */
    PAT_WHY_SHORT,          /* too short to gain anything */
    PAT_WHY_FIRST,          /* the communicator's first calls, which may be its only ones */
    PAT_WHY_LONG,           /* blocks so long that relay should not lose, by the link or by calibration */
    PAT_WHY_LEAST,          /* the least time by calibration */
    PAT_WHY_APART,          /* ranks come far apart */
    PAT_WHY_TOGETHER,       /* ranks come together */
    PAT_WHY_SLOWER,         /* the other one was measured to be slower */
    PAT_WHY_COMPARE,        /* to see what the other one takes, or when ranks come */
    PAT_WHY_NOT_CALIBRATED, /* operations with a root go by calibration only */
    PAT_WHY_ONE_NODE,       /* all ranks are on one node */
    PAT_WHY_ONE_RANK,       /* there is nobody else */
    PAT_WHY_GROUPS,         /* between groups, or with ranks of another job */
    PAT_WHY_NO_THREAD,      /* some rank has no background thread: nothing could move early */
    PAT_WHY_TAGS,           /* the MPI library has too few tags for so many ranks */
    PAT_WHY_CANNOT,         /* nothing that a plan can run: no bytes, too many, wrong arguments */
    PAT_NUM_WHYS
};

enum { PAT_LATELY = 2, PAT_SAMPLES = 3, PAT_HABITS = 16, PAT_PLACES = 16 };

/* All-gathers of one length from one place. */
typedef struct pat_habit {
    int64_t bytes; /* of a block, on average; 0: free */
    uint16_t site;
    enum pat_verdict verdict;         /* 0: not judged yet */
    bool slower;                      /* relay was measured to be slower than the MPI library */
    int left;                         /* calls until the other one is tried; below 0: it is, once more */
    int gap;                          /* so many the next time */
    int64_t spread_ns[PAT_LATELY];    /* first to last arrival of the last rounds that told */
    pat_outlook outlooks[PAT_LATELY]; /* what these would have taken, by calibration */
    int64_t num_rounds;               /* ever */
    enum pat_runner last;             /* who ran the last call */
    int64_t waited_ns; /* in it, for the last rank, mean over ranks; if the MPI library has: as lately */
    bool is_timed;     /* it is known how long calls that relay ran took: there is something to compare */
    int64_t round_waited_ns[PAT_LATELY];           /* for the last rank, in the same rounds as spread_ns */
    int64_t took_ns[PAT_NUM_RUNNERS][PAT_SAMPLES]; /* the last calls of either, without that */
    int64_t num_took[PAT_NUM_RUNNERS];
    uint32_t
        my_took; /* the only thing here that is this rank's own: the last call, for the next one to carry */
} pat_habit;

typedef struct pat_history {
    pat_habit habits[PAT_HABITS];
    uint16_t next_of[PAT_PLACES], place[PAT_PLACES]; /* what followed which place */
    uint16_t site;                                   /* of the next call, as foretold; 0: nothing known */
} pat_history;

/* A round that relay has run, as its blocks have told. */
typedef struct pat_told {
    int64_t bytes;            /* 0: none */
    int64_t spread_ns;        /* first to last arrival; below 0: the blocks carried nothing */
    int last_rank;            /* who came last; of several the lowest */
    int64_t waited_ns;        /* for it, mean over ranks */
    int64_t took_ns;          /* the call of this kind before, mean over ranks; 0: not known */
    uint16_t site, last_site; /* rank 0's */
    pat_outlook outlook;
} pat_told;

/* Sum up what was carried by all ranks' blocks; NULL: nothing was. */
pat_told pat_told_make(const pat_carried *carried, int num_ranks, int64_t bytes);

/* Of a place in the program: never 0. */
uint16_t pat_history_site(const void *address);

/*
 * What is known of calls of this length from the place that is foretold; where that is nothing, *fresh, which says so. Changes
 * nothing, because the background thread asks too, at a time of its own.
 */
const pat_habit *pat_history_look(const pat_history *h, int64_t bytes, pat_habit *fresh);

/* Who runs the next call of this habit? block_ns: how long the link needs for a block. */
enum pat_runner pat_habit_runner(const pat_habit *habit, enum pat_verdict verdict, int num_ranks,
                                 int64_t block_ns, enum pat_why *why);

/*
 * Relay has run a call of this length, and told; it took this rank my_took, in PAT_TOOK_NS, 0: not known. `verdict`: of the
 * length. Returns the habit if relay was now measured to be slower, or no longer; else NULL.
 */
const pat_habit *pat_history_relay_ran(pat_history *h, const pat_told *told, enum pat_verdict verdict,
                                       int64_t block_ns, uint32_t my_took);

/* The MPI library has. */
void pat_history_mpi_ran(pat_history *h, int64_t bytes, enum pat_verdict verdict, uint32_t my_took);

/* So many nanoseconds as they are carried. */
uint32_t pat_history_took(int64_t ns);

/* The median of the last calls by either, in ns; 0: too few. */
int64_t pat_habit_took_ns(const pat_habit *habit, enum pat_runner runner);

/* Mean over the last rounds that told. */
pat_outlook pat_habit_lately(const pat_habit *habit);

/* For people: "ranks come together". */
const char *pat_why_text(enum pat_why why);

#endif

/*
 * profile.h — what is known of the all-gathers of one length from one call site, and who is to run the next one: the MPI library
 * or relay. It is decided by measurement: from the moment at which the last rank has called, what takes longer gives way after a
 * few calls, whatever the reason. All of it is the same on all ranks, because it decides what runs: it must never take in a
 * time or a place that has not travelled to all ranks. Must never call MPI or look at a clock.
 */
#ifndef PAT_PROFILE_H
#define PAT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "outlook.h"

enum pat_runner { PAT_BY_MPI, PAT_BY_RELAY, PAT_NUM_RUNNERS };

/* Why it is that one. */
enum pat_why {
    PAT_WHY_NOT_KNOWN,
    PAT_WHY_ASKED,          /* the user has named it */
    PAT_WHY_SHORT,          /* too short to gain anything */
    PAT_WHY_FIRST,          /* the communicator's first calls, which may be its only ones */
    PAT_WHY_LONG,           /* blocks so long that relay should not lose, by the link or by calibration */
    PAT_WHY_FASTER,         /* measured against the other one */
    PAT_WHY_LEAST,          /* the least time by calibration */
    PAT_WHY_APART,          /* ranks come far apart */
    PAT_WHY_TOGETHER,       /* ranks come together */
    PAT_WHY_SLOWER,         /* the other one was measured to be slower */
    PAT_WHY_NO_GAIN,        /* the MPI library takes no longer than the link needs */
    PAT_WHY_LATER,          /* relay is to be tried, but not yet */
    PAT_WHY_COMPARE,        /* to see what the other one takes, or when ranks come */
    PAT_WHY_NOT_CALIBRATED, /* operations with a root go by calibration only */
    PAT_WHY_BY_NAME,        /* algorithms of this collective run only where the user has named one */
    PAT_WHY_ONE_NODE,       /* all ranks are on one node */
    PAT_WHY_ONE_RANK,       /* there is nobody else */
    PAT_WHY_GROUPS,         /* between groups, or with ranks of another job */
    PAT_WHY_NO_THREAD,      /* some rank has no background thread: nothing could move early */
    PAT_WHY_TAGS,           /* the MPI library has too few tags for so many ranks */
    PAT_WHY_CANNOT,         /* nothing that a plan can run: no bytes, too many, wrong arguments */
    PAT_NUM_WHYS
};

enum { PAT_LATELY = 2, PAT_SAMPLES = 3 };

/* A call that is over, as all ranks know it. */
typedef struct pat_told {
    int64_t bytes;       /* of a block, on average; 0: nothing to learn */
    enum pat_runner ran; /* who ran it */
    int64_t spread_ns;   /* first to last arrival; below 0: not known */
    int last_rank;       /* who came last; of several the lowest */
    int64_t waited_ns;   /* for it, mean over ranks */
    int64_t past_ns; /* from the last arrival to a rank's return, mean over ranks; below 0: not measured */
    uint32_t site, last_site; /* where rank 0 called from, in this call and in the one before; 0: not known */
    pat_outlook outlook;      /* what these arrivals would have taken, by calibration */
} pat_told;

/* What does not depend on earlier calls. */
typedef struct pat_terms {
    enum pat_verdict verdict;
    int64_t block_ns; /* how long the link needs for a block */
    int64_t least_ns; /* the link cannot take less when all call at once, nor can relay */
    bool
        relay_first; /* on such a network relay was not found to be slower: it begins; else the MPI library does */
    /* Several ranks share a node, and no calibration says what relay takes there: tries are held back. */
    bool many_a_node;
} pat_terms;

typedef struct pat_profile {
    int64_t bytes; /* of a block, on average; 0: free */
    uint32_t site;
    enum pat_runner in_use; /* of no account before the first call */
    bool used;              /* has there been a call? */
    int left;               /* calls until one is measured that may be the other's */
    int gap;                /* so many the next time */
    int looks; /* measured calls by the MPI library since relay was last tried and lost, or ever; many: relay has run */
    int losses;                    /* tries that relay has lost, one after the other */
    int64_t spread_ns[PAT_LATELY]; /* of the last calls whose arrivals are known */
    pat_outlook outlooks[PAT_LATELY];
    int64_t num_rounds;                            /* of these, ever */
    int64_t past_ns[PAT_NUM_RUNNERS][PAT_SAMPLES]; /* of the last calls of either that were measured */
    int num_past[PAT_NUM_RUNNERS];
} pat_profile;

typedef struct pat_next {
    enum pat_runner runner;
    bool measured; /* ranks are to tell each other when it began and ended */
    enum pat_why why;
} pat_next;

/* Who runs the next call? */
pat_next pat_profile_next(const pat_profile *p, const pat_terms *terms);

/* Who does where it cannot be measured? */
pat_next pat_profile_plain(const pat_profile *p, const pat_terms *terms);

/* A call is over. Returns whether another one runs from now on. */
bool pat_profile_note(pat_profile *p, const pat_terms *terms, const pat_told *told);

/* A call was run as this profile says, but turned out to belong to another one. */
void pat_profile_pass(pat_profile *p);

/* What takes the place of another profile takes on its wait: else two that share a place would be measured in every call. */
pat_profile pat_profile_after(const pat_profile *old, int64_t bytes, uint32_t site);

/* The median of the last measured calls by either, in ns; 0: none. */
int64_t pat_profile_past_ns(const pat_profile *p, enum pat_runner runner);

/* Mean over the last rounds that told. */
pat_outlook pat_profile_lately(const pat_profile *p);

/* For people: "ranks come together". */
const char *pat_why_text(enum pat_why why);

#endif

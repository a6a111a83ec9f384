/*
 * profile.h — what is known of the calls of one collective and length from one call site, and who is to run the next one: the MPI library
 * or relay. It is decided by measurement, from the moment at which the last rank has called: whichever takes longer gives way after
 * a few calls, whatever the reason. A measured call is one after which the ranks tell each other when they began and ended it; a try
 * is a measured call by the one that is not in use. All of a profile is the same on all ranks, because it decides what runs: it must
 * never take in a time or a call site that has not travelled to all ranks. Must never call MPI or read a clock.
 */
#ifndef PAT_PROFILE_H
#define PAT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "outlook.h"

/*
 * "Relay" stands for whichever algorithm moves data early; PAT_BY_REGULAR for one of ours that does not, and that runs where a calibration
 * says that it takes less than the MPI library's own.
 */
enum pat_runner { PAT_BY_MPI, PAT_BY_RELAY, PAT_BY_REGULAR, PAT_NUM_RUNNERS };

/* Why this one runs a call. */
enum pat_why {
    PAT_WHY_NOT_KNOWN,
    PAT_WHY_ASKED,          /* the user has named it */
    PAT_WHY_SHORT,          /* too short to gain anything */
    PAT_WHY_FIRST,          /* the communicator's first calls, which may be its only ones */
    PAT_WHY_LONG,           /* blocks are so long that relay should not lose, by the link or by calibration */
    PAT_WHY_FASTER,         /* it was measured to be faster than the other one */
    PAT_WHY_LEAST,          /* the least time by calibration */
    PAT_WHY_APART,          /* ranks come far apart */
    PAT_WHY_TOGETHER,       /* ranks come together */
    PAT_WHY_SLOWER,         /* the other one was measured to be slower */
    PAT_WHY_NO_GAIN,        /* the MPI library takes no longer than the link needs */
    PAT_WHY_SAID,           /* ranks have said when they come */
    PAT_WHY_LATER,          /* relay is to be tried, but not yet */
    PAT_WHY_COMPARE,        /* to see what the other one takes, or when ranks come */
    PAT_WHY_NOT_CALIBRATED, /* collectives with a root go by calibration only */
    PAT_WHY_BY_NAME,        /* algorithms of this collective run only where the user has named one */
    PAT_WHY_ONE_NODE,       /* all ranks are on one node */
    PAT_WHY_ONE_RANK,       /* there is nobody else */
    PAT_WHY_GROUPS,         /* an inter-communicator, or one with ranks of another job */
    PAT_WHY_NO_THREAD,      /* some rank has no background thread: nothing could move early */
    PAT_WHY_TAGS,           /* the MPI library has too few tags for so many ranks */
    PAT_WHY_NODES,          /* several ranks share a node, which the algorithm does not heed */
    PAT_WHY_TWO,            /* there are two ranks, and the MPI library's data is early as well */
    PAT_WHY_REQUEST,        /* a request is started on the communicator, beside which no plan runs */
    PAT_WHY_ORDER,          /* operands are to be joined in the MPI library's order */
    PAT_WHY_LIBRARY,        /* the MPI library does not call this one, so that calls would stand still */
    PAT_WHY_MEANWHILE,      /* a non-blocking call, whose data is to move while the ranks do something else */
    PAT_WHY_LENGTHS, /* how long blocks are only their two ranks know, and what was to run the call has to know more */
    PAT_WHY_AS_FAST, /* every block goes through its root's link once, or its two ranks', whoever runs it */
    PAT_WHY_PERSISTENT, /* persistent, and ranks may use a form with large counts for which there are no plans */
    PAT_WHY_CANNOT,     /* nothing that a plan can run: no bytes, too many, wrong arguments */
    PAT_NUM_WHYS
};

/*
 * So many calls are kept of which it is known when ranks came; and so many measured ones of each runner. PAT_ALL_APART:
 * the value of pat_profile.often_apart if ranks came far apart in every call.
 */
enum {
    PAT_LATELY = 2,
    PAT_SAMPLES = 3,
    PAT_ALL_APART = 1 << 10,
    PAT_MOST_MISSES = 2,
    PAT_MOST_GAP =
        64, /* calls by the MPI library between two looks at when ranks come, or two tries of relay */
    PAT_MOST_TRY = 1024 /* calls by one of ours between two tries of the MPI library */
};

/* A call that is over, as all ranks know it. */
typedef struct pat_told {
    int64_t bytes;            /* of a block, on average; 0: nothing to learn */
    enum pat_runner ran;      /* who ran it */
    const pat_algorithm *alg; /* which algorithm did, of a measured call; NULL: not known */
    int64_t spread_ns;        /* first to last arrival; below 0: not known */
    int last_rank;            /* who came last; of several the lowest */
    int64_t doubt_ns;  /* of a call that ranks have announced: by how much that may be wrong; 0 of others */
    int64_t waited_ns; /* how long ranks waited for it to come, mean over ranks */
    int64_t past_ns; /* past the last arrival, until a rank returns, mean over ranks; below 0: not measured */
    /* Of a measured call: when rank 0 called, and what measuring costs a rank beside the call, mean over ranks; 0: not known. */
    int64_t came_ns, cost_ns;
    uint32_t site, last_site; /* where rank 0 called from, in this call and in the one before; 0: not known */
    pat_outlook outlook;      /* what either runner would have taken with these arrivals, by calibration */
} pat_told;

/* What a choice depends on beside earlier calls. */
typedef struct pat_terms {
    enum pat_verdict verdict;
    int64_t block_ns; /* how long the link needs for a block */
    /* What the link needs for the whole call when all call at once: nobody takes less. */
    int64_t least_ns;
    /* What relay is reckoned to take beyond it: a latency for each block, and a background thread that wakes to pass it on. */
    int64_t beyond_ns;
    /* What the best that moves data early takes by a calibration when all call at once, and what the MPI library does; 0: not known. */
    int64_t early_ns, native_ns;
    bool announced; /* ranks say in advance when they come */
    bool reckoned;  /* outlooks are made with these two, and not by a calibration */
    bool
        relay_first; /* relay runs the first calls, since on such networks it was not found slower; else the MPI library does */
    /* Several ranks share a node, and no calibration says what relay takes there: tries are held back. */
    bool many_a_node;
} pat_terms;

typedef struct pat_profile {
    int64_t bytes; /* of a block, on average; 0: free */
    uint32_t site;
    enum pat_runner in_use;  /* who runs the calls; has no meaning before the first one */
    enum pat_runner sampled; /* who ran the last measured call */
    bool used;               /* has there been a call? */
    int left;                /* calls until one is measured, which may be a try */
    int gap;                 /* what `left` began with, and grows from */
    int calls;       /* by the MPI library since relay lost a try, or ever; at its most once relay has won */
    int losses;      /* tries that relay has lost, one after the other */
    int most_gap;    /* calls between two measured ones, at most, so that they are not felt; -1: not known */
    int since;       /* calls since the last measured one */
    int64_t came_ns; /* when rank 0 came to that; 0: not known */
    bool
        seldom; /* is it so long between calls that telling each other something before each of them is not felt? */
    int64_t far_ns;                   /* by tries: ranks that come so far apart gain by relay; 0: not known */
    int64_t lost_ns;                  /* how far apart they came where relay lost all the same, at most */
    int64_t spread_ns[PAT_LATELY];    /* first to last arrival, of the last calls of which that is known */
    pat_outlook outlooks[PAT_LATELY]; /* of the same calls */
    int64_t num_rounds;               /* how many such calls there have been */
    int num_announced;                /* measured calls that ranks had announced, as far as they count */
    int often_apart; /* how many of the last ones found ranks far apart: a mean that fades, in parts of PAT_ALL_APART */
    int64_t
        off_ns; /* by how much longer calls by relay were measured to take than was reckoned: a mean that fades */
    int64_t steps_off_ns; /* the same of those that move only whole blocks early */
    int num_steps;        /* measured calls by these, as far as they count */
    int misses; /* calls in which such a one was to be measured, and was not: at most PAT_MOST_MISSES */
    int since_past[PAT_NUM_RUNNERS]; /* calls since the last measured one of each; at most PAT_MOST_TRY */
    int turns; /* how often one that moves nothing early was measured after the MPI library, or the other way round */
    int64_t past_ns[PAT_NUM_RUNNERS]
                   [PAT_SAMPLES];  /* of the last measured calls of either runner: see pat_told */
    int64_t apart_ns[PAT_SAMPLES]; /* from first to last arrival, in those by relay */
    int num_past[PAT_NUM_RUNNERS];
} pat_profile;

typedef struct pat_next {
    enum pat_runner runner;
    bool measured; /* ranks are to tell each other when it began and ended */
    enum pat_why why;
} pat_next;

/*
 * Did most of relay's measured calls take ns, less what it could do while the last rank was awaited, or up to so many percent less or more?
 */
bool pat_profile_took_about(const pat_profile *p, int64_t ns, int less_percent, int more_percent);

/* So many calls by relay between two by the MPI library that these are not felt by what they take longer. Less is to be believed of a single one. */
int pat_profile_not_felt(const pat_profile *p, const pat_terms *terms);

/* Was the call one of the first two measured ones by what moves only whole blocks early, reckoned by the link? It says nothing for relay, or against it. */
bool pat_profile_is_hoped(const pat_profile *p, const pat_terms *terms, const pat_told *told);

/*
 * Is the next call to show what those take that move only whole blocks early, by the link? It is due to be measured, and they were measured less than twice: a
 * first call, which may have opened connections, does not say it alone. Not where calls that were due were not measured, as those of started requests are not; nor
 * where several ranks share a node, of which formulas know nothing.
 */
bool pat_profile_hopes_for_steps(const pat_profile *p, const pat_terms *terms);

/* Who runs a call of which a calibration says that an algorithm that moves nothing early takes less than the MPI library? is_look: it is due to be measured. */
enum pat_runner pat_profile_regular(const pat_profile *p, bool is_look);

/* What one of our algorithms counts as. */
enum pat_runner pat_profile_runner(const pat_algorithm *alg);

/* Who runs the next call, which may be measured? */
pat_next pat_profile_next(const pat_profile *p, const pat_terms *terms);

/* Who runs it where it cannot be measured? */
pat_next pat_profile_plain(const pat_profile *p, const pat_terms *terms);

/* Were ranks lately so wrong in what they say that it counts for no more than the last calls where they say that they come apart? */
bool pat_profile_doubts(const pat_told *said);

/*
 * Who runs the next call where ranks have said when they come to it? said: what they have said, with an outlook where
 * there is one. PAT_BY_REGULAR stands for the outlook's contender.
 */
enum pat_runner pat_profile_said(const pat_profile *p, const pat_terms *terms, const pat_told *said);

/* Does what ranks have said of a call teach something, where the call is not measured? said->ran: who runs it. */
bool pat_profile_hears(const pat_profile *p, const pat_terms *terms, const pat_told *said);

/* What a call that is over shows of what was reckoned: pat_profile_note sees to it. */
void pat_profile_note_off(pat_profile *p, const pat_terms *terms, const pat_told *told);

/* Learn from a call that is over. Returns whether another runner is in use from now on. */
bool pat_profile_note(pat_profile *p, const pat_terms *terms, const pat_told *told);

/* A call was run as this profile said, but its call site was another one's: it counts as a call here, and teaches nothing. */
void pat_profile_pass(pat_profile *p);

/* A new profile in the place of an old one. It goes on with the old one's `left`: else two that share a place would be measured in every call. */
pat_profile pat_profile_after(const pat_profile *old, int64_t bytes, uint32_t site);

/*
 * What a call by this runner takes past the last arrival (pat_told.past_ns): the median of the last measured ones; 0:
 * none.
 */
int64_t pat_profile_past_ns(const pat_profile *p, enum pat_runner runner);

/*
 * The same, but of two measured calls the shorter one: a first call that took long is not to speak for the other
 * runner.
 */
int64_t pat_profile_least_ns(const pat_profile *p, enum pat_runner runner);

/*
 * What a call by either is reckoned to take. Where relay is proven, the median of the last measured ones, and of two the mean. Where it is
 * not, the best that the MPI library was measured to do stands against the mean of relay's calls: a first call that took long is not to
 * speak for relay, and a call of relay that stood still is to speak against it.
 */
int64_t pat_profile_cost_ns(const pat_profile *p, const pat_terms *terms, enum pat_runner runner);

/* What relay took past the last arrival in measured calls in which ranks came about as far apart or further, the mean; 0: there are not two. */
int64_t pat_profile_alike_ns(const pat_profile *p, const pat_told *told);

/* Do ranks come so far apart that something can be gained, and is it not known what relay takes then? */
bool pat_profile_goes_beyond(const pat_profile *p, const pat_terms *terms, const pat_told *told);

/* Of the last calls of which it is known when ranks came: how many there are, first to last arrival on average, and the mean outlook, with a contender of one of them. */
int pat_profile_rounds(const pat_profile *p);
int64_t pat_profile_spread_ns(const pat_profile *p);
pat_outlook pat_profile_lately(const pat_profile *p);

/* The reason in words: "ranks come together". A static string. */
const char *pat_why_text(enum pat_why why);

#endif

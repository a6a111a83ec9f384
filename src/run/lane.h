/*
 * lane.h — what a communicator keeps for one collective. Each has its own, so that a program that alternates between
 * collectives finds for each of them what was prepared and learnt.
 */
#ifndef PAT_LANE_H
#define PAT_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms.h"
#include "call.h"
#include "history.h"
#include "predict.h"
#include "round.h"
#include "shapes.h"

/* So many of the last rounds are kept of which it is known when ranks came. */
enum { PAT_SPREADS = 4 };

/* Entries of each hash table by length, a power of two; of two lengths that share one the later one is kept. */
enum { PAT_CHOICES = 8 };

/* Which algorithm was chosen for so many bytes. */
typedef struct pat_choice {
    int64_t bytes; /* 0: nothing yet */
    const pat_algorithm *alg;
} pat_choice;

/* The verdict (outlook.h) on calls of so many bytes. */
typedef struct pat_judged {
    int64_t bytes; /* 0: nothing yet */
    enum pat_verdict verdict;
    enum pat_why why_never;         /* where the verdict is never */
    const pat_algorithm *contender; /* who would run them in place of the MPI library; NULL: nobody */
    pat_contest contest;            /* by calibration, or by the link */
    bool calibrated;                /* a calibration reaches so far */
    bool first;                     /* the contender runs the first calls where it is the one always */
    bool by_link; /* the contest is by the link, and what the MPI library takes is what calls have shown */
    bool by_estimates; /* is it worth knowing in advance when ranks come to the very call? */
    bool explained;    /* people who have asked were told */
} pat_judged;

/* Who came last to a round. */
typedef struct pat_late {
    int rank;
    int64_t waited_ns; /* how much earlier this rank came */
} pat_late;

typedef struct pat_lane {
    enum pat_op op;
    int first_slot; /* the first of the slots of those of its rounds that may be prepared before the call */

    /* The rounds. Calls that rooted.h runs have no epochs, and their round is not here: pat_comm.alone. */
    int64_t epoch;       /* so many are over: by a call, by settling, or by a change of what runs them */
    pat_shapes shapes;   /* of such calls, and the guess for the next */
    pat_round rounds[2]; /* the next two point here */
    pat_round *current;  /* the round of the call under way */
    pat_round *prepared; /* made before the call; becomes current, or is voided */
    pat_carried mine;    /* what the block of the call under way carries of this rank */
    int64_t offset_ns;   /* from this rank's clock to that of all ranks, when this rank arrived */
    bool by_request;     /* the last call was a request's: before its next PAT_Open nothing is prepared, */
    int64_t open_by_ns;  /* unless it is later than this, in local time; 0: not known while its round runs */

    /* What people who have asked were told of its plans. */
    const pat_algorithm *told_back; /* the last one that fell back on another */
    bool told_waits;                /* that segments wait for their receivers */

    /* The library's memory. It grows as it is needed. */
    char *stage; /* early data of `prepared` */
    size_t stage_size;
    pat_pack pack;

    int64_t early_bytes; /* which the last round had brought before the call */

    /* Early data of `prepared`. */
    int64_t reserved;      /* bytes of PAT_MEM */
    bool landed_in_holder; /* it is received into the holder's buffer: see pat_hold */

    /* Agreed, for algorithms that go by arrivals: no rank gives estimates of its own, so the last calls say when ranks will come. */
    bool by_last_calls;
    bool
        chooses; /* an algorithm is in use that chooses: the last calls say it until the lane goes by estimates */
    /* Agreed, for an algorithm that chooses: all ranks give estimates, and by these each call is run by whom it takes least. */
    bool by_estimates;
    bool announced, ever_announced; /* all ranks give estimates, whatever is in use; they did so once */
    bool seldom;                    /* do calls come so seldom that estimates are not felt? */
    int left_in_a_row;              /* calls by estimates that the MPI library has run, one after the other */
    int unannounced; /* calls one after the other to which no rank (by_estimates: not every rank) had given an estimate */
    bool edged; /* this rank had an estimate for the call under way, which nobody asked for */
    pat_predict predicts[PAT_PREDICTS];

    /* What an algorithm is chosen by. */
    int64_t spread_ns[PAT_SPREADS]; /* first to last arrival of the last rounds; the same on all ranks */
    int64_t num_spreads;            /* ever */
    pat_late late;                  /* of the last of these rounds */
    pat_told told;                  /* of a round that pat_select_learn has still to learn from */
    /* What ranks have said of the last call that was chosen by estimates, if anything is to be learnt from it. */
    pat_told said;
    pat_history history;
    const pat_algorithm
        *early_ran; /* which one that moves data early the last measured call was by; NULL: none yet */
    pat_judged judged[2][PAT_CHOICES]; /* [1]: by estimates, when others contend */
    pat_choice choices[PAT_CHOICES];
} pat_lane;

/* Do the last calls say when ranks will come, unless the lane goes by estimates? */
static inline bool pat_lane_by_last_calls(const pat_lane *lane)
{
    return lane->by_last_calls || lane->chooses;
}

static inline pat_blocks pat_blocks_of(const pat_call *call)
{
    return (pat_blocks){call->block_bytes, call->starts, call->mean_bytes, call->element_bytes, call->root};
}

/* Of a collective without a root. */
static inline pat_blocks pat_blocks_of_plan(const pat_plan *plan)
{
    return (pat_blocks){plan->block_bytes, plan->starts, 0, plan->element_bytes, 0};
}

#endif

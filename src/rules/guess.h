/*
 * guess.h — what the next call is taken to be, when its round is made before it, and what becomes of such a round when the call comes.
 * Must never call MPI, read a clock or keep anything: facts come in, a decision comes out. docs/epochs.md says why it is
 * right; tests/epoch.pml has the same rules under the same names.
 *
 * All ranks decide alike, because the facts are what all of them know alike. Where a fact is this rank's own, it says so, and then the
 * decision makes no difference to any other rank.
 */
#ifndef PAT_GUESS_H
#define PAT_GUESS_H

#include <stdbool.h>
#include <stdint.h>

/* ---- What comes next ---------------------------------------------------------------------------------- */

/* By what a lane's next call is guessed; follows from the algorithm, and from whether ranks give estimates (arrivals.h). */
enum pat_basis {
    PAT_BASIS_NONE,      /* by nothing: its round is made in the call */
    PAT_BASIS_LAST,      /* by the last calls in the lane: nobody is asked */
    PAT_BASIS_ESTIMATES, /* by this epoch's estimates, which the call waits for */
};

/* Whose lane this epoch's estimates announce. */
enum pat_announced {
    PAT_ANNOUNCED_NONE, /* none: they are not all here, or not of one mind */
    PAT_ANNOUNCED_THIS, /* the lane in question */
    PAT_ANNOUNCED_OTHER,
};

enum pat_guess {
    PAT_GUESS_NONE,     /* nobody knows */
    PAT_GUESS_BY_ORDER, /* it will be as the last calls in the lane let expect (sequence.h) */
    PAT_GUESS_SAID,     /* it will be as the estimates say */
};

typedef struct pat_guess_facts {
    enum pat_basis basis;
    enum pat_announced announced;
    bool said_guess;  /* the estimates say the same as the last calls in the lane let expect */
    bool said_hashed; /* blocks differ, and a hash of their lengths is all that is said of them */
} pat_guess_facts;

enum pat_guess pat_guess_next(const pat_guess_facts *facts);

/* Is a lane's next round to be made now, before the call? */
typedef struct pat_guess_lane {
    enum pat_basis basis;
    bool guessed; /* it is known what comes */
    bool
        by_request; /* the last call came from a request: its buffer may be the next one's, from PAT_Open on */
    bool open;      /* a request is open; this rank's own fact, as are the next two */
    bool
        overdue; /* PAT_Open has been awaited for long enough: others may have to wait for this rank to take data in */
    bool prepared; /* the round is there */
} pat_guess_lane;

bool pat_guess_prepares(const pat_guess_lane *lane);

/* ---- The call, or none -------------------------------------------------------------------------------- */

/* What was guessed, against what is called. */
enum pat_match {
    PAT_MATCH_NONE, /* nothing was guessed */
    PAT_MATCH_RIGHT,
    PAT_MATCH_WRONG,
};

/* Which lane's prepared round no rank will call any more. */
enum pat_voids {
    PAT_VOIDS_NOTHING,
    PAT_VOIDS_OWN,       /* that of the call's lane */
    PAT_VOIDS_ANNOUNCED, /* that of the lane that the estimates announce */
};

typedef struct pat_guess_outcome {
    bool as_prepared; /* the call's round has a prepared one's slot, and is that round if it has been made */
    enum pat_voids voids;
} pat_guess_outcome;

/*
 * A call comes. basis, announced: of the call's lane. To settle counts as a call by estimates in no lane, for which
 * nothing was guessed.
 */
pat_guess_outcome pat_guess_call(enum pat_basis basis, enum pat_announced announced, enum pat_match match);

/* What a rank does to void the round that was prepared in a lane. Which lane's: pat_voids. */
enum pat_void {
    PAT_VOID_NOTHING,    /* this rank has none, and no other rank has sent it anything */
    PAT_VOID_IT,         /* this rank has made it: void it */
    PAT_VOID_MADE_FIRST, /* it has not, but others may have sent control messages: make it, then void it */
};

/* basis: of the lane. guessed: its next call was known. prepared: this rank has made the round; its own fact. */
enum pat_void pat_guess_void(enum pat_basis basis, bool guessed, bool prepared);

/* When a call, or a settlement, is over: is the epoch of the announced lane over too? */
bool pat_guess_ends_announced(enum pat_basis basis, enum pat_announced announced);

/* ---- Slots -------------------------------------------------------------------------------------------- */

/*
 * A lane has slots for four epochs, in each one for the round that was prepared and one for the round that takes its place; docs/epochs.md
 * says why an epoch's tags may be used again four epochs later.
 */
enum { PAT_TAG_EPOCHS = 4, PAT_LANE_SLOTS = 2 * PAT_TAG_EPOCHS };

/* Which of the lane's slots. */
int pat_guess_slot(int64_t epoch, bool as_prepared);

#endif

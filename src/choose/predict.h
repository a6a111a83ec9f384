/*
 * predict.h — when ranks will come to the next call, by when they came to the last ones of the same length: for plans that go by
 * arrivals where the program says nothing in advance. The same on all ranks, since it takes in only what all of them know. Must never call
 * MPI or read a clock.
 *
 * There are several predictors. Each is judged by what it would have said of the last calls, and the one that would have erred least says when
 * ranks come to the next one. What counts is how long before the last rank a rank comes, but no more than its
 * contribution takes on the link: a rank that comes still earlier has sent it by then, and how much earlier it comes
 * makes no difference.
 */
#ifndef PAT_PREDICT_H
#define PAT_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

/* So many calls are kept; and so many lengths: what has not been called for longest gives way. */
enum { PAT_PREDICT_CALLS = 8, PAT_PREDICTS = 8 };

/* In the order in which they are preferred where they err alike. */
enum pat_predictor {
    PAT_PREDICT_MEDIAN, /* of the last five calls: one in which another rank was disturbed changes nothing */
    PAT_PREDICT_MEAN,   /* of all calls that are kept: what is noise evens out */
    PAT_PREDICT_FADING, /* a mean in which each call weighs half as much as the one after it */
    PAT_PREDICT_AGO, /* as in the last call; PAT_PREDICT_AGO + k: as k calls before it, for a pattern that comes again */
    PAT_NUM_PREDICTORS = PAT_PREDICT_AGO + PAT_PREDICT_CALLS
};

/*
 * The calls of one length. A call is known if all ranks know when each of them came to it; one of the others is only
 * counted.
 */
typedef struct pat_predict {
    int64_t bytes;
    int64_t used;      /* the number of its last call; 0: there has been none */
    int64_t *ahead_ns; /* [call % PAT_PREDICT_CALLS][rank]: how long before the last rank each came */
    int num;           /* known calls, as far as it matters how many; 0: there are none */
    int left;          /* calls that need not be known, before the next one that is to be */
    int gap;           /* what `left` began with */
    int right;         /* predictions that came true, one after the other */
    int since;         /* known calls since ranks last changed what they do */
    int64_t erred_ns
        [PAT_NUM_PREDICTORS]; /* by how much, of all ranks together; the longer ago the less it counts */
} pat_predict;

/*
 * Into arrival_ns[r] comes when rank r is expected, on a clock that begins anywhere. call_ns: what a contribution takes on the link.
 * Returns false, and writes nothing, where no call of this length is known.
 */
bool pat_predict_arrivals(const pat_predict *predicts, int64_t bytes, int num_ranks, int64_t call_ns,
                          int64_t *arrival_ns);

/* The predictor that says it; PAT_PREDICT_MEDIAN where nothing is known. */
enum pat_predictor pat_predict_best(const pat_predict *predicts, int64_t bytes);

/* How long before the last rank one is expected by a predictor, at most call_ns. Of a length of which some call is known. */
int64_t pat_predict_ahead(const pat_predict *p, enum pat_predictor by, int num_ranks, int rank,
                          int64_t call_ns);

/* Is the next call to be known? At first and after a change every call is, later one of eight. */
bool pat_predict_wants(const pat_predict *predicts, int64_t bytes);

/* A call is over, and it will not be known when ranks came to it. */
void pat_predict_pass(pat_predict *predicts, int64_t bytes);

/* Learn when ranks came to a call. Returns 0 or ENOMEM; then nothing is known of this length. */
int pat_predict_note(pat_predict *predicts, int64_t bytes, int num_ranks, int64_t call_ns,
                     const int64_t *arrival_ns);

/* The calls of a length, for whoever judges predictors; NULL where none is known. */
const pat_predict *pat_predict_find(const pat_predict *predicts, int64_t bytes);

/* Free what it keeps, of all lengths. */
void pat_predict_free(pat_predict *predicts);

#endif

/*
 * predict.h — when ranks will come to the next call, by when they came to the last ones of the same length: for plans that go by
 * arrivals where the program says nothing in advance. The same on all ranks, since it takes in only what all of them know. Must never call
 * MPI or look at a clock.
 */
#ifndef PAT_PREDICT_H
#define PAT_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

/* So many calls are kept, an odd number; and so many lengths. Of two lengths that share a place the later one is kept. */
enum { PAT_PREDICT_CALLS = 5, PAT_PREDICTS = 4 };

/* The calls of one length. */
typedef struct pat_predict {
    int64_t bytes;     /* 0: nothing is known */
    int64_t *ahead_ns; /* [call % PAT_PREDICT_CALLS][rank]: how long before the last rank each came */
    int num;           /* such calls, ever */
    int left;          /* calls of which it need not be known, before the next one */
    int gap;           /* what `left` began with */
    int right;         /* predictions that came true, one after the other; negative: that did not */
} pat_predict;

/*
 * Into arrival_ns[r] comes when rank r is expected, on a clock that begins anywhere. call_ns: what a contribution takes on the link;
 * who comes earlier than that before the last one has brought it by then, and how much earlier makes no difference. Returns false, and
 * writes nothing, where no call of this length is known.
 */
bool pat_predict_arrivals(const pat_predict *predicts, int64_t bytes, int num_ranks, int64_t call_ns,
                          int64_t *arrival_ns);

/* Is it worth knowing when ranks come to the next call? In each at first and after a change, later in one of eight. */
bool pat_predict_wants(const pat_predict *predicts, int64_t bytes);

/* A call is over of which it is not known. */
void pat_predict_pass(pat_predict *predicts, int64_t bytes);

/* Learn when ranks came to a call. Returns 0 or ENOMEM; then nothing is known of this length. */
int pat_predict_note(pat_predict *predicts, int64_t bytes, int num_ranks, int64_t call_ns,
                     const int64_t *arrival_ns);

/* Free what it keeps, of all lengths. */
void pat_predict_free(pat_predict *predicts);

#endif

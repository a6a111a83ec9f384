/*
 * closed_form.h — what collectives cost by their algorithms' formulas, in terms of Hockney's latency alpha and reciprocal
 * rate beta, when all ranks call at once. Must never look at a plan: these formulas are what plans are held against.
 */
#ifndef PAT_CLOSED_FORM_H
#define PAT_CLOSED_FORM_H

#include "algorithms.h"

/*
 * gamma(p): how many times as long as one message it takes a rank to send a segment to p-1 others by messages that are
 * posted together. at[0] is gamma(2), which is 1. Beyond `count` values the line through all of them, by least
 * squares; with none, gamma is 1 throughout.
 */
typedef struct pat_gamma {
    const double *at;
    int count;
} pat_gamma;

double pat_gamma_of(pat_gamma gamma, int p);

/* Time = alpha * messages + beta * bytes. pieces: of the messages, those that follow another one on its way, and so may take less than alpha; 0 where the formula does not tell. */
typedef struct pat_form_cost {
    double messages, bytes, pieces;
} pat_form_cost;

/* By the formula of an algorithm that has one. At least two ranks and one byte. */
pat_form_cost pat_closed_form(const pat_algorithm *alg, const pat_job *job, pat_gamma gamma);

#endif

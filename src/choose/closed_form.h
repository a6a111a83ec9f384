/*
 * closed_form.h — what collectives cost by formula, in terms of Hockney's latency alpha and reciprocal rate beta, when
 * all ranks call at once. Broadcasts and gathers after Nuriyev 2021, chapter 4. Must never look at a plan: these formulas
 * are what plans are held against.
 */
#ifndef PAT_CLOSED_FORM_H
#define PAT_CLOSED_FORM_H

#include <stdbool.h>
#include <stdint.h>

enum pat_form {
    PAT_FORM_BCAST_LINEAR,
    PAT_FORM_BCAST_CHAIN,
    PAT_FORM_BCAST_KCHAIN, /* four chains */
    PAT_FORM_BCAST_BINARY,
    PAT_FORM_BCAST_SPLIT,
    PAT_FORM_BCAST_BINOMIAL,
    PAT_FORM_GATHER_LINEAR,
    PAT_FORM_GATHER_SYNC,
    PAT_FORM_GATHER_BINOMIAL,
    PAT_FORM_RING, /* all-gathers from here on */
    PAT_FORM_NEX,
    PAT_FORM_LNBC,
    PAT_FORM_BDR,
    PAT_FORM_BSLB,
    PAT_FORM_RELAY,
    PAT_FORM_ALLREDUCE_DOUBLING, /* all-reduces from here on */
    PAT_FORM_ALLREDUCE_RING,
    PAT_FORM_ALLREDUCE_CONVERGE,
};
enum { PAT_NUM_FORMS = PAT_FORM_ALLREDUCE_CONVERGE + 1 };

/*
 * gamma(p): how many times as long as one message a segment takes from a rank to p-1 others by messages that are
 * posted together. at[0] is gamma(2), which is 1. Beyond `count` values the line through all of them, by least
 * squares; with none, gamma is 1 throughout.
 */
typedef struct pat_gamma {
    const double *at;
    int count;
} pat_gamma;

double pat_gamma_of(const pat_gamma *gamma, int p);

typedef struct pat_form_job {
    int num_ranks;
    int64_t bytes; /* broadcast: the message; gather, all-gather: one rank's block; all-reduce: the vector */
    int64_t
        segment_bytes; /* 0: not cut; all-gathers: of lnbc's and bslb's broadcast, at most a block; converge: a piece */
    int64_t eager_bytes; /* longer messages are asked for first */
    pat_gamma gamma;
    bool literal; /* as printed, with what is wrong there; else corrected, see closed_form.c */
} pat_form_job;

/* Time = alpha * messages + beta * bytes. */
typedef struct pat_form_cost {
    double messages, bytes;
} pat_form_cost;

/* The formula of an algorithm by its name. Returns whether there is one. */
bool pat_form_find(const char *algorithm, enum pat_form *form);

/* At least two ranks and one byte. */
pat_form_cost pat_closed_form(enum pat_form form, const pat_form_job *job);

#endif

/*
 * halving.h — a reduce-scatter on the way to something: every rank ends with the sum of one part of what all contribute.
 *
 * Ranks stand at places: by number, or, where nodes have several ranks, as many on each, across the nodes, so that the first steps stay inside them. Each
 * rank has a part, and counts places from its own on: what is called i here is (place + i) mod P.
 */
#ifndef PAT_HALVING_H
#define PAT_HALVING_H

#include "algorithms.h"

enum { PAT_HALVING_STEPS = 64 };

/* The sum of a part as far as this rank has it. */
typedef struct pat_sum {
    int group; /* 0: what the rank contributes, where it lies; else the step that has brought it, in the scratch */
    int64_t offset; /* in the scratch */
    int node;       /* that has made it; negative: none */
    int here; /* that has brought the whole sum to the result, for those who hand it round; negative: none */
    int read; /* the last that reads what the rank contributes to it; negative: none */
} pat_sum;

typedef struct pat_halving {
    pat_plan *plan;
    const pat_job *job;
    enum pat_space
        space; /* what the rank contributes lies there: for part p from start(job, p) on, up to start(job, p + 1) */
    int64_t (*start)(const pat_job *job, int part);
    bool by_place; /* the rank at place p has part p; else rank r has part r, wherever it stands */
    int arrive,
        begun; /* nodes: the call, and what brings the contribution there; the same where that is the call */
    /* Filled in by pat_halving_begin. */
    int64_t most_bytes; /* of a message of several parts */
    int *rank_at;       /* by place */
    int place;          /* this rank's */
    int num_nodes;      /* as many places on lie on the same node again; 1: places are by number */
    pat_sum *sums;      /* by i */
    int steps, all[PAT_HALVING_STEPS],
        nearer[PAT_HALVING_STEPS]; /* each goes from so many parts to so many */
} pat_halving;

/* What is set above first is the caller's. Returns false, and sets the plan's error, where there is no memory; to be ended all the same. */
bool pat_halving_begin(pat_halving *halving);
void pat_halving_end(pat_halving *halving);

/* Add the nodes. The own part's sum is made at `last`, where nothing else is; sums[0].node is what has made it. */
void pat_halving_build(const pat_halving *halving, pat_address last);

/* All of it for a vector, cut in a part for each place, which goes to the result first; the rest is up to `finish`: the own part's sum is at `sum`. */
void pat_halving_vector(pat_plan *plan, const pat_job *job,
                        void (*finish)(const pat_halving *halving, pat_address sum));

int pat_halving_rank(const pat_halving *halving, int i);

/* To a formula: `phases` times all steps, of a vector of so many bytes, and `more` messages of parts. Parts that MPI asks for first take two latencies more. */
void pat_halving_formula(pat_formula *formula, const pat_job *job, int64_t vector_bytes, int phases,
                         int more);

/* How many of the parts from i on, up to `end`, lie side by side where those of the rank at `from` are, in so many bytes, which one message can have? */
int pat_halving_side_by_side(const pat_halving *halving, int from, int i, int end, int64_t *bytes);

/* Where part i begins among what the rank contributes, and its length. */
int64_t pat_halving_start(const pat_halving *halving, int i);
int64_t pat_halving_length(const pat_halving *halving, int i);

#endif

/*
 * model_printed.h — what Nuriyev 2021 prints: parameters of machines, which algorithm was the fastest there, which one the models chose,
 * and which one Open MPI 3.1. The figures stand here and nowhere else. No MPI, no clock.
 */
#ifndef MODEL_PRINTED_H
#define MODEL_PRINTED_H

#include <stdbool.h>

#include "algorithms.h"
#include "stages.h"

enum { PRINTED_ALGS = 6, PRINTED_SEGMENT = 8192 };

/* One line of a table of choices. Algorithms are indices into the set's; losses are in per cent of the fastest one's time. */
typedef struct printed_row {
    int kib, fastest, model, model_loss, library, library_loss;
} printed_row;

/* One operation on one machine with one number of ranks. */
typedef struct printed_set {
    const char *machine, *tables;
    enum pat_op op;
    int ranks;
    pat_stage_link link; /* ranks_per_node above 1: by the stage rule; else by the closed forms */
    int num_algs, num_rows;
    const char *const *algs;
    const double (*alpha_beta)[2]; /* seconds, seconds a byte, for each algorithm */
    const printed_row *rows;
} printed_set;

/* NULL beyond the last one. */
const printed_set *printed_at(int index);

/*
 * Seconds that an algorithm of the set is predicted to take. literal: by the closed forms with the errors of the print (docs/models.md); the
 * stage rule has none.
 */
double printed_seconds(const printed_set *set, int alg, int64_t bytes, bool literal);

/* Messages and bytes of the printed closed form; of an algorithm that is printed without error the same as pat_closed_form. */
pat_form_cost printed_literal(const char *alg, const pat_job *job, pat_gamma gamma);

/* The one of the set that takes least. */
int printed_choice(const printed_set *set, int64_t bytes, bool literal);

#endif

/*
 * explain.h — tells a person why an algorithm was chosen.
 */
#ifndef PAT_EXPLAIN_H
#define PAT_EXPLAIN_H

#include "calibration.h"
#include "history.h"

/* One line on the standard error: the candidates of an operation, what they are predicted to take, the choice. */
void pat_explain(const pat_calibration *c, enum pat_op op, int ranks, int64_t bytes,
                 const pat_algorithm *choice);

/* The same for all-gathers, whose costs go by when ranks call: `verdict` of the MPI library and its contender. */
void pat_explain_arrivals(const pat_outlook *outlook, const pat_algorithm *contender, int ranks,
                          int64_t bytes, enum pat_verdict verdict);

/* All-gathers of so many ranks are left to the MPI library, whatever their length. */
void pat_explain_left(int ranks, enum pat_why why);

/* Somebody else runs calls of this profile from now on. */
void pat_explain_change(const pat_profile *profile, const pat_terms *terms, const pat_algorithm *contender,
                        int ranks);

/* The PAT_* variables of this process that nobody knows. */
void pat_explain_strays(void);

#endif

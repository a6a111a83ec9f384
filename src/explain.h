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

/* The same for all-gathers, whose costs go by when ranks call. */
void pat_explain_arrivals(const pat_outlook *outlook, int ranks, int64_t bytes, const char *when,
                          const char *choice);

/* The same for what calls took. */
void pat_explain_measured(const pat_habit *habit, int ranks);

/* The PAT_* variables of this process that nobody knows. */
void pat_explain_strays(void);

#endif

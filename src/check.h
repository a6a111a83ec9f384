/*
 * check.h — proves a set of plans right without running them: for every rank count and arrival pattern, in
 * microseconds and without MPI. Must never accept what it has not proven.
 */
#ifndef PAT_CHECK_H
#define PAT_CHECK_H

#include <stddef.h>
#include "algorithms.h"

/*
 * Check the plans of all ranks as one collective: every message has its partner with the same bytes; no byte
 * is sent before the sender is sure to have it (on every order of events, not one); no own byte leaves before
 * ARRIVE; every byte arrives exactly once where it must; steps are in order; and with synchronous sends,
 * posted through the engine's window, everything finishes. Returns 0, ENOMEM, or EINVAL with the reason in
 * `why`.
 */
int pat_check(const pat_plan *plans, int num_ranks, enum pat_op op, char *why, size_t why_size);

#endif

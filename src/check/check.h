/*
 * check.h — proves without running them that the plans of all ranks are right together, whenever the ranks arrive; without
 * MPI. Must never accept what it has not proven.
 */
#ifndef PAT_CHECK_H
#define PAT_CHECK_H

#include <stddef.h>
#include "collective.h"

/*
 * Check the plans of all ranks as one collective. In every order in which events can come, and not only in one:
 * - every message has its partner of the same length, and with synchronous sends, posted through the engine's window,
 *   everything finishes;
 * - of two nodes of a rank that touch the same byte, one of them writing, one waits for the other: so no byte is read before
 *   it is there, no byte is overwritten while it is still sent, and all orders end with the same values;
 * - the rank's own bytes are not read before ARRIVE;
 * - a REDUCE joins the same bytes of different contributions, none of them twice;
 * - every rank that gets the result ends with what `collective` says, and where contributions are reduced, a byte has been made on
 *   all these ranks by the same joins of the same operands, so that they have the same bits whatever the operation. In which order
 *   contributions are joined is not judged: it need not be that of the ranks, nor the same for any two bytes;
 * - nothing is delivered twice, and steps are in order.
 * Returns 0, ENOMEM (also where nodes or pairs of ranks are more than an int counts), or EINVAL with the reason in `why`.
 */
int pat_check(const pat_plan *plans, int num_ranks, const pat_collective *collective, char *why,
              size_t why_size);

#endif

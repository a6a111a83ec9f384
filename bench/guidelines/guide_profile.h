/*
 * guide_profile.h — violations as profiles that the drop-in applies: a file for each collective and number of ranks, in the form of PGMPITuneD: the collective, the
 * number of ranks, how many algorithms, "id name" each, how many ranges, "first_byte last_byte id" each.
 *
 * A size is in it where the gain of a mock-up, or of an algorithm of PAT's that runs in the call alone (mockup_own.h), is above a barrier's median; with three launches
 * or more, only where the verdict is certain. A range holds what was measured and what lies between two neighbouring sizes that were: both violated, by the same one at both. It never goes on
 * to a size beyond.
 */
#ifndef GUIDE_PROFILE_H
#define GUIDE_PROFILE_H

#include <stddef.h>

#include "guide_results.h"

/*
 * Write them into a directory that exists, and away with those of an earlier campaign of the same collectives and ranks. *num: how many there are now. 0, or an
 * errno value with a text in `why`.
 */
int guide_profile_write(const guide_results *r, const char *dir, int *num, char *why, size_t why_size);

#endif

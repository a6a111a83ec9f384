/*
 * invariant.h — what docs/epochs.md promises of a communicator's state, looked at from outside, as far as one rank can see it. For
 * tests, which ask after every call and every visit of the background thread (-DPAT_INVARIANTS=ON), and for a debugger:
 * `print pat_invariant_broken(c)`. Changes nothing and calls no MPI.
 */
#ifndef PAT_INVARIANT_H
#define PAT_INVARIANT_H

#include "comm.h"
#include "ensure.h"

/*
 * NULL where all holds; else the invariant that does not and how, in a static text. Whoever asks holds the communicator's lock. Of
 * what docs/epochs.md numbers, I2, I3, I5 and I8 are about several ranks, and are for the checker and the tests of plans.
 */
const char *pat_invariant_broken(const pat_comm *c);

/* Asked at the end of every step where tests are built; nothing elsewhere. */
#define PAT_INVARIANT_HOLDS(c) PAT_ENSURE(!pat_invariant_broken(c))

#endif

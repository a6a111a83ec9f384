/*
 * invariant.h — does a communicator's state keep what docs/epochs.md promises, as far as one rank can see? For tests, which ask
 * after every call and every visit of the background thread (-DPAT_INVARIANTS=ON), and for a debugger:
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

/* Stops the program where an invariant is broken, in builds with -DPAT_INVARIANTS=ON; does nothing in others. */
#define PAT_INVARIANT_HOLDS(c) PAT_ENSURE(!pat_invariant_broken(c))

#endif

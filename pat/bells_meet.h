/*
 * bells_meet.h — the ranks of a node meet once, and give each other their bells (bells.h).
 */
#ifndef PAT_BELLS_MEET_H
#define PAT_BELLS_MEET_H

#include <mpi.h>

#include "bells.h"

/*
 * Collective over node, whose ranks share memory. *bells: those of all its ranks, which the caller frees; NULL on all of them where there is one rank,
 * or more than 252 or than a quarter of the files that a process may have open, or where the kernel lets them hand over nothing (ranks in network namespaces of
 * their own). Returns an MPI error code: of this rank alone, where others may then wait for it.
 */
int pat_bells_meet(MPI_Comm node, pat_bells **bells);

#endif

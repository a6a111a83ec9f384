/*
 * life.h — the library starts, ends, and changes its algorithm: what concerns all communicators at once.
 */
#ifndef PAT_LIFE_H
#define PAT_LIFE_H

#include <stdbool.h>

#include "algorithms.h"

/* All functions are collective over MPI_COMM_WORLD and return MPI error codes. */

int pat_life_begin(void); /* the work of PAT_Init */
int pat_life_end(void);   /* the work of PAT_Finalize */

/*
 * Between calls: end what communicators have prepared or exchanged for a next call, if any rank has done so, so that
 * the algorithm may change or the library may go. *busy, when not NULL, is set instead when a started request stands in the
 * way on any rank; when NULL such requests are completed first.
 */
int pat_life_settle(bool *busy);

/* Use `alg` from now on: all ranks, between calls, with nothing left to settle. */
int pat_life_use(const pat_algorithm *alg);

#endif

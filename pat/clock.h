/*
 * clock.h — this process's monotonic clock, which ranks of one node share.
 */
#ifndef PAT_CLOCK_H
#define PAT_CLOCK_H

#include <stdint.h>

int64_t pat_clock_local_ns(void); /* CLOCK_MONOTONIC, any thread, no MPI */

/* Which clock that is: processes with the same one read the same clock. 0: it cannot be told. */
uint64_t pat_clock_id(void);

#endif

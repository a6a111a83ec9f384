/*
 * bench_clock.h — one clock for all ranks, with its error.
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include "clock_sync.h"

/*
 * Collective. Ranks on one machine read one and the same clock (an emulated cluster, too): no offset, no
 * error. Else the offsets are measured. *same_machine says which. Returns an MPI error code.
 */
int bench_clock_sync(pat_clock *clock, MPI_Comm comm, int rounds, int *same_machine);

#endif

/*
 * bench_wait.h — waiting that leaves the processors to those that are measured.
 */
#ifndef BENCH_WAIT_H
#define BENCH_WAIT_H

#include <mpi.h>
#include <stdint.h>

/*
 * Collective: until all ranks are here, asleep. Ranks that share cores take the processor from those that are measured when
 * they spin; these look 20 times a millisecond all together, however many they are, and less and less often when it lasts: a
 * rank that has no part in an experiment waits for seconds.
 */
void bench_wait_quietly(MPI_Comm comm);

/* Until this moment of the own clock, pat_clock_local_ns, asleep. */
void bench_sleep_until(int64_t local_ns);

#endif

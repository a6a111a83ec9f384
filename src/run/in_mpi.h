/*
 * in_mpi.h — non-blocking calls that are under way, on all communicators, are moved on by threads of the program's that wait in MPI, or in this
 * library for something else. How long they wait is added up here. Must never wait for another rank.
 */
#ifndef PAT_IN_MPI_H
#define PAT_IN_MPI_H

#include <stdbool.h>
#include <stdint.h>

/* From now on MPI calls this library whenever it looks for messages (progress.h), or not any more. While there is no background thread. */
void pat_in_mpi_join(void);
void pat_in_mpi_leave(void);

/* This thread has slept since then, by the local clock, while it waited in a call of this library: it counts as waiting in MPI. */
void pat_in_mpi_rested(int64_t since_ns);

/*
 * For whoever waits for something else: move on what is under way on communicators that nobody else looks at now. What fails their requests tell. The caller
 * does not hold pat_rt.driving. *moved: set where something has.
 */
void pat_in_mpi_look_all(bool *moved);

#endif

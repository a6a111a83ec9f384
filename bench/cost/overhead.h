/*
 * overhead.h — the measurements of pat-overhead. Each is collective over MPI_COMM_WORLD, interleaved within one process
 * and has an A/A control, so that only ratios are read; rank 0 prints.
 */
#ifndef OVERHEAD_H
#define OVERHEAD_H

#include <stdbool.h>

typedef struct overhead_options {
    const char *mode;
    int rounds;       /* 0: the mode's own default; so for the next */
    double phase_ms;  /* thread: of computation; copies: rank 0 is late by this */
    double late_ms;   /* overlap: the last rank comes so much later to each call than the others */
    int segment;      /* bytes */
    bool burns;       /* overlap: ranks keep a core busy while they compute */
    bool floats;      /* overlap: of floating-point numbers, */
    bool as_program;  /* and by a program's own calls, under the drop-in */
    const char *alg;  /* NULL: the mode's own default */
    const char *call; /* overlap: this one only; NULL: all */
} overhead_options;

/* The library is started by the caller: PAT_Allgather with "native" against bare MPI_Allgather. */
void overhead_call(const overhead_options *o, int rank, int size);

/* The library is started by the caller: the plain call against the persistent one, where data comes early. */
void overhead_copies(const overhead_options *o, int rank, int size);

/* Starts and stops the library itself: a computation slowed by its thread. */
void overhead_thread(const overhead_options *o, int rank, int size);

/* The same: milestones before calls that are left to the MPI library, against none. */
void overhead_exchange(const overhead_options *o, int rank, int size);

/* The library is started by the caller: how much of a non-blocking call is hidden behind a computation, by MPI and by this library. */
void overhead_overlap(const overhead_options *o, int rank, int size);

/* Without the library, against a pipe: how soon a rank wakes another one of its node. */
void overhead_bell(const overhead_options *o, int rank, int size);

#endif

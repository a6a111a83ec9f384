/*
 * trace.h — PAT_TRACE: what a rank sent and received, and when, as a file one can plot (bench/timeline). For looking at
 * rounds, not for every day: each message costs two readings of the clock and a line of text.
 */
#ifndef PAT_TRACE_H
#define PAT_TRACE_H

#include <stdio.h>

#include "comm.h"

/*
 * Open dir/rank-<rank>.csv, and leave what is in it. Returns an MPI error code: MPI_ERR_ARG when that cannot be done.
 * *file is NULL then.
 */
int pat_trace_open(FILE **file, const char *dir, int rank);

/* The library starts: empty the file of what an earlier program left, unless goes_on, since this one has traced before. */
void pat_trace_begin(FILE *file, bool goes_on);

/*
 * Append the round that communicator `c` is just completing: one line per node of its plan, and one from the call to its
 * return. All its times are made those of the clock of all ranks as the arrival was that the others have been told: what is
 * learnt of the clocks while the round runs moves none of them against another.
 */
void pat_trace_round(FILE *file, const pat_comm *c);

/* The library does not start after all: close the file, and remove it if there is nothing in it. */
void pat_trace_drop(FILE *file, const char *dir, int rank);

/* Close it. Returns an MPI error code: MPI_ERR_OTHER when not all could be written. */
int pat_trace_close(FILE *file);

#endif

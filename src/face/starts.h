/*
 * starts.h — starts a non-blocking call of a collective, for the public interface: by plan, which the background thread then drives, or by
 * the MPI library's own function.
 */
#ifndef PAT_STARTS_H
#define PAT_STARTS_H

#include <mpi.h>

#include "calls.h"
#include "face.h"

/*
 * Returns, and gives results and errors, as the non-blocking MPI function of that face does; `next` is that function. as_mpi: results are to be the MPI library's to
 * the last bit. outcome: see pat_calls_run.
 */
int pat_starts_run(const pat_face *face, const pat_args *args, pat_any *next, MPI_Request *request,
                   bool as_mpi, pat_outcome *outcome);

/*
 * Make a persistent request (keep.h) whose starts are that call, where this library would run such a call, to the last bit as MPI has it. able: can this rank have one? Returns true when it is made, or that has failed, with what to return in *rc; else the
 * MPI library is to make it, on all ranks. outcome: of its starts.
 */
bool pat_starts_keep(const pat_face *face, const pat_args *args, bool (*able)(void), MPI_Request *request,
                     pat_outcome *outcome, int *rc);

#endif

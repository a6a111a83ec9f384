/*
 * calls.h — runs a call of a collective, for the public interface and the drop-in: by plan where that pays, else by the function
 * that comes next, which is the MPI library's or another tool's.
 */
#ifndef PAT_CALLS_H
#define PAT_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm.h"
#include "face.h"

/* How a call went, for a report. */
typedef struct pat_outcome {
    const pat_algorithm *alg; /* NULL: it was passed on */
    enum pat_why why;
    pat_late late;       /* rank < 0: not known */
    int64_t early_bytes; /* of a call by plan: what it had brought here before the call */
    int64_t
        before_ns; /* time of the call before its round, in which the first call makes the communicator's state */
    pat_hiding *
        hiding; /* given by the caller: where a non-blocking call adds, once it is over, how much of it was hidden; NULL: nowhere */
    bool
        moves; /* of a persistent request that the MPI library is to make: this rank is to move on what it starts (pat_keep_move) */
    int64_t
        native_ns; /* what the MPI library's own takes once the last rank has come (pat_select_native_ns); 0: not known */
} pat_outcome;

/*
 * Returns, and gives results and errors, as the MPI function of that name does. `next` runs the call where this library does not, also
 * where its arguments are wrong. site: to where the program's call returns. outcome may be NULL; the caller gives all its fields a value
 * first, since only what becomes known is set.
 */
int pat_calls_run(const pat_face *face, const pat_args *args, pat_any *next, const void *site,
                  pat_outcome *outcome);

/* Might another algorithm than the MPI library's change bits that the program is to have as that one makes them? The same on all ranks. */
bool pat_calls_keep_order(const pat_face *face, const pat_args *args);

#endif

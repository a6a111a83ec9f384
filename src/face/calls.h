/*
 * calls.h — the collectives as the public interface and the drop-in both have them: run here where that pays, else by
 * whoever comes next, which is not this layer's to know.
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
    const pat_algorithm *alg; /* NULL: not run here */
    enum pat_why why;
    pat_late late;     /* rank < 0: not known */
    int64_t before_ns; /* of the call, before its round; the first call makes the communicator's state */
    int64_t
        native_ns; /* what the MPI library's own takes once the last rank has come (pat_select_native_ns); 0: not known */
} pat_outcome;

/*
 * Results and errors as of the MPI call of that name. `next` runs it where this library does not, whatever its verdict on the
 * arguments. site: what the program's call returns to. outcome may be NULL; its owner sets it up.
 */
int pat_calls_run(const pat_face *face, const pat_args *args, pat_any *next, const void *site,
                  pat_outcome *outcome);

#endif

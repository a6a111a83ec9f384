/*
 * calls.h — the collectives as the public interface and the drop-in both have them: run here where that pays, else left to
 * whoever comes next, which is not this layer's to know.
 */
#ifndef PAT_CALLS_H
#define PAT_CALLS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "comm.h"

/* How a call went, for a report. */
typedef struct pat_outcome {
    const pat_algorithm *alg; /* NULL: not run here */
    pat_late late;            /* rank < 0: not known */
    int64_t
        native_ns; /* what the MPI library's own takes once the last rank has come: by calibration, else by what the
                          link needs at least; 0: not known */
} pat_outcome;

/*
 * Arguments and errors as of the MPI call of that name. Each returns true when it has run the call, with what to return
 * in *rc; false when the MPI library is to do it, whatever its verdict on the arguments. outcome may be NULL; its owner
 * sets it up.
 */
bool pat_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, pat_outcome *outcome, int *rc);
bool pat_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                    pat_outcome *outcome, int *rc);
bool pat_bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, pat_outcome *outcome,
               int *rc);
bool pat_gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm, pat_outcome *outcome, int *rc);

#endif

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
 * Arguments, results and errors as of the MPI call of that name. `next` runs it where this library does not, whatever its
 * verdict on the arguments. site: what the program's call returns to. outcome may be NULL; its owner sets it up.
 */
int pat_allgather(__typeof__(&PMPI_Allgather) next, const void *site, pat_outcome *outcome,
                  const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm);
int pat_allgatherv(__typeof__(&PMPI_Allgatherv) next, const void *site, pat_outcome *outcome,
                   const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm);
int pat_allreduce(__typeof__(&PMPI_Allreduce) next, const void *site, pat_outcome *outcome,
                  const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm);
int pat_bcast(__typeof__(&PMPI_Bcast) next, pat_outcome *outcome, void *buffer, int count,
              MPI_Datatype datatype, int root, MPI_Comm comm);
int pat_gather(__typeof__(&PMPI_Gather) next, pat_outcome *outcome, const void *sendbuf, int sendcount,
               MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
               MPI_Comm comm);

#endif

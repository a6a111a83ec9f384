/*
 * datatype.h — what one call means in bytes, and packing where the types are not plain bytes.
 */
#ifndef PAT_DATATYPE_H
#define PAT_DATATYPE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Beyond this many bytes per rank calls are left to the MPI library: two blocks must fit an int. */
#define PAT_MAX_BLOCK ((int64_t)1 << 29)

typedef struct pat_call {
    const void *sendbuf;
    int sendcount;
    MPI_Datatype sendtype;
    void *recvbuf;
    int recvcount;
    MPI_Datatype recvtype;
    MPI_Comm comm;
    MPI_Op op;             /* of a reduction */
    int64_t block_bytes;   /* packed bytes per rank, of the longest block: the same on all ranks */
    int64_t mean_bytes;    /* of a block: what an algorithm is chosen by */
    int64_t element_bytes; /* of what is reduced; 0: nothing is */
    int64_t
        *starts; /* where each block begins in the packed result, and its end; NULL: all blocks are alike */
    bool in_place, send_plain, recv_plain; /* plain: the bytes lie in memory as they are packed */
    MPI_Aint recv_stride;                  /* from one rank's block to the next in recvbuf */
    const int *recvcounts, *displs;        /* instead of recvcount and recv_stride, in units of recv_extent */
    MPI_Aint recv_extent;
} pat_call;

/*
 * Understand a call whose arguments are as in MPI_Allgather. Returns false for arguments that MPI would
 * reject or that are wrong on their own (send and receive sizes differ): those go to MPI unchanged.
 */
bool pat_call_describe(pat_call *call, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                       void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/*
 * The same for MPI_Allgatherv, between `num_ranks` ranks of which this is `rank`. `starts` has room for num_ranks + 1 and,
 * like the arrays of counts and displacements, must outlive the call's description. Blocks that turn out to be alike and to
 * lie one after the other make a call like any other.
 */
bool pat_call_describe_v(pat_call *call, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                         void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                         MPI_Comm comm, int rank, int num_ranks, int64_t *starts);

/* A call of which only the sending side counts here, as a gather elsewhere than at the root. */
bool pat_call_describe_send(pat_call *call, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            MPI_Comm comm);

/* A call with one buffer, which is sent or received, as a broadcast. */
bool pat_call_describe_one(pat_call *call, void *buffer, int count, MPI_Datatype type, MPI_Comm comm);

/*
 * A call that reduces one vector of every rank to one, as MPI_Allreduce. False also for operations that a plan may not run
 * (reduction.h).
 */
bool pat_call_describe_reduce(pat_call *call, const void *sendbuf, void *recvbuf, int count,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/*
 * Pack this rank's own block to `out`. `own` is the library's communicator: the background thread packs too,
 * and must not run a user's error handler. Returns an MPI error code.
 */
int pat_call_pack_own(const pat_call *call, MPI_Comm own, int rank, char *out);

/* Unpack the whole result into the receive buffer. Returns an MPI error code. */
int pat_call_unpack(const pat_call *call, MPI_Comm own, int rank, int num_ranks, const char *packed);

#endif

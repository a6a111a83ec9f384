/*
 * call.h — what the arguments of one call mean in bytes, and packing, where a type is not plain: its bytes do not lie in memory as
 * MPI_Pack would put them.
 */
#ifndef PAT_CALL_H
#define PAT_CALL_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Beyond this many bytes per rank calls are left to the MPI library: two blocks must fit an int. */
#define PAT_MAX_BLOCK ((int64_t)1 << 29)

/* A call of which a rank receives less, as all ranks know, is too small for anything but the MPI library. */
enum { PAT_SMALL_BYTES = 4096 };

/* Blocks that have a length and a place each, in units of the extent of their type; NULL: they have not. */
typedef struct pat_lists {
    const int *counts, *displs;
    MPI_Aint extent;
} pat_lists;

typedef struct pat_call {
    const void *sendbuf;
    int sendcount;
    MPI_Datatype sendtype;
    void *recvbuf;
    int recvcount;
    MPI_Datatype recvtype;
    MPI_Comm comm;
    int root;  /* 0 where there is none */
    MPI_Op op; /* of a reduction */
    int64_t
        block_bytes; /* packed bytes per rank, of the longest block: the same on all ranks, but with `pairs` */
    int64_t mean_bytes;    /* of a block: what an algorithm is chosen by, the same on all ranks */
    int64_t send_bytes;    /* packed bytes of sendcount and sendtype; not set with MPI_IN_PLACE */
    int64_t element_bytes; /* of what is reduced; 0: nothing is */
    const int64_t *
        starts; /* where each block begins in the packed result, and its end; NULL: all blocks are equally long */
    const int64_t *
        own_starts; /* where in this rank's packed contribution that for each rank begins, as of MPI_Alltoallv; NULL: all are equally long */
    int64_t *kept;  /* the memory of both, which pat_describe_done frees */
    bool pairs;     /* how long a block is only the two ranks know between which it goes */
    bool in_place, send_plain, recv_plain; /* plain: the bytes lie in memory as they are packed */
    bool stays;                            /* the own block of a scatter's root, with MPI_IN_PLACE */
    MPI_Aint recv_stride;                  /* from one rank's block to the next in recvbuf */
    MPI_Aint send_stride;                  /* the same in sendbuf, where it has a block for each rank */
    pat_lists got,
        sent; /* instead of recvcount and recv_stride, and, with own_starts, of sendcount and send_stride */
} pat_call;

/* Memory of the library's for packed data, where types are not plain, and for what a collective with a root passes on. It grows as it is needed. */
typedef struct pat_pack {
    char *at;
    size_t size;
} pat_pack;

/*
 * The program may free a type once its call has returned, as with MPI's own requests: hold on to it, by one of the library's that is to be freed in the
 * end. Not by MPI_Type_dup, which would run the program's attribute callbacks. Returns an MPI error code; *type is then MPI_DATATYPE_NULL.
 */
int pat_call_keep_type(MPI_Datatype *type);

/*
 * Pack this rank's own block to `out`. `own` is the library's communicator: the background thread packs too,
 * and must not run a user's error handler. Returns an MPI error code.
 */
int pat_call_pack_own(const pat_call *call, MPI_Comm own, int rank, char *out);

/* Pack all of this rank's blocks, one after the other, where it contributes a block for each rank. */
int pat_call_pack_all(const pat_call *call, MPI_Comm own, int num_ranks, char *out);

/* Unpack the whole result into the receive buffer. Returns an MPI error code. */
int pat_call_unpack(const pat_call *call, MPI_Comm own, int rank, int num_ranks, const char *packed);

#endif

/*
 * face.h — a call of a collective with its arguments, in one shape whatever collective and language it comes from. A face is what
 * one function of MPI looks like to a program: MPI_Allgather and MPI_Allgatherv are two faces of the all-gather.
 */
#ifndef PAT_FACE_H
#define PAT_FACE_H

#include <mpi.h>
#include <stdint.h>

#include "algorithms.h"

/* The arguments of a call, under the names that MPI gives them. Those that the call does not have are 0. */
typedef struct pat_args {
    const void *sendbuf;
    int64_t sendcount;
    MPI_Datatype sendtype;
    union {
        void *recvbuf;
        void *buffer; /* of a broadcast, which has one for both */
    };
    union {
        int64_t recvcount;
        int64_t count;
    };
    union {
        MPI_Datatype recvtype;
        MPI_Datatype datatype;
    };
    const int *sendcounts, *sdispls, *recvcounts, *rdispls;
    MPI_Op op;
    int root;
    MPI_Comm comm;
} pat_args;

/* Nothing is given. Field by field, because compilers clear the whole with a string instruction, which took 7 of the 44 ns that a short call cost under the drop-in. */
static inline void pat_args_clear(pat_args *a)
{
    a->sendbuf = NULL;
    a->sendcount = 0;
    a->sendtype = (MPI_Datatype)0;
    a->recvbuf = NULL;
    a->recvcount = 0;
    a->recvtype = (MPI_Datatype)0;
    a->sendcounts = a->sdispls = a->recvcounts = a->rdispls = NULL;
    a->op = (MPI_Op)0;
    a->root = 0;
    a->comm = (MPI_Comm)0;
}

/* A function, whatever its parameters. */
typedef void pat_any(void);

/* Which arguments there are, and what they mean. */
enum pat_args_kind {
    PAT_ARGS_BLOCKS, /* as of MPI_Allgather: one length of a block to send, and one to receive; some have a root */
    PAT_ARGS_LISTS,  /* as of MPI_Allgatherv: blocks to receive have a length and a place each */
    PAT_ARGS_BUFFER, /* as of MPI_Bcast: one buffer, which is sent or received */
    PAT_ARGS_VECTOR, /* as of MPI_Allreduce: elements that are reduced; some have a root */
    PAT_ARGS_PARTS,  /* as of MPI_Reduce_scatter: elements that are reduced, so many for each rank */
    PAT_ARGS_NOTHING, /* as of MPI_Barrier: nothing is moved; all-gathers of a byte stand for it, which nobody reads */
    PAT_ARGS_PAIRS, /* as of MPI_Alltoallv: blocks to send and to receive have a length and a place each, which only their two ranks know */
};

/* One function of MPI that this library may run itself. */
typedef struct pat_face {
    const char *mpi, *starts; /* "MPI_Allgatherv", and "MPI_Iallgatherv"; strings that stay */
    enum pat_op op;
    enum pat_args_kind kind;
    int (*next)(pat_any *function,
                const pat_args *args); /* call `function`, which has this one's parameters */
    int (*start)(pat_any *function, const pat_args *args,
                 MPI_Request *request);     /* the same for its non-blocking form */
    int64_t (*bytes)(const pat_args *args); /* of this rank's buffer, for a report */
    bool
        tells; /* what `next` returns may be an error of this library's, with its text; else it is one of MPI's */
} pat_face;

/* The calls of faces.h: pat_face_allgather, ... */
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    extern const pat_face pat_face_##lower;
#define BEGUN TAKE
#include "faces.h"

/*
 * Where the MPI library has them, their forms with large counts: pat_face_allgather_c, ... They are run as those
 * without _c, and reports name them so; where a call is passed on, it goes to the function with _c. Counts that no int
 * holds are no trouble: then blocks are longer on all ranks than those that plans are for.
 */
#define LARGE
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    extern const pat_face pat_face_##lower##_c;
#include "faces.h"

/* The bytes of so many items; 0 where MPI would reject the arguments. */
int64_t pat_face_bytes(int64_t count, MPI_Datatype type);

/* Those that this rank has in a list of counts, one for each rank. */
int64_t pat_face_listed(const int counts[], MPI_Datatype type, MPI_Comm comm);

#endif

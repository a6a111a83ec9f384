/*
 * face.c — see face.h: what follows from the list in faces.h for every call.
 */
#include "face.h"

int64_t pat_face_bytes(int64_t count, MPI_Datatype type)
{
    int size;
    return count > 0 && type && type != MPI_DATATYPE_NULL && PMPI_Type_size(type, &size) == MPI_SUCCESS &&
                   size > 0
               ? count * size
               : 0;
}

int64_t pat_face_listed(const int counts[], MPI_Datatype type, MPI_Comm comm)
{
    int rank;
    return counts && PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS ? pat_face_bytes(counts[rank], type) : 0;
}

/* From arguments to a call, and to its bytes. */
#define FACE(name, lower, suffix, of, shape, arguments)                                                      \
    static int next_##lower##suffix(pat_any *function, const pat_args *a)                                    \
    {                                                                                                        \
        return ((__typeof__(&PMPI_##name##suffix))function)arguments;                                        \
    }                                                                                                        \
    static int start_##lower##suffix(pat_any *function, const pat_args *a, MPI_Request *request)             \
    {                                                                                                        \
        return ((__typeof__(&PMPI_I##lower##suffix))function)(LIST arguments, request);                      \
    }                                                                                                        \
    const pat_face pat_face_##lower##suffix = {.mpi = "MPI_" #name,                                          \
                                               .starts = "MPI_I" #lower,                                     \
                                               .op = PAT_OP_##of,                                            \
                                               .kind = PAT_ARGS_##shape,                                     \
                                               .next = next_##lower##suffix,                                 \
                                               .start = start_##lower##suffix,                               \
                                               .bytes = bytes_##lower};
#define TAKE(name, lower, upper, of, shape, parameters, arguments, size)                                     \
    static int64_t bytes_##lower(const pat_args *a)                                                          \
    {                                                                                                        \
        (void)a;                                                                                             \
        return size;                                                                                         \
    }                                                                                                        \
    FACE(name, lower, , of, shape, arguments)
#define BEGUN                      TAKE
#define ARGUMENT(x)                a->x
#define IN_PLACE(buffer)           (a->buffer == MPI_IN_PLACE)
#define BYTES(count, type)         pat_face_bytes(a->count, a->type)
#define LISTED(counts, type, comm) pat_face_listed(a->counts, a->type, a->comm)
#include "faces.h"

#if PAT_MPI_HAS_LARGE
#define LARGE
#define TAKE(name, lower, upper, of, shape, parameters, arguments, size)                                     \
    FACE(name, lower, _c, of, shape, arguments)
#define ARGUMENT(x) a->x
#include "faces.h"
#endif

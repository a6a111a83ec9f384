/*
 * watch.c — all other collectives, blocking and not: passed on as they are, and timed when a report is asked for.
 */
#include "dropin.h"

_Thread_local bool pat_dropin_inside;

int64_t pat_dropin_bytes(int count, MPI_Datatype type)
{
    int size;
    return count > 0 && type && type != MPI_DATATYPE_NULL && PMPI_Type_size(type, &size) == MPI_SUCCESS &&
                   size > 0
               ? (int64_t)count * size
               : 0;
}

/* A function that does nothing but pass on. */
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    int MPI_##name parameters                                                                                \
    {                                                                                                        \
        if (!pat_dropin_reports || pat_dropin_inside)                                                        \
            return PAT_NEXT(name) arguments;                                                                 \
        pat_dropin_inside = true;                                                                            \
        const int64_t start = pat_clock_local_ns();                                                          \
        const int rc = PAT_NEXT(name) arguments;                                                             \
        pat_sites_add(__builtin_return_address(0), "MPI_" #name, bytes, pat_clock_local_ns() - start, NULL); \
        pat_dropin_inside = false;                                                                           \
        return rc;                                                                                           \
    }

#define IN                 const void *
#define OUT                void *
#define INT                int
#define INTS               const int *
#define AINTS              const MPI_Aint *
#define TYPE               MPI_Datatype
#define TYPES              const MPI_Datatype *
#define OP                 MPI_Op
#define COMM               MPI_Comm
#define REQUEST            MPI_Request *
#define IN_PLACE(buffer)   ((buffer) == MPI_IN_PLACE)
#define BYTES(count, type) pat_dropin_bytes(count, type)
#include "watched.h"

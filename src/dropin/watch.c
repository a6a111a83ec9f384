/*
 * watch.c — all other collectives, blocking and not: passed on as they are, and timed while a report is wanted.
 */
#include "dropin.h"

_Thread_local bool pat_dropin_inside;

int64_t pat_dropin_bytes(int64_t count, MPI_Datatype type)
{
    int size;
    return count > 0 && type && type != MPI_DATATYPE_NULL && PMPI_Type_size(type, &size) == MPI_SUCCESS &&
                   size > 0
               ? count * size
               : 0;
}

/* A function that does nothing but pass on. */
#define TAKE(name, lower, upper, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    static int watch_##lower(__typeof__(&PMPI_##name) next, const void *site, LIST parameters)               \
    {                                                                                                        \
        if (!pat_dropin_reports || pat_dropin_inside)                                                        \
            return next arguments;                                                                           \
        pat_dropin_inside = true;                                                                            \
        const int64_t start = pat_clock_local_ns();                                                          \
        const int rc = next arguments;                                                                       \
        pat_dropin_count(pat_dropin_site(site), "MPI_" #name, bytes, pat_clock_local_ns() - start, NULL);    \
        pat_dropin_inside = false;                                                                           \
        return rc;                                                                                           \
    }

#define IN                 const void *
#define OUT                void *
#define INT                int
#define INTS               const int *
#define SIZE               int
#define SIZES              const int *
#define AINTS              const MPI_Aint *
#define TYPE               MPI_Datatype
#define TYPES              const MPI_Datatype *
#define OP                 MPI_Op
#define COMM               MPI_Comm
#define REQUEST            MPI_Request *
#define IN_PLACE(buffer)   ((buffer) == MPI_IN_PLACE)
#define BYTES(count, type) pat_dropin_bytes(count, type)
#include "watched.h"

void pat_dropin_watch(bool on)
{
#define TAKE(name, lower, upper, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    pat_dropin_set(PAT_WAY_C, PAT_CALL_##name, on ? (pat_gate_any *)watch_##lower : NULL);
#include "watched.h"
}

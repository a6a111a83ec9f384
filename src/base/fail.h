/*
 * fail.h — an error in a call is reported the way MPI reports it: through the communicator's error handler.
 */
#ifndef PAT_FAIL_H
#define PAT_FAIL_H

#include <mpi.h>

#include "error.h"

/* Call comm's error handler with `code`; when that returns, return the error class. */
static inline int pat_fail(MPI_Comm comm, int code)
{
    int error_class = code;
    pat_error_end(code);
    PMPI_Comm_call_errhandler(comm, code);
    PMPI_Error_class(code, &error_class);
    pat_error_seen_as(code, error_class);
    return error_class;
}

#endif

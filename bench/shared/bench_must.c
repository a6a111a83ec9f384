/*
 * bench_must.c — see bench_must.h. Must never return from what went wrong: figures of half a job are worth nothing.
 */
#include "bench_must.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "pat.h"
#include "tool_options.h"

void bench_must(int rc, const char *what)
{
    if (rc == MPI_SUCCESS)
        return;
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, PAT_Error_string(rc));
    MPI_Abort(MPI_COMM_WORLD, TOOL_FAILED);
}

void *bench_must_alloc(size_t count, size_t size)
{
    void *p = calloc(count, size);
    bench_must(p ? MPI_SUCCESS : MPI_ERR_NO_MEM, "memory");
    return p;
}

/*
 * overhead.c — see overhead.h. Must never return from what went wrong: a figure of half a job is worth nothing.
 */
#include "overhead.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "pat.h"

void overhead_must(int rc, const char *what)
{
    if (rc == MPI_SUCCESS)
        return;
    fprintf(stderr, "pat-overhead: %s: %s\n", what, PAT_Error_string(rc));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

void *overhead_alloc(size_t count, size_t size)
{
    void *p = calloc(count, size);
    overhead_must(p ? MPI_SUCCESS : MPI_ERR_NO_MEM, "memory");
    return p;
}

void overhead_quartiles(double *v, int n, double *low, double *mid, double *high)
{
    gsl_sort(v, 1, (size_t)n);
    *low = gsl_stats_quantile_from_sorted_data(v, 1, (size_t)n, 0.25);
    *mid = gsl_stats_quantile_from_sorted_data(v, 1, (size_t)n, 0.5);
    *high = gsl_stats_quantile_from_sorted_data(v, 1, (size_t)n, 0.75);
}

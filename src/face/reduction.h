/*
 * reduction.h — which reductions a plan may run: MPI's predefined operations on the predefined types that MPI defines them for.
 * All others, a program's own among them, are left to the MPI library, on all ranks alike.
 */
#ifndef PAT_REDUCTION_H
#define PAT_REDUCTION_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Does MPI define `op` for elements of `type`? *element_bytes: from one element to the next in memory, padding included, which is
 * moved along. Asks nothing but the handles, so no error handler of the program is called.
 */
bool pat_reduction_known(MPI_Op op, MPI_Datatype type, int64_t *element_bytes);

/*
 * Of a known one: does it give the same bits in whatever order operands are joined? Sums of floating-point numbers do not, nor, where there
 * are zeros of both signs or numbers that are none, their minimum and maximum.
 */
bool pat_reduction_any_order(MPI_Datatype type);

#endif

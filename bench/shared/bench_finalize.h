/*
 * bench_finalize.h — the end of MPI, also where MPI does not come to it.
 */
#ifndef BENCH_FINALIZE_H
#define BENCH_FINALIZE_H

/*
 * MPI_Finalize. With MPICH it ends the process with `status` where MPI_Finalize takes longer than five seconds, and rank 0 says so: over UCX's TCP it may hang (docs/mpi-libraries.md).
 * What is to be said and written has been said and written by then, and no rank has work of seconds before it calls this, for which the others would wait. What comes after it may not
 * be done. The launcher may end with a status of its own all the same, since these processes have not ended MPI. Collective over MPI_COMM_WORLD.
 */
void bench_finalize(int status);

#endif

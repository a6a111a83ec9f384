/*
 * mpi_faults.h — what an MPI library's own calls get wrong, so that tests do not ask for it where a call may be passed on.
 */
#ifndef PAT_TESTS_MPI_FAULTS_H
#define PAT_TESTS_MPI_FAULTS_H

#include <mpi.h>
#include <stdbool.h>

/* MPICH 4.0 crashes in a long MPI_Reduce with MPI_IN_PLACE at another root than rank 0, where ranks share memory. */
static inline bool mpi_reduces_in_place(int root)
{
#ifdef MPICH
    return root == 0;
#else
    (void)root;
    return true;
#endif
}

/*
 * Of persistent collectives MPICH 4.0 copies what a rank has for itself when the request is made, and not when it is started; it crashes at times where one is started again, or is not
 * under way among others that are waited for; and in MPI_Testall one that is under way counts as failed.
 */
static inline bool mpi_has_good_persistent(void)
{
#ifdef MPICH
    return false;
#else
    return true;
#endif
}

/* Open MPI 4.1 crashes, or never ends, in MPI_Ialltoallv with MPI_IN_PLACE. */
static inline bool mpi_exchanges_in_place(void)
{
#ifdef OPEN_MPI
    return false;
#else
    return true;
#endif
}

#endif

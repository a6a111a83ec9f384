/*
 * plain_persistent.h — how the MPI library spells what makes a persistent request of a collective: PERSISTENT(Bcast), with what MPI_Bcast has, an info and a request. Not defined where it has none.
 */
#ifndef PAT_TESTS_PLAIN_PERSISTENT_H
#define PAT_TESTS_PLAIN_PERSISTENT_H

#include <mpi.h>

#if PAT_MPI_HAS_PERSISTENT == 1
#define PERSISTENT(name) MPI_##name##_init
#elif PAT_MPI_HAS_PERSISTENT
#include <mpi-ext.h>
#define PERSISTENT(name) MPIX_##name##_init
#endif

#endif

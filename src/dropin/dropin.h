/*
 * dropin.h — what the parts of the drop-in share. It is preloaded, defines MPI_* functions, and hands every call that it
 * does not run itself to whoever defines the function next: another tool, or the MPI library.
 */
#ifndef PAT_DROPIN_H
#define PAT_DROPIN_H

#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "runtime.h"
#include "sites.h"

/* The next definition of MPI_<name> in the order of loading; PMPI_<name> where there is none. */
#define PAT_NEXT(name)                                                                                       \
    ({                                                                                                       \
        static _Atomic(void *) kept;                                                                         \
        void *found = atomic_load_explicit(&kept, memory_order_relaxed);                                     \
        if (!found) {                                                                                        \
            found = dlsym(RTLD_NEXT, "MPI_" #name);                                                          \
            atomic_store_explicit(&kept, found ? found : (found = (void *)PMPI_##name),                      \
                                  memory_order_relaxed);                                                     \
        }                                                                                                    \
        (__typeof__(&PMPI_##name))found;                                                                     \
    })

/* The drop-in's own state, on the one runtime object; there between MPI_Init and MPI_Finalize where a report is wanted. */
typedef struct pat_dropin {
    pat_sites sites;
    int64_t begin_ns;  /* the program's time counts from here: MPI has started */
    int64_t start_ns;  /* what starting the library took */
    int64_t thread_ns; /* processor time of the background thread, once nothing is counted any more */
    int64_t finish_ns; /* MPI_Finalize was called */
    MPI_Comm comm;     /* the report's own communicator of all ranks, for when the library has ended */
    int nodes;
    char *
        file; /* on rank 0: where the report goes, whatever directory the program goes to; NULL: standard error */
} pat_dropin;

/* Does anybody want to know of the calls? Every call asks: one load. */
#define pat_dropin_reports (pat_rt.dropin != NULL)
/* This thread is in a call that is timed: what another tool makes of it, in C of a call in Fortran, is not one more. */
extern _Thread_local bool pat_dropin_inside;

/* MPI_Init and so on, for whichever language calls. `site`: where in the program. */
int pat_dropin_init(int *argc, char ***argv);
int pat_dropin_init_thread(int *argc, char ***argv, int required, int *provided);
int pat_dropin_finalize(void);
int pat_dropin_allgather(const void *site, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                         void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int pat_dropin_allgatherv(const void *site, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                          void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                          MPI_Comm comm);
int pat_dropin_bcast(const void *site, void *buffer, int count, MPI_Datatype datatype, int root,
                     MPI_Comm comm);
int pat_dropin_gather(const void *site, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                      void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);

/* The bytes of a buffer, for a report; 0 where arguments do not make sense: MPI tells of those. */
int64_t pat_dropin_bytes(int count, MPI_Datatype type);

/* A buffer that Fortran gives as C has it: MPI_IN_PLACE and MPI_BOTTOM are addresses of variables there. */
void *pat_fortran_buffer(void *given);

#endif

/*
 * dropin.h — what the parts of the drop-in share that lie in the library. They get the program's calls from the preloaded file
 * (gate.h), and hand every call that is not run here to whoever defines the function next: another tool, or the MPI library.
 */
#ifndef PAT_DROPIN_H
#define PAT_DROPIN_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "clock.h"
#include "face.h"
#include "gate.h"
#include "runtime.h"
#include "sites.h"

/*
 * Open MPI's library for Fortran calls PMPI_ itself, so what programs in Fortran call is taken over under its Fortran name.
 * That of MPICH and its relatives calls MPI_ in C, at least for calls with buffers; there they are taken over as a program's
 * own.
 */
#ifdef OPEN_MPI
enum { PAT_FORTRAN_CALLS_MPI = 0 };
#else
enum { PAT_FORTRAN_CALLS_MPI = 1 };
#endif

/* The preloaded file; NULL: there is none. */
extern pat_gate *pat_dropin_gate;

/* The next definition of MPI_<name> behind the preloaded file. */
#define PAT_NEXT(name)                                                                                       \
    ({                                                                                                       \
        static _Atomic(pat_gate_any *) kept;                                                                 \
        pat_gate_any *found = atomic_load_explicit(&kept, memory_order_relaxed);                             \
        if (!found)                                                                                          \
            atomic_store_explicit(&kept, found = pat_dropin_gate->next("MPI_" #name), memory_order_relaxed); \
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
/* Where a call in Fortran came from that the MPI library's Fortran is going to make a call in C of; NULL: none. */
extern _Thread_local const void *pat_dropin_fortran_site;

/* Where in the program a call comes from that in C returns to `site`: once for each call. */
static inline const void *pat_dropin_site(const void *site)
{
    if (PAT_FORTRAN_CALLS_MPI && pat_dropin_fortran_site) {
        site = pat_dropin_fortran_site;
        pat_dropin_fortran_site = NULL;
    }
    return site;
}

/* Count a call for the report. */
static inline void pat_dropin_count(const void *site, const char *call, int64_t bytes, int64_t time_ns,
                                    const pat_outcome *outcome)
{
    pat_dropin *dropin = pat_rt.dropin;
    if (dropin) /* else MPI_Finalize was called meanwhile: wrong, but nothing to end a program for */
        pat_sites_add(&dropin->sites, site, call, bytes, time_ns, outcome);
}

/* MPI_Init and so on, for whichever language calls. */
int pat_dropin_init(int *argc, char ***argv);
int pat_dropin_init_thread(int *argc, char ***argv, int required, int *provided);
int pat_dropin_finalize(void);
/* A collective that the library may run itself; `next` is what comes behind the preloaded file, and the call returns to returns_to. */
int pat_dropin_call(const pat_face *face, const pat_args *args, pat_any *next, const void *returns_to);

/*
 * Tell the preloaded file which calls go here: MPI_Init and MPI_Finalize in Fortran; those that the library may run, from
 * MPI_Init on; and all others while a report is wanted, which are passed on from here and timed.
 */
void pat_dropin_enter_fortran(void);
void pat_dropin_take(void);
void pat_dropin_take_large(void);
void pat_dropin_take_fortran(void);
void pat_dropin_watch(bool on);
void pat_dropin_watch_large(bool on);
void pat_dropin_watch_fortran(bool on);

/* A call of `way` goes to `ours`. */
static inline void pat_dropin_set(enum pat_gate_way way, enum pat_gate_call call, pat_gate_any *ours)
{
    atomic_store_explicit(&pat_dropin_gate->ours[way][call], ours, memory_order_release);
}

/* A buffer that Fortran gives as C has it: MPI_IN_PLACE and MPI_BOTTOM are addresses of variables there. */
void *pat_fortran_buffer(void *given);

#endif

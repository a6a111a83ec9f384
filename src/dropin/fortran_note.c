/*
 * fortran_note.c — for MPI libraries whose Fortran library calls MPI_ in C, as that of MPICH and its relatives does: the call
 * in C is the one that is taken over, and what Fortran has in place of MPI_IN_PLACE is their business. Here it is only noted
 * from where in the program the call came. Calls without buffers go past MPI_ in C in MPICH's mpi_f08: these are counted here.
 */
#include "dropin.h"

_Thread_local const void *pat_dropin_fortran_site;

#define NOTE(name, lower, parameters, arguments, bytes, made)                                                \
    static void note_##lower(void (*next)(LIST parameters, void *ierror), const void *site, LIST parameters, \
                             void *ierror)                                                                   \
    {                                                                                                        \
        const bool is_told = pat_dropin_reports && !pat_dropin_inside;                                       \
        pat_counted told = {.site = site,                                                                    \
                            .call = "MPI_" #name,                                                            \
                            .comm = is_told ? PMPI_Comm_f2c(*(MPI_Fint *)comm) : MPI_COMM_NULL,              \
                            .root = -1};                                                                     \
        if (is_told)                                                                                         \
            pat_dropin_begin_here(&told);                                                                    \
        pat_dropin_fortran_site = site;                                                                      \
        next(LIST arguments, ierror);                                                                        \
        if (is_told && pat_dropin_fortran_site) { /* nobody has come by in C */                              \
            const MPI_Request begun = made;                                                                  \
            told.request = &begun;                                                                           \
            pat_dropin_count(&told, ierror ? *(MPI_Fint *)ierror : MPI_SUCCESS, bytes, NULL);                \
        }                                                                                                    \
        pat_dropin_fortran_site =                                                                            \
            NULL; /* nor is it another call for a tool that made this one of its own */                      \
    }
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    NOTE(name, lower, parameters, arguments, bytes, MPI_REQUEST_NULL)
#define PASS_BEGUN(name, lower, upper, parameters, arguments, bytes)                                         \
    NOTE(name, lower, parameters, arguments, bytes, PMPI_Request_f2c(*request))
#include "faces_fortran.h"
#define IN_PLACE(buffer) ((void)(buffer), false) /* not known here */
#include "faces.h"

static void set(enum pat_gate_call call, pat_gate_any *ours)
{
    pat_dropin_set(PAT_WAY_FORTRAN, call, ours);
    pat_dropin_set(PAT_WAY_DESCRIBED, call, ours);
}

void pat_dropin_take_fortran(void)
{
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    set(PAT_CALL_##name, (pat_gate_any *)note_##lower);
#define START(lower, upper, parameters, arguments, bytes)                                                    \
    set(PAT_CALL_I##lower, (pat_gate_any *)note_i##lower);
#include "faces.h"
}

void pat_dropin_watch_fortran(bool on)
{
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)
#define START(lower, upper, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    set(PAT_CALL_##name, on ? (pat_gate_any *)note_##lower : NULL);
#include "faces.h"
}

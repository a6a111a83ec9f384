/*
 * fortran_watch.c — for Open MPI: watch.c for programs in Fortran. Open MPI's Fortran library calls PMPI_ itself, so what they
 * call is seen only under its Fortran name. It goes on to the next definition of that very name, so that a tool for Fortran
 * is not skipped. All arguments are addresses and are never looked at but to count bytes.
 */
#include "dropin.h"

_Thread_local const void *pat_dropin_fortran_site;

#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)
#define START(lower, upper, parameters, arguments, bytes)
#define WATCH(name, lower, parameters, arguments, bytes, made)                                               \
    static void watch_##lower(void (*next)(LIST parameters, MPI_Fint * ierror), const void *site,            \
                              LIST parameters, MPI_Fint *ierror)                                             \
    {                                                                                                        \
        const bool is_told = pat_dropin_reports && !pat_dropin_inside;                                       \
        pat_counted told = {.site = site,                                                                    \
                            .call = "MPI_" #name,                                                            \
                            .comm = is_told ? PMPI_Comm_f2c(*comm) : MPI_COMM_NULL,                          \
                            .root = -1};                                                                     \
        if (is_told)                                                                                         \
            pat_dropin_begin(&told);                                                                         \
        pat_dropin_inside |= is_told;                                                                        \
        next(LIST arguments, ierror);                                                                        \
        if (is_told) {                                                                                       \
            const MPI_Request begun = made;                                                                  \
            told.request = &begun;                                                                           \
            pat_dropin_count(&told, ierror ? *ierror : MPI_SUCCESS, bytes, NULL);                            \
            pat_dropin_inside = false;                                                                       \
        }                                                                                                    \
    }
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    WATCH(name, lower, parameters, arguments, bytes, MPI_REQUEST_NULL)
#define PASS_BEGUN(name, lower, upper, parameters, arguments, bytes)                                         \
    WATCH(name, lower, parameters, arguments, bytes, PMPI_Request_f2c(*request))
#include "faces_fortran.h"
#define IN_PLACE(buffer) (pat_fortran_buffer(buffer) == MPI_IN_PLACE)
#include "faces.h"

void pat_dropin_watch_fortran(bool on)
{
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)
#define START(lower, upper, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_##name, on ? (pat_gate_any *)watch_##lower : NULL);
#include "faces.h"
}

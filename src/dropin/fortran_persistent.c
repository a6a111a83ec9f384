/*
 * fortran_persistent.c — persistent.c for programs in Fortran. With MPI libraries whose Fortran library calls MPI_ in C (fortran_note.c) only what goes past that is kept here.
 */
#include "dropin.h"

#if PAT_MPI_HAS_PERSISTENT
#define WATCH(name, lower, parameters, arguments, bytes, at_root, may_run)                                   \
    static void watch_##lower(                                                                               \
        void (*next)(LIST parameters, MPI_Fint * info, MPI_Fint * request, MPI_Fint * ierror),               \
        const void *site, LIST parameters, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)              \
    {                                                                                                        \
        const bool is_told = pat_dropin_reports && !pat_dropin_inside;                                       \
        pat_counted told = {.site = site,                                                                    \
                            .call = "MPI_" #name "_init",                                                    \
                            .comm = is_told ? PMPI_Comm_f2c(*comm) : MPI_COMM_NULL,                          \
                            .root = at_root};                                                                \
        if (is_told)                                                                                         \
            pat_dropin_begin_here(&told);                                                                    \
        pat_dropin_inside |= is_told && !PAT_FORTRAN_CALLS_MPI;                                              \
        pat_dropin_fortran_site = PAT_FORTRAN_CALLS_MPI ? site : NULL;                                       \
        next(LIST arguments, info, request, ierror);                                                         \
        const int rc = ierror ? *ierror : MPI_SUCCESS;                                                       \
        if (is_told && (!PAT_FORTRAN_CALLS_MPI || pat_dropin_fortran_site)) {                                \
            const MPI_Request made = PMPI_Request_f2c(*request);                                             \
            told.request = &made;                                                                            \
            pat_dropin_keep(&told, rc, rc == MPI_SUCCESS ? bytes : 0, may_run);                              \
        }                                                                                                    \
        pat_dropin_fortran_site = NULL;                                                                      \
        if (is_told && !PAT_FORTRAN_CALLS_MPI)                                                               \
            pat_dropin_inside = false;                                                                       \
    }
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)                                      \
    WATCH(name, lower, parameters, arguments, bytes, at_root, true)
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    WATCH(name, lower, parameters, arguments, bytes, -1, false)
#define LISTED(counts, type, comm) pat_face_listed(counts, PMPI_Type_f2c(*type), PMPI_Comm_f2c(*comm))
#ifdef OPEN_MPI
#define IN_PLACE(buffer) (pat_fortran_buffer(buffer) == MPI_IN_PLACE)
#else
#define IN_PLACE(buffer) ((void)(buffer), false) /* of no call without a buffer */
#endif
#include "faces_fortran.h"
#include "faces.h"
#endif

void pat_dropin_watch_persistent_fortran(bool on)
{
    (void)on;
#if PAT_MPI_HAS_PERSISTENT
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_##name##_init, on ? (pat_gate_any *)watch_##lower : NULL);
#include "faces.h"
    if (!PAT_FORTRAN_CALLS_MPI)
        return;
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    pat_dropin_set(PAT_WAY_DESCRIBED, PAT_CALL_##name##_init, on ? (pat_gate_any *)watch_##lower : NULL);
#include "faces.h"
#endif
}

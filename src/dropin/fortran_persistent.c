/*
 * fortran_persistent.c — persistent.c for programs in Fortran. With MPI libraries whose Fortran library calls MPI_ in C (fortran_note.c) only what goes past that is kept here, and what the library runs is made there.
 */
#include "dropin.h"

#if PAT_MPI_HAS_PERSISTENT
#define MAKE(lower, parameters, arguments)                                                                   \
    static bool make_##lower(LIST parameters, MPI_Fint *request, pat_outcome *starts, int *rc)               \
    {                                                                                                        \
        MPI_Request made = MPI_REQUEST_NULL;                                                                 \
        const pat_args args = {LIST arguments};                                                              \
        const bool done = pat_dropin_make_kept(&pat_face_##lower, &args, &made, starts, rc);                 \
        if (done && *rc == MPI_SUCCESS)                                                                      \
            *request = PMPI_Request_c2f(made);                                                               \
        return done;                                                                                         \
    }
#ifdef OPEN_MPI
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root) MAKE(lower, parameters, arguments)
#define MADE(lower, arguments)                                          make_##lower(LIST arguments, request, &how, &rc)
#else
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)
#define MADE(lower, arguments) false
#endif
#define AS_ARGUMENTS
#include "faces_fortran.h"
#include "faces.h"

static void move(const pat_face *face, const MPI_Fint *comm, MPI_Fint *request)
{
    MPI_Request moved = PMPI_Request_f2c(*request);
    pat_dropin_move_kept(face, PMPI_Comm_f2c(*comm), &moved);
    *request = PMPI_Request_c2f(moved);
}

#define WATCH(name, lower, parameters, arguments, bytes, at_root, made, face, starts)                        \
    static void watch_##lower(                                                                               \
        void (*next)(LIST parameters, MPI_Fint * info, MPI_Fint * request, MPI_Fint * ierror),               \
        const void *site, LIST parameters, MPI_Fint *info, MPI_Fint *request, MPI_Fint *ierror)              \
    {                                                                                                        \
        const bool is_told = pat_dropin_reports && !pat_dropin_inside;                                       \
        pat_outcome how = {.why = PAT_WHY_PERSISTENT, .late = {.rank = -1}};                                 \
        pat_counted told = {.site = site,                                                                    \
                            .call = "MPI_" #name "_init",                                                    \
                            .comm = is_told ? PMPI_Comm_f2c(*comm) : MPI_COMM_NULL,                          \
                            .root = at_root};                                                                \
        int rc = MPI_SUCCESS;                                                                                \
        if (is_told)                                                                                         \
            pat_dropin_begin_here(&told);                                                                    \
        pat_dropin_inside |= is_told && !PAT_FORTRAN_CALLS_MPI;                                              \
        pat_dropin_fortran_site = PAT_FORTRAN_CALLS_MPI ? site : NULL;                                       \
        if (made) {                                                                                          \
            pat_fortran_answer(ierror, rc);                                                                  \
        } else {                                                                                             \
            next(LIST arguments, info, request, ierror);                                                     \
            rc = ierror ? *ierror : MPI_SUCCESS;                                                             \
        }                                                                                                    \
        if (how.moves && rc == MPI_SUCCESS)                                                                  \
            move(face, comm, request);                                                                       \
        if (is_told && (!PAT_FORTRAN_CALLS_MPI || pat_dropin_fortran_site)) {                                \
            const MPI_Request request_made = PMPI_Request_f2c(*request);                                     \
            told.request = &request_made;                                                                    \
            pat_dropin_keep(&told, rc, rc == MPI_SUCCESS ? bytes : 0, starts);                               \
        }                                                                                                    \
        pat_dropin_fortran_site = NULL;                                                                      \
        if (is_told && !PAT_FORTRAN_CALLS_MPI)                                                               \
            pat_dropin_inside = false;                                                                       \
        (void)how;                                                                                           \
    }
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)                                      \
    WATCH(name, lower, parameters, arguments, bytes, at_root, MADE(lower, arguments), &pat_face_##lower, &how)
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    WATCH(name, lower, parameters, arguments, bytes, -1, false, NULL, NULL)
#define LISTED(counts, type, comm) pat_face_listed(counts, PMPI_Type_f2c(*type), PMPI_Comm_f2c(*comm))
#ifdef OPEN_MPI
#define IN_PLACE(buffer) (pat_fortran_buffer(buffer) == MPI_IN_PLACE)
#else
#define IN_PLACE(buffer) ((void)(buffer), false) /* of no call without a buffer */
#endif
#include "faces_fortran.h"
#include "faces.h"
#endif

void pat_dropin_take_persistent_fortran(void)
{
#if PAT_MPI_HAS_PERSISTENT
    if (PAT_FORTRAN_CALLS_MPI)
        return;
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)                                      \
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_##name##_init, (pat_gate_any *)watch_##lower);
#include "faces.h"
#endif
}

void pat_dropin_watch_persistent_fortran(bool on)
{
    (void)on;
#if PAT_MPI_HAS_PERSISTENT
    if (!PAT_FORTRAN_CALLS_MPI) {
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_##name##_init, on ? (pat_gate_any *)watch_##lower : NULL);
#include "faces.h"
        return;
    }
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_##name##_init, on ? (pat_gate_any *)watch_##lower : NULL);      \
    pat_dropin_set(PAT_WAY_DESCRIBED, PAT_CALL_##name##_init, on ? (pat_gate_any *)watch_##lower : NULL);
#include "faces.h"
#endif
}

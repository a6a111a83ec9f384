/*
 * fortran_messages.c — messages.c for programs in Fortran, where a request is an integer. With MPI libraries whose Fortran library calls MPI_ in C (fortran_note.c) it is only noted
 * from where in the program a call came, and counted here what goes past MPI_ in C.
 */
#include <stdlib.h>

#include "dropin.h"
#include "keep.h"

/* The handles of C for so many requests, to be freed; NULL where none of them stands for a collective, as far as is known. */
static MPI_Request *to_c(const MPI_Fint *requests, int num)
{
    const pat_dropin *d = pat_rt.dropin;
    const bool any =
        num > 0 && (pat_keep_any() || (d && atomic_load_explicit(&d->begun.num, memory_order_relaxed) > 0));
    MPI_Request *handles = any ? malloc((size_t)num * sizeof(*handles)) : NULL;
    for (int i = 0; i < num && handles; i++)
        handles[i] = PMPI_Request_f2c(requests[i]);
    return handles;
}

static void count_await(const pat_counted *told, pat_waiting *waiting, const MPI_Fint *requests, int num,
                        MPI_Request *handles, int rc, pat_done done)
{
    for (int i = 0; i < num && handles; i++)
        handles[i] = PMPI_Request_f2c(requests[i]);
    pat_dropin_count_await(told, waiting, handles, rc, done);
}

/* Returns whether the call is to be counted here. */
static bool begin(pat_counted *told, const void *site, const char *call)
{
    const bool is_told = pat_dropin_reports && !pat_dropin_inside;
    pat_dropin_inside |= is_told && !PAT_FORTRAN_CALLS_MPI;
    pat_dropin_fortran_site = PAT_FORTRAN_CALLS_MPI ? site : NULL;
    *told = (pat_counted){.site = site, .call = call};
    if (is_told)
        pat_dropin_begin_here(told);
    return is_told;
}

/* Returns whether it has not been counted in C. */
static bool end(bool is_told)
{
    const bool is_here = is_told && (!PAT_FORTRAN_CALLS_MPI || pat_dropin_fortran_site);
    pat_dropin_fortran_site = NULL;
    if (is_told && !PAT_FORTRAN_CALLS_MPI)
        pat_dropin_inside = false;
    return is_here;
}

#define MESSAGE(name, lower, upper, parameters, arguments, bytes)                                            \
    static void watch_##lower(void (*next)(LIST parameters, MPI_Fint * ierror), const void *site,            \
                              LIST parameters, MPI_Fint *ierror)                                             \
    {                                                                                                        \
        pat_counted told;                                                                                    \
        const bool is_told = begin(&told, site, "MPI_" #name);                                               \
        next(LIST arguments, ierror);                                                                        \
        if (end(is_told))                                                                                    \
            pat_dropin_count_message(&told, bytes);                                                          \
    }
#define AWAIT(name, lower, upper, parameters, arguments, num, requests, done)                                \
    static void watch_##lower(void (*next)(LIST parameters, MPI_Fint * ierror), const void *site,            \
                              LIST parameters, MPI_Fint *ierror)                                             \
    {                                                                                                        \
        pat_counted told;                                                                                    \
        pat_waiting waiting;                                                                                 \
        MPI_Request *const handles = to_c(requests, num);                                                    \
        const int given = handles ? num : 0;                                                                 \
        pat_dropin_await(&waiting, given, handles);                                                          \
        const bool is_told = begin(&told, site, "MPI_" #name);                                               \
        next(LIST arguments, ierror);                                                                        \
        const int rc = ierror ? *ierror : MPI_SUCCESS;                                                       \
        if (end(is_told))                                                                                    \
            count_await(&told, &waiting, requests, given, handles, rc,                                       \
                        rc == MPI_SUCCESS ? (done) : (pat_done){0});                                         \
        pat_dropin_end_await(&waiting);                                                                      \
        free(handles);                                                                                       \
    }
#define EVERY(are)          ((pat_done){.all = are})
#define SOME(number, which) ((pat_done){.num = number, .at = which, .first = 1})
#define BEGINS(name, lower, upper, parameters, arguments, num, requests)                                     \
    static void watch_##lower(void (*next)(LIST parameters, MPI_Fint * ierror), const void *site,            \
                              LIST parameters, MPI_Fint *ierror)                                             \
    {                                                                                                        \
        pat_counted told;                                                                                    \
        MPI_Request *const handles = to_c(requests, num);                                                    \
        const int given = handles ? num : 0;                                                                 \
        const bool is_told = begin(&told, site, "MPI_" #name);                                               \
        pat_dropin_starts_in_fortran = true;                                                                 \
        next(LIST arguments, ierror);                                                                        \
        int rc = ierror ? *ierror : MPI_SUCCESS;                                                             \
        if (rc == MPI_SUCCESS && pat_dropin_starts_in_fortran) {                                             \
            rc = (num) > 0 && !handles && pat_keep_any()                                                     \
                     ? MPI_ERR_NO_MEM                                                                        \
                     : pat_dropin_start_kept(is_told ? &told : NULL, given, handles);                        \
            pat_fortran_answer(ierror, rc);                                                                  \
        }                                                                                                    \
        pat_dropin_starts_in_fortran = false;                                                                \
        if (end(is_told))                                                                                    \
            pat_dropin_count_starts(&told, rc, given, handles);                                              \
        free(handles);                                                                                       \
    }
#define LETS_GO(name, lower, upper, parameters, arguments, request)                                          \
    static void watch_##lower(void (*next)(LIST parameters, MPI_Fint * ierror), const void *site,            \
                              LIST parameters, MPI_Fint *ierror)                                             \
    {                                                                                                        \
        (void)site;                                                                                          \
        pat_dropin_let_go(PMPI_Request_f2c(*(request)));                                                     \
        next(LIST arguments, ierror);                                                                        \
    }
#include "faces_fortran.h"
#include "faces_messages.h"

void pat_dropin_watch_messages_fortran(bool on)
{
#define MESSAGE(name, lower, upper, parameters, arguments, bytes)                                            \
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_##name, on ? (pat_gate_any *)watch_##lower : NULL);
#include "faces_messages.h"
    if (!PAT_FORTRAN_CALLS_MPI)
        return;
#define MESSAGE(name, lower, upper, parameters, arguments, bytes)                                            \
    pat_dropin_set(PAT_WAY_DESCRIBED, PAT_CALL_##name, on ? (pat_gate_any *)watch_##lower : NULL);
#include "faces_messages.h"
}

void pat_dropin_take_starts_fortran(bool on)
{
#define SET(name, lower)                                                                                     \
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_##name, on ? (pat_gate_any *)watch_##lower : NULL);             \
    if (PAT_FORTRAN_CALLS_MPI)                                                                               \
        pat_dropin_set(PAT_WAY_DESCRIBED, PAT_CALL_##name, on ? (pat_gate_any *)watch_##lower : NULL);
#define BEGINS(name, lower, upper, parameters, arguments, num, requests) SET(name, lower)
#define LETS_GO(name, lower, upper, parameters, arguments, request)      SET(name, lower)
#include "faces_messages.h"
}

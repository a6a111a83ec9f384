/*
 * messages.c — messages between two ranks, and starting and waiting for requests: passed on as they are, and added up by their places while a report is wanted. Where a request
 * stands for a collective (begun.h), when the program started and waited for it is kept, so that it can be found out for which rank.
 */
#include <stdlib.h>

#include "dropin.h"

_Thread_local bool pat_dropin_starts_in_fortran;

/* What comes next may be a tool's, whose MPI_Startall calls MPI_Start: then a request comes here twice, and is to be started once. */
static _Thread_local int starting;

/* With `before` what is to be done before the call, and with `count` after it. */
#define FRAME(called, parameters, arguments, before, count)                                                  \
    static int watch_##called(__typeof__(&PMPI_##called) next, const void *site, LIST parameters)            \
    {                                                                                                        \
        if (!pat_dropin_reports || pat_dropin_inside)                                                        \
            return next arguments;                                                                           \
        pat_dropin_inside = true;                                                                            \
        before;                                                                                              \
        pat_counted told = {.site = pat_dropin_site(site), .call = "MPI_" #called};                          \
        pat_dropin_begin(&told);                                                                             \
        const int rc = next arguments;                                                                       \
        count;                                                                                               \
        pat_dropin_inside = false;                                                                           \
        return rc;                                                                                           \
    }
/* Whoever sends does not wait for the rank that receives, as a rule; nor is it known here which message a receive gets. So there is only the time. */
#define WATCH(called, parameters, arguments, bytes)                                                          \
    FRAME(called, parameters, arguments, , pat_dropin_count_message(&told, bytes))
#define MESSAGE(name, lower, upper, parameters, arguments, bytes) WATCH(name, parameters, arguments, bytes)
/* What a failing call says of its requests is not looked at: it need not have been given places for it. */
#define AWAIT(name, lower, upper, parameters, arguments, num, requests, done)                                \
    FRAME(name, parameters, arguments, pat_waiting waiting;                                                  \
          pat_dropin_await(&waiting, num, requests),                                                         \
          pat_dropin_count_await(&told, &waiting, requests, rc, rc == MPI_SUCCESS ? (done) : (pat_done){0}); \
          pat_dropin_end_await(&waiting))
#define EVERY(are)          ((pat_done){.all = are})
#define SOME(number, which) ((pat_done){.num = number, .at = which})
#define BEGINS(name, lower, upper, parameters, arguments, num, requests)                                     \
    static int watch_##name(__typeof__(&PMPI_##name) next, const void *site, LIST parameters)                \
    {                                                                                                        \
        const bool is_told = pat_dropin_reports && !pat_dropin_inside;                                       \
        pat_counted told = {.site = is_told ? pat_dropin_site(site) : site, .call = "MPI_" #name};           \
        pat_dropin_inside |= is_told;                                                                        \
        pat_dropin_starts_in_fortran = false;                                                                \
        if (is_told)                                                                                         \
            pat_dropin_begin(&told);                                                                         \
        const bool is_within = starting++ > 0;                                                               \
        int rc = next arguments;                                                                             \
        starting--;                                                                                          \
        if (rc == MPI_SUCCESS && !is_within)                                                                 \
            rc = pat_dropin_start_kept(is_told ? &told : NULL, num, requests);                               \
        if (is_told) {                                                                                       \
            pat_dropin_count_starts(&told, rc, num, requests);                                               \
            pat_dropin_inside = false;                                                                       \
        }                                                                                                    \
        return rc;                                                                                           \
    }
#define LETS_GO(name, lower, upper, parameters, arguments, request)                                          \
    static int watch_##name(__typeof__(&PMPI_##name) next, const void *site, LIST parameters)                \
    {                                                                                                        \
        (void)site;                                                                                          \
        if (request)                                                                                         \
            pat_dropin_let_go(*(request));                                                                   \
        return next arguments;                                                                               \
    }
#include "faces_c.h"
#include "faces_messages.h"

#if PAT_MPI_HAS_LARGE
#define LARGE
#define MESSAGE(name, lower, upper, parameters, arguments, bytes)                                            \
    WATCH(name##_c, parameters, arguments, bytes)
#include "faces_c.h"
#include "faces_messages.h"
#endif

void pat_dropin_watch_messages(bool on)
{
#define MESSAGE(name, lower, upper, parameters, arguments, bytes)                                            \
    pat_dropin_set(PAT_WAY_C, PAT_CALL_##name, on ? (pat_gate_any *)watch_##name : NULL);
#include "faces_messages.h"
#if PAT_MPI_HAS_LARGE
#define LARGE
#define MESSAGE(name, lower, upper, parameters, arguments, bytes)                                            \
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_##name, on ? (pat_gate_any *)watch_##name##_c : NULL);
#include "faces_messages.h"
#endif
}

void pat_dropin_take_starts(bool on)
{
#define BEGINS(name, lower, upper, parameters, arguments, num, requests)                                     \
    pat_dropin_set(PAT_WAY_C, PAT_CALL_##name, on ? (pat_gate_any *)watch_##name : NULL);
#define LETS_GO(name, lower, upper, parameters, arguments, request)                                          \
    pat_dropin_set(PAT_WAY_C, PAT_CALL_##name, on ? (pat_gate_any *)watch_##name : NULL);
#include "faces_messages.h"
}

void pat_dropin_await(pat_waiting *w, int num, const MPI_Request requests[])
{
    pat_dropin *d = pat_rt.dropin;
    w->found = w->room;
    w->num = d ? pat_begun_find(&d->begun, requests, num, w->room, PAT_WAITING_ROOM, &w->found) : 0;
}

void pat_dropin_end_await(pat_waiting *w)
{
    if (w->found != w->room)
        free(w->found);
}

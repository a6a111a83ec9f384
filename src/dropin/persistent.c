/*
 * persistent.c — persistent collectives, MPI_Allgather_init and so on, with large counts too: passed on as they are. While a report is wanted it is kept for which collective a request
 * stands, so that what starts it and waits for it (messages.c) is counted under that name. What makes the request is not counted: it moves nothing.
 */
#include "dropin.h"

void pat_dropin_keep(const pat_counted *told, int rc, int64_t bytes, bool may_run)
{
    pat_dropin *d = pat_rt.dropin;
    if (!d)
        return;
    if (d->state.on)
        pat_state_leave(&d->state, pat_clock_local_ns());
    if (rc != MPI_SUCCESS)
        return;
    const pat_kept kept = {.call = told->call,
                           .bytes = bytes,
                           .root = told->root,
                           .events = pat_events_new_request(&d->events, told->comm),
                           .may_run = may_run};
    pat_begun_keep(&d->begun, *told->request, &kept);
}

void pat_dropin_forget(MPI_Request request)
{
    pat_dropin *d = pat_rt.dropin;
    if (d)
        pat_begun_forget(&d->begun, request);
}

#if PAT_MPI_HAS_PERSISTENT
/* Where MPI has rejected the arguments, the list and the communicator by which bytes are counted may be none. */
#define WATCH(name, suffix, parameters, arguments, bytes, at_root, may_run)                                  \
    static int watch_##name##suffix(int (*next)(LIST parameters, MPI_Info, MPI_Request *), const void *site, \
                                    LIST parameters, MPI_Info info, MPI_Request *request)                    \
    {                                                                                                        \
        if (!pat_dropin_reports || pat_dropin_inside)                                                        \
            return next(LIST arguments, info, request);                                                      \
        pat_dropin_inside = true;                                                                            \
        pat_counted told = {.site = pat_dropin_site(site),                                                   \
                            .call = "MPI_" #name "_init",                                                    \
                            .comm = comm,                                                                    \
                            .root = at_root,                                                                 \
                            .request = request};                                                             \
        pat_dropin_begin(&told);                                                                             \
        const int rc = next(LIST arguments, info, request);                                                  \
        pat_dropin_keep(&told, rc, rc == MPI_SUCCESS ? bytes : 0, may_run);                                  \
        pat_dropin_inside = false;                                                                           \
        return rc;                                                                                           \
    }
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)                                      \
    WATCH(name, , parameters, arguments, bytes, at_root, true)
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    WATCH(name, , parameters, arguments, bytes, -1, false)
#define LISTED(counts, type, comm) pat_face_listed(counts, type, comm)
#include "faces_c.h"
#include "faces.h"

#if PAT_MPI_HAS_LARGE
#define LARGE
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)                                      \
    WATCH(name, _c, parameters, arguments, bytes, at_root, true)
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    WATCH(name, _c, parameters, arguments, bytes, -1, false)
#include "faces_c.h"
#include "faces.h"
#endif
#endif

void pat_dropin_watch_persistent(bool on)
{
    (void)on;
#if PAT_MPI_HAS_PERSISTENT
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    pat_dropin_set(PAT_WAY_C, PAT_CALL_##name##_init, on ? (pat_gate_any *)watch_##name : NULL);
#include "faces.h"
#if PAT_MPI_HAS_LARGE
#define LARGE
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_##name##_init, on ? (pat_gate_any *)watch_##name##_c : NULL);
#include "faces.h"
#endif
#endif
}

/*
 * persistent.c — persistent collectives, MPI_Allgather_init and so on, with large counts too: those that the library may run go where their non-blocking forms would go (starts.h), all others are
 * passed on. While a report is wanted it is kept for which collective a request stands, so that what starts it and waits for it (messages.c) is counted under that name. What makes the request is not
 * counted: it moves nothing.
 */
#include <dlfcn.h>

#include "dropin.h"
#include "keep.h"
#include "starts.h"

void pat_dropin_keep(const pat_counted *told, int rc, int64_t bytes, const pat_outcome *starts)
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
                           .may_run = starts != NULL,
                           .alg = starts ? starts->alg : NULL,
                           .why = starts ? starts->why : PAT_WHY_CANNOT};
    pat_begun_keep(&d->begun, *told->request, &kept);
}

/* The place of a call that is counted, by which hiding is added up. */
static pat_hiding *hiding_of(pat_counted *told, MPI_Request request)
{
    pat_dropin *d = pat_rt.dropin;
    pat_kept kept;
    if (!told || !d || !pat_begun_is_kept(&d->begun, request, &kept))
        return NULL;
    if (!told->is_placed)
        told->site = pat_dropin_place(told->site);
    told->is_placed = true;
    return pat_dropin_hiding(told->site, kept.call);
}

int pat_dropin_start_kept(pat_counted *told, int num, const MPI_Request requests[])
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < num && requests && pat_keep_any(); i++) {
        const int rc_one = pat_keep_start(requests[i], hiding_of(told, requests[i]));
        rc = rc == MPI_SUCCESS ? rc_one : rc;
    }
    return rc;
}

void pat_dropin_let_go(MPI_Request request)
{
    pat_dropin *d = pat_rt.dropin;
    if (d)
        pat_begun_forget(&d->begun, request);
    pat_keep_free(request);
}

/* Do calls of this name come to the preloaded file? Not where a tool that stands before it, or is a part of the program, goes on to PMPI_. */
static bool comes_here(const char *symbol)
{
    Dl_info gate, found;
    void *const address = dlsym(RTLD_DEFAULT, symbol);
    return address && dladdr(pat_dropin_gate, &gate) && dladdr(address, &found) &&
           gate.dli_fbase == found.dli_fbase;
}

/* Else a request would be started past this library, and never be complete; or be freed past it, and its handle then be another one's. */
static bool starts_come_here(void)
{
    static const char *const symbols[] = {"MPI_Start",  "MPI_Startall",  "MPI_Request_free",
                                          "mpi_start_", "mpi_startall_", "mpi_request_free_"};
    bool all = true;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
        all = all && comes_here(symbols[i]);
    return all;
}

/* Counts that are in lists are not described where they are large, and a rank need not know in which form another one makes its request. */
static bool may_be_large(const pat_face *face)
{
    return PAT_MPI_HAS_LARGE &&
           (face->kind == PAT_ARGS_LISTS || face->kind == PAT_ARGS_PAIRS || face->kind == PAT_ARGS_PARTS);
}

static void take_starts(void)
{
    pat_dropin_take_starts(true);
    pat_dropin_take_starts_fortran(true);
}

bool pat_dropin_make_kept(const pat_face *face, const pat_args *args, MPI_Request *request,
                          pat_outcome *starts, int *rc)
{
    if (may_be_large(face) || !pat_starts_keep(face, args, starts_come_here, request, starts, rc))
        return false;
    if (*rc == MPI_SUCCESS)
        take_starts();
    return true;
}

void pat_dropin_move_kept(const pat_face *face, MPI_Comm comm, MPI_Request *request)
{
    if (starts_come_here() && pat_keep_move(comm, pat_algorithm_native(face->op), request))
        take_starts();
}

#if PAT_MPI_HAS_PERSISTENT
/* Returns true where the library has made it, or that has failed, with what to return in *rc. */
#define MAKE(lower, suffix, parameters, arguments)                                                           \
    static bool make_##lower##suffix(LIST parameters, MPI_Request *request, pat_outcome *starts, int *rc)    \
    {                                                                                                        \
        const pat_args args = {LIST arguments};                                                              \
        return pat_dropin_make_kept(&pat_face_##lower##suffix, &args, request, starts, rc);                  \
    }
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root) MAKE(lower, , parameters, arguments)
#define ARGUMENT(x)                                                     .x = x
#include "faces_c.h"
#include "faces.h"
#if PAT_MPI_HAS_LARGE
#define LARGE
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root) MAKE(lower, _c, parameters, arguments)
#define KEPT_LISTS(name, lower, upper, parameters, arguments, bytes, at_root)
#define ARGUMENT(x) .x = x
#include "faces_c.h"
#include "faces.h"
#endif

/* Where MPI has rejected the arguments, the list and the communicator by which bytes are counted may be none. `starts`: what is known of how it is run, where the library may run it. */
#define WATCH(name, suffix, parameters, arguments, bytes, at_root, made, face, starts)                       \
    static int watch_##name##suffix(int (*next)(LIST parameters, MPI_Info, MPI_Request *), const void *site, \
                                    LIST parameters, MPI_Info info, MPI_Request *request)                    \
    {                                                                                                        \
        const bool is_told = pat_dropin_reports && !pat_dropin_inside;                                       \
        pat_outcome how = {.why = PAT_WHY_PERSISTENT, .late = {.rank = -1}};                                 \
        pat_counted told = {.site = pat_dropin_site(site),                                                   \
                            .call = "MPI_" #name "_init",                                                    \
                            .comm = comm,                                                                    \
                            .root = at_root,                                                                 \
                            .request = request};                                                             \
        int rc;                                                                                              \
        pat_dropin_inside |= is_told;                                                                        \
        if (is_told)                                                                                         \
            pat_dropin_begin(&told);                                                                         \
        if (!(made))                                                                                         \
            rc = next(LIST arguments, info, request);                                                        \
        if (how.moves && rc == MPI_SUCCESS)                                                                  \
            pat_dropin_move_kept(face, comm, request);                                                       \
        if (is_told) {                                                                                       \
            pat_dropin_keep(&told, rc, rc == MPI_SUCCESS ? bytes : 0, starts);                               \
            pat_dropin_inside = false;                                                                       \
        }                                                                                                    \
        (void)how;                                                                                           \
        return rc;                                                                                           \
    }
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)                                      \
    WATCH(name, , parameters, arguments, bytes, at_root, make_##lower(LIST arguments, request, &how, &rc),   \
          &pat_face_##lower, &how)
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    WATCH(name, , parameters, arguments, bytes, -1, false, NULL, NULL)
#define LISTED(counts, type, comm) pat_face_listed(counts, type, comm)
#include "faces_c.h"
#include "faces.h"

#if PAT_MPI_HAS_LARGE
#define LARGE
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)                                      \
    WATCH(name, _c, parameters, arguments, bytes, at_root,                                                   \
          make_##lower##_c(LIST arguments, request, &how, &rc), &pat_face_##lower##_c, &how)
#define KEPT_LISTS(name, lower, upper, parameters, arguments, bytes, at_root)                                \
    WATCH(name, _c, parameters, arguments, bytes, at_root, false, NULL, &how)
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    WATCH(name, _c, parameters, arguments, bytes, -1, false, NULL, NULL)
#include "faces_c.h"
#include "faces.h"
#endif
#endif

void pat_dropin_take_persistent(void)
{
#if PAT_MPI_HAS_PERSISTENT
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)                                      \
    pat_dropin_set(PAT_WAY_C, PAT_CALL_##name##_init, (pat_gate_any *)watch_##name);
#include "faces.h"
#if PAT_MPI_HAS_LARGE
#define LARGE
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)                                      \
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_##name##_init, (pat_gate_any *)watch_##name##_c);
#include "faces.h"
#endif
#endif
}

void pat_dropin_watch_persistent(bool on)
{
    (void)on;
#if PAT_MPI_HAS_PERSISTENT
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    pat_dropin_set(PAT_WAY_C, PAT_CALL_##name##_init, on ? (pat_gate_any *)watch_##name : NULL);
#include "faces.h"
#if PAT_MPI_HAS_LARGE
#define LARGE
#define KEPT(name, lower, upper, parameters, arguments, bytes, at_root)
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes)                                          \
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_##name##_init, on ? (pat_gate_any *)watch_##name##_c : NULL);
#include "faces.h"
#endif
#endif
}

/*
 * watch.c — all other collectives, blocking and not, and with large counts where the MPI library has them: passed on as they are, and
 * timed while a report is wanted. Of these a mock-up may stand in for a scan.
 */
#include "dropin.h"

_Thread_local bool pat_dropin_inside;

#define WATCH(called, parameters, arguments, bytes, made)                                                    \
    static int watch_##called(__typeof__(&PMPI_##called) next, const void *site, LIST parameters)            \
    {                                                                                                        \
        if (!pat_dropin_reports || pat_dropin_inside)                                                        \
            return next arguments;                                                                           \
        pat_dropin_inside = true;                                                                            \
        pat_counted told = {.site = pat_dropin_site(site),                                                   \
                            .call = "MPI_" #called,                                                          \
                            .comm = comm,                                                                    \
                            .root = -1,                                                                      \
                            .request = made};                                                                \
        pat_dropin_begin(&told);                                                                             \
        const int rc = next arguments;                                                                       \
        pat_dropin_count(&told, rc, bytes, NULL);                                                            \
        pat_dropin_inside = false;                                                                           \
        return rc;                                                                                           \
    }
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)
#define START(lower, upper, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes) WATCH(name, parameters, arguments, bytes, NULL)
#define PASS_BEGUN(name, lower, upper, parameters, arguments, bytes)                                         \
    WATCH(name, parameters, arguments, bytes, request)
#include "faces_c.h"
#include "faces.h"

#if PAT_MPI_HAS_LARGE
#define LARGE
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)
#define START(lower, upper, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    WATCH(name##_c, parameters, arguments, bytes, NULL)
#define PASS_BEGUN(name, lower, upper, parameters, arguments, bytes)                                         \
    WATCH(name##_c, parameters, arguments, bytes, request)
#include "faces_c.h"
#include "faces.h"
#endif

void pat_dropin_watch(bool on)
{
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)
#define START(lower, upper, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    pat_dropin_set(PAT_WAY_C, PAT_CALL_##name, on ? (pat_gate_any *)watch_##name : NULL);
#include "faces.h"
#if PAT_MPI_HAS_LARGE
#define LARGE
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)
#define START(lower, upper, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_##name, on ? (pat_gate_any *)watch_##name##_c : NULL);
#include "faces.h"
#endif
}

/* Counted as the others are, if a report is wanted. */
static int take_scan(__typeof__(&PMPI_Scan) next, const void *site, const void *sendbuf, void *recvbuf,
                     int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    const pat_mock_call call = {
        .send = sendbuf, .recv = recvbuf, .recv_count = count, .recv_type = datatype, .op = op, .comm = comm};
    const bool is_told = pat_dropin_reports && !pat_dropin_inside;
    pat_counted told = {.site = pat_dropin_site(site), .call = "MPI_Scan", .comm = comm, .root = -1};
    int rc;
    if (is_told) {
        pat_dropin_inside = true;
        pat_dropin_begin(&told);
    }
    if (!pat_stand_in_scan(&call, &told.came, &rc))
        rc = next(sendbuf, recvbuf, count, datatype, op, comm);
    if (is_told) {
        pat_dropin_count(&told, rc, pat_face_bytes(count, datatype), NULL);
        pat_dropin_inside = false;
    }
    return rc;
}

void pat_dropin_take_scan(bool on)
{
    pat_dropin_set(PAT_WAY_C, PAT_CALL_Scan, on ? (pat_gate_any *)take_scan : NULL);
}

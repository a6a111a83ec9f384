/*
 * watch.c — all other collectives, blocking and not: passed on as they are, and timed while a report is wanted.
 */
#include "dropin.h"

_Thread_local bool pat_dropin_inside;

#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    static int watch_##lower(__typeof__(&PMPI_##name) next, const void *site, LIST parameters)               \
    {                                                                                                        \
        if (!pat_dropin_reports || pat_dropin_inside)                                                        \
            return next arguments;                                                                           \
        pat_dropin_inside = true;                                                                            \
        const int64_t start = pat_clock_local_ns();                                                          \
        const int rc = next arguments;                                                                       \
        pat_dropin_count(pat_dropin_site(site), "MPI_" #name, bytes, pat_clock_local_ns() - start, NULL);    \
        pat_dropin_inside = false;                                                                           \
        return rc;                                                                                           \
    }
#include "faces_c.h"
#include "faces.h"

void pat_dropin_watch(bool on)
{
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    pat_dropin_set(PAT_WAY_C, PAT_CALL_##name, on ? (pat_gate_any *)watch_##lower : NULL);
#include "faces.h"
}

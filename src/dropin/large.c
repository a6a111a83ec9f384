/*
 * large.c — the forms of the collectives with counts of type MPI_Count, MPI_Allgather_c and so on, where the MPI library has them. All
 * that the library may not run itself are passed on, and timed while a report is wanted.
 */
#include "dropin.h"

#if PAT_MPI_HAS_LARGE

#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    static int watch_##lower(__typeof__(&PMPI_##name##_c) next, const void *site, LIST parameters)           \
    {                                                                                                        \
        if (!pat_dropin_reports || pat_dropin_inside)                                                        \
            return next arguments;                                                                           \
        pat_dropin_inside = true;                                                                            \
        const int64_t start = pat_clock_local_ns();                                                          \
        const int rc = next arguments;                                                                       \
        pat_dropin_count(pat_dropin_site(site), "MPI_" #name "_c", bytes, pat_clock_local_ns() - start,      \
                         NULL);                                                                              \
        pat_dropin_inside = false;                                                                           \
        return rc;                                                                                           \
    }
#define LARGE
#include "faces_c.h"
#include "faces.h"

/*
 * What the library may run goes the way of the calls without _c, and on under its own name. Counts that no int holds are no trouble: all
 * ranks have a block of more bytes then than plans are for.
 */
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    static int next_##lower(pat_any *function, const pat_args *a)                                            \
    {                                                                                                        \
        return ((__typeof__(&PMPI_##name##_c))function)arguments;                                            \
    }
#define ARGUMENT(x) a->x
#define LARGE
#include "faces.h"

#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    static int take_##lower(pat_any *next, const void *site, LIST parameters)                                \
    {                                                                                                        \
        const pat_args args = {LIST arguments};                                                              \
        pat_face face = pat_face_##lower;                                                                    \
        face.next = next_##lower;                                                                            \
        return pat_dropin_call(&face, &args, next, site);                                                    \
    }
#define ARGUMENT(x) .x = x
#define LARGE
#include "faces_c.h"
#include "faces.h"

void pat_dropin_take_large(void)
{
#define LARGE
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_##name, (pat_any *)take_##lower);
#include "faces.h"
}

void pat_dropin_watch_large(bool on)
{
#define LARGE
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    pat_dropin_set(PAT_WAY_LARGE, PAT_CALL_##name, on ? (pat_any *)watch_##lower : NULL);
#include "faces.h"
}

#else

void pat_dropin_take_large(void) {}

void pat_dropin_watch_large(bool on)
{
    (void)on;
}

#endif

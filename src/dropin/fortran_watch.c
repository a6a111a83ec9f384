/*
 * fortran_watch.c — watch.c for programs in Fortran: Open MPI's Fortran library calls PMPI_ itself, so what they call is seen
 * only under its Fortran name. It goes on to the next definition of that very name, so that a tool for Fortran is not skipped.
 * All arguments are addresses and are never looked at but to count bytes for a report.
 */
#include <stdio.h>
#include <stdlib.h>

#include "dropin.h"

/* A name that programs call, and its next definition, found at the first call. */
typedef struct spelling {
    _Atomic(void *) next;
    const char *symbol;
} spelling;

/* The next definition; if nobody sees one, what the caller at `site` has brought: Python loads Fortran for itself alone. */
static void *find_next(const char *symbol, const void *site)
{
    Dl_info info;
    void *next = dlsym(RTLD_NEXT, symbol);
    if (!next && dladdr(site, &info) && info.dli_fname) {
        void *library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        if (library) /* never closed: what is found there has to stay */
            next = dlsym(library, symbol);
    }
    if (!next) { /* without us, the dynamic linker would have ended the program in the same way */
        fprintf(stderr, "pat: undefined symbol: %s\n", symbol);
        abort();
    }
    return next;
}

static void *next_of(spelling *called, const void *site)
{
    void *next = atomic_load_explicit(&called->next, memory_order_relaxed);
    if (!next)
        atomic_store_explicit(&called->next, next = find_next(called->symbol, site), memory_order_relaxed);
    return next;
}

static int64_t bytes_of(const MPI_Fint *count, const MPI_Fint *type)
{
    return pat_dropin_bytes(*count, PMPI_Type_f2c(*type));
}

/* All spellings of one function: mpif.h and `use mpi` as compilers have them, and `use mpi_f08`. */
#define PASS(name, lower, upper, parameters, arguments, bytes)                                               \
    AS(name, lower, upper, (LIST parameters, MPI_Fint * ierror), (LIST arguments, ierror), bytes)
#define AS(name, lower, upper, parameters, arguments, bytes)                                                 \
    typedef void lower##_call parameters;                                                                    \
    static __attribute__((noinline)) void lower##_watch(spelling *called, const void *site, LIST parameters) \
    {                                                                                                        \
        lower##_call *const next = next_of(called, site);                                                    \
        const bool told = pat_dropin_reports && !pat_dropin_inside;                                          \
        const int64_t start = told ? pat_clock_local_ns() : 0;                                               \
        pat_dropin_inside |= told;                                                                           \
        next arguments;                                                                                      \
        if (told) {                                                                                          \
            pat_sites_add(site, "MPI_" #name, bytes, pat_clock_local_ns() - start, NULL);                    \
            pat_dropin_inside = false;                                                                       \
        }                                                                                                    \
    }                                                                                                        \
    SPELLED(mpi_##lower##_, lower, parameters, arguments)                                                    \
    SPELLED(mpi_##lower, lower, parameters, arguments)                                                       \
    SPELLED(mpi_##lower##__, lower, parameters, arguments)                                                   \
    SPELLED(MPI_##upper, lower, parameters, arguments)                                                       \
    SPELLED(mpi_##lower##_f08_, lower, parameters, arguments)

/* What a program calls. Without a report it must cost next to nothing: no frame, and a jump at the end. */
#define SPELLED(called_as, lower, parameters, arguments)                                                     \
    __attribute__((visibility("default"))) void called_as parameters;                                        \
    void called_as parameters                                                                                \
    {                                                                                                        \
        static spelling called = {.symbol = #called_as};                                                     \
        void *next = atomic_load_explicit(&called.next, memory_order_relaxed);                               \
        if (__builtin_expect(next && !pat_dropin_reports, 1))                                                \
            ((lower##_call *)next) arguments;                                                                \
        else                                                                                                 \
            lower##_watch(&called, __builtin_return_address(0), LIST arguments);                             \
    }

#define IN                 void *
#define OUT                void *
#define INT                MPI_Fint *
#define INTS               MPI_Fint *
#define AINTS              MPI_Aint *
#define TYPE               MPI_Fint *
#define TYPES              MPI_Fint *
#define OP                 MPI_Fint *
#define COMM               MPI_Fint *
#define REQUEST            MPI_Fint *
#define IN_PLACE(buffer)   (pat_fortran_buffer(buffer) == MPI_IN_PLACE)
#define BYTES(count, type) bytes_of(count, type)
#include "watched.h"

/*
 * gate.h — the preloaded file, libpat-mpi.so, and what it shares with the library, libpat.so. The preloaded file stands in
 * front of whatever program it is preloaded to, also of one with another MPI library than ours, whose handles have another size. So it
 * knows no MPI library: it is linked with none, includes no mpi.h, and passes arguments on as machine words. At MPI_Init it looks
 * which MPI library the program has; if that is the one libpat.so was built for, it loads libpat.so, which enters here which
 * calls it wants to get.
 */
#ifndef PAT_GATE_H
#define PAT_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function, whatever its parameters. */
typedef void pat_gate_any(void);

/* What a call is, whoever makes it and however it is spelled. */
enum pat_gate_call {
    PAT_CALL_Init,
    PAT_CALL_Init_thread,
    PAT_CALL_Finalize,
    PAT_CALL_Pcontrol,
#define PASS(name, lower, upper, parameters, arguments, bytes)      PAT_CALL_##name,
#define PASS_KEPT(name, lower, upper, parameters, arguments, bytes) PAT_CALL_##name##_init,
#include "faces.h"
#define MESSAGE(name, lower, upper, parameters, arguments, bytes) PAT_CALL_##name,
#include "faces_messages.h"
    PAT_NUM_CALLS
};

/* Which of its spellings: they differ in what the arguments are. */
enum pat_gate_way {
    PAT_WAY_C,         /* MPI_Bcast */
    PAT_WAY_LARGE,     /* MPI_Bcast_c: counts are MPI_Count */
    PAT_WAY_FORTRAN,   /* mpi_bcast_ and so on, and mpi_bcast_f08_: addresses */
    PAT_WAY_DESCRIBED, /* mpi_bcast_f08ts_: of buffers the addresses of descriptors */
    PAT_NUM_WAYS
};

typedef struct pat_gate {
    /*
     * The library's function for a call; NULL: the call is passed on. Its first arguments are the next definition of the
     * very name that was called, and the place in the program to which the call returns; then those of the call.
     */
    _Atomic(pat_gate_any *) ours[PAT_NUM_WAYS][PAT_NUM_CALLS];
    /* The next definition of a name behind the preloaded file: another tool's, or the MPI library's. */
    pat_gate_any *(*next)(const char *symbol);
} pat_gate;

/*
 * The function pat_gate_enter_library of libpat.so, which enters the calls that it wants in *gate. The preloaded file gives its version
 * and the size of *gate. Returns 0; else the two files do not belong together, and nothing is changed.
 */
typedef int pat_gate_enter(pat_gate *gate, const char *version, size_t size);

/* ---- Of the preloaded file alone ----------------------------------------------------------------------- */

/* A name that programs call, and its next definition, found at the first call. */
typedef struct pat_gate_name {
    _Atomic(pat_gate_any *) next;
    const char *symbol;
} pat_gate_name;

extern pat_gate pat_gate_here;

/* The next definition as the caller at `site` sees it. Ends the program where there is none, as the dynamic linker would. */
pat_gate_any *pat_gate_next_of(pat_gate_name *called, const void *site);

/* MPI is being started by the code at `site`: look once which MPI library that has, and load libpat.so, or pass everything on. */
void pat_gate_open(const void *site);

/*
 * How the MPI library spells the names of persistent collectives: MPI_Allgather_init, or, in Open MPI 4, MPIX_Allgather_init. Where it has none of them the preloaded file has none
 * either, since a program may ask the dynamic linker whether they are there.
 */
#if PAT_MPI_HAS_PERSISTENT == 1
#define PAT_KEPT_C(name)       MPI_##name##_init
#define PAT_KEPT_LARGE(name)   MPI_##name##_init_c
#define PAT_KEPT_LOWER(ending) mpi_##ending
#define PAT_KEPT_UPPER(ending) MPI_##ending
#elif PAT_MPI_HAS_PERSISTENT
#define PAT_KEPT_C(name)       MPIX_##name##_init
#define PAT_KEPT_LOWER(ending) mpix_##ending
#define PAT_KEPT_UPPER(ending) MPIX_##ending
#endif

typedef intptr_t word; /* what a register holds: an integer, a handle or an address */

/* Define the function `called_as`. To pass a call on costs two loads and a jump. */
#define PAT_GATE(...) PAT_GATE_OF(__VA_ARGS__)
#define PAT_GATE_OF(called_as, way, call, before, parameters, arguments, our_parameters, our_arguments)      \
    __attribute__((visibility("default"))) word called_as parameters;                                        \
    word called_as parameters                                                                                \
    {                                                                                                        \
        static pat_gate_name called = {.symbol = #called_as};                                                \
        const void *const site = __builtin_return_address(0);                                                \
        before;                                                                                              \
        pat_gate_any *next = atomic_load_explicit(&called.next, memory_order_relaxed);                       \
        pat_gate_any *ours = atomic_load_explicit(&pat_gate_here.ours[way][call], memory_order_acquire);     \
        if (__builtin_expect(!next, 0))                                                                      \
            next = pat_gate_next_of(&called, site);                                                          \
        return ours ? ((word(*) our_parameters)ours)our_arguments : ((word(*) parameters)next)arguments;     \
    }

#endif

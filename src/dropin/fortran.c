/*
 * fortran.c — for Open MPI: the calls that the library may run, from Fortran. Open MPI's Fortran library calls PMPI_ itself,
 * so what a program in Fortran calls is taken over here. All arguments are addresses, communicators and datatypes integers
 * (in `use mpi_f08` structures of one integer), and the error code may be left out. What is not run here goes on in C.
 */
#include <dlfcn.h>

#include "dropin.h"

/* Where Open MPI keeps what stands for MPI_IN_PLACE and MPI_BOTTOM; NULL in a program without its Fortran library. */
static const void *constant(const char *name, _Atomic(const void *) *kept)
{
    const void *at = atomic_load_explicit(kept, memory_order_relaxed);
    if (!at) {
        at = dlsym(RTLD_DEFAULT, name);
        atomic_store_explicit(kept, at, memory_order_relaxed);
    }
    return at;
}

void *pat_fortran_buffer(void *given)
{
    static _Atomic(const void *) in_place, bottom;
    if (given && given == constant("mpi_fortran_in_place_", &in_place))
        return MPI_IN_PLACE;
    if (given && given == constant("mpi_fortran_bottom_", &bottom))
        return MPI_BOTTOM;
    return given;
}

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "counts and displacements are handed on as they are");

#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    static void take_##lower(pat_any *next, const void *site, LIST parameters, MPI_Fint *ierror)             \
    {                                                                                                        \
        (void)next;                                                                                          \
        const pat_args args = {LIST arguments};                                                              \
        pat_fortran_answer(ierror,                                                                           \
                           pat_dropin_call(&pat_face_##lower, &args, (pat_any *)PAT_NEXT(name), site));      \
    }
/* A request is an integer too, which MPI's own calls find. */
#define START(lower, upper, parameters, arguments, bytes)                                                    \
    static void take_i##lower(pat_any *next, const void *site, LIST parameters, MPI_Fint *request,           \
                              MPI_Fint *ierror)                                                              \
    {                                                                                                        \
        (void)next;                                                                                          \
        MPI_Request made = MPI_REQUEST_NULL;                                                                 \
        const pat_args args = {LIST arguments};                                                              \
        const int rc =                                                                                       \
            pat_dropin_start(&pat_face_##lower, &args, (pat_any *)PAT_NEXT(I##lower), site, &made);          \
        if (rc == MPI_SUCCESS)                                                                               \
            *request = PMPI_Request_c2f(made);                                                               \
        pat_fortran_answer(ierror, rc);                                                                      \
    }
#define AS_ARGUMENTS
#include "faces_fortran.h"
#include "faces.h"

void pat_dropin_take_fortran(void)
{
#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_##name, (pat_any *)take_##lower);
#define START(lower, upper, parameters, arguments, bytes)                                                    \
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_I##lower, (pat_any *)take_i##lower);
#include "faces.h"
}

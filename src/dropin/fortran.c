/*
 * fortran.c — the same calls from Fortran. Open MPI's Fortran library calls PMPI_ itself, so what a program in Fortran
 * calls is taken over here: the names of mpif.h and `use mpi` as compilers spell them, and those of `use mpi_f08`. There
 * communicators and datatypes are structures of one integer, and the error code may be left out. What is not run here goes
 * on in C.
 */
#include "dropin.h"

/* All spellings of one function; `body` is its definition with the usual one. */
#define ALSO(upper, lower)                                                                                   \
    extern __typeof__(lower##_) upper __attribute__((alias(#lower "_"), visibility("default")));             \
    extern __typeof__(lower##_) lower __attribute__((alias(#lower "_"), visibility("default")));             \
    extern __typeof__(lower##_) lower##__ __attribute__((alias(#lower "_"), visibility("default")));         \
    extern __typeof__(lower##_) lower##_f08_ __attribute__((alias(#lower "_"), visibility("default")));
#define FORTRAN __attribute__((visibility("default"))) void

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

static void answer(MPI_Fint *ierror, int rc)
{
    if (ierror)
        *ierror = rc;
}

FORTRAN mpi_init_(MPI_Fint *ierror);
FORTRAN mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror);
FORTRAN mpi_finalize_(MPI_Fint *ierror);
FORTRAN mpi_allgather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf,
                       MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror);
FORTRAN mpi_allgatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf,
                        MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm,
                        MPI_Fint *ierror);
FORTRAN mpi_bcast_(void *buffer, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *root, MPI_Fint *comm,
                   MPI_Fint *ierror);
FORTRAN mpi_gather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf,
                    MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm,
                    MPI_Fint *ierror);

void mpi_init_(MPI_Fint *ierror)
{
    int argc = 0;
    char **argv = NULL;
    answer(ierror, pat_dropin_init(&argc, &argv));
}
ALSO(MPI_INIT, mpi_init)

void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *ierror)
{
    int argc = 0, level = MPI_THREAD_SINGLE;
    char **argv = NULL;
    answer(ierror, pat_dropin_init_thread(&argc, &argv, *required, &level));
    *provided = level;
}
ALSO(MPI_INIT_THREAD, mpi_init_thread)

void mpi_finalize_(MPI_Fint *ierror)
{
    answer(ierror, pat_dropin_finalize());
}
ALSO(MPI_FINALIZE, mpi_finalize)

void mpi_allgather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf,
                    MPI_Fint *recvcount, MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
    answer(ierror, pat_dropin_allgather(__builtin_return_address(0), pat_fortran_buffer(sendbuf), *sendcount,
                                        PMPI_Type_f2c(*sendtype), pat_fortran_buffer(recvbuf), *recvcount,
                                        PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)));
}
ALSO(MPI_ALLGATHER, mpi_allgather)

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "counts and displacements are handed on as they are");

void mpi_allgatherv_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf,
                     MPI_Fint *recvcounts, MPI_Fint *displs, MPI_Fint *recvtype, MPI_Fint *comm,
                     MPI_Fint *ierror)
{
    answer(ierror, pat_dropin_allgatherv(__builtin_return_address(0), pat_fortran_buffer(sendbuf), *sendcount,
                                         PMPI_Type_f2c(*sendtype), pat_fortran_buffer(recvbuf), recvcounts,
                                         displs, PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)));
}
ALSO(MPI_ALLGATHERV, mpi_allgatherv)

void mpi_bcast_(void *buffer, MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *root, MPI_Fint *comm,
                MPI_Fint *ierror)
{
    answer(ierror, pat_dropin_bcast(__builtin_return_address(0), pat_fortran_buffer(buffer), *count,
                                    PMPI_Type_f2c(*datatype), *root, PMPI_Comm_f2c(*comm)));
}
ALSO(MPI_BCAST, mpi_bcast)

void mpi_gather_(void *sendbuf, MPI_Fint *sendcount, MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount,
                 MPI_Fint *recvtype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
    answer(ierror, pat_dropin_gather(__builtin_return_address(0), pat_fortran_buffer(sendbuf), *sendcount,
                                     PMPI_Type_f2c(*sendtype), pat_fortran_buffer(recvbuf), *recvcount,
                                     PMPI_Type_f2c(*recvtype), *root, PMPI_Comm_f2c(*comm)));
}
ALSO(MPI_GATHER, mpi_gather)

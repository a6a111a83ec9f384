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

static void answer(MPI_Fint *ierror, int rc)
{
    if (ierror)
        *ierror = rc;
}

static void allgather_in_fortran(pat_gate_any *next, const void *site, void *sendbuf, MPI_Fint *sendcount,
                                 MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype,
                                 MPI_Fint *comm, MPI_Fint *ierror)
{
    (void)next;
    answer(ierror,
           pat_dropin_allgather((pat_gate_any *)PAT_NEXT(Allgather), site, pat_fortran_buffer(sendbuf),
                                *sendcount, PMPI_Type_f2c(*sendtype), pat_fortran_buffer(recvbuf), *recvcount,
                                PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)));
}

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "counts and displacements are handed on as they are");

static void allgatherv_in_fortran(pat_gate_any *next, const void *site, void *sendbuf, MPI_Fint *sendcount,
                                  MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcounts, MPI_Fint *displs,
                                  MPI_Fint *recvtype, MPI_Fint *comm, MPI_Fint *ierror)
{
    (void)next;
    answer(ierror,
           pat_dropin_allgatherv((pat_gate_any *)PAT_NEXT(Allgatherv), site, pat_fortran_buffer(sendbuf),
                                 *sendcount, PMPI_Type_f2c(*sendtype), pat_fortran_buffer(recvbuf),
                                 recvcounts, displs, PMPI_Type_f2c(*recvtype), PMPI_Comm_f2c(*comm)));
}

static void allreduce_in_fortran(pat_gate_any *next, const void *site, void *sendbuf, void *recvbuf,
                                 MPI_Fint *count, MPI_Fint *datatype, MPI_Fint *op, MPI_Fint *comm,
                                 MPI_Fint *ierror)
{
    (void)next;
    answer(ierror, pat_dropin_allreduce((pat_gate_any *)PAT_NEXT(Allreduce), site,
                                        pat_fortran_buffer(sendbuf), pat_fortran_buffer(recvbuf), *count,
                                        PMPI_Type_f2c(*datatype), PMPI_Op_f2c(*op), PMPI_Comm_f2c(*comm)));
}

static void bcast_in_fortran(pat_gate_any *next, const void *site, void *buffer, MPI_Fint *count,
                             MPI_Fint *datatype, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
    (void)next;
    answer(ierror, pat_dropin_bcast((pat_gate_any *)PAT_NEXT(Bcast), site, pat_fortran_buffer(buffer), *count,
                                    PMPI_Type_f2c(*datatype), *root, PMPI_Comm_f2c(*comm)));
}

static void gather_in_fortran(pat_gate_any *next, const void *site, void *sendbuf, MPI_Fint *sendcount,
                              MPI_Fint *sendtype, void *recvbuf, MPI_Fint *recvcount, MPI_Fint *recvtype,
                              MPI_Fint *root, MPI_Fint *comm, MPI_Fint *ierror)
{
    (void)next;
    answer(ierror, pat_dropin_gather((pat_gate_any *)PAT_NEXT(Gather), site, pat_fortran_buffer(sendbuf),
                                     *sendcount, PMPI_Type_f2c(*sendtype), pat_fortran_buffer(recvbuf),
                                     *recvcount, PMPI_Type_f2c(*recvtype), *root, PMPI_Comm_f2c(*comm)));
}

void pat_dropin_take_fortran(void)
{
    static const struct {
        enum pat_gate_call call;
        pat_gate_any *ours;
    } calls[] = {{PAT_CALL_Allgather, (pat_gate_any *)allgather_in_fortran},
                 {PAT_CALL_Allgatherv, (pat_gate_any *)allgatherv_in_fortran},
                 {PAT_CALL_Allreduce, (pat_gate_any *)allreduce_in_fortran},
                 {PAT_CALL_Bcast, (pat_gate_any *)bcast_in_fortran},
                 {PAT_CALL_Gather, (pat_gate_any *)gather_in_fortran}};
    for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        pat_dropin_set(PAT_WAY_FORTRAN, calls[i].call, calls[i].ours);
}

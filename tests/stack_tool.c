/*
 * stack_tool.c — another tool in the same place: counts the program's MPI_Allgather and MPI_Allreduce calls and says so at
 * MPI_Finalize; and MPI_Barrier under its Fortran names, which it passes on in C as many tools do, and says so at the end.
 * Built as a library, to be preloaded before or after the drop-in.
 */
#include <mpi.h>
#include <stdio.h>

static long num_gathers, num_reduces, num_barriers;

void mpi_barrier_(MPI_Fint *comm, MPI_Fint *ierror);
void mpi_barrier_f08_(MPI_Fint *comm, MPI_Fint *ierror);

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    num_gathers++;
    return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm)
{
    num_reduces++;
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "other tool: %ld all-gathers, %ld all-reduces\n", num_gathers, num_reduces);
    return PMPI_Finalize();
}

void mpi_barrier_(MPI_Fint *comm, MPI_Fint *ierror)
{
    num_barriers++;
    const int rc = MPI_Barrier(MPI_Comm_f2c(*comm));
    if (ierror)
        *ierror = rc;
}

void mpi_barrier_f08_(MPI_Fint *comm, MPI_Fint *ierror)
{
    mpi_barrier_(comm, ierror);
}

__attribute__((destructor)) static void say_barriers(void)
{
    if (num_barriers > 0)
        fprintf(stderr, "other tool: %ld barriers in Fortran\n", num_barriers);
}

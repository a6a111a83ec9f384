/*
 * plain_stack.c — another tool in the same place: counts the program's MPI_Allgather and MPI_Allreduce calls and says so at
 * MPI_Finalize. Built as a library, to be preloaded before or after the drop-in.
 */
#include <mpi.h>
#include <stdio.h>

static long num_gathers, num_reduces;

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

/*
 * passed_tool.c — another tool behind the drop-in: counts the calls that the drop-in passed on though it might have run them,
 * and why it could not. At MPI_Finalize rank 0 writes the sums over all ranks to the file PASSED_TOOL: a line for each
 * operation with the calls of no bytes, of communicators between groups, of communicators of one rank, and the rest, which
 * nothing forbade to run. The drop-in's report does not tell these apart.
 */
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum op { ALLGATHER, ALLGATHERV, BCAST, GATHER, NUM_OPS };
enum why { EMPTY, BETWEEN, ALONE, REST, NUM_WHYS };

static const char *const names[NUM_OPS] = {"MPI_Allgather", "MPI_Allgatherv", "MPI_Bcast", "MPI_Gather"};
static atomic_long counts[NUM_OPS][NUM_WHYS];

/* Of the groups first: between groups the counts of some ranks mean nothing. */
static enum why find_why(long long items, MPI_Datatype type, MPI_Comm comm)
{
    int between = 0, ranks = 0, size = 0;
    if (comm == MPI_COMM_NULL || type == MPI_DATATYPE_NULL || items < 0)
        return REST;
    PMPI_Comm_test_inter(comm, &between);
    PMPI_Comm_size(comm, &ranks);
    PMPI_Type_size(type, &size);
    if (between)
        return BETWEEN;
    if (ranks < 2)
        return ALONE;
    return items * size == 0 ? EMPTY : REST;
}

static void count(enum op op, long long items, MPI_Datatype type, MPI_Comm comm)
{
    atomic_fetch_add(&counts[op][find_why(items, type, comm)], 1);
}

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    count(ALLGATHER, recvcount, recvtype, comm);
    return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    int between = 0, ranks = 0;
    long long items = 0;
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_test_inter(comm, &between);
    if (comm != MPI_COMM_NULL && !between)
        PMPI_Comm_size(comm, &ranks);
    for (int r = 0; r < ranks && recvcounts; r++)
        items += recvcounts[r];
    count(ALLGATHERV, items, recvtype, comm);
    return PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
}

int MPI_Bcast(void *buffer, int num, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    count(BCAST, num, datatype, comm);
    return PMPI_Bcast(buffer, num, datatype, root, comm);
}

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    if (sendbuf == MPI_IN_PLACE) /* then the root's own counts are those of what it gets */
        count(GATHER, recvcount, recvtype, comm);
    else
        count(GATHER, sendcount, sendtype, comm);
    return PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
}

static void write_sums(void)
{
    int rank;
    long mine[NUM_OPS * NUM_WHYS], sums[NUM_OPS * NUM_WHYS];
    const char *name = getenv("PASSED_TOOL");
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < NUM_OPS * NUM_WHYS; i++)
        mine[i] = atomic_load(&counts[i / NUM_WHYS][i % NUM_WHYS]);
    PMPI_Reduce(mine, sums, NUM_OPS * NUM_WHYS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    FILE *file = rank == 0 && name ? fopen(name, "we") : NULL;
    for (int op = 0; op < NUM_OPS && file; op++)
        fprintf(file, "%s empty %ld between %ld alone %ld rest %ld\n", names[op], sums[op * NUM_WHYS + EMPTY],
                sums[op * NUM_WHYS + BETWEEN], sums[op * NUM_WHYS + ALONE], sums[op * NUM_WHYS + REST]);
    if (file)
        fclose(file);
}

int MPI_Finalize(void)
{
    write_sums();
    return PMPI_Finalize();
}

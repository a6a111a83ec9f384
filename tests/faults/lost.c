/*
 * lost.c — what becomes of the ranks with which nothing is wrong. INJECT_LOST=FILE, empty: as soon as a program has been
 * told of an error (inject_lost), on whichever rank, nothing that it waits for comes any more, on any rank: MPI returns an error instead, as
 * an MPI library does that tells all ranks of the loss of one. What was posted before goes on. So every rank comes to its way out, and
 * none has to wait for one that has gone it before.
 *
 * The calls stand here in the place of the MPI library's, which has them under both names.
 */
#include "inject.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#undef mmap

/* What the ranks share. They are all on one machine, and so is every communicator's every rank. */
typedef struct board {
    atomic_int lost;
    atomic_int came; /* to calls that all make together, on all ranks so far */
} board;

static _Atomic(board *) shared;
static int mine; /* calls that all make together, on this rank so far */

/* NULL: ranks are not told of each other's errors. */
static board *find_board(void)
{
    board *at = atomic_load(&shared);
    const char *path = getenv("INJECT_LOST");
    if (at || !path)
        return at;
    const int fd = open(path, O_RDWR);
    if (fd < 0 || ftruncate(fd, sizeof(*at)) != 0)
        abort();
    at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        abort();
    close(fd);
    atomic_store(&shared, at);
    return at;
}

bool inject_lost(void)
{
    board *b = find_board();
    if (b)
        atomic_store(&b->lost, 1);
    return b;
}

void inject_found(void)
{
    board *b = find_board();
    mine = 0;
    if (b) {
        atomic_store(&b->came, 0);
        atomic_store(&b->lost, 0);
    }
}

static bool lost(void)
{
    board *b = find_board();
    return b && atomic_load(&b->lost);
}

static int wait_for(MPI_Request *request, MPI_Status *status)
{
    int done = 0, rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS && !done) {
        if (lost())
            return MPI_ERR_INTERN;
        rc = MPI_Test(request, &done, status);
    }
    return rc;
}

/*
 * Before a call that cannot be left again: are all going to make it? One thread of a rank makes such calls, on communicators of all ranks, or of one, which waits for
 * nobody.
 */
static int meet(MPI_Comm comm)
{
    int size, found;
    board *b = find_board();
    MPI_Comm_size(comm, &size);
    if (!b || size == 1)
        return MPI_SUCCESS;
    mine++;
    atomic_fetch_add(&b->came, 1);
    while (atomic_load(&b->came) < size * mine) {
        if (lost())
            return MPI_ERR_INTERN;
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE); /* so that messages go on */
        sched_yield();
    }
    return MPI_SUCCESS;
}

#define TOGETHER(comm, call)                                                                                 \
    const int rc = meet(comm);                                                                               \
    return rc == MPI_SUCCESS ? (call) : rc

int(PMPI_Allgather)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                    MPI_Datatype recvtype, MPI_Comm comm)
{
    TOGETHER(comm, MPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

int(PMPI_Allgatherv)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                     const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    TOGETHER(comm, MPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm));
}

int(PMPI_Allreduce)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                    MPI_Comm comm)
{
    TOGETHER(comm, MPI_Allreduce(sendbuf, recvbuf, count, type, op, comm));
}

int(PMPI_Alltoall)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm)
{
    TOGETHER(comm, MPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm));
}

int(PMPI_Alltoallv)(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                    void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                    MPI_Comm comm)
{
    TOGETHER(comm, MPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls,
                                 recvtype, comm));
}

int(PMPI_Barrier)(MPI_Comm comm)
{
    TOGETHER(comm, MPI_Barrier(comm));
}

int(PMPI_Bcast)(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    TOGETHER(comm, MPI_Bcast(buffer, count, type, root, comm));
}

int(PMPI_Comm_split)(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    TOGETHER(comm, MPI_Comm_split(comm, color, key, newcomm));
}

int(PMPI_Comm_split_type)(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    TOGETHER(comm, MPI_Comm_split_type(comm, type, key, info, newcomm));
}

int(PMPI_Exscan)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    TOGETHER(comm, MPI_Exscan(sendbuf, recvbuf, count, type, op, comm));
}

int(PMPI_Gather)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    TOGETHER(comm, MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

int(PMPI_Gatherv)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    TOGETHER(comm,
             MPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm));
}

int(PMPI_Reduce)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
                 MPI_Comm comm)
{
    TOGETHER(comm, MPI_Reduce(sendbuf, recvbuf, count, type, op, root, comm));
}

int(PMPI_Reduce_scatter)(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype type,
                         MPI_Op op, MPI_Comm comm)
{
    TOGETHER(comm, MPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, type, op, comm));
}

int(PMPI_Reduce_scatter_block)(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type,
                               MPI_Op op, MPI_Comm comm)
{
    TOGETHER(comm, MPI_Reduce_scatter_block(sendbuf, recvbuf, recvcount, type, op, comm));
}

int(PMPI_Scan)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    TOGETHER(comm, MPI_Scan(sendbuf, recvbuf, count, type, op, comm));
}

int(PMPI_Scatter)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    TOGETHER(comm, MPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

int(PMPI_Scatterv)(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                   void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    TOGETHER(comm,
             MPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, comm));
}

int(PMPI_Recv)(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
               MPI_Status *status)
{
    MPI_Request request;
    const int rc = MPI_Irecv(buf, count, type, source, tag, comm, &request);
    return rc == MPI_SUCCESS ? wait_for(&request, status) : rc;
}

int(PMPI_Send)(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    MPI_Request request;
    if (dest == MPI_PROC_NULL) /* nobody is waited for: it only asks whether the type can be used */
        return MPI_Send(buf, count, type, dest, tag, comm);
    const int rc = MPI_Isend(buf, count, type, dest, tag, comm, &request);
    return rc == MPI_SUCCESS ? wait_for(&request, MPI_STATUS_IGNORE) : rc;
}

int(PMPI_Sendrecv)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                   void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                   MPI_Comm comm, MPI_Status *status)
{
    MPI_Request request;
    int rc = MPI_Irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &request);
    if (rc == MPI_SUCCESS)
        rc = (PMPI_Send)(sendbuf, sendcount, sendtype, dest, sendtag, comm);
    return rc == MPI_SUCCESS ? wait_for(&request, status) : rc;
}

int(PMPI_Iprobe)(int source, int tag, MPI_Comm comm, int *here, MPI_Status *status)
{
    return lost() ? MPI_ERR_INTERN : MPI_Iprobe(source, tag, comm, here, status);
}

int(PMPI_Test)(MPI_Request *request, int *done, MPI_Status *status)
{
    return lost() ? MPI_ERR_INTERN : MPI_Test(request, done, status);
}

int(PMPI_Testall)(int count, MPI_Request requests[], int *done, MPI_Status statuses[])
{
    return lost() ? MPI_ERR_INTERN : MPI_Testall(count, requests, done, statuses);
}

int(PMPI_Testsome)(int count, MPI_Request requests[], int *num_done, int indices[], MPI_Status statuses[])
{
    return lost() ? MPI_ERR_INTERN : MPI_Testsome(count, requests, num_done, indices, statuses);
}

int(PMPI_Wait)(MPI_Request *request, MPI_Status *status)
{
    return wait_for(request, status);
}

/*
 * slow_calls.c — a library to be preloaded that makes collectives of an MPI program slower than they are, to see whether pat-guidelines finds that (bench/guidelines-trust).
 * GUIDE_SLOW=MPI_Bcast:1024:0.5,MPI_Bcast:65536:12: broadcasts of 1024 bytes take half a microsecond longer than they do, those of 64 KiB 12, on all ranks.
 * Bytes are what the input file of pat-guidelines means by them. What is called by PMPI names, as mock-ups do, is as it was. At the end rank 0 tells how many of its
 * calls were longer. Must never slow down what it was not told to.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64, NAME = 64 };

static struct {
    char mpi[NAME];
    long long bytes;
    double us;
} slow[MOST];
static int num_slow;
static long num_calls;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void read_setting(void)
{
    const char *text = getenv("GUIDE_SLOW");
    int length = 0;
    for (; text && *text; text += length + (text[length] == ',')) {
        length = 0;
        if (num_slow == MOST ||
            sscanf(text, "%63[A-Za-z_]:%lld:%lf%n", slow[num_slow].mpi, &slow[num_slow].bytes,
                   &slow[num_slow].us, &length) != 3 ||
            (text[length] != ',' && text[length] != '\0') || slow[num_slow].bytes < 1 ||
            !(slow[num_slow].us >= 0 && slow[num_slow].us <= 1e9)) {
            fprintf(stderr,
                    "slow_calls: GUIDE_SLOW '%s': accepted: up to %d of COLLECTIVE:BYTES:MICROSECONDS with a "
                    "comma "
                    "between them, as MPI_Bcast:1024:0.5\n",
                    getenv("GUIDE_SLOW"), MOST);
            exit(2);
        }
        num_slow++;
    }
}

static long long bytes_of(int count, MPI_Datatype type)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    return (long long)count * size;
}

/*
 * Before the call, when nothing is under way: a rank that waits after it may keep others waiting that need it to move on what it has sent, and what they have waited
 * for comes on top of their own.
 */
static void be_late(const char *mpi, long long bytes)
{
    for (int i = 0; i < num_slow; i++) {
        if (slow[i].bytes != bytes || strcmp(slow[i].mpi, mpi) != 0)
            continue;
        const double start_s = now_s();
        while (now_s() - start_s < 1e-6 * slow[i].us)
            ;
        num_calls++;
    }
}

#define SLOWER(name, count, type, ...)                                                                       \
    be_late(#name, bytes_of(count, type));                                                                   \
    return P##name(__VA_ARGS__)

int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    SLOWER(MPI_Allgather, recvcount, recvtype, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
           comm);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    SLOWER(MPI_Allreduce, count, type, sendbuf, recvbuf, count, type, op, comm);
}

int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                 MPI_Datatype recvtype, MPI_Comm comm)
{
    SLOWER(MPI_Alltoall, recvcount, recvtype, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
           comm);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    SLOWER(MPI_Bcast, count, type, buffer, count, type, root, comm);
}

static bool is_at(int root, MPI_Comm comm)
{
    int rank = -1;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const bool by_recv = is_at(root, comm);
    SLOWER(MPI_Gather, by_recv ? recvcount : sendcount, by_recv ? recvtype : sendtype, sendbuf, sendcount,
           sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
    SLOWER(MPI_Reduce, count, type, sendbuf, recvbuf, count, type, op, root, comm);
}

int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm)
{
    SLOWER(MPI_Reduce_scatter_block, recvcount, type, sendbuf, recvbuf, recvcount, type, op, comm);
}

int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    SLOWER(MPI_Scan, count, type, sendbuf, recvbuf, count, type, op, comm);
}

int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const bool by_send = is_at(root, comm);
    SLOWER(MPI_Scatter, by_send ? sendcount : recvcount, by_send ? sendtype : recvtype, sendbuf, sendcount,
           sendtype, recvbuf, recvcount, recvtype, root, comm);
}

int MPI_Init(int *argc, char ***argv)
{
    read_setting();
    return PMPI_Init(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    read_setting();
    return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Finalize(void)
{
    if (num_slow > 0 && is_at(0, MPI_COMM_WORLD))
        fprintf(stderr, "slow_calls: %ld calls were made longer\n", num_calls);
    return PMPI_Finalize();
}

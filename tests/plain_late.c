/*
 * plain_late.c — plain_late [CALLS [MS [switched]]] | begun | crossed: at each place another rank is late by so many milliseconds. Prints for each place its line, the
 * MPI function, who is late there and by how much in the mean, for a report to be held against. begun: of collectives that do not block. crossed: two communicators of the same members are used for the first time in another order on other ranks. switched: counting is off in every second turn, beginning with the first.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi_faults.h"
#include "plain_persistent.h"

enum { MOST = 4096, PLACES = 8 };

static struct {
    const char *call;
    int line, rank;
    double late_s;
} places[PLACES];

static int rank, num_ranks;
static double pause_s = 0.06;

static void be_late(int place, const char *call, int line, int who)
{
    const double start = MPI_Wtime();
    places[place].call = call;
    places[place].line = line;
    places[place].rank = who;
    if (rank != who)
        return;
    nanosleep(&(struct timespec){(time_t)pause_s, (long)(1e9 * (pause_s - (double)(time_t)pause_s))}, NULL);
    places[place].late_s += MPI_Wtime() - start;
}

/* On one line, which is the place. */
#define LATE(place, who, name, ...)                                                                          \
    (be_late(place, "MPI_" #name, __LINE__, (who) % num_ranks), MPI_##name(__VA_ARGS__))

/* The same of one that does not block: late with its beginning, and waited for on that line. */
#define BEGUN_LATE(place, who, name, begin, ...)                                                             \
    (be_late(place, "MPI_" #name, __LINE__, (who) % num_ranks), begin, MPI_##name(__VA_ARGS__))

/* Right, since each communicator's calls come in the same order on all its members. */
static void cross(void)
{
    MPI_Comm comms[2];
    MPI_Request request;
    int one = 1, sum;
    for (int i = 0; i < 2; i++)
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comms[i]);
    if (rank % 2 == 0)
        MPI_Ibarrier(comms[0], &request);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[1]);
    if (rank % 2 == 1)
        MPI_Ibarrier(comms[0], &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&comms[i]);
}

#ifdef PERSISTENT
/* Persistent collectives and messages, started in different orders on different ranks. */
enum { SUM, BLOCKS, FROM_ROOT, RECEIVE, SEND, KEPT };

static void keep(MPI_Comm comm, MPI_Request kept[KEPT])
{
    static char own[MOST], all[64 * MOST], message[2][10];
    static double one = 1, sum;
    PERSISTENT(Allreduce)(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &kept[SUM]);
    PERSISTENT(Allgather)(own, MOST, MPI_BYTE, all, MOST, MPI_BYTE, comm, MPI_INFO_NULL, &kept[BLOCKS]);
    PERSISTENT(Bcast)(own, MOST, MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &kept[FROM_ROOT]);
    MPI_Recv_init(message[0], 10, MPI_BYTE, (rank + 1) % num_ranks, 1, comm, &kept[RECEIVE]);
    MPI_Send_init(message[1], 10, MPI_BYTE, (rank + num_ranks - 1) % num_ranks, 1, comm, &kept[SEND]);
}

static void let_go(MPI_Request kept[KEPT])
{
    for (int i = 0; i < KEPT; i++)
        MPI_Request_free(&kept[i]);
}

static void start_mixed(MPI_Request kept[KEPT])
{
    if (rank % 2)
        MPI_Start(&kept[SUM]);
    MPI_Startall(KEPT - 1, &kept[1]);
    if (rank % 2 == 0)
        MPI_Start(&kept[SUM]);
}

/* For the next start. */
static void renew(MPI_Comm comm, MPI_Request kept[KEPT])
{
    if (mpi_has_good_persistent())
        return;
    let_go(kept);
    keep(comm, kept);
}

static void start_kept_late(MPI_Comm comm, int calls)
{
    MPI_Request kept[KEPT];
    const int many = mpi_has_good_persistent() ? KEPT : 1;
    int done = 0, places_done[KEPT];
    keep(comm, kept);
    for (int i = 0; i < calls; i++) {
        BEGUN_LATE(4, 3, Wait, MPI_Start(&kept[SUM]), &kept[SUM], MPI_STATUS_IGNORE);
        renew(comm, kept);
        MPI_Barrier(MPI_COMM_WORLD);
        BEGUN_LATE(5, 1, Waitall, start_mixed(kept), KEPT, kept, MPI_STATUSES_IGNORE);
        renew(comm, kept);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(&kept[RECEIVE]);
        MPI_Start(&kept[SEND]);
        MPI_Waitall(2, &kept[RECEIVE], MPI_STATUSES_IGNORE);
        MPI_Startall(2, &kept[SUM]);
        for (int num = 0; num < 2; num += done)
            MPI_Waitsome(many, mpi_has_good_persistent() ? kept : &kept[num], &done, places_done,
                         MPI_STATUSES_IGNORE);
        renew(comm, kept);
    }
    let_go(kept);
}

/* A request is freed, and the next one, which may have its handle, is of another collective, whose root is late. */
static void start_another_late(MPI_Comm comm, int calls)
{
    static char own[MOST];
    static double one = 1, sum;
    MPI_Request kept;
    for (int i = 0; i < calls; i++) {
        PERSISTENT(Allreduce)(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm, MPI_INFO_NULL, &kept);
        MPI_Start(&kept);
        MPI_Wait(&kept, MPI_STATUS_IGNORE);
        MPI_Request_free(&kept);
        PERSISTENT(Bcast)(own, MOST, MPI_BYTE, 2 % num_ranks, comm, MPI_INFO_NULL, &kept);
        BEGUN_LATE(6, 2, Wait, MPI_Start(&kept), &kept, MPI_STATUS_IGNORE);
        MPI_Request_free(&kept);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}
#endif

/* Nobody waits where a collective only begins, but where it is waited for. */
static void begin_late(MPI_Comm comm, int calls)
{
    static char own[MOST], all[64 * MOST];
    MPI_Request begun[3];
    int done, which, places_done[3];
    double one = 1, sum;
    for (int i = 0; i < calls; i++) {
        BEGUN_LATE(0, 2, Wait, MPI_Iallgather(own, MOST, MPI_BYTE, all, MOST, MPI_BYTE, comm, &begun[0]),
                   &begun[0], MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Ibarrier(comm, &begun[2]);
        BEGUN_LATE(1, 3, Waitall,
                   (MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm, &begun[0]),
                    MPI_Ibcast(own, MOST, MPI_BYTE, 0, MPI_COMM_WORLD, &begun[1])),
                   3, begun, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        begun[1] = MPI_REQUEST_NULL;
        BEGUN_LATE(2, 1, Waitany, MPI_Iallreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm, &begun[0]), 2,
                   begun, &done, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        BEGUN_LATE(3, 2, Waitsome, MPI_Iallgather(own, 1, MPI_BYTE, all, 1, MPI_BYTE, comm, &begun[0]), 2,
                   begun, &done, places_done, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Ibarrier(comm, &begun[0]);
        for (done = 0; !done;)
            MPI_Test(&begun[0], &done, MPI_STATUS_IGNORE);
        MPI_Ibarrier(comm, &begun[0]);
        for (done = 0; !done;)
            MPI_Testall(2, begun, &done, MPI_STATUSES_IGNORE);
        MPI_Ibarrier(comm, &begun[0]);
        for (done = 0; !done;)
            MPI_Testany(2, begun, &which, &done, MPI_STATUS_IGNORE);
        MPI_Ibarrier(comm, &begun[0]);
        for (done = 0; done == 0;)
            MPI_Testsome(2, begun, &done, places_done, MPI_STATUSES_IGNORE);
        MPI_Sendrecv(own, 10, MPI_BYTE, (rank + 1) % num_ranks, 0, all, 10, MPI_BYTE,
                     (rank + num_ranks - 1) % num_ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    static char own[MOST], all[64 * MOST];
    const bool crossed = argc > 1 && strcmp(argv[1], "crossed") == 0;
    const bool begun = argc > 1 && strcmp(argv[1], "begun") == 0;
    const int calls = crossed ? 0 : argc > 1 && !begun ? atoi(argv[1]) : 4;
    double one = 1, sum;
    MPI_Comm twin, half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
    if (crossed)
        cross();
    if (argc > 2)
        pause_s = 1e-3 * atof(argv[2]);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half); /* the last rank is its first */
    if (begun)
        begin_late(twin, calls);
#ifdef PERSISTENT
    if (begun)
        start_kept_late(twin, calls);
    if (begun)
        start_another_late(twin, calls);
#endif
    for (int i = 0; i < calls && !begun; i++) {
        if (argc > 3)
            MPI_Pcontrol(i % 2, "and what another tool may want", 1, 2);
        LATE(0, 1, Allgather, own, MOST, MPI_BYTE, all, MOST, MPI_BYTE, MPI_COMM_WORLD);
        LATE(1, 2, Allreduce, &one, &sum, 1, MPI_DOUBLE, MPI_SUM, twin);
        LATE(2, 0, Bcast, own, MOST, MPI_BYTE, 0, MPI_COMM_WORLD);
        MPI_Barrier(
            MPI_COMM_WORLD); /* those who do not wait for the root, or are not waited for, do not start late into the next */
        LATE(3, num_ranks - 1, Barrier, twin);
        LATE(4, 1, Gather, own, 16, MPI_BYTE, all, 16, MPI_BYTE, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        LATE(5, 0, Alltoall, own, 1, MPI_BYTE, all, 1, MPI_BYTE, half);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int p = 0; p < PLACES && places[p].call; p++) {
        MPI_Reduce(&places[p].late_s, &sum, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("%d %s %d %.3f\n", places[p].line, places[p].call, places[p].rank, 1e3 * sum / calls);
    }
    MPI_Comm_free(&half);
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return 0;
}

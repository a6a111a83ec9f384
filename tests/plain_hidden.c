/*
 * plain_hidden.c — a program that sleeps far longer than its all-to-alls, and its sums of floating-point numbers, take before it waits for them, and waits for its all-gathers at once; and all-to-alls in
 * place, with lists, in which Open MPI 4.1 crashes if it runs them.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "plain_persistent.h"

enum { BYTES = 1 << 17, CALLS = 3 };

int main(int argc, char **argv)
{
    int size;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *out = calloc((size_t)size, BYTES), *in = calloc((size_t)size, BYTES);
    if (!out || !in)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < CALLS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Ialltoall(out, BYTES, MPI_BYTE, in, BYTES, MPI_BYTE, MPI_COMM_WORLD, &request);
        usleep(200000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Iallreduce(out, in, BYTES / (int)sizeof(float), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
        usleep(200000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Iallgather(out, BYTES, MPI_BYTE, in, BYTES, MPI_BYTE, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
#ifdef PERSISTENT
    PERSISTENT(Allreduce)
    (out, in, BYTES / (int)sizeof(float), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < CALLS; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(&request);
        usleep(200000);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
#endif
    int counts[64], places[64];
    for (int r = 0; r < size && r < 64; r++) {
        counts[r] = BYTES;
        places[r] = r * BYTES;
    }
    MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, places, MPI_BYTE, MPI_COMM_WORLD,
                   &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}

/*
 * guide_data.c — see guide_data.h. Must never let a call pass that has not moved the data.
 */
#include "guide_data.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench_delay.h"
#include "bench_must.h"

/* What of a call has a part for each rank, and where its result is. */
static const struct {
    const char *mpi;
    bool send_parts, recv_parts, at_root;
} shapes[] = {
    {"MPI_Allgather", false, true, false},
    {"MPI_Allreduce", false, false, false},
    {"MPI_Alltoall", true, true, false},
    {"MPI_Bcast", false, false, false},
    {"MPI_Gather", false, true, true},
    {"MPI_Reduce", false, false, true},
    {"MPI_Reduce_scatter_block", true, false, false},
    {"MPI_Scan", false, false, false},
    {"MPI_Scatter", true, false, false},
};

static void fill(unsigned char *to, size_t bytes, int rank)
{
    uint64_t drawn = bench_mix((uint64_t)rank);
    for (size_t i = 0; i < bytes; i++) {
        if (i % 8 == 0)
            drawn = bench_mix(drawn);
        to[i] = (unsigned char)(drawn >> 8 * (i % 8));
    }
}

const char *guide_data_make(guide_data *d, const guide_side *side, int64_t bytes, int root, MPI_Comm comm,
                            pat_mock_scratch *scratch)
{
    int rank, size, ok, all;
    size_t i = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    while (strcmp(shapes[i].mpi, side->native->mpi_name) != 0)
        i++;
    *d = (guide_data){.send_bytes = (size_t)bytes * (shapes[i].send_parts ? (size_t)size : 1),
                      .recv_bytes = (size_t)bytes * (shapes[i].recv_parts ? (size_t)size : 1),
                      .has_result = !shapes[i].at_root || rank == root};
    if (root >= size)
        return "there is no such root";
    if (d->send_bytes > INT_MAX || d->recv_bytes > INT_MAX)
        return "all ranks' parts together are more than an int can count";
    d->send = malloc(d->send_bytes);
    d->recv = malloc(d->recv_bytes);
    d->wanted = malloc(d->recv_bytes);
    ok = d->send && d->recv && d->wanted;
    MUST(PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, comm));
    if (!all) {
        guide_data_free(d);
        return "no memory for the buffers";
    }
    fill(d->send, d->send_bytes, rank);
    d->call = (pat_mock_call){.send = d->send,
                              .recv = d->recv,
                              .send_count = (int)bytes,
                              .recv_count = (int)bytes,
                              .send_type = MPI_BYTE,
                              .recv_type = MPI_BYTE,
                              .op = MPI_BOR,
                              .root = root,
                              .comm = comm};
    d->gives = strcmp(side->native->mpi_name, "MPI_Bcast") == 0 && rank == root;
    memset(d->recv, 0, d->recv_bytes);
    if (d->gives)
        fill(d->recv, d->recv_bytes, rank);
    enum pat_mock_why why;
    MUST(pat_mock_run(side->native, &d->call, scratch, &why));
    memcpy(d->wanted, d->recv, d->recv_bytes);
    return NULL;
}

void guide_data_free(guide_data *d)
{
    free(d->send);
    free(d->recv);
    free(d->wanted);
    *d = (guide_data){.send = NULL};
}

void guide_data_wipe(guide_data *d)
{
    if (!d->gives)
        memset(d->recv, 0, d->recv_bytes);
}

bool guide_data_is_right(const guide_data *d)
{
    int right = !d->has_result || memcmp(d->recv, d->wanted, d->recv_bytes) == 0, all;
    MUST(PMPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, d->call.comm));
    return all;
}

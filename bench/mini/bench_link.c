/*
 * bench_link.c — see bench_link.h. Must never be kinder than a sustained stream: no long messages. Of several streams
 * the fastest counts: what disturbs a stream would lift the bound.
 */
#include "bench_link.h"

#include <stdbool.h>
#include <stdlib.h>

#include "bench_stats.h"
#include "bench_wait.h"
#include "clock.h"

enum {
    CHUNK = 16384,
    BATCH = 8,
    PINGS = 50,
    TAG_PING = 1,
    TAG_DATA = 2,
    TAG_CREDIT = 3,
    STREAMS = 3,
    FEWEST = 8, /* batches of a stream */
    ENOUGH_MS = 400
};
static const int64_t most_bytes = INT64_C(1) << 30;

int bench_nodes_find(MPI_Comm comm, int *node_of, int *num_nodes, int *ppn)
{
    MPI_Comm node;
    int rank, size, lowest, here;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int rc = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    if (rc != MPI_SUCCESS)
        return rc;
    MPI_Comm_size(node, &here);
    rc = MPI_Allreduce(&rank, &lowest, 1, MPI_INT, MPI_MIN, node);
    MPI_Comm_free(&node);
    if (rc == MPI_SUCCESS)
        rc = MPI_Allreduce(&here, ppn, 1, MPI_INT, MPI_MAX, comm);
    if (rc == MPI_SUCCESS)
        rc = MPI_Allgather(&lowest, 1, MPI_INT, node_of, 1, MPI_INT, comm);
    if (rc != MPI_SUCCESS)
        return rc;
    /* A node is known by its lowest rank so far, which comes before its other ranks: number them in place. */
    *num_nodes = 0;
    for (int r = 0; r < size; r++)
        node_of[r] = node_of[r] == r ? (*num_nodes)++ : node_of[node_of[r]];
    return MPI_SUCCESS;
}

/* Half the smallest round trip between r and its right neighbour, for every r in turn. */
static int64_t latency(MPI_Comm ring)
{
    int rank, size;
    int64_t best = INT64_MAX, smallest;
    char byte = 0;
    MPI_Comm_rank(ring, &rank);
    MPI_Comm_size(ring, &size);
    for (int r = 0; r < size; r++) {
        const int next = (r + 1) % size;
        for (int i = 0; i < PINGS; i++) {
            if (rank == r) {
                const int64_t start = pat_clock_local_ns();
                MPI_Send(&byte, 1, MPI_BYTE, next, TAG_PING, ring);
                MPI_Recv(&byte, 1, MPI_BYTE, next, TAG_PING, ring, MPI_STATUS_IGNORE);
                const int64_t took = pat_clock_local_ns() - start;
                best = took < best ? took : best;
            } else if (rank == next) {
                MPI_Recv(&byte, 1, MPI_BYTE, r, TAG_PING, ring, MPI_STATUS_IGNORE);
                MPI_Send(&byte, 1, MPI_BYTE, r, TAG_PING, ring);
            }
        }
        MPI_Barrier(ring);
    }
    MPI_Allreduce(&best, &smallest, 1, MPI_INT64_T, MPI_MIN, ring);
    return smallest / 2;
}

/*
 * Stream `batches` batches round the ring and return the rate received from batch `warm` on, in Mbit/s. One
 * batch is always on its way beside the one that is waited for, so that the link is never idle. A credit per
 * batch keeps a fast sender from piling up messages at its neighbour.
 */
static double stream(MPI_Comm ring, char *buf, int batches, int warm)
{
    MPI_Request recv[2][BATCH], send[2][BATCH], credit[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    char *in = buf, *out = buf + (size_t)2 * BATCH * CHUNK;
    int rank, size, posted = 0, sent = 0;
    int64_t start = 0;
    MPI_Comm_rank(ring, &rank);
    MPI_Comm_size(ring, &size);
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < 2 * BATCH; i++)
        send[i / BATCH][i % BATCH] = MPI_REQUEST_NULL;
    for (int b = 0; b < batches; b++) {
        for (; posted < batches && posted < b + 2; posted++)
            for (int i = 0; i < BATCH; i++)
                MPI_Irecv(in + (size_t)((posted % 2) * BATCH + i) * CHUNK, CHUNK, MPI_BYTE, left, TAG_DATA,
                          ring, &recv[posted % 2][i]);
        for (; sent < batches && sent < b + 2; sent++) {
            MPI_Wait(&credit[sent % 2], MPI_STATUS_IGNORE); /* for batch sent - 2 */
            MPI_Waitall(BATCH, send[sent % 2], MPI_STATUSES_IGNORE);
            for (int i = 0; i < BATCH; i++)
                MPI_Isend(out + (size_t)((sent % 2) * BATCH + i) * CHUNK, CHUNK, MPI_BYTE, right, TAG_DATA,
                          ring, &send[sent % 2][i]);
            MPI_Irecv(NULL, 0, MPI_BYTE, right, TAG_CREDIT, ring, &credit[sent % 2]);
        }
        MPI_Waitall(BATCH, recv[b % 2], MPI_STATUSES_IGNORE);
        MPI_Send(NULL, 0, MPI_BYTE, left, TAG_CREDIT, ring);
        if (b + 1 == warm)
            start = pat_clock_local_ns();
    }
    const double took = (double)(pat_clock_local_ns() - start);
    MPI_Waitall(2 * BATCH, send[0], MPI_STATUSES_IGNORE);
    MPI_Waitall(2, credit, MPI_STATUSES_IGNORE);
    return (double)(batches - warm) * BATCH * CHUNK * 8e3 / took;
}

static int measure(MPI_Comm ring, bench_link *link)
{
    int size, ok, all_ok;
    MPI_Comm_size(ring, &size);
    char *buf = calloc(4 * BATCH, CHUNK);
    double *rates = malloc((size_t)size * sizeof(*rates));
    ok = buf && rates;
    MPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, ring);
    if (all_ok) {
        link->lambda_ns = latency(ring);
        /* A short stream opens the connections and says how long the real one has to be. */
        double rate = stream(ring, buf, 4, 2), slowest;
        MPI_Allreduce(&rate, &slowest, 1, MPI_DOUBLE, MPI_MIN, ring);
        int64_t batches = (int64_t)(slowest * 1e3 * ENOUGH_MS / 8 / (BATCH * CHUNK));
        batches = batches < FEWEST                         ? FEWEST
                  : batches > most_bytes / (BATCH * CHUNK) ? most_bytes / (BATCH * CHUNK)
                                                           : batches;
        const int warm = (int)(batches / 4) + 2;
        link->mbit_median = 0;
        for (int i = 0; i < STREAMS; i++) {
            MPI_Barrier(ring);
            rate = stream(ring, buf, (int)batches + warm, warm);
            MPI_Allgather(&rate, 1, MPI_DOUBLE, rates, 1, MPI_DOUBLE, ring);
            if (bench_median(rates, size) <= link->mbit_median)
                continue;
            link->mbit_min = bench_quantile(rates, size, 0);
            link->mbit_median = bench_median(rates, size);
            link->mbit_max = bench_quantile(rates, size, 1);
        }
    }
    free(buf);
    free(rates);
    return all_ok ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int bench_link_measure(MPI_Comm comm, const int *node_of, int num_nodes, bench_link *link)
{
    MPI_Comm ring;
    int rank, rc = MPI_SUCCESS;
    MPI_Comm_rank(comm, &rank);
    bool leader = true;
    for (int r = 0; r < rank && num_nodes > 1; r++)
        leader = leader && node_of[r] != node_of[rank];
    MPI_Comm_split(comm, leader ? 0 : MPI_UNDEFINED, rank, &ring);
    if (leader) {
        rc = measure(ring, link);
        MPI_Comm_free(&ring);
    }
    bench_wait_quietly(comm);
    MPI_Bcast(&rc, 1, MPI_INT, 0, comm); /* rank 0 leads its node */
    MPI_Bcast(link, (int)sizeof(*link), MPI_BYTE, 0, comm);
    return rc;
}

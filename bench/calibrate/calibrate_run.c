/*
 * calibrate_run.c — see calibrate_run.h. Nothing but the operation and its closing gather lies between two looks at the
 * clock: no barrier, which no formula would know of.
 */
#include "calibrate_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_must.h"
#include "bench_stats.h"
#include "bench_wait.h"
#include "nodes.h"
#include "pat.h"

enum { TAG = 77, LEAST_LEAD_NS = 1000000, MOST_RECEIVERS = 64 };

size_t calibrate_bytes(const calibrate_job *job, int ranks)
{
    const size_t closing = job->closing_bytes > 0 ? (size_t)job->closing_bytes : 0;
    if (!job->alg)
        return closing;
    /* Where all give, a rank's own block lies before the result; else the result is all there is. */
    const pat_collective *what = pat_collective_of(job->alg->op);
    return (size_t)job->bytes * (size_t)(pat_collective_blocks(what, ranks) + what->all_give) + closing;
}

/* One call of the collective: ours, or the MPI library's own. */
static int call(MPI_Comm comm, const calibrate_job *job, char *buffer)
{
    const pat_collective *what = pat_collective_of(job->alg->op);
    const bool ours = job->alg->build != NULL;
    const int count = (int)job->bytes;
    char *result = buffer + count;
    if (!what->all_give)
        return (ours ? PAT_Bcast : MPI_Bcast)(buffer, count, MPI_BYTE, 0, comm);
    if (!what->all_get)
        return (ours ? PAT_Gather : MPI_Gather)(buffer, count, MPI_BYTE, result, count, MPI_BYTE, 0, comm);
    return (ours ? PAT_Allgather : MPI_Allgather)(buffer, count, MPI_BYTE, result, count, MPI_BYTE, comm);
}

static void run(MPI_Comm comm, const calibrate_job *job, char *buffer)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (job->alg)
        bench_must(call(comm, job, buffer), "a collective");
    if (job->closing_bytes < 0)
        return;
    char *closing =
        buffer + (job->alg ? calibrate_bytes(&(calibrate_job){job->alg, job->bytes, 0, NULL}, size) : 0);
    if (rank > 0)
        bench_must(MPI_Send(closing, (int)job->closing_bytes, MPI_BYTE, 0, TAG, comm), "MPI_Send");
    for (int r = 1; rank == 0 && r < size; r++)
        bench_must(MPI_Recv(closing, (int)job->closing_bytes, MPI_BYTE, r, TAG, comm, MPI_STATUS_IGNORE),
                   "MPI_Recv");
}

static bool is_precise(const double *seconds, int n, const calibrate_patience *patience)
{
    return bench_ci95(seconds, n) < patience->precision * bench_mean(seconds, n, NULL);
}

static bool took_enough(const double *seconds, int n, const calibrate_patience *patience)
{
    return patience->most_s > 0 && n * bench_mean(seconds, n, NULL) >= patience->most_s;
}

/* Enough repetitions? Rank 0 knows, and all do as it says. */
static bool enough(MPI_Comm comm, const double *seconds, int n, const calibrate_patience *patience)
{
    int rank, stop = n >= patience->most;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && n >= patience->least && !stop)
        stop = is_precise(seconds, n, patience) || took_enough(seconds, n, patience);
    MPI_Bcast(&stop, 1, MPI_INT, 0, comm);
    return stop;
}

static calibrate_result summary(double *seconds, int n, const calibrate_patience *patience)
{
    calibrate_result r = {.mean_s = bench_mean(seconds, n, NULL),
                          .ci_s = bench_ci95(seconds, n),
                          .runs = n,
                          .lag1 = bench_lag1(seconds, n),
                          .normal_p = bench_normal_p(seconds, n),
                          .unsure = !is_precise(seconds, n, patience)};
    r.median_s = bench_median(seconds, n);
    return r;
}

static double *series(int n)
{
    double *seconds = calloc((size_t)n, sizeof(*seconds));
    bench_must(seconds ? MPI_SUCCESS : MPI_ERR_NO_MEM, "memory");
    return seconds;
}

/*
 * All ranks call at one moment of a clock that they share: out of a barrier they come apart by more than short operations
 * take. Asleep until then, so that no rank takes another one's processor, and announced, as algorithms that go by predictions
 * want it. Returns the moment, on this rank's own clock.
 */
static int64_t meet(MPI_Comm comm, const pat_clock *clock)
{
    int size;
    int64_t start, ahead = 0;
    MPI_Comm_size(comm, &size);
    /* The moment must lie ahead of everybody when everybody has heard of it. */
    for (int64_t lead_ns = (3 + size / 2) * INT64_C(1000000); ahead <= 0; lead_ns *= 2) {
        MPI_Barrier(comm);
        start = pat_clock_now_ns(clock) + lead_ns;
        MPI_Bcast(&start, 1, MPI_INT64_T, 0, comm);
        start -= clock->offset_ns;
        const int64_t mine = start - pat_clock_local_ns() - LEAST_LEAD_NS;
        MPI_Allreduce(&mine, &ahead, 1, MPI_INT64_T, MPI_MIN, comm);
    }
    bench_must(PAT_ProcessingStart(), "PAT_ProcessingStart");
    const int64_t now = pat_clock_local_ns();
    bench_sleep_until(now + (start - now) / 2);
    bench_must(PAT_Edge(50), "PAT_Edge");
    bench_sleep_until(start);
    bench_must(PAT_ProcessingEnd(), "PAT_ProcessingEnd");
    return start;
}

double calibrate_once(MPI_Comm comm, const calibrate_job *job, char *buffer)
{
    const pat_collective *what = job->alg ? pat_collective_of(job->alg->op) : NULL;
    const int64_t meant = meet(comm, job->clock);
    /* The others' blocks may be under way before a root is awake; nothing of a broadcast is. */
    const int64_t start = what && what->rooted && what->all_give ? meant : pat_clock_local_ns();
    run(comm, job, buffer);
    const double mine = (double)(pat_clock_local_ns() - start) / 1e9;
    double all = mine;
    int size = 1;
    if (what && !what->rooted) {
        MPI_Comm_size(comm, &size);
        MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
    }
    return all / size;
}

calibrate_result calibrate_time(MPI_Comm comm, const calibrate_job *job, const calibrate_patience *patience,
                                char *buffer)
{
    double *seconds = series(patience->most);
    int n = 0;
    run(comm, job, buffer); /* plans, connections, memory */
    do
        seconds[n++] = calibrate_once(comm, job, buffer);
    while (!enough(comm, seconds, n, patience));
    const calibrate_result result = summary(seconds, n, patience);
    free(seconds);
    return result;
}

/* A barrier, and before it one segment from rank 0 to each of the first so many receivers, posted together. */
static double fan_out(MPI_Comm comm, const int *receivers, int children, int64_t bytes,
                      const calibrate_patience *patience, char *buffer)
{
    MPI_Request requests[MOST_RECEIVERS];
    double *seconds = series(patience->most);
    int rank, n = 0;
    bool receives = false;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < children; i++)
        receives = receives || receivers[i] == rank;
    MPI_Barrier(comm);
    do {
        MPI_Barrier(comm);
        const double start = MPI_Wtime();
        for (int i = 0; rank == 0 && i < children; i++)
            MPI_Isend(buffer, (int)bytes, MPI_BYTE, receivers[i], TAG, comm, &requests[i]);
        if (rank == 0)
            MPI_Waitall(children, requests, MPI_STATUSES_IGNORE);
        else if (receives)
            MPI_Recv(buffer, (int)bytes, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
        MPI_Barrier(comm);
        seconds[n++] = MPI_Wtime() - start;
    } while (!enough(comm, seconds, n, patience));
    const double median = summary(seconds, n, patience).median_s;
    free(seconds);
    return median;
}

/* A segment. */
static char *data(int64_t bytes)
{
    char *buffer = bench_must_alloc((size_t)bytes, 1);
    memset(buffer, 1, (size_t)bytes);
    return buffer;
}

static int *nodes(MPI_Comm comm)
{
    MPI_Comm node;
    int *node_of;
    bench_must(pat_nodes_find(comm, &node, &node_of), "the nodes");
    MPI_Comm_free(&node);
    return node_of;
}

/* So many ranks, first those on other nodes than rank 0's, as many of them as can be on nodes of their own; then its own node's. */
static void find_receivers(MPI_Comm comm, int *receivers, int num)
{
    int size, found = 0, *const node_of = nodes(comm);
    MPI_Comm_size(comm, &size);
    int *const before = calloc((size_t)size, sizeof(*before)), /* of a node: ranks met on it */
        *const place = calloc((size_t)size, sizeof(*place));   /* of a rank: how many are before it there */
    bench_must(before && place ? MPI_SUCCESS : MPI_ERR_NO_MEM, "memory");
    for (int r = 0; r < size; r++)
        place[r] = before[node_of[r]]++;
    for (int own = 0; own < 2; own++)
        for (int at = 0; at < size && found < num; at++)
            for (int r = 1; r < size && found < num; r++)
                if (place[r] == at && (node_of[r] == node_of[0]) == own)
                    receivers[found++] = r;
    free(place);
    free(before);
    free(node_of);
}

void calibrate_gammas(MPI_Comm comm, int64_t bytes, const calibrate_patience *patience, double *gammas,
                      int num)
{
    int receivers[MOST_RECEIVERS];
    char *buffer = data(bytes);
    /* A gamma is a quotient of differences to a barrier, which may take as long as the messages: the error grows, and a run is short. */
    const calibrate_patience longer = {patience->precision / 4, patience->least, 10 * patience->most,
                                       10 * patience->most_s};
    find_receivers(comm, receivers, num);
    const double barrier = fan_out(comm, receivers, 0, bytes, &longer, buffer);
    double one = 0;
    for (int i = 0; i < num; i++) {
        const double took = fan_out(comm, receivers, i + 1, bytes, &longer, buffer) - barrier;
        if (i == 0)
            one = took;
        gammas[i] = one > 0 && took > 0 ? took / one : 1;
    }
    MPI_Bcast(gammas, num, MPI_DOUBLE, 0, comm);
    free(buffer);
}

/* Half the way from rank 0 to another one and back. */
static double ping(MPI_Comm comm, int other, int64_t bytes, const calibrate_patience *patience, char *buffer)
{
    double *seconds = series(patience->most);
    int rank, n = -1; /* the first one opens the connection, and does not count */
    MPI_Comm_rank(comm, &rank);
    do {
        const double start = MPI_Wtime();
        if (rank == 0)
            bench_must(MPI_Send(buffer, (int)bytes, MPI_BYTE, other, TAG, comm), "MPI_Send");
        if (rank == 0 || rank == other)
            bench_must(
                MPI_Recv(buffer, (int)bytes, MPI_BYTE, rank == 0 ? other : 0, TAG, comm, MPI_STATUS_IGNORE),
                "MPI_Recv");
        if (rank == other)
            bench_must(MPI_Send(buffer, (int)bytes, MPI_BYTE, 0, TAG, comm), "MPI_Send");
        if (n >= 0)
            seconds[n] = (MPI_Wtime() - start) / 2;
        n++;
    } while (!enough(comm, seconds, n, patience));
    const double median = summary(seconds, n, patience).median_s;
    free(seconds);
    return median;
}

double calibrate_ratio(MPI_Comm comm, int64_t bytes, const calibrate_patience *patience)
{
    int size, near = 0, far = 0, *const node_of = nodes(comm);
    double ratio = 0;
    MPI_Comm_size(comm, &size);
    for (int r = size - 1; r > 0; r--)
        *(node_of[r] == node_of[0] ? &near : &far) = r;
    free(node_of);
    if (near && far) {
        char *buffer = data(bytes);
        const double over = ping(comm, far, bytes, patience, buffer),
                     inside = ping(comm, near, bytes, patience, buffer);
        ratio = inside > 0 ? over / inside : 0;
        free(buffer);
    }
    MPI_Bcast(&ratio, 1, MPI_DOUBLE, 0, comm);
    return ratio;
}

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
#include "pat.h"

enum { TAG = 77, LEAST_LEAD_NS = 1000000 };

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

/* Enough repetitions? Rank 0 knows, and all do as it says. */
static bool enough(MPI_Comm comm, const double *seconds, int n, const calibrate_patience *patience)
{
    int rank, stop = n >= patience->most;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && n >= patience->least && !stop)
        stop = is_precise(seconds, n, patience);
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

/* A barrier, and before it one segment from rank 0 to each of so many others, posted together. */
static double fan_out(MPI_Comm comm, int children, int64_t bytes, const calibrate_patience *patience,
                      char *buffer)
{
    MPI_Request requests[64];
    double *seconds = series(patience->most);
    int rank, n = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Barrier(comm);
    do {
        MPI_Barrier(comm);
        const double start = MPI_Wtime();
        for (int r = 1; rank == 0 && r <= children; r++)
            MPI_Isend(buffer, (int)bytes, MPI_BYTE, r, TAG, comm, &requests[r - 1]);
        if (rank == 0)
            MPI_Waitall(children, requests, MPI_STATUSES_IGNORE);
        else if (rank <= children)
            MPI_Recv(buffer, (int)bytes, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
        MPI_Barrier(comm);
        seconds[n++] = MPI_Wtime() - start;
    } while (!enough(comm, seconds, n, patience));
    const double median = summary(seconds, n, patience).median_s;
    free(seconds);
    return median;
}

void calibrate_gammas(MPI_Comm comm, int64_t bytes, const calibrate_patience *patience, double *gammas,
                      int num)
{
    char *buffer = bench_must_alloc((size_t)bytes, 1);
    const double barrier = fan_out(comm, 0, bytes, patience, buffer);
    double one = 0;
    for (int i = 0; i < num; i++) {
        const double took = fan_out(comm, i + 1, bytes, patience, buffer) - barrier;
        if (i == 0)
            one = took;
        double gamma = one > 0 && took > 0 ? took / one : 1;
        gamma = gamma > i + 1 ? i + 1 : gamma;
        gammas[i] = i > 0 && gamma < gammas[i - 1] ? gammas[i - 1] : gamma < 1 ? 1 : gamma;
    }
    MPI_Bcast(gammas, num, MPI_DOUBLE, 0, comm);
    free(buffer);
}

/*
 * dropin_cost.c — pat-dropin-cost: what the drop-in costs a call that it has nothing to gain from. Run with libpat-mpi.so preloaded: short
 * balanced calls by MPI_, which the drop-in sees, and by PMPI_, which it does not, in blocks that take turns in the same
 * process, so that everything else is the same, the thread level included. A third block by PMPI_ is the control. Non-blocking calls are waited for at
 * once, so that nothing could be hidden.
 */
#include <argp.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_finalize.h"
#include "bench_stats.h"
#include "tool_options.h"

enum { BLOCKS = 301, CALLS = 1000, MOST_BYTES = 1024 };

typedef int (*call)(int bytes);

static char out[MOST_BYTES], in[64 * MOST_BYTES];

static int gather_through(int bytes)
{
    return MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static int gather_past(int bytes)
{
    return PMPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static int reduce_through(int bytes)
{
    return MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static int reduce_past(int bytes)
{
    return PMPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* A non-blocking call that has begun well ends. */
static int ended(int rc, MPI_Request *request)
{
    return rc == MPI_SUCCESS ? PMPI_Wait(request, MPI_STATUS_IGNORE) : rc;
}

static int igather_through(int bytes)
{
    MPI_Request r;
    return ended(MPI_Iallgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD, &r), &r);
}

static int igather_past(int bytes)
{
    MPI_Request r;
    return ended(PMPI_Iallgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD, &r), &r);
}

static int ireduce_through(int bytes)
{
    MPI_Request r;
    return ended(MPI_Iallreduce(out, in, bytes / 8, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &r), &r);
}

static int ireduce_past(int bytes)
{
    MPI_Request r;
    return ended(PMPI_Iallreduce(out, in, bytes / 8, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD, &r), &r);
}

static int ibcast_through(int bytes)
{
    MPI_Request r;
    return ended(MPI_Ibcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &r), &r);
}

static int ibcast_past(int bytes)
{
    MPI_Request r;
    return ended(PMPI_Ibcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &r), &r);
}

static const struct {
    const char *name;
    call through, past;
} kinds[] = {
    {"MPI_Allgather", gather_through, gather_past},    {"MPI_Allreduce", reduce_through, reduce_past},
    {"MPI_Iallgather", igather_through, igather_past}, {"MPI_Iallreduce", ireduce_through, ireduce_past},
    {"MPI_Ibcast", ibcast_through, ibcast_past},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* In ns a call. */
static double block(call run, int bytes)
{
    const double start = MPI_Wtime();
    for (int i = 0; i < CALLS; i++)
        run(bytes);
    return 1e9 * (MPI_Wtime() - start) / CALLS;
}

static void compare(const char *name, call through, call past, int bytes, int rank)
{
    static double ns[3][BLOCKS], ratio[2][BLOCKS];
    const call runs[3] = {past, through, past};
    for (int i = -1; i < BLOCKS; i++) /* the first is to warm up */
        for (int k = 0; k < 3; k++) {
            const int which = (i + k + 3) % 3;
            PMPI_Barrier(MPI_COMM_WORLD);
            const double t = block(runs[which], bytes);
            if (i >= 0)
                ns[which][i] = t;
        }
    for (int i = 0; i < BLOCKS; i++) {
        ratio[0][i] = ns[1][i] / ns[0][i];
        ratio[1][i] = ns[2][i] / ns[0][i];
    }
    if (rank == 0) {
        double low, middle, high;
        const double base = bench_median(ns[0], BLOCKS), seen = bench_median(ns[1], BLOCKS);
        bench_quartiles(ratio[0], BLOCKS, &low, &middle, &high);
        printf("%-14s %6d %10.1f %10.1f %8.1f %8.3f  (%.3f .. %.3f) %8.3f\n", name, bytes, base, seen,
               seen - base, middle, low, high, bench_median(ratio[1], BLOCKS));
        fflush(stdout);
    }
}

static const struct argp argp = {
    .doc = "What the drop-in costs short calls that it cannot speed up: MPI_Allgather, MPI_Allreduce, and "
           "MPI_Iallgather, MPI_Iallreduce and MPI_Ibcast that are waited for at once, of 8 to 1024 bytes "
           "per rank, "
           "by MPI_, which the drop-in sees, and by PMPI_, which it does not.\n\nOptions:\v"
           "Start it with the drop-in, for example: pat-run mpirun -n 2 pat-dropin-cost. Without the drop-in "
           "it shows how far apart equal calls are measured.\n\n"
           "Exit status: 0, 2 for bad options and more than 64 ranks."};

int main(int argc, char **argv)
{
    int rank, ranks, level;
    tool_parse("pat-dropin-cost", &argp, argc, argv, NULL);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 64) {
        if (rank == 0)
            fprintf(stderr, "pat-dropin-cost: %d ranks; accepted: 1 to 64\n", ranks);
        bench_finalize(TOOL_BAD_INPUT);
        return TOOL_BAD_INPUT;
    }
    if (rank == 0)
        printf(
            "# %d ranks, %d blocks of %d calls each in turn, by PMPI_, by MPI_ and by PMPI_ again (control)\n"
            "%-14s %6s %10s %10s %8s %8s  %-18s %8s\n",
            ranks, BLOCKS, CALLS, "call", "bytes", "PMPI [ns]", "MPI [ns]", "more", "ratio", "(quartiles)",
            "control");
    for (int bytes = 8; bytes <= MOST_BYTES; bytes *= 2)
        for (int k = 0; k < KINDS; k++)
            compare(kinds[k].name, kinds[k].through, kinds[k].past, bytes, rank);
    bench_finalize(0);
    return 0;
}

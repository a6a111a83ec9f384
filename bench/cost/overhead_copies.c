/*
 * overhead_copies.c — see overhead.h. Rank 0 is late each round, so that all the others' blocks are there when it calls:
 * the plain call finds them in the library's memory and copies them, the persistent one has them in place.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench_must.h"
#include "bench_stats.h"
#include "overhead.h"
#include "pat.h"

enum { PLAIN_A, PLAIN_B, PERSISTENT, VARIANTS };
static const char *const names[] = {"plain", "plain (control)", "persistent"};

static double late_ms(const overhead_options *o)
{
    return o->phase_ms > 0 ? o->phase_ms : 20;
}

static void sleep_ms(double ms)
{
    const struct timespec t = {.tv_sec = (time_t)(ms / 1e3), .tv_nsec = (long)(ms * 1e6) % 1000000000};
    nanosleep(&t, NULL);
}

/* One round. Returns this rank's time in the call in us; *copied are the bytes copied for it. */
static double one_round(const overhead_options *o, int variant, int rank, const char *out, char *in,
                        PAT_Request request, int64_t *copied)
{
    PAT_Counters before, after;
    MUST(PAT_Get_counters(&before));
    if (variant == PERSISTENT)
        MUST(PAT_Open(request));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        sleep_ms(late_ms(o));
    double start = MPI_Wtime();
    if (variant == PERSISTENT) {
        MUST(PAT_Start(request));
        MUST(PAT_Wait(request));
    } else {
        MUST(PAT_Allgather(out, o->segment, MPI_BYTE, in, o->segment, MPI_BYTE, MPI_COMM_WORLD));
    }
    double took = (MPI_Wtime() - start) * 1e6;
    MUST(PAT_Get_counters(&after));
    *copied += after.bytes_copied - before.bytes_copied;
    return took;
}

void overhead_copies(const overhead_options *o, int rank, int size)
{
    int rounds = o->rounds ? o->rounds : 60;
    char *out = bench_must_alloc(1, (size_t)o->segment),
         *in = bench_must_alloc((size_t)size, (size_t)o->segment);
    double *t[VARIANTS], *ratio = bench_must_alloc((size_t)rounds, sizeof(double));
    int64_t copied[VARIANTS] = {0}, ignored = 0;
    PAT_Request request = PAT_REQUEST_NULL;
    MUST(PAT_UseAlg((o->alg ? o->alg : "relay")));
    for (int i = 0; i < o->segment; i++)
        out[i] = (char)(rank + i);
    MUST(PAT_Allgather_init(out, o->segment, MPI_BYTE, in, o->segment, MPI_BYTE, MPI_COMM_WORLD, &request));
    for (int v = 0; v < VARIANTS; v++) {
        t[v] = bench_must_alloc((size_t)rounds, sizeof(double));
        one_round(o, v, rank, out, in, request, &ignored);
    }
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < VARIANTS; k++) {
            int v = (r + k) % VARIANTS;
            /* A round that follows one of its own kind: what is prepared for the next call is what comes. */
            one_round(o, v, rank, out, in, request, &ignored);
            t[v][r] = one_round(o, v, rank, out, in, request, &copied[v]);
        }
    if (rank == 0) {
        printf("# %s, %d ranks, segments of %d bytes, rank 0 late by %.0f ms, %d interleaved rounds: rank "
               "0's time in "
               "the\n# call, medians [quartiles], and what it copied\n%-16s %10s %28s %22s\n",
               (o->alg ? o->alg : "relay"), size, o->segment, late_ms(o), rounds, "", "us", "ratio to plain",
               "segments copied");
        double lo[VARIANTS], mid[VARIANTS], hi[VARIANTS];
        for (int v = 0; v < VARIANTS; v++) {
            for (int r = 0; r < rounds; r++)
                ratio[r] = t[v][r] / t[PLAIN_A][r];
            bench_quartiles(ratio, rounds, &lo[v], &mid[v], &hi[v]);
        }
        for (int v = 0; v < VARIANTS; v++) {
            double low, us, high;
            bench_quartiles(t[v], rounds, &low, &us, &high);
            printf("%-16s %10.1f    %6.3f [%6.3f,%6.3f] %22.2f\n", names[v], us, mid[v], lo[v], hi[v],
                   (double)copied[v] / rounds / o->segment);
        }
    }
    MUST(PAT_Request_free(&request));
    for (int v = 0; v < VARIANTS; v++)
        free(t[v]);
    free(ratio);
    free(out);
    free(in);
}

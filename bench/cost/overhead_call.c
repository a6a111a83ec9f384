/*
 * overhead_call.c — see overhead.h. What a call costs that goes to the MPI library anyway.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_must.h"
#include "bench_stats.h"
#include "overhead.h"
#include "pat.h"

enum { MPI_A, MPI_B, PAT_NATIVE, CALL_VARIANTS };

static double batch(int variant, int calls, const char *out, char *in, int bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (variant == PAT_NATIVE)
        for (int i = 0; i < calls; i++)
            MUST(PAT_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD));
    else
        for (int i = 0; i < calls; i++)
            MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    double mine = (MPI_Wtime() - start) / calls, slowest;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest * 1e9;
}

void overhead_call(const overhead_options *o, int rank, int size)
{
    int rounds = o->rounds ? o->rounds : 400;
    double *t[CALL_VARIANTS], *ratio = bench_must_alloc((size_t)rounds, sizeof(double)),
                              *control = bench_must_alloc((size_t)rounds, sizeof(double));
    for (int v = 0; v < CALL_VARIANTS; v++)
        t[v] = bench_must_alloc((size_t)rounds, sizeof(double));
    char *out = bench_must_alloc(1, 65536), *in = bench_must_alloc((size_t)size, 65536);
    MUST(PAT_UseAlg("native"));
    if (rank == 0)
        printf("# PAT_Allgather(native) against MPI_Allgather, %d ranks, %d interleaved rounds, medians "
               "[quartiles]\n"
               "%9s %12s %12s %10s %24s %24s\n",
               size, rounds, "bytes", "MPI ns", "PAT ns", "diff ns", "PAT/MPI", "MPI/MPI (control)");
    for (int bytes = 8; bytes <= 65536; bytes *= 2) {
        int calls = bytes <= 1024 ? 200 : bytes <= 8192 ? 100 : 30;
        for (int r = 0; r < rounds; r++)
            for (int k = 0; k < CALL_VARIANTS; k++) {
                int v = (r + k) % CALL_VARIANTS; /* each goes first equally often */
                t[v][r] = batch(v, calls, out, in, bytes);
            }
        for (int r = 0; r < rounds; r++) {
            ratio[r] = t[PAT_NATIVE][r] / t[MPI_A][r];
            control[r] = t[MPI_B][r] / t[MPI_A][r];
        }
        double lo, mid, hi, clo, cmid, chi, base, ours, skip1, skip2;
        bench_quartiles(ratio, rounds, &lo, &mid, &hi);
        bench_quartiles(control, rounds, &clo, &cmid, &chi);
        bench_quartiles(t[MPI_A], rounds, &skip1, &base, &skip2);
        bench_quartiles(t[PAT_NATIVE], rounds, &skip1, &ours, &skip2);
        if (rank == 0)
            printf("%9d %12.0f %12.0f %10.0f    %6.3f [%6.3f,%6.3f]    %6.3f [%6.3f,%6.3f]\n", bytes, base,
                   ours, ours - base, mid, lo, hi, cmid, clo, chi);
        fflush(stdout);
    }
    for (int v = 0; v < CALL_VARIANTS; v++)
        free(t[v]);
    free(ratio);
    free(control);
    free(out);
    free(in);
}

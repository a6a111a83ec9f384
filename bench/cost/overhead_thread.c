/*
 * overhead_thread.c — see overhead.h. What the background thread takes from a computation that has the core to itself.
 */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "bench_must.h"
#include "bench_stats.h"
#include "overhead.h"
#include "pat.h"

enum { KERNEL_DOUBLES = 8192 };

/* A fixed amount of work on 64 KiB: caches matter, as in a real kernel. */
static double kernel(double *v, long sweeps)
{
    for (long s = 0; s < sweeps; s++)
        for (int i = 1; i < KERNEL_DOUBLES - 1; i++)
            v[i] = 0.25 * v[i - 1] + 0.5 * v[i] + 0.25 * v[i + 1];
    return v[KERNEL_DOUBLES / 2];
}

enum { OFF_A, OFF_B, IDLE, ARRIVING, THREAD_VARIANTS };
static const char *const thread_names[] = {"off", "off (control)", "on, nothing arriving",
                                           "on, segments arriving"};

/* Compute `share` of the fixed work, with an Edge a tenth of the way when the library is on. */
static double phase(double *v, long sweeps, double share, int on)
{
    double start = MPI_Wtime();
    if (on)
        MUST(PAT_ProcessingStart());
    kernel(v, (long)((double)sweeps * share * 0.1));
    if (on)
        MUST(PAT_Edge(10));
    kernel(v, (long)((double)sweeps * share * 0.9));
    if (on)
        MUST(PAT_ProcessingEnd());
    return (MPI_Wtime() - start) * 1e3;
}

void overhead_thread(const overhead_options *o, int rank, int size)
{
    const double phase_ms = o->phase_ms > 0 ? o->phase_ms : 100;
    int rounds = o->rounds ? o->rounds : 60, cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    double *t[THREAD_VARIANTS], *ratio = bench_must_alloc((size_t)rounds, sizeof(double)),
                                *v = bench_must_alloc(KERNEL_DOUBLES, sizeof(double));
    char *out = bench_must_alloc(1, (size_t)o->segment),
         *in = bench_must_alloc((size_t)size, (size_t)o->segment);
    const char *alg = o->alg ? o->alg : "relay";
    int64_t early = 0, received = 0;
    double cpu_ms[THREAD_VARIANTS] = {0}, woke[THREAD_VARIANTS] = {0}, spent_ms[THREAD_VARIANTS] = {0};
    for (int k = 0; k < THREAD_VARIANTS; k++)
        t[k] = bench_must_alloc((size_t)rounds, sizeof(double));
    /* The thread finds its place when it first has work: no phase begins before that, since none is to be charged for it. */
    const struct timespec started = {.tv_nsec = 30000000};
    v[KERNEL_DOUBLES / 2] = 1;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(rank % cores, &set);
    sched_setaffinity(0, sizeof(set), &set);

    long sweeps = 100;
    double took = 0;
    while (took < phase_ms / 4) {
        sweeps *= 2;
        double start = MPI_Wtime();
        kernel(v, sweeps);
        took = (MPI_Wtime() - start) * 1e3;
    }
    sweeps = (long)((double)sweeps * phase_ms / took);
    MPI_Bcast(&sweeps, 1, MPI_LONG, 0, MPI_COMM_WORLD);

    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < THREAD_VARIANTS; k++) {
            int mode = (r + k) % THREAD_VARIANTS, on = mode >= IDLE;
            PAT_Counters before, computed, after;
            if (on) { /* a library that is off is not started at all: no thread */
                MUST(PAT_Init());
                MUST(PAT_UseAlg(alg));
                MUST(PAT_Allgather(out, o->segment, MPI_BYTE, in, o->segment, MPI_BYTE, MPI_COMM_WORLD));
            }
            nanosleep(&started, NULL); /* in all of them, or they would not begin alike */
            if (on)
                MUST(PAT_Get_counters(&before));
            MPI_Barrier(MPI_COMM_WORLD);
            /* Rank 0 is measured. While segments arrive, the others call after a third of the phase. */
            t[mode][r] = phase(v, sweeps, rank > 0 && mode == ARRIVING ? 0.35 : 1.0, on);
            if (on) {
                /* Before the call: what comes after it is no longer taken from the computation. */
                MUST(PAT_Get_counters(&computed));
                cpu_ms[mode] += (double)(computed.thread_cpu_ns - before.thread_cpu_ns) / 1e6;
                woke[mode] += (double)(computed.thread_wakeups - before.thread_wakeups);
                spent_ms[mode] += t[mode][r];
                MUST(PAT_Allgather(out, o->segment, MPI_BYTE, in, o->segment, MPI_BYTE, MPI_COMM_WORLD));
                MUST(PAT_Get_counters(&after));
                if (mode == ARRIVING) {
                    early += after.bytes_early - before.bytes_early;
                    received += after.bytes_received - before.bytes_received;
                }
                MUST(PAT_Finalize());
            }
            if (rank == 0 && isatty(2))
                fprintf(stderr, "\r%d of %d", r * THREAD_VARIANTS + k + 1, rounds * THREAD_VARIANTS);
        }
    if (rank == 0) {
        if (isatty(2))
            fprintf(stderr, "\r%20s\r", "");
        printf("# %s: a computation of %.0f ms on %d cores, %d ranks, segments of %d bytes, %d interleaved "
               "rounds; rank 0's ratio to "
               "\"off\", medians [quartiles]\n",
               alg, phase_ms, cores, size, o->segment, rounds);
        for (int mode = OFF_B; mode < THREAD_VARIANTS; mode++) {
            double lo, mid, hi;
            for (int r = 0; r < rounds; r++)
                ratio[r] = t[mode][r] / t[OFF_A][r];
            bench_quartiles(ratio, rounds, &lo, &mid, &hi);
            printf("%-24s %7.4f [%7.4f,%7.4f]\n", thread_names[mode], mid, lo, hi);
        }
        for (int mode = IDLE; mode < THREAD_VARIANTS; mode++)
            printf("%s: rank 0's thread used %.3f %% of a processor (%.3f ms a phase) and woke %.1f times a "
                   "second\n",
                   thread_names[mode], 100 * cpu_ms[mode] / spent_ms[mode], cpu_ms[mode] / rounds,
                   1e3 * woke[mode] / spent_ms[mode]);
        printf("while segments arrive: %.0f %% of the foreign bytes came before the call\n",
               received ? 100.0 * (double)early / (double)received : 0);
    }
    for (int k = 0; k < THREAD_VARIANTS; k++)
        free(t[k]);
    free(ratio);
    free(v);
    free(out);
    free(in);
}

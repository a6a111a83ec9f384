/*
 * pat_overhead.c — what the library costs when there is nothing to win. Two measurements, each interleaved
 * within one process with an A/A control, so that only ratios are read:
 *
 *   pat-overhead call     PAT_Allgather with "native" against bare MPI_Allgather, 8 B to 64 KiB
 *   pat-overhead thread   a fixed computation on every core, with and without the library, (a) with nothing
 * arriving, (b) while the other ranks' segments arrive
 *
 * Run with one rank per core: mpirun -n 2 pat-overhead call
 */
#include <argp.h>
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

#include "pat.h"

static const char doc[] = "Measure what the library costs: MODE is call (PAT_Allgather \"native\" against "
                          "MPI_Allgather) or thread (a computation "
                          "slowed by the background thread). Start it under mpirun with one rank per core.";

typedef struct options {
    const char *mode;
    int rounds;
    double phase_ms;
    int segment;
} options;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    char *end;
    switch (key) {
    case 'r':
        o->rounds = (int)strtol(arg, &end, 10);
        if (*end || o->rounds < 3 || o->rounds > 1000000)
            argp_error(state, "--rounds %s: accepted: 3 to 1000000", arg);
        return 0;
    case 'p':
        o->phase_ms = strtod(arg, &end);
        if (*end || !(o->phase_ms >= 1) || o->phase_ms > 10000)
            argp_error(state, "--phase %s: accepted: 1 to 10000 (milliseconds)", arg);
        return 0;
    case 's':
        o->segment = (int)strtol(arg, &end, 10);
        if (*end || o->segment < 1 || o->segment > 1 << 26)
            argp_error(state, "--segment %s: accepted: 1 to %d (bytes)", arg, 1 << 26);
        return 0;
    case ARGP_KEY_ARG:
        if (o->mode || (strcmp(arg, "call") != 0 && strcmp(arg, "thread") != 0))
            argp_error(state, "mode %s: accepted: call, thread", arg);
        o->mode = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->mode)
            argp_error(state, "no mode given; accepted: call, thread");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option keys[] = {
    {"rounds", 'r', "N", 0, "Interleaved rounds (default 400 for call, 60 for thread)", 0},
    {"phase", 'p', "MS", 0, "thread: length of one computation (default 100)", 0},
    {"segment", 's', "BYTES", 0, "thread: bytes per rank (default 65536)", 0},
    {0}};
static const struct argp argp = {keys, parse, "MODE", doc, NULL, NULL, NULL};

/* Median and quartiles of v[0..n-1]; v is sorted. */
static void quartiles(double *v, int n, double *low, double *mid, double *high)
{
    gsl_sort(v, 1, (size_t)n);
    *low = gsl_stats_quantile_from_sorted_data(v, 1, (size_t)n, 0.25);
    *mid = gsl_stats_quantile_from_sorted_data(v, 1, (size_t)n, 0.5);
    *high = gsl_stats_quantile_from_sorted_data(v, 1, (size_t)n, 0.75);
}

/* ---- call ---- */

enum { MPI_A, MPI_B, PAT_NATIVE, CALL_VARIANTS };

static double batch(int variant, int calls, const char *out, char *in, int bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (variant == PAT_NATIVE)
        for (int i = 0; i < calls; i++)
            PAT_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else
        for (int i = 0; i < calls; i++)
            MPI_Allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    double mine = (MPI_Wtime() - start) / calls, slowest;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest * 1e9;
}

static void measure_call(const options *o, int rank, int size)
{
    int rounds = o->rounds ? o->rounds : 400;
    double *t[CALL_VARIANTS], *ratio = malloc(sizeof(double) * (size_t)rounds),
                              *control = malloc(sizeof(double) * (size_t)rounds);
    for (int v = 0; v < CALL_VARIANTS; v++)
        t[v] = malloc(sizeof(double) * (size_t)rounds);
    char *out = calloc(1, 65536), *in = calloc((size_t)size, 65536);
    PAT_UseAlg("native");
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
        quartiles(ratio, rounds, &lo, &mid, &hi);
        quartiles(control, rounds, &clo, &cmid, &chi);
        quartiles(t[MPI_A], rounds, &skip1, &base, &skip2);
        quartiles(t[PAT_NATIVE], rounds, &skip1, &ours, &skip2);
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

/* ---- thread ---- */

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
        PAT_ProcessingStart();
    kernel(v, (long)((double)sweeps * share * 0.1));
    if (on)
        PAT_Edge(10);
    kernel(v, (long)((double)sweeps * share * 0.9));
    if (on)
        PAT_ProcessingEnd();
    return (MPI_Wtime() - start) * 1e3;
}

static void measure_thread(const options *o, int rank, int size)
{
    int rounds = o->rounds ? o->rounds : 60, cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    double *t[THREAD_VARIANTS], *ratio = malloc(sizeof(double) * (size_t)rounds),
                                *v = calloc(KERNEL_DOUBLES, sizeof(double));
    char *out = calloc(1, (size_t)o->segment), *in = calloc((size_t)size, (size_t)o->segment);
    int64_t early = 0, received = 0, cpu = 0, wakeups = 0;
    for (int k = 0; k < THREAD_VARIANTS; k++)
        t[k] = malloc(sizeof(double) * (size_t)rounds);
    v[KERNEL_DOUBLES / 2] = 1;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(rank % cores, &set);
    sched_setaffinity(0, sizeof(set), &set);

    long sweeps = 100;
    double took = 0;
    while (took < o->phase_ms / 4) {
        sweeps *= 2;
        double start = MPI_Wtime();
        kernel(v, sweeps);
        took = (MPI_Wtime() - start) * 1e3;
    }
    sweeps = (long)((double)sweeps * o->phase_ms / took);
    MPI_Bcast(&sweeps, 1, MPI_LONG, 0, MPI_COMM_WORLD);

    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < THREAD_VARIANTS; k++) {
            int mode = (r + k) % THREAD_VARIANTS, on = mode >= IDLE;
            PAT_Counters before, after;
            if (on) { /* a library that is off is not started at all: no thread */
                PAT_Init();
                PAT_UseAlg("bdr");
                PAT_Allgather(out, o->segment, MPI_BYTE, in, o->segment, MPI_BYTE, MPI_COMM_WORLD);
                PAT_Get_counters(&before);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            /* Rank 0 is measured. While segments arrive, the others call after a third of the phase. */
            t[mode][r] = phase(v, sweeps, rank > 0 && mode == ARRIVING ? 0.35 : 1.0, on);
            if (on) {
                PAT_Allgather(out, o->segment, MPI_BYTE, in, o->segment, MPI_BYTE, MPI_COMM_WORLD);
                PAT_Get_counters(&after);
                if (mode == ARRIVING) {
                    early += after.bytes_early - before.bytes_early;
                    received += after.bytes_received - before.bytes_received;
                    cpu += after.thread_cpu_ns - before.thread_cpu_ns;
                    wakeups += after.thread_wakeups - before.thread_wakeups;
                }
                PAT_Finalize();
            }
            if (rank == 0 && isatty(2))
                fprintf(stderr, "\r%d of %d", r * THREAD_VARIANTS + k + 1, rounds * THREAD_VARIANTS);
        }
    if (rank == 0) {
        if (isatty(2))
            fprintf(stderr, "\r%20s\r", "");
        printf("# a computation of %.0f ms on %d cores, %d ranks, segments of %d bytes, %d interleaved "
               "rounds; rank 0's ratio to "
               "\"off\", medians [quartiles]\n",
               o->phase_ms, cores, size, o->segment, rounds);
        for (int mode = OFF_B; mode < THREAD_VARIANTS; mode++) {
            double lo, mid, hi;
            for (int r = 0; r < rounds; r++)
                ratio[r] = t[mode][r] / t[OFF_A][r];
            quartiles(ratio, rounds, &lo, &mid, &hi);
            printf("%-24s %7.4f [%7.4f,%7.4f]\n", thread_names[mode], mid, lo, hi);
        }
        printf("while segments arrive: %.0f %% of the foreign bytes came before the call; the thread used "
               "%.3f ms of processor "
               "time and woke %.1f times a phase\n",
               received ? 100.0 * (double)early / (double)received : 0, (double)cpu / 1e6 / rounds,
               (double)wakeups / rounds);
    }
    for (int k = 0; k < THREAD_VARIANTS; k++)
        free(t[k]);
    free(ratio);
    free(v);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    options o = {.phase_ms = 100, .segment = 65536};
    int rank, size, level;
    /* Before MPI_Init, so that a wrong option ends every rank alike. */
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr,
                "pat-overhead: 1 rank; accepted: 2 or more, one per core: mpirun -n 2 pat-overhead %s\n",
                o.mode);
        MPI_Finalize();
        return 2;
    }
    if (strcmp(o.mode, "call") == 0) {
        PAT_Init();
        measure_call(&o, rank, size);
        PAT_Finalize();
    } else {
        measure_thread(&o, rank, size);
    }
    MPI_Finalize();
    return 0;
}

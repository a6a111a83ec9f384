/*
 * overhead_exchange.c — see overhead.h. What it costs ranks to tell each other when they come, where the MPI library runs the call all
 * the same. Ranks come together and are asleep in place of computing, so that what is left is the library's own.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_must.h"
#include "bench_stats.h"
#include "bench_wait.h"
#include "clock.h"
#include "overhead.h"
#include "pat.h"

/* Warm-up calls are so many because auto hears of milestones only after some calls. */
enum { WARM = 24, PHASES = 10 };
enum { PLAIN_A, PLAIN_B, ANNOUNCED, EXCHANGE_VARIANTS };
static const char *const variant_names[] = {"plain", "plain (control)", "announced"};

/* Of one phase, in microseconds. */
enum { CALL_US, MILESTONES_US, CALLER_US, THREAD_US, QUANTITIES };
static const char *const quantity_names[] = {"call, elapsed", "milestones, elapsed",
                                             "caller's processor time", "thread's processor time"};

typedef struct tally {
    int64_t announced, native, calls;
} tally;

static double now_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* One piece of a phase that is the library's, by both clocks. */
static void milestone(int (*give)(double), double percent, double *us)
{
    const double start = now_us(CLOCK_MONOTONIC), spent = now_us(CLOCK_THREAD_CPUTIME_ID);
    MUST(give(percent));
    us[MILESTONES_US] += now_us(CLOCK_MONOTONIC) - start;
    us[CALLER_US] += now_us(CLOCK_THREAD_CPUTIME_ID) - spent;
}

static int begin(double percent)
{
    (void)percent;
    return PAT_ProcessingStart();
}

static int end(double percent)
{
    (void)percent;
    return PAT_ProcessingEnd();
}

static void phase(const overhead_options *o, int announced, char *out, char *in, double *us)
{
    bench_wait_quietly(MPI_COMM_WORLD);
    const int64_t start_ns = pat_clock_local_ns(), phase_ns = (int64_t)(o->phase_ms * 1e6);
    if (announced)
        milestone(begin, 0, us);
    bench_sleep_until(start_ns + phase_ns / 2);
    if (announced)
        milestone(PAT_Edge, 50, us);
    bench_sleep_until(start_ns + phase_ns);
    if (announced)
        milestone(end, 0, us);
    const double start = now_us(CLOCK_MONOTONIC), spent = now_us(CLOCK_THREAD_CPUTIME_ID);
    MUST(PAT_Allgather(out, o->segment, MPI_BYTE, in, o->segment, MPI_BYTE, MPI_COMM_WORLD));
    us[CALL_US] += now_us(CLOCK_MONOTONIC) - start;
    us[CALLER_US] += now_us(CLOCK_THREAD_CPUTIME_ID) - spent;
}

static int64_t native_calls(const PAT_Counters *c)
{
    int64_t calls = 0;
    for (int i = 0; i < c->num_algs; i++)
        if (strcmp(c->alg_name[i], "native") == 0)
            calls += c->alg_calls[i];
    return calls;
}

/* Some phases of one variant, mean over them and over ranks. The library is started anew: it is to know nothing of the other variants. */
static void batch(const overhead_options *o, int variant, char *buffers[2], double *us, tally *t)
{
    double mine[QUANTITIES] = {0}, warm[QUANTITIES] = {0};
    int size;
    PAT_Counters before, after;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MUST(PAT_Init());
    MUST(PAT_UseAlg(o->alg));
    for (int i = 0; i < WARM; i++)
        phase(o, variant == ANNOUNCED, buffers[0], buffers[1], warm);
    MUST(PAT_Get_counters(&before));
    for (int i = 0; i < PHASES; i++)
        phase(o, variant == ANNOUNCED, buffers[0], buffers[1], mine);
    MUST(PAT_Get_counters(&after));
    MUST(PAT_Finalize());
    mine[THREAD_US] = (double)(after.thread_cpu_ns - before.thread_cpu_ns) / 1e3;
    MPI_Allreduce(mine, us, QUANTITIES, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int q = 0; q < QUANTITIES; q++)
        us[q] /= (double)PHASES * size;
    t->announced += after.estimates - before.estimates;
    t->native += native_calls(&after) - native_calls(&before);
    t->calls += after.calls - before.calls;
}

/* The difference to PLAIN_A, round by round: its median and quartiles, its mean and 95 % interval. */
static void print(const double *us, const double *base, int rounds, const char *quantity, const char *variant)
{
    double *diff = bench_must_alloc((size_t)rounds, sizeof(double)), lo, mid, hi;
    for (int r = 0; r < rounds; r++)
        diff[r] = us[r] - base[r];
    const double mean = bench_mean(diff, rounds, NULL), ci = bench_ci95(diff, rounds);
    bench_quartiles(diff, rounds, &lo, &mid, &hi);
    printf("%-24s %-16s %10.1f [%8.1f,%8.1f] %10.1f +- %.1f\n", quantity, variant, mid, lo, hi, mean, ci);
    free(diff);
}

void overhead_exchange(const overhead_options *given, int rank, int size)
{
    overhead_options o = *given;
    o.phase_ms = o.phase_ms > 0 ? o.phase_ms : 20;
    o.alg = o.alg ? o.alg : "auto";
    const int rounds = o.rounds ? o.rounds : 20;
    double *x[QUANTITIES][EXCHANGE_VARIANTS], us[QUANTITIES];
    char *buffers[2] = {bench_must_alloc(1, (size_t)o.segment),
                        bench_must_alloc((size_t)size, (size_t)o.segment)};
    tally t[EXCHANGE_VARIANTS] = {{0}};
    for (int q = 0; q < QUANTITIES; q++)
        for (int k = 0; k < EXCHANGE_VARIANTS; k++)
            x[q][k] = bench_must_alloc((size_t)rounds, sizeof(double));
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < EXCHANGE_VARIANTS; k++) {
            const int variant = (r + k) % EXCHANGE_VARIANTS; /* each goes first equally often */
            batch(&o, variant, buffers, us, &t[variant]);
            for (int q = 0; q < QUANTITIES; q++)
                x[q][variant][r] = us[q];
        }
    if (rank == 0) {
        printf("# Milestones under %s, phases of %.0f ms asleep, %d ranks, segments of %d bytes, %d "
               "interleaved rounds of %d "
               "phases, means over ranks\n# microseconds a phase more than \"plain\": medians [quartiles], "
               "mean +- its 95 %% interval\n",
               o.alg, o.phase_ms, size, o.segment, rounds, PHASES);
        for (int q = 0; q < QUANTITIES; q++)
            for (int k = PLAIN_B; k < EXCHANGE_VARIANTS; k++)
                print(x[q][k], x[q][PLAIN_A], rounds, quantity_names[q], variant_names[k]);
        for (int k = 0; k < EXCHANGE_VARIANTS; k++)
            printf("%s: %.0f %% of the calls announced, %.0f %% run by the MPI library; a call took %.1f us "
                   "(median)\n",
                   variant_names[k], 100.0 * (double)t[k].announced / (double)t[k].calls,
                   100.0 * (double)t[k].native / (double)t[k].calls, bench_median(x[CALL_US][k], rounds));
    }
    for (int q = 0; q < QUANTITIES; q++)
        for (int k = 0; k < EXCHANGE_VARIANTS; k++)
            free(x[q][k]);
    free(buffers[0]);
    free(buffers[1]);
}

/*
 * overhead_overlap.c — see overhead.h. How much of a non-blocking collective is hidden behind a computation, measured as IMB-NBC does: the call
 * alone, started and waited for at once; a computation alone that takes as long; and the call started before the computation and waited for after it.
 */
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_burn.h"
#include "bench_call.h"
#include "bench_must.h"
#include "bench_stats.h"
#include "bench_wait.h"
#include "clock.h"
#include "overhead.h"
#include "pat.h"

/* Who runs the call. */
enum { BY_MPI, BY_PAT, RUNNERS };

/* What is timed, in ms, mean over the ranks; BESIDE: the computation while the call is under way. */
enum { PURE, COMPUTING, BOTH, BESIDE, TIMES };

/* PAT finds out by some twenty calls which of two algorithms takes less for an all-gather. */
enum { WARM = 4, WARM_ALLGATHER = 24 };

/* ---- The computation ---------------------------------------------------------------------------------- */

/* Asleep for so long, or so many steps of arithmetic, which take longer when somebody else has the processor. */
typedef struct work {
    bool burns;
    double ms;
    int64_t steps;
} work;

static void compute(const work *w)
{
    if (w->burns)
        bench_burn(w->steps);
    else
        bench_sleep_until(pat_clock_local_ns() + (int64_t)(1e6 * w->ms));
}

static double since_ms(int64_t start_ns)
{
    return 1e-6 * (double)(pat_clock_local_ns() - start_ns);
}

static void meet(void)
{
    bench_wait_quietly(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks compute at once, as they will; so many steps take `ms` then, on average. */
static int64_t steps_for(double ms)
{
    int64_t steps = 100000;
    for (int i = 0; i < 4; i++) {
        double took, mean;
        meet();
        const int64_t start_ns = pat_clock_local_ns();
        bench_burn(steps);
        took = since_ms(start_ns);
        MPI_Allreduce(&took, &mean, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        int size;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        steps = (int64_t)((double)steps * ms / (mean / size)) + 1;
    }
    return steps;
}

/* ---- Measuring ---------------------------------------------------------------------------------------- */

/* Counted from when the rank comes that is late_ms late. w: what is done between start and wait, in *beside_ms; NULL: nothing. */
static double one_call(bench_buffers *b, const bench_form *f, int by, double late_ms, const work *w,
                       double *beside_ms)
{
    bench_call_fill(b, f);
    meet();
    const int64_t start_ns = pat_clock_local_ns() + (int64_t)(1e6 * late_ms);
    if (b->rank == b->ranks - 1 && late_ms > 0)
        bench_sleep_until(start_ns);
    MPI_Request request = bench_call_start(b, f, by == BY_PAT);
    const int64_t computes_ns = pat_clock_local_ns();
    if (w) {
        compute(w);
        *beside_ms = since_ms(computes_ns);
    }
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    const double ms = since_ms(start_ns);
    bench_call_check(b, f);
    return ms;
}

static double computing(const work *w)
{
    meet();
    const int64_t start_ns = pat_clock_local_ns();
    compute(w);
    return since_ms(start_ns);
}

static void mean_over_ranks(double *ms, int num, int ranks)
{
    MPI_Allreduce(MPI_IN_PLACE, ms, num, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < num; i++)
        ms[i] /= ranks;
}

/* In percent, by the mean times; below 0 where a call beside a computation takes longer than both one after the other. */
static double hidden(double pure, double computing_ms, double both)
{
    return 100 * (pure + computing_ms - both) / fmin(pure, computing_ms);
}

/* What ran the calls of PAT since `before`. */
static const char *ran(const PAT_Counters *before)
{
    PAT_Counters now;
    const char *name = "?";
    MUST(PAT_Get_counters(&now));
    for (int i = 0; i < now.num_algs; i++)
        if (now.alg_calls[i] > before->alg_calls[i])
            name = now.alg_name[i];
    return name;
}

/* Every computation is once alone, and each runner's call once alone and once beside it; who comes first changes. */
static void measure(const overhead_options *o, bench_buffers *b, const bench_form *f)
{
    const int rounds = o->rounds > 0 ? o->rounds : 20;
    double *times[RUNNERS][TIMES], pure = 0;
    work w = {.burns = o->burns};
    PAT_Counters before;
    if (!o->as_program)
        MUST(PAT_Get_counters(&before));
    /* Its own: while PAT has made the round of a next call on one, its thread moves the MPI library's own calls on as well. */
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &b->comm));
    for (int by = 0; by < RUNNERS; by++)
        for (int t = 0; t < TIMES; t++)
            times[by][t] = bench_must_alloc((size_t)rounds, sizeof(double));
    for (int i = 0; i < WARM; i++)
        pure = one_call(b, f, BY_MPI, o->late_ms, NULL, NULL);
    for (int i = 0; i < (strcmp(f->name, "allgather") ? WARM : WARM_ALLGATHER); i++)
        one_call(b, f, BY_PAT, o->late_ms, NULL, NULL);
    /* As long as the rank is in the call that is there longest: of an operation with a root that is one of few. */
    MPI_Allreduce(MPI_IN_PLACE, &pure, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    w.ms = o->phase_ms > 0 ? o->phase_ms : pure;
    w.steps = w.burns ? steps_for(w.ms) : 0;
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < RUNNERS; k++) {
            const int by = (i + k) % RUNNERS;
            times[by][PURE][i] = one_call(b, f, by, o->late_ms, NULL, NULL);
            times[by][COMPUTING][i] = computing(&w);
            times[by][BOTH][i] = one_call(b, f, by, o->late_ms, &w, &times[by][BESIDE][i]);
        }
    for (int by = 0; by < RUNNERS; by++)
        for (int t = 0; t < TIMES; t++)
            mean_over_ranks(times[by][t], rounds, b->ranks);
    for (int by = 0; by < RUNNERS && b->rank == 0; by++) {
        double mean[TIMES];
        for (int t = 0; t < TIMES; t++)
            mean[t] = bench_mean(times[by][t], rounds, NULL);
        const bench_paired against = bench_compare(times[by][PURE], times[BY_MPI][PURE], rounds);
        printf("%-14s %-23s %9.3f %9.3f %9.3f %9.3f %8.0f %9.3f %9.1f\n", f->name,
               by == BY_MPI    ? "MPI"
               : o->as_program ? "drop-in"
                               : ran(&before),
               mean[PURE], bench_ci95(times[by][PURE], rounds), mean[COMPUTING], mean[BOTH],
               hidden(mean[PURE], mean[COMPUTING], mean[BOTH]), against.ratio,
               100 * (mean[BESIDE] / mean[COMPUTING] - 1));
        fflush(stdout);
    }
    for (int by = 0; by < RUNNERS; by++)
        for (int t = 0; t < TIMES; t++)
            free(times[by][t]);
    MUST(MPI_Comm_free(&b->comm));
}

void overhead_overlap(const overhead_options *o, int rank, int size)
{
    bench_buffers b;
    bench_buffers_make(&b, o->segment);
    b.floats = o->floats;
    b.as_program = o->as_program;
    if (rank == 0)
        printf(
            "# %d ranks, %d bytes of a rank%s, %s while they compute, the last one %g ms late; ms, mean over "
            "ranks and rounds\n"
            "%-14s %-23s %9s %9s %9s %9s %8s %9s %9s\n",
            size, b.items * 4, o->floats ? " in floating-point numbers" : "", o->burns ? "busy" : "asleep",
            o->late_ms, "collective", "by", "call", "+/-", "computing", "both", "hidden %", "call/MPI's",
            "slowed %");
    for (int i = 0; bench_form_number(i); i++)
        if (!o->call || !strcmp(o->call, bench_form_number(i)->name))
            measure(o, &b, bench_form_number(i));
    bench_buffers_free(&b);
}

/*
 * imbalance_measure.c — see imbalance.h.
 */
#include "imbalance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_clock.h"
#include "bench_delay.h"
#include "bench_must.h"
#include "bench_stats.h"
#include "bench_wait.h"
#include "one_way.h"
#include "pat.h"

enum { SYNC_ROUNDS = 20, WARM = 3 };

bool imbalance_is_native(const char *alg)
{
    const size_t length = strlen(alg), end = strlen("native");
    return length >= end && strcmp(alg + length - end, "native") == 0;
}

/* What both need. Times of calls are on the clock of all ranks. */
typedef struct run {
    const imbalance_options *o;
    int rank, size;
    pat_clock clock;
    bench_buffers buffers;
    double message_ns; /* T of the bytes */
    bench_progress progress;
} run;

static void begin(run *r, const imbalance_options *o, double total_ms)
{
    int same_machine;
    *r = (run){.o = o};
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    MUST(bench_clock_sync(&r->clock, MPI_COMM_WORLD, SYNC_ROUNDS, &same_machine));
    bench_progress_start(&r->progress, r->rank == 0 ? o->progress : BENCH_PROGRESS_OFF, total_ms,
                         pat_clock_local_ns());
}

static void end(run *r)
{
    bench_progress_end(&r->progress, pat_clock_local_ns());
}

static void take_bytes(run *r, int64_t bytes)
{
    pat_one_way table;
    MUST(pat_one_way_measure(&table, MPI_COMM_WORLD, bytes));
    r->message_ns = pat_one_way_ns(&table, (double)bytes);
    bench_buffers_make(&r->buffers, (int)bytes);
}

static void use(const char *alg)
{
    if (!imbalance_is_native(alg))
        MUST(PAT_UseAlg(alg));
}

/* ns[0]: when it came, ns[1]: when it was done. */
static void call(run *r, const char *alg, double ns[2])
{
    ns[0] = (double)pat_clock_now_ns(&r->clock);
    bench_call_run(&r->buffers, r->o->form, !imbalance_is_native(alg));
    ns[1] = (double)pat_clock_now_ns(&r->clock);
}

/* Of a number of each rank, on all of them. */
typedef struct spread {
    double least, most, mean, deviation; /* deviation: from the mean, the mean over ranks */
} spread;

static spread spread_of(const run *r, double own)
{
    spread s;
    double sum, off;
    MPI_Allreduce(&own, &s.least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &s.most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    s.mean = sum / r->size;
    off = fabs(own - s.mean);
    MPI_Allreduce(&off, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    s.deviation = sum / r->size;
    return s;
}

/* ---- Controlled ------------------------------------------------------------------------------------------ */

static void wait_ns(const imbalance_options *o, double ns)
{
    const int64_t until_ns = pat_clock_local_ns() + (int64_t)ns;
    if (!o->burns)
        bench_sleep_until(until_ns);
    while (pat_clock_local_ns() < until_ns)
        ;
}

/* Of an algorithm and the patterns of one largest imbalance, each pattern's mean: of the time in the call (ms, mean over ranks), of the time past the last arrival, and of WIF. */
typedef struct cell {
    double *elapsed, *past, *wif;
} cell;

static void one_pattern(run *r, int64_t most, int pattern, cell cells[])
{
    const imbalance_options *o = r->o;
    const uint64_t draw =
        bench_mix((uint64_t)o->seed + bench_mix((uint64_t)pattern + bench_mix((uint64_t)r->rank)));
    const double late_ns = (double)(draw % (uint64_t)most) * r->message_ns;
    for (int i = -WARM; i < o->iterations; i++)
        for (int k = 0; k < o->num_algs; k++) {
            const int a = (i + WARM + k) % o->num_algs; /* who comes first changes */
            double ns[2];
            use(o->algs[a]);
            bench_call_fill(&r->buffers, o->form);
            bench_wait_quietly(MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
            wait_ns(o, i < 0 ? 0 : late_ns);
            call(r, o->algs[a], ns);
            bench_call_check(&r->buffers, o->form);
            if (i < 0)
                continue;
            /* First and last arrival, last exit, and the time in the call. */
            double edges[3] = {-ns[0], ns[0], ns[1]}, took = ns[1] - ns[0], sum;
            MPI_Allreduce(MPI_IN_PLACE, edges, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            MPI_Allreduce(&took, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            cells[a].elapsed[pattern] += 1e-6 * sum / r->size / o->iterations;
            cells[a].past[pattern] += 1e-6 * (edges[2] - edges[1]) / o->iterations;
            cells[a].wif[pattern] += (edges[0] + edges[1]) / r->message_ns / o->iterations;
        }
}

/* '<' and '>': the call takes less or more time than by the first algorithm, beyond the interval of the difference. */
static char against(const double *x, const double *first, int num)
{
    const bench_paired less = bench_compare(first, x, num), more = bench_compare(x, first, num);
    return bench_is_above(&less) ? '<' : bench_is_above(&more) ? '>' : ' ';
}

static void print_cells(const run *r, int64_t bytes, int64_t most, const cell cells[])
{
    const imbalance_options *o = r->o;
    double wif = 0;
    for (int a = 0; a < o->num_algs; a++)
        wif += bench_mean(cells[a].wif, o->patterns, NULL) / o->num_algs;
    printf("%8lld %6lld %8.1f", (long long)bytes, (long long)most, wif);
    for (int a = 0; a < o->num_algs; a++)
        printf("  %9.3f +/- %7.3f %c", bench_mean(cells[a].elapsed, o->patterns, NULL),
               bench_ci95(cells[a].elapsed, o->patterns),
               a ? against(cells[a].elapsed, cells[0].elapsed, o->patterns) : ' ');
    printf("\n");
    fflush(stdout);
    for (int a = 0; a < o->num_algs && o->csv; a++)
        fprintf(o->csv, "%s,%lld,%lld,%s,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", o->form->name, (long long)bytes,
                (long long)most, o->algs[a], 1e-6 * r->message_ns,
                bench_mean(cells[a].wif, o->patterns, NULL), bench_mean(cells[a].elapsed, o->patterns, NULL),
                bench_ci95(cells[a].elapsed, o->patterns), bench_mean(cells[a].past, o->patterns, NULL),
                bench_ci95(cells[a].past, o->patterns));
}

static void print_head(const run *r, int64_t bytes)
{
    const imbalance_options *o = r->o;
    printf("# %s, %d ranks, %lld bytes, T = %.4g ms, %d patterns with %d calls each\n"
           "# ms in the call, mean over ranks, and its 95 %% interval over patterns; < and >: less or more "
           "than the\n"
           "# first algorithm, beyond the interval of the difference\n%8s %6s %8s",
           o->form->name, r->size, (long long)bytes, 1e-6 * r->message_ns, o->patterns, o->iterations,
           "bytes", "MAX", "WIF");
    for (int a = 0; a < o->num_algs; a++)
        printf("  %23s", o->algs[a]);
    printf("\n");
}

/* From which largest imbalance on is an algorithm, which was not better before, better than the first? */
static void print_crossings(const imbalance_options *o, char verdicts[][IMBALANCE_MOST])
{
    for (int a = 1; a < o->num_algs; a++) {
        int m = o->num_most;
        while (m > 0 && verdicts[a][m - 1] == '<')
            m--;
        if (m < o->num_most && m > 0)
            printf("# from MAX = %lld on %s takes less time than %s\n", (long long)o->most[m], o->algs[a],
                   o->algs[0]);
        m = o->num_most;
        while (m > 0 && verdicts[a][m - 1] == '>')
            m--;
        if (m < o->num_most && m > 0)
            printf("# from MAX = %lld on %s takes more time than %s\n", (long long)o->most[m], o->algs[a],
                   o->algs[0]);
    }
}

void imbalance_controlled(const imbalance_options *o)
{
    run r;
    cell cells[IMBALANCE_MOST];
    char verdicts[IMBALANCE_MOST][IMBALANCE_MOST];
    begin(&r, o, (double)o->num_bytes * o->num_most);
    for (int a = 0; a < o->num_algs; a++)
        cells[a] = (cell){bench_must_alloc((size_t)o->patterns, sizeof(double)),
                          bench_must_alloc((size_t)o->patterns, sizeof(double)),
                          bench_must_alloc((size_t)o->patterns, sizeof(double))};
    if (o->csv)
        fputs("call,bytes,max,alg,message_ms,wif,elapsed_ms,elapsed_ci_ms,past_last_ms,past_last_ci_ms\n",
              o->csv);
    for (int b = 0; b < o->num_bytes; b++) {
        take_bytes(&r, o->bytes[b]);
        if (r.rank == 0)
            print_head(&r, o->bytes[b]);
        for (int m = 0; m < o->num_most; m++) {
            for (int a = 0; a < o->num_algs; a++)
                for (int p = 0; p < o->patterns; p++)
                    cells[a].elapsed[p] = cells[a].past[p] = cells[a].wif[p] = 0;
            for (int p = 0; p < o->patterns; p++) {
                one_pattern(&r, o->most[m], p, cells);
                bench_progress_step(&r.progress, 1.0 / o->patterns, o->form->name, pat_clock_local_ns());
            }
            for (int a = 0; a < o->num_algs; a++)
                verdicts[a][m] = against(cells[a].elapsed, cells[0].elapsed, o->patterns);
            if (r.rank == 0)
                print_cells(&r, o->bytes[b], o->most[m], cells);
        }
        if (r.rank == 0)
            print_crossings(o, verdicts);
        bench_buffers_free(&r.buffers);
    }
    for (int a = 0; a < o->num_algs; a++) {
        free(cells[a].elapsed);
        free(cells[a].past);
        free(cells[a].wif);
    }
    end(&r);
}

/* ---- Balanced -------------------------------------------------------------------------------------------- */

static double volatile result_of_steps;

static void compute(int64_t steps)
{
    double x = result_of_steps + 0.5; /* not known to the compiler, or there would be nothing left to do */
    for (int64_t i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-7;
    result_of_steps = x;
}

/* So many steps take a millisecond where all ranks compute, on average. */
static double steps_a_ms(const run *r)
{
    int64_t steps = 100000;
    double took_ms = 0;
    for (int i = 0; i < 6 && took_ms < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const int64_t start_ns = pat_clock_local_ns();
        compute(steps *= 4);
        took_ms = spread_of(r, 1e-6 * (double)(pat_clock_local_ns() - start_ns)).mean;
    }
    return (double)steps / took_ms;
}

static void one_computation(run *r, int64_t bytes, double compute_ms, double steps_ms)
{
    const imbalance_options *o = r->o;
    const int num = o->iterations;
    double *computing = bench_must_alloc((size_t)num, sizeof(double)),
           *came = bench_must_alloc((size_t)num, sizeof(double));
    double *worst = bench_must_alloc((size_t)num, sizeof(double)),
           *average = bench_must_alloc((size_t)num, sizeof(double)),
           *apart = bench_must_alloc((size_t)num, sizeof(double));
    use(o->algs[0]);
    bench_call_fill(&r->buffers, o->form);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < num; i++) { /* nothing synchronises the ranks but the call itself */
        double ns[2];
        const int64_t start_ns = pat_clock_local_ns();
        compute((int64_t)(compute_ms * steps_ms));
        computing[i] = (double)(pat_clock_local_ns() - start_ns);
        call(r, o->algs[0], ns);
        came[i] = ns[0];
    }
    bench_call_check(&r->buffers, o->form);
    for (int i = 0; i < num; i++) {
        const spread took = spread_of(r, computing[i]), arrived = spread_of(r, came[i]);
        apart[i] = 1e-6 * (took.most - took.least);
        worst[i] = 1e-6 * (arrived.most - arrived.least);
        average[i] = 1e-6 * arrived.deviation;
    }
    if (r->rank == 0) {
        const double t_ms = 1e-6 * r->message_ns, a = bench_mean(apart, num, NULL),
                     w = bench_mean(worst, num, NULL), v = bench_mean(average, num, NULL);
        printf("%8lld %10.4g  %9.3f +/- %7.3f %10.1f  %9.3f +/- %7.3f %10.1f %10.1f\n", (long long)bytes,
               compute_ms, a, bench_ci95(apart, num), a / t_ms, w, bench_ci95(worst, num), w / t_ms,
               v / t_ms);
        fflush(stdout);
        if (o->csv)
            fprintf(o->csv, "%s,%lld,%.9g,%s,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", o->form->name,
                    (long long)bytes, compute_ms, o->algs[0], t_ms, a, bench_ci95(apart, num), w,
                    bench_ci95(worst, num), w / t_ms, v / t_ms);
    }
    free(computing);
    free(came);
    free(worst);
    free(average);
    free(apart);
}

void imbalance_balanced(const imbalance_options *o)
{
    run r;
    double total_ms = 0;
    for (int x = 0; x < o->num_compute; x++)
        total_ms += o->compute_ms[x] * o->iterations * o->num_bytes;
    begin(&r, o, total_ms);
    if (o->csv)
        fputs("call,bytes,compute_ms,alg,message_ms,computing_apart_ms,computing_apart_ci_ms,worst_ms,worst_"
              "ci_ms,wif,aif\n",
              o->csv);
    const double steps_ms = steps_a_ms(&r);
    for (int b = 0; b < o->num_bytes; b++) {
        take_bytes(&r, o->bytes[b]);
        if (r.rank == 0)
            printf("# %s by %s, %d ranks, %lld bytes, T = %.4g ms, %d calls\n"
                   "# Means and their 95 %% intervals over calls, ms\n"
                   "%8s %10s  %21s %10s  %21s %10s %10s\n",
                   o->form->name, o->algs[0], r.size, (long long)o->bytes[b], 1e-6 * r.message_ns,
                   o->iterations, "bytes", "compute/ms", "computing apart", "in T", "arrivals apart", "WIF",
                   "AIF");
        for (int x = 0; x < o->num_compute; x++) {
            one_computation(&r, o->bytes[b], o->compute_ms[x], steps_ms);
            bench_progress_step(&r.progress, o->compute_ms[x] * o->iterations, o->form->name,
                                pat_clock_local_ns());
        }
        bench_buffers_free(&r.buffers);
    }
    end(&r);
}

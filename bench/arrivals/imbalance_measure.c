/*
 * imbalance_measure.c — see imbalance.h.
 */
#include <math.h>
#include <stdlib.h>

#include "bench_burn.h"
#include "bench_delay.h"
#include "bench_must.h"
#include "bench_stats.h"
#include "imbalance_run.h"

enum { WARM = 3 };

/* ---- Controlled ------------------------------------------------------------------------------------------ */

static void one_pattern(imbalance_run *r, int64_t most, int pattern, imbalance_cell cells[])
{
    const imbalance_options *o = r->o;
    const uint64_t draw =
        bench_mix((uint64_t)o->seed + bench_mix((uint64_t)pattern + bench_mix((uint64_t)r->rank)));
    const double late_ns = (double)(draw % (uint64_t)most) * r->message_ns;
    for (int i = -WARM; i < o->iterations; i++)
        for (int k = 0; k < o->num_algs; k++) {
            const int a = (i + WARM + k) % o->num_algs; /* who comes first changes */
            const imbalance_times t = imbalance_call(r, o->algs[a], i < 0 ? 0 : late_ns);
            if (i < 0)
                continue;
            cells[a].elapsed[pattern] += t.elapsed_ms / o->iterations;
            cells[a].past[pattern] += t.past_ms / o->iterations;
            cells[a].wif[pattern] += t.wif / o->iterations;
        }
}

static void print_cells(const imbalance_run *r, int64_t bytes, int64_t most, const imbalance_cell cells[])
{
    const imbalance_options *o = r->o;
    double wif = 0;
    for (int a = 0; a < o->num_algs; a++)
        wif += bench_mean(cells[a].wif, o->patterns, NULL) / o->num_algs;
    printf("%8lld %6lld %8.1f", (long long)bytes, (long long)most, wif);
    for (int a = 0; a < o->num_algs; a++)
        printf("  %9.3f +/- %7.3f %c", bench_mean(cells[a].elapsed, o->patterns, NULL),
               bench_ci95(cells[a].elapsed, o->patterns),
               a ? imbalance_against(cells[a].elapsed, cells[0].elapsed, o->patterns) : ' ');
    printf("\n");
    fflush(stdout);
    for (int a = 0; a < o->num_algs && o->csv; a++)
        fprintf(o->csv, "%s,%lld,%lld,%s,%.9g,%.9g,%.9g,%.9g,%.9g,%.9g\n", o->form->name, (long long)bytes,
                (long long)most, o->algs[a], 1e-6 * r->message_ns,
                bench_mean(cells[a].wif, o->patterns, NULL), bench_mean(cells[a].elapsed, o->patterns, NULL),
                bench_ci95(cells[a].elapsed, o->patterns), bench_mean(cells[a].past, o->patterns, NULL),
                bench_ci95(cells[a].past, o->patterns));
}

static void print_head(const imbalance_run *r, int64_t bytes)
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
    imbalance_run r;
    imbalance_cell cells[IMBALANCE_MOST];
    char verdicts[IMBALANCE_MOST][IMBALANCE_MOST];
    imbalance_begin(&r, o, (double)o->num_bytes * o->num_most);
    imbalance_make_cells(o, cells, o->patterns);
    if (o->csv)
        fputs("call,bytes,max,alg,message_ms,wif,elapsed_ms,elapsed_ci_ms,past_last_ms,past_last_ci_ms\n",
              o->csv);
    for (int b = 0; b < o->num_bytes; b++) {
        imbalance_take_bytes(&r, o->bytes[b]);
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
                verdicts[a][m] = imbalance_against(cells[a].elapsed, cells[0].elapsed, o->patterns);
            if (r.rank == 0)
                print_cells(&r, o->bytes[b], o->most[m], cells);
        }
        if (r.rank == 0)
            print_crossings(o, verdicts);
        imbalance_tell_left(&r);
        bench_buffers_free(&r.buffers);
    }
    imbalance_free_cells(o, cells);
    imbalance_end(&r);
}

/* ---- Balanced -------------------------------------------------------------------------------------------- */

/* Of a number of each rank, on all of them. */
typedef struct spread {
    double least, most, mean, deviation; /* deviation: from the mean, the mean over ranks */
} spread;

static spread spread_of(const imbalance_run *r, double own)
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

/* So many steps take a millisecond where all ranks compute, on average. */
static double steps_a_ms(const imbalance_run *r)
{
    int64_t steps = 100000;
    double took_ms = 0;
    for (int i = 0; i < 6 && took_ms < 20; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const int64_t start_ns = pat_clock_local_ns();
        bench_burn(steps *= 4);
        took_ms = spread_of(r, 1e-6 * (double)(pat_clock_local_ns() - start_ns)).mean;
    }
    return (double)steps / took_ms;
}

static void one_computation(imbalance_run *r, int64_t bytes, double compute_ms, double steps_ms)
{
    const imbalance_options *o = r->o;
    const int num = o->iterations;
    double *computing = bench_must_alloc((size_t)num, sizeof(double)),
           *came = bench_must_alloc((size_t)num, sizeof(double));
    double *worst = bench_must_alloc((size_t)num, sizeof(double)),
           *average = bench_must_alloc((size_t)num, sizeof(double)),
           *apart = bench_must_alloc((size_t)num, sizeof(double));
    imbalance_use(o->algs[0]);
    bench_call_fill(&r->buffers, o->form);
    bench_call_run(&r->buffers, o->form, !imbalance_is_native(o->algs[0])); /* which makes the connections */
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < num; i++) { /* nothing synchronises the ranks but the call itself */
        double ns[2];
        const int64_t start_ns = pat_clock_local_ns();
        bench_burn((int64_t)(compute_ms * steps_ms));
        computing[i] = (double)(pat_clock_local_ns() - start_ns);
        imbalance_time(r, o->algs[0], ns);
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
    imbalance_run r;
    double total_ms = 0;
    for (int x = 0; x < o->num_compute; x++)
        total_ms += o->compute_ms[x] * o->iterations * o->num_bytes;
    imbalance_begin(&r, o, total_ms);
    if (o->csv)
        fputs("call,bytes,compute_ms,alg,message_ms,computing_apart_ms,computing_apart_ci_ms,worst_ms,worst_"
              "ci_ms,wif,aif\n",
              o->csv);
    const double steps_ms = steps_a_ms(&r);
    for (int b = 0; b < o->num_bytes; b++) {
        imbalance_take_bytes(&r, o->bytes[b]);
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
    imbalance_end(&r);
}

/*
 * calibrate_one.c — see calibrate_one.h. After Nuriyev 2021, chapter 5: an algorithm's latency and rate come from runs of that
 * algorithm, timed on the root's clock to the end of a gather that follows at once, so that nothing but the two is in the time.
 */
#include "calibrate_one.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_clock.h"
#include "bench_fit.h"
#include "bench_forecast.h"
#include "bench_must.h"
#include "bench_wait.h"
#include "pat.h"

enum { MAX_SIZES = 10, MAX_ROWS = 3 * MAX_SIZES };
/* Shorter blocks cost what a message costs, and some links let through the first few thousand bytes at once. */
enum { LEAST_BLOCK = 4096, LONG_WITH_FEWER = 16384 };
/* Up to what part of a broadcast's time the error of the difference that it is found by may come. */
static const double MOST_NOISE = 0.3;
static const int64_t closings[CALIBRATE_NUM_CLOSINGS] = {64, 1024, 4096};

static double link_s(const calibrate_session *r, double messages, double bytes)
{
    return (messages * (double)r->link.alpha_ns + bytes * (double)r->link.beta_ps / 1e3) / 1e9;
}

static pat_form_cost cost_of(const calibrate_session *r, const pat_algorithm *alg, int64_t bytes)
{
    return pat_calibration_cost(&r->found, alg, r->size, bytes);
}

/* Mean over ranks that call at once, by walking the plans. */
static double walked_ns(const bench_forecast *f, int64_t alpha_ns, int64_t beta_ps)
{
    bench_forecast with = *f;
    int64_t *at_once = calloc((size_t)f->job.num_ranks, sizeof(*at_once));
    bench_must(at_once ? MPI_SUCCESS : MPI_ERR_NO_MEM, "memory");
    const bench_net net = {.num_ranks = f->job.num_ranks, .num_nodes = f->job.num_ranks, .ppn = 1};
    with.alpha_ns = alpha_ns;
    with.beta_ps = beta_ps;
    const double ns = bench_forecast_walk(&with, &net, at_once).elapsed_ns;
    free(at_once);
    return ns;
}

/*
 * What a fit takes an experiment for. Ranks leave an all-gather at different times and their mean is measured: the walk
 * knows it. Not so of relay and its kind, which the library reckons by formula: pieces under way side by side hide each other's
 * latency in the walk, while on a machine each block costs its waking.
 */
static pat_form_cost cost_for_fit(const calibrate_session *r, const pat_algorithm *alg, int64_t bytes)
{
    const pat_form_cost form = cost_of(r, alg, bytes);
    const int64_t alpha_ns = r->link.alpha_ns + 1, beta_ps = r->link.beta_ps;
    const pat_job job = {.num_ranks = r->size,
                         .block_bytes = bytes,
                         .alpha_ns = alpha_ns,
                         .beta_ps = beta_ps,
                         .tau_ns = pat_link_tau_ns(&r->link, bytes)};
    bench_forecast f;
    if (r->rank > 0 || pat_collective_of(alg->op)->rooted || pat_algorithm_is_ahead(alg) ||
        bench_forecast_make(&f, alg, &job) != 0)
        return form;
    const double both = walked_ns(&f, alpha_ns, beta_ps), rate_alone = walked_ns(&f, 0, beta_ps);
    bench_forecast_free(&f);
    return both > 0 ? (pat_form_cost){.messages = (both - rate_alone) / (double)alpha_ns,
                                      .bytes = 1e3 * rate_alone / (double)beta_ps}
                    : form; /* too many ranks to walk */
}

/* Sizes from `first` on, doubling, that do not take too long; three at least. */
static int sizes_for(const calibrate_session *r, const pat_algorithm *alg, int64_t first, int most,
                     int64_t *sizes)
{
    int num = 0;
    for (int64_t bytes = first; num < most; bytes *= 2) {
        const pat_form_cost c = cost_of(r, alg, bytes);
        if (num >= 3 && link_s(r, c.messages, c.bytes) > r->options->longest_s)
            break;
        sizes[num++] = bytes;
    }
    return num;
}

static int sizes_of(const calibrate_session *r, const pat_algorithm *alg, int64_t *sizes)
{
    const bool is_block = pat_collective_of(alg->op)->all_give; /* else a message that is cut into segments */
    return sizes_for(r, alg, is_block ? LEAST_BLOCK : PAT_SEGMENT_BYTES, MAX_SIZES, sizes);
}

bool calibrate_is_fitted(const calibrate_session *r, const pat_algorithm *alg)
{
    return alg->formula && pat_collective_of(alg->op)->yardstick &&
           calibrate_options_want(r->options, alg->op);
}

bool calibrate_is_timed(const calibrate_session *r, const pat_algorithm *alg)
{
    return !alg->build && !alg->chooses && pat_collective_of(alg->op)->yardstick &&
           calibrate_options_want(r->options, alg->op);
}

int calibrate_point_sizes(const calibrate_session *r, const pat_algorithm *alg, int64_t *sizes)
{
    const pat_algorithm *like = alg->build ? alg : pat_algorithm_find(pat_collective_of(alg->op)->yardstick);
    return sizes_for(r, like, 256, CALIBRATE_MOST_SIZES, sizes);
}

/* Milliseconds that one run more or less takes, with the least repetitions. */
static double expected_ms(const calibrate_session *r, const pat_algorithm *alg, int64_t bytes)
{
    const pat_form_cost c = cost_of(r, alg, bytes);
    return 1e3 * (r->options->patience.least + 1) * (link_s(r, c.messages + 2 * r->size, c.bytes) + 1e-4);
}

double calibrate_expected_ms(const calibrate_session *r)
{
    int64_t sizes[CALIBRATE_MOST_SIZES];
    double total = 0;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (calibrate_is_fitted(r, alg) && !r->found.fits[a].known)
            for (int i = sizes_of(r, alg, sizes) - 1; i >= 0; i--)
                total += expected_ms(r, alg, sizes[i]) *
                         (calibrate_needs_closing(alg) ? CALIBRATE_NUM_CLOSINGS : 1);
    }
    return total;
}

void calibrate_begin(calibrate_session *r)
{
    int same_machine;
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        const char *const native = pat_algorithm_native((enum pat_op)op)->name;
        bench_must(PAT_UseAlg(native), native);
    }
    bench_must(bench_clock_sync(&r->clock, MPI_COMM_WORLD, 20, &same_machine), "the clock");
}

/* The closing gathers by themselves, once: what part of an experiment they are. */
static void time_closings(calibrate_session *r)
{
    for (int k = 0; k < CALIBRATE_NUM_CLOSINGS && r->closing_s[k] <= 0; k++) {
        const calibrate_job job = {NULL, 0, closings[k], &r->clock};
        r->closing_s[k] = calibrate_time(MPI_COMM_WORLD, &job, &r->options->patience, r->buffer).median_s;
        MPI_Bcast(&r->closing_s[k], 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
}

bench_known calibrate_known(const calibrate_result *t, double closing_share)
{
    return (bench_known){.runs = t->runs,
                         .unsure = t->unsure,
                         .mean_us = 1e6 * t->mean_s,
                         .ci_us = 1e6 * t->ci_s,
                         .lag1 = t->lag1,
                         .normal_p = t->normal_p,
                         .closing_share = closing_share};
}

static void print_fit(const calibrate_session *r, int alg)
{
    const pat_fit *f = &r->found.fits[alg];
    const bench_quality q = bench_measured_quality(r->measured, alg);
    char closing[32] = "-";
    if (q.most_share >= 0)
        snprintf(closing, sizeof(closing), "%.0f to %.0f %%", 100 * q.least_share, 100 * q.most_share);
    printf("%-16s %10.3f %10.4f %5d %10.1f %9.1f %% %6d of %d %15s\n", pat_algorithm_at(alg)->name,
           f->alpha_us, f->beta_ns, f->rank, f->condition, 100 * f->spread, q.unsure, q.num, closing);
    for (int i = 0; i < r->measured->num; i++) {
        const bench_experiment *e = &r->measured->of[i];
        if (e->alg == alg && bench_measured_is_closing(e))
            printf("# %s of %lld bytes: %.0f %% of the time is the closing gather's, of blocks of %lld "
                   "bytes\n",
                   pat_algorithm_at(alg)->name, (long long)e->bytes, 100 * e->known.closing_share,
                   (long long)e->closing_bytes);
    }
    fflush(stdout);
}

void calibrate_fit(calibrate_session *r, const pat_algorithm *alg)
{
    const int index = (int)(alg - pat_algorithm_at(0));
    int64_t sizes[CALIBRATE_MOST_SIZES];
    bench_fit_row rows[MAX_ROWS];
    int num = 0;
    calibrate_begin(r);
    if (calibrate_needs_closing(alg))
        time_closings(r);
    bench_measured_forget_fit(r->measured, index);
    for (int i = 0, n = sizes_of(r, alg, sizes); i < n; i++)
        for (int k = 0; k < (calibrate_needs_closing(alg) ? CALIBRATE_NUM_CLOSINGS : 1); k++) {
            const calibrate_job job = {alg, sizes[i], calibrate_needs_closing(alg) ? closings[k] : -1,
                                       &r->clock};
            bench_must(PAT_UseAlg(alg->name), alg->name);
            const calibrate_result t = calibrate_time(MPI_COMM_WORLD, &job, &r->options->patience, r->buffer);
            const pat_form_cost c = cost_for_fit(r, alg, sizes[i]);
            const double others = job.closing_bytes < 0 ? 0 : r->size - 1;
            rows[num++] = (bench_fit_row){c.messages + others, c.bytes + others * (double)job.closing_bytes,
                                          t.median_s};
            const bench_experiment e = {
                .alg = index,
                .ranks = r->size,
                .bytes = sizes[i],
                .closing_bytes = job.closing_bytes,
                .us = 1e6 * t.median_s,
                .known = calibrate_known(&t, job.closing_bytes < 0 ? -1 : r->closing_s[k] / t.median_s)};
            bench_measured_add(r->measured, &e);
            if (r->rank == 0)
                bench_progress_step(&r->progress, expected_ms(r, alg, sizes[i]), alg->name,
                                    (int64_t)(MPI_Wtime() * 1e9));
        }
    if (r->rank > 0)
        return;
    bench_fit f;
    const int error = bench_fit_hockney(&f, rows, num);
    if (error) {
        fprintf(stderr, "pat-calibrate: %s: the fit failed: %s\n", alg->name, strerror(error));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    r->found.fits[index] = (pat_fit){.known = true,
                                     .alpha_us = f.alpha_s * 1e6,
                                     .beta_ns = f.beta_s * 1e9,
                                     .rank = f.rank,
                                     .condition = f.condition,
                                     .spread = f.spread};
    print_fit(r, index);
}

/* Found by one experiment, or, where the closing gather's is given, by the difference to that. */
static void add_point(calibrate_session *r, pat_point point, const calibrate_result *all,
                      const calibrate_result *closing)
{
    calibrate_result t = *all;
    if (closing) {
        t.mean_s -= closing->mean_s;
        t.ci_s = hypot(t.ci_s, closing->ci_s);
        t.unsure = t.unsure || closing->unsure;
    }
    const bench_experiment e = {.is_point = true,
                                .alg = point.alg,
                                .ranks = point.ranks,
                                .bytes = point.bytes,
                                .closing_bytes = -1,
                                .us = point.us,
                                .known =
                                    calibrate_known(&t, closing ? closing->median_s / all->median_s : -1)};
    r->found.points[r->found.num_points++] = point;
    bench_measured_add(r->measured, &e);
}

/* Ranks a node, where there are several nodes of several ranks; else 1. */
static int mates(const calibrate_session *r)
{
    const int ranks = r->found.machine.ranks_per_node;
    return ranks < r->size ? ranks : 1;
}

int calibrate_half(const calibrate_session *r, int ranks, int least)
{
    const int unit = mates(r), units = ranks / unit;
    const int half = unit > 1 && units == 3 ? 2 * unit : units / 2 * unit;
    return half >= least && (unit == 1 || half >= 2 * unit) ? half : 0;
}

void calibrate_points(calibrate_session *r, const pat_algorithm *alg, int ranks)
{
    int64_t sizes[CALIBRATE_MOST_SIZES];
    MPI_Comm comm;
    calibrate_begin(r);
    if (alg->build)
        bench_must(PAT_UseAlg(alg->name), alg->name); /* all ranks, though not all take part */
    const bool takes_part = mates(r) > 1 ? r->node < ranks / mates(r) : r->rank < ranks;
    MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, r->rank, &comm);
    if (comm != MPI_COMM_NULL) {
        const calibrate_job nothing = {NULL, 0, 0, &r->clock};
        const calibrate_result empty = calibrate_time(comm, &nothing, &r->options->patience, r->buffer);
        const int before = r->found.num_points;
        int n = calibrate_point_sizes(r, alg, sizes);
        while (alg->build && ranks < r->size && n > 1 && sizes[n - 1] > LONG_WITH_FEWER)
            n--;
        for (int i = 0; i < n && before + i < PAT_MAX_POINTS; i++) {
            const bool closed = calibrate_needs_closing(alg);
            const calibrate_job job = {alg, sizes[i], closed ? 0 : -1, &r->clock};
            const calibrate_result t = calibrate_time(comm, &job, &r->options->patience, r->buffer);
            const double s = closed ? t.median_s - empty.median_s : t.median_s;
            const double noise_s = closed ? hypot(t.ci_s, empty.ci_s) : 0;
            if (s > link_s(r, 1, 0) && noise_s < MOST_NOISE * s) /* else lost in the closing gather's noise */
                add_point(r, (pat_point){(int)(alg - pat_algorithm_at(0)), ranks, sizes[i], 1e6 * s}, &t,
                          closed ? &empty : NULL);
        }
        MPI_Comm_free(&comm);
    }
    bench_wait_quietly(MPI_COMM_WORLD); /* those that had no part */
    MPI_Bcast(&r->found, (int)sizeof(r->found), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (r->rank == 0 && !alg->build)
        printf("%-16s with %d ranks\n", alg->name, ranks);
}

size_t calibrate_most_bytes(const calibrate_session *r)
{
    int64_t sizes[CALIBRATE_MOST_SIZES];
    size_t most = 0;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (!calibrate_is_fitted(r, alg) && !calibrate_is_timed(r, alg))
            continue;
        for (int points = !calibrate_is_fitted(r, alg); points < 2; points++) {
            const int n = points ? calibrate_point_sizes(r, alg, sizes) : sizes_of(r, alg, sizes);
            const size_t bytes = calibrate_bytes(&(calibrate_job){alg, sizes[n - 1], 4096, NULL}, r->size);
            most = bytes > most ? bytes : most;
        }
    }
    return most;
}

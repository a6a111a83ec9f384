/*
 * bench_loop.c — see bench_loop.h. Nothing but the computation phase and the call may happen between the
 * agreed start and the exit: data are made before, checked and reported after, and no rank may be told of a
 * result in between.
 */
#include "bench_loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_data.h"
#include "bench_item.h"
#include "bench_link.h"
#include "bench_must.h"
#include "bench_wait.h"
#include "select.h"
#include "tool_options.h"

enum { SYNC_ROUNDS = 40 };
static const int64_t ms_ns = 1000000, slack_most_ns = INT64_C(100) * 1000000;

/* One iteration of one algorithm, the same on every rank. */
typedef struct turn {
    int alg, iteration;
    enum bench_pattern pattern;
    int64_t max_delay_ns;
} turn;

/* ---- Time
 * ---------------------------------------------------------------------------------------------------- */

/* Sleep, or with --burn compute, until the shared clock shows `when_ns`. */
static void spend_until(const bench_run *run, int64_t when_ns, bool burn)
{
    const int64_t local_ns = when_ns - run->clock.offset_ns;
    if (burn) {
        while (pat_clock_local_ns() < local_ns)
            ;
        return;
    }
    bench_sleep_until(local_ns);
}

static int64_t thread_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t bench_tolerance_ns(const bench_options *o, const bench_net *net, int64_t block_bytes)
{
    if (o->tolerance_ms >= 0)
        return (int64_t)(o->tolerance_ms * (double)ms_ns);
    const int64_t share = bench_tau_ns(net, block_bytes) / 10;
    return share > ms_ns ? share : ms_ns;
}

static void sync_clock(bench_run *run)
{
    bench_must(bench_clock_sync(&run->clock, MPI_COMM_WORLD, SYNC_ROUNDS, &run->same_machine), "clock");
    int64_t worst;
    MPI_Allreduce(&run->clock.error_ns, &worst, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (worst > run->clock_error_ns)
        run->clock_error_ns = worst;
}

/* ---- One turn
 * ------------------------------------------------------------------------------------------------- */

static void call(bench_run *run, const turn *t)
{
    const int count = (int)(run->block_bytes / bench_item_of(run->options->op)->bytes);
    if (run->options->persistent) {
        bench_must(PAT_Start(run->requests[t->alg]), "PAT_Start");
        bench_must(PAT_Wait(run->requests[t->alg]), "PAT_Wait");
    } else if (pat_collective_of(run->options->op)->reduces) {
        bench_must(PAT_Allreduce(run->sendbuf, run->recvbuf, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
                   "PAT_Allreduce");
    } else {
        bench_must(
            PAT_Allgather(run->sendbuf, count, MPI_FLOAT, run->recvbuf, count, MPI_FLOAT, MPI_COMM_WORLD),
            "PAT_Allgather");
    }
}

static void make_data(bench_run *run)
{
    const enum pat_op op = run->options->op;
    const uint64_t key = bench_data_key(run->options->seed, run->calls, run->rank);
    if (pat_collective_of(op)->reduces)
        bench_data_make_terms((double *)(void *)run->sendbuf, key,
                              run->block_bytes / bench_item_of(op)->bytes);
    else
        bench_data_make(run->sendbuf, key, run->block_bytes);
}

/* First wrong byte of the result; -1: all right. */
static int64_t check_data(const bench_run *run)
{
    const bench_options *o = run->options;
    return pat_collective_of(o->op)->reduces
               ? bench_data_check_sum((const double *)(const void *)run->recvbuf, o->seed, run->calls,
                                      run->num_ranks, run->block_bytes / bench_item_of(o->op)->bytes)
               : bench_data_check(run->recvbuf, o->seed, run->calls, run->num_ranks, run->block_bytes);
}

/* When a rank is so far through a computation of `base_ns`, from its beginning on: it is slower throughout, or pauses once. */
static int64_t reaches_ns(const bench_run *run, int iteration, double percent, int64_t base_ns,
                          int64_t delay_ns)
{
    const uint64_t at = bench_mix(bench_mix(run->options->seed + (uint64_t)iteration) + (uint64_t)run->rank);
    if (!run->options->pause)
        return (int64_t)((double)(base_ns + delay_ns) * percent / 100);
    return (int64_t)((double)base_ns * percent / 100) +
           (percent > 100 * (double)(at >> 11) / 0x1p53 ? delay_ns : 0);
}

/* Which algorithm has run a call; -1: none. */
static int ran_between(const PAT_Counters *before, const PAT_Counters *after)
{
    for (int a = 0; a < after->num_algs; a++)
        if (after->alg_calls[a] > before->alg_calls[a])
            return a;
    return -1;
}

/* The iteration of the paper's listing, from the agreed start to the checked result. */
static bench_report take_turn(bench_run *run, const turn *t, int64_t start_ns)
{
    const bench_options *o = run->options;
    const int64_t delay =
        bench_delay_ns(t->pattern, o->seed, t->iteration, run->rank, run->num_ranks, t->max_delay_ns);
    const int64_t base = (int64_t)(o->base_ms * (double)ms_ns);
    PAT_Counters before, after;
    bench_report rep = {0};
    bench_must(PAT_Get_counters(&before), "PAT_Get_counters");
    spend_until(run, start_ns, false);
    /* The phase lasts as long as planned from where it really began, as a computation would. */
    const int64_t began_ns = pat_clock_now_ns(&run->clock);
    rep.late_ns = began_ns - start_ns;
    if (o->persistent)
        bench_must(PAT_Open(run->requests[t->alg]), "PAT_Open");
    if (!o->no_milestones)
        bench_must(PAT_ProcessingStart(), "PAT_ProcessingStart");
    for (int e = 0; e < o->num_edges && !o->no_milestones; e++) {
        spend_until(run, began_ns + reaches_ns(run, t->iteration, o->edges[e], base, delay), o->burn);
        bench_must(PAT_Edge(o->edges[e]), "PAT_Edge");
    }
    spend_until(run, began_ns + base + delay, o->burn);
    if (!o->no_milestones)
        bench_must(PAT_ProcessingEnd(), "PAT_ProcessingEnd");
    const int64_t cpu = thread_cpu_ns();
    rep.arrival_ns = pat_clock_now_ns(&run->clock);
    call(run, t);
    rep.exit_ns = pat_clock_now_ns(&run->clock);
    rep.waiting_cpu_ns = thread_cpu_ns() - cpu;
    rep.slip_ns = rep.arrival_ns - (began_ns + base + delay);
    /* What the thread still forwards belongs to this iteration, and a check of the data takes a processor. */
    bench_wait_quietly(MPI_COMM_WORLD);
    rep.wrong_at = check_data(run);
    bench_must(PAT_Get_counters(&after), "PAT_Get_counters");
    rep.thread_cpu_ns = after.thread_cpu_ns - before.thread_cpu_ns;
    rep.bytes_received = after.bytes_received - before.bytes_received;
    rep.bytes_early = after.bytes_early - before.bytes_early;
    rep.estimates = after.estimates - before.estimates;
    rep.estimates_off_ns = after.estimates_off_ns - before.estimates_off_ns;
    rep.ran = ran_between(&before, &after);
    return rep;
}

/* Rank 0 looks at the reports: a wrong byte ends the run, a late start costs the iteration. */
enum verdict { GOOD, LATE, WRONG };
static enum verdict judge(bench_run *run, const turn *t)
{
    const int64_t tolerance = bench_tolerance_ns(run->options, run->net, run->block_bytes);
    enum verdict verdict = GOOD;
    for (int r = 0; r < run->num_ranks; r++) {
        const bench_report *rep = &run->reports[r];
        if (rep->wrong_at >= 0) {
            snprintf(run->why, sizeof(run->why),
                     "wrong result: %s, %lld %ss, iteration %d: rank %d has a wrong byte at %lld of block "
                     "%lld of the result",
                     run->options->algs[t->alg], (long long)run->count, bench_item_of(run->options->op)->name,
                     t->iteration, r, (long long)(rep->wrong_at % run->block_bytes),
                     (long long)(rep->wrong_at / run->block_bytes));
            return WRONG;
        }
        if (rep->late_ns > tolerance)
            verdict = LATE;
    }
    return verdict;
}

/* A start that ranks heard of in the last moment was put too near; one that all waited for long, too far. */
static void set_slack(bench_run *run)
{
    int64_t least = INT64_MAX;
    for (int r = 0; r < run->num_ranks; r++)
        least = run->reports[r].margin_ns < least ? run->reports[r].margin_ns : least;
    if (least < ms_ns / 2 && run->slack_ns < slack_most_ns)
        run->slack_ns += run->slack_ns / 2;
    else if (least > 2 * ms_ns && least > run->slack_ns / 2)
        run->slack_ns -= run->slack_ns / 16;
}

/* One algorithm's part of an iteration, again and again while a rank begins late. The same result on every
 * rank. */
static enum verdict measure(bench_run *run, const turn *t, bench_sample *sample, int *repeats)
{
    const bench_options *o = run->options;
    int64_t start;
    int verdict = LATE;
    int attempt;
    for (attempt = 0; verdict == LATE && attempt <= o->retries; attempt++) {
        bench_must(PAT_UseAlg(o->algs[t->alg]), "PAT_UseAlg");
        run->calls++;
        make_data(run);
        MPI_Barrier(MPI_COMM_WORLD);
        start = pat_clock_now_ns(&run->clock) + run->slack_ns;
        MPI_Bcast(&start, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
        const int64_t margin = start - pat_clock_now_ns(&run->clock);
        bench_report rep = take_turn(run, t, start);
        rep.margin_ns = margin;
        MPI_Gather(&rep, (int)sizeof(rep), MPI_BYTE, run->reports, (int)sizeof(rep), MPI_BYTE, 0,
                   MPI_COMM_WORLD);
        if (run->rank == 0) {
            verdict = judge(run, t);
            if (verdict == GOOD && sample)
                *sample = bench_sample_make(o->op, run->reports, run->net, run->block_bytes, &run->ideal_ring,
                                            &run->forecast[t->alg]);
            set_slack(run);
        }
        MPI_Bcast(&verdict, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    *repeats += attempt - 1;
    return (enum verdict)verdict;
}

/* ---- Iterations, cells, sizes
 * --------------------------------------------------------------------------------- */

static double expected_step_ms(const bench_run *run, int64_t block_bytes, double max_delay_ms)
{
    const double late = run->options->pattern == BENCH_NONE ? 0 : max_delay_ms;
    const double tau_ms = (double)bench_tau_ns(run->net, block_bytes) / 1e6;
    return run->options->base_ms + late + 1.3 * (run->num_ranks - 1) * tau_ms + 5;
}

double bench_loop_expected_ms(const bench_run *run)
{
    const bench_options *o = run->options;
    double sum = 0;
    for (int c = 0; c < o->num_counts; c++) {
        const int64_t block = bench_block_bytes(o->op, o->counts[c], run->num_ranks);
        sum += (o->warmup + o->flat_iters) * expected_step_ms(run, block, 0);
        for (int d = 0; d < o->num_delays; d++)
            sum += o->iters * expected_step_ms(run, block, o->delays_ms[d]);
    }
    return sum * o->num_algs;
}

/*
 * Who goes first, second and so on in an iteration: drawn anew each time, the same on all ranks. If one always followed the
 * same other one, it would pay, or gain, each time by what that leaves behind: connections that were idle, ranks that come late
 * to the start.
 */
static void draw_order(const bench_run *run, double max_delay_ms, int iteration, int *order)
{
    const int n = run->options->num_algs;
    const uint64_t cell = bench_mix((uint64_t)run->block_bytes ^ (uint64_t)(1e3 * max_delay_ms) << 32);
    uint64_t drawn = run->options->seed ^ cell ^ (uint64_t)iteration << 32;
    for (int k = 0; k < n; k++) {
        drawn = bench_mix(drawn);
        const int at = (int)(drawn % (uint64_t)(k + 1));
        if (at < k)
            order[k] = order[at];
        order[at] = k;
    }
}

/* `iters` iterations of all algorithms; samples (rank 0) is [algorithm][iteration] or NULL. Returns 0 or 1.
 */
static int iterate(bench_run *run, enum bench_pattern pattern, double max_delay_ms, int iters,
                   bench_sample *samples, int *repeats)
{
    const bench_options *o = run->options;
    char where[96];
    char bytes[32];
    tool_bytes_text(bytes, sizeof(bytes), run->block_bytes);
    snprintf(where, sizeof(where), "%s bytes per rank, delays to %g ms", bytes, max_delay_ms);
    for (int i = 0; i < iters; i++) {
        int order[BENCH_MAX_ALGS];
        draw_order(run, max_delay_ms, i, order);
        for (int k = 0; k < o->num_algs; k++) {
            turn t = {.alg = order[k],
                      .iteration = i,
                      .pattern = pattern,
                      .max_delay_ns = (int64_t)(max_delay_ms * (double)ms_ns)};
            bench_sample *sample = samples ? &samples[t.alg * iters + i] : NULL;
            int again = 0;
            if (sample)
                *sample = (bench_sample){0};
            if (measure(run, &t, sample, &again) == WRONG)
                return 1;
            if (repeats)
                repeats[t.alg] += again;
            if (run->rank == 0)
                bench_progress_step(&run->progress, expected_step_ms(run, run->block_bytes, max_delay_ms),
                                    where, pat_clock_local_ns());
        }
    }
    return 0;
}

/* Rank 0: the rows of a cell. */
static int keep_rows(bench_run *run, double max_delay_ms, const double *flat_run_ms, const int *repeats)
{
    const bench_options *o = run->options;
    for (int a = 0; a < o->num_algs; a++) {
        bench_row *row = bench_table_add(run->table);
        if (!row)
            return 1;
        snprintf(row->alg, sizeof(row->alg), "%s", o->algs[a]);
        snprintf(row->pattern, sizeof(row->pattern), "%s", bench_pattern_name(o->pattern));
        row->op = o->op;
        row->procs = run->num_ranks;
        row->ppn = run->net->ppn;
        row->count = run->count;
        row->segment_bytes = run->block_bytes;
        row->max_delay_ms = max_delay_ms;
        row->repeats = repeats[a];
        if (bench_row_fill(row, run->samples + a * o->iters, o->iters, run->net, flat_run_ms[a]) != 0)
            return 1;
    }
    return run->after_cell ? run->after_cell(run) : 0;
}

/* Run time of every algorithm without delays (rank 0). */
static void flat_times(const bench_run *run, double *flat_run_ms)
{
    const int iters = run->options->flat_iters;
    for (int a = 0; a < run->options->num_algs; a++) {
        double sum = 0;
        int valid = 0;
        for (int i = 0; i < iters; i++) {
            const bench_sample *s = &run->samples[a * iters + i];
            if (s->valid) {
                sum += s->run_ms;
                valid++;
            }
        }
        flat_run_ms[a] = valid ? sum / valid : NAN;
    }
}

static int measure_size(bench_run *run)
{
    const bench_options *o = run->options;
    double flat_run_ms[BENCH_MAX_ALGS];
    int failed = iterate(run, BENCH_NONE, 0, o->warmup, NULL, NULL);
    if (!failed)
        failed = iterate(run, BENCH_NONE, 0, o->flat_iters, run->samples, NULL);
    if (!failed && run->rank == 0)
        flat_times(run, flat_run_ms);
    for (int d = 0; !failed && d < o->num_delays; d++) {
        int repeats[BENCH_MAX_ALGS] = {0};
        sync_clock(run);
        failed = iterate(run, o->pattern, o->delays_ms[d], o->iters, run->samples, repeats);
        if (failed)
            break;
        if (run->rank == 0 && keep_rows(run, o->delays_ms[d], flat_run_ms, repeats) != 0) {
            if (run->why[0] == '\0')
                snprintf(run->why, sizeof(run->why), "out of memory");
            failed = 1;
        }
        MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return failed;
}

/* Persistent requests are made under their algorithm, in case a request remembers it. */
static void make_requests(bench_run *run)
{
    const int count = (int)(run->block_bytes / bench_item_of(run->options->op)->bytes);
    for (int a = 0; a < run->options->num_algs && run->options->persistent; a++) {
        bench_must(PAT_UseAlg(run->options->algs[a]), "PAT_UseAlg");
        bench_must(PAT_Allgather_init(run->sendbuf, count, MPI_FLOAT, run->recvbuf, count, MPI_FLOAT,
                                      MPI_COMM_WORLD, &run->requests[a]),
                   "PAT_Allgather_init");
    }
}

/*
 * What the library has agreed for the world, so that the forecasts walk the very plans it runs; NULL when only the MPI
 * library's own is measured, which has none and needs nothing.
 */
static pat_comm *library_state(const bench_run *run)
{
    bool needed = false;
    pat_comm *c = NULL;
    for (int a = 0; a < run->options->num_algs; a++)
        needed =
            needed || pat_algorithm_find(run->options->algs[a]) != pat_algorithm_native(run->options->op);
    if (needed)
        bench_must(pat_comm_get(MPI_COMM_WORLD, false, false, &c), "the library's state");
    return c;
}

/* Rank 0. The ideal ring has the latency of the bound, the others the one that neighbours meet. */
static int make_forecasts(bench_run *run, pat_comm *c)
{
    const bench_net *net = run->net;
    const enum pat_op op = run->options->op;
    const int64_t element_bytes = pat_collective_of(op)->reduces ? bench_item_of(op)->bytes : 0;
    pat_job job = {.num_ranks = run->num_ranks,
                   .block_bytes = run->block_bytes,
                   .element_bytes = element_bytes,
                   .tau_ns = bench_tau_ns(net, run->block_bytes),
                   .alpha_ns = net->lambda_ns,
                   .beta_ps = net->beta_ps};
    int rc = bench_forecast_make(&run->ideal_ring, bench_algorithm_find(op, "ring"), &job);
    for (int a = 0; rc == 0 && c && a < run->options->num_algs; a++) {
        const pat_algorithm *alg =
            pat_select(c, pat_algorithm_find(run->options->algs[a]), run->block_bytes, false, NULL);
        job = pat_comm_job(c, &c->lanes[alg->op], &c->link, run->block_bytes);
        job.element_bytes = element_bytes;
        job.together = false; /* a forecast must not depend on what ran before */
        rc = bench_forecast_make(&run->forecast[a], alg, &job);
    }
    return rc;
}

/* Buffers for the size and the rest; every rank learns whether all have theirs. */
static int prepare(bench_run *run, int64_t count)
{
    const bench_options *o = run->options;
    run->count = count;
    run->block_bytes = bench_block_bytes(o->op, count, run->num_ranks);
    const size_t result_bytes =
        (size_t)(run->block_bytes * pat_collective_blocks(pat_collective_of(o->op), run->num_ranks));
    run->sendbuf = malloc((size_t)run->block_bytes);
    run->recvbuf = malloc(result_bytes);
    pat_comm *c = library_state(run);
    int ok = run->sendbuf && run->recvbuf, all_ok;
    if (ok)
        memset(run->recvbuf, 0, result_bytes);
    if (run->rank == 0) {
        const int most = o->iters > o->flat_iters ? o->iters : o->flat_iters;
        run->reports = calloc((size_t)run->num_ranks, sizeof(*run->reports));
        run->samples = calloc((size_t)most * (size_t)o->num_algs, sizeof(*run->samples));
        ok = ok && run->reports && run->samples && make_forecasts(run, c) == 0;
    }
    MPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all_ok)
        snprintf(run->why, sizeof(run->why), "out of memory: %lld %ss for every rank", (long long)count,
                 bench_item_of(o->op)->name);
    else
        make_requests(run);
    return all_ok ? 0 : 1;
}

static void clean(bench_run *run)
{
    for (int a = 0; a < BENCH_MAX_ALGS; a++)
        if (run->requests[a] != PAT_REQUEST_NULL)
            bench_must(PAT_Request_free(&run->requests[a]), "PAT_Request_free");
    bench_forecast_free(&run->ideal_ring);
    for (int a = 0; a < BENCH_MAX_ALGS; a++)
        bench_forecast_free(&run->forecast[a]);
    free(run->sendbuf);
    free(run->recvbuf);
    free(run->reports);
    free(run->samples);
    run->sendbuf = run->recvbuf = NULL;
    run->reports = NULL;
    run->samples = NULL;
}

int bench_loop(bench_run *run)
{
    const bench_options *o = run->options;
    int failed = 0;
    run->slack_ns = (3 + run->num_ranks / 4) * ms_ns;
    for (int c = 0; !failed && c < o->num_counts; c++) {
        const int64_t count = bench_round_count(o->op, o->counts[c], run->num_ranks);
        bool again = false; /* two sizes may round to one */
        for (int b = 0; b < c; b++)
            again = again || bench_round_count(o->op, o->counts[b], run->num_ranks) == count;
        if (again)
            continue;
        failed = prepare(run, count);
        if (!failed)
            sync_clock(run);
        if (!failed)
            failed = measure_size(run);
        clean(run);
    }
    return failed;
}

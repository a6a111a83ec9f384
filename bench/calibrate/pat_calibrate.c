/*
 * pat_calibrate.c — finds out what messages cost every algorithm on this machine, and writes it to a file that the library
 * chooses by (PAT_CALIBRATION). Main program: options, what is measured in which order, the fits, the file.
 *
 * After Nuriyev 2021, chapter 5: an algorithm's latency and rate come from runs of that algorithm, timed on the root's clock
 * to the end of a gather that follows at once, so that nothing but the two is in the time.
 */
#include <argp.h>
#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_clock.h"
#include "bench_fit.h"
#include "bench_forecast.h"
#include "bench_must.h"
#include "bench_progress.h"
#include "bench_rules.h"
#include "bench_wait.h"
#include "calibrate_check.h"
#include "calibrate_run.h"
#include "file.h"
#include "link.h"
#include "machine.h"
#include "pat.h"
#include "runtime.h"
#include "tool_options.h"

enum { MAX_SIZES = 10, MAX_ROWS = 3 * MAX_SIZES, MOST_GAMMAS = 7 };
/* Shorter blocks cost what a message costs, and some links let through the first few thousand bytes at once. */
enum { LEAST_BLOCK = 4096, LONG_WITH_FEWER = 16384, LEAST_WITH_FEWER = 4 };
/* Up to what part of a broadcast's time the error of the difference that it is found by may come. */
static const double MOST_NOISE = 0.3;
/* Closing gathers of three lengths, none a segment's: with one length alpha and beta would come in one proportion. */
static const int64_t closings[] = {64, 1024, 4096};
enum { NUM_CLOSINGS = sizeof(closings) / sizeof(closings[0]) };

typedef struct options {
    const char *out, *rules, *rules_json;
    bool quick, again, check;
    double longest_s; /* one run of an experiment, as far as the link tells */
    calibrate_patience patience;
    enum bench_progress_mode progress;
} options;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case 'o':
        if (!*arg)
            argp_error(state, "--out '': accepted: the name of a file");
        o->out = arg;
        return 0;
    case 'q':
        o->quick = true;
        return 0;
    case 'a':
        o->again = true;
        return 0;
    case 'c':
        o->check = true;
        return 0;
    case 'r':
        o->rules = tool_output(state, "--rules", arg);
        return 0;
    case 'j':
        o->rules_json = tool_output(state, "--rules-json", arg);
        return 0;
    case 'p':
        o->patience.precision = tool_number(state, "--precision", arg, 0.001, 1);
        return 0;
    case 'l':
        o->longest_s = tool_number(state, "--longest", arg, 0.001, 1000);
        return 0;
    case 'g':
        if (!bench_progress_find(arg, &o->progress))
            argp_error(state, "--progress '%s': accepted: auto, bar, lines, off", arg);
        return 0;
    case ARGP_KEY_END:
        o->patience.least = o->quick ? 3 : 5;
        o->patience.most = o->quick ? 7 : 40;
        if (o->patience.precision <= 0)
            o->patience.precision = o->quick ? 0.1 : 0.025;
        if (o->longest_s <= 0)
            o->longest_s = o->quick ? 0.05 : 0.5;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option keys[] = {
    {"out", 'o', "FILE", 0, "Where the calibration goes (default pat-calibration.json)", 0},
    {"quick", 'q', 0, 0, "Fewer repetitions and shorter messages: less than 2 minutes", 0},
    {"again", 'a', 0, 0, "Measure anew what FILE already has", 0},
    {"check", 'c', 0, 0,
     "Run every algorithm and compare: the best, the one FILE chooses, the MPI library's own, and what was "
     "predicted",
     0},
    {"rules", 'r', "FILE", 0, "Only write FILE, out of the calibration: rules for Open MPI's own collectives",
     0},
    {"rules-json", 'j', "FILE", 0, "The same as JSON, for Open MPI 6", 0},
    {"precision", 'p', "R", 0,
     "Repeat until the 95 % confidence interval is this part of the mean on either side (default 0.025), at "
     "most 40 times",
     0},
    {"longest", 'l', "S", 0,
     "Leave out messages for which one run would take longer, in seconds (default 0.5)", 0},
    {"progress", 'g', "HOW", 0, "auto (default), bar, lines, off", 0},
    {0}};

static const struct argp argp = {
    keys,
    parse,
    NULL,
    "Measure what messages cost every all-gather, broadcast and gather on this machine, for "
    "PAT_CALIBRATION.\n\nOptions:\v"
    "Start it under mpirun with the layout that programs will have: as many ranks on a node, at least two in "
    "all. What it "
    "finds also serves other numbers of ranks. After each algorithm the file is written; started again it "
    "goes on where it was.\n\n"
    "Exit status: 0, 1 when something failed while it ran, 2 for bad options, fewer than two ranks, nodes "
    "that "
    "are not alike, and a file that cannot be written, gone on with or checked.",
    NULL,
    NULL,
    NULL};

/* ---- What is measured --------------------------------------------------------------------------------- */

typedef struct run {
    const options *options;
    int rank, size;
    pat_link link;
    pat_clock clock;
    pat_calibration found;
    bench_progress progress;
    char *buffer;
} run;

static double link_s(const run *r, double messages, double bytes)
{
    return (messages * (double)r->link.alpha_ns + bytes * (double)r->link.beta_ps / 1e3) / 1e9;
}

static pat_form_cost cost_of(const run *r, const pat_algorithm *alg, int64_t bytes)
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
 * knows it. Not so of relay, which the library reckons by its formula: pieces under way side by side hide each other's
 * latency in the walk, while on a machine each block costs its waking.
 */
static pat_form_cost cost_for_fit(const run *r, const pat_algorithm *alg, int64_t bytes)
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
    return both > 0
               ? (pat_form_cost){(both - rate_alone) / (double)alpha_ns, 1e3 * rate_alone / (double)beta_ps}
               : form; /* too many ranks to walk */
}

/* Sizes from `first` on, doubling, that do not take too long; three at least. */
static int sizes_for(const run *r, const pat_algorithm *alg, int64_t first, int most, int64_t *sizes)
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

static int sizes_of(const run *r, const pat_algorithm *alg, int64_t *sizes)
{
    const bool is_block = pat_collective_of(alg->op)->all_give; /* else a message that is cut into segments */
    return sizes_for(r, alg, is_block ? LEAST_BLOCK : PAT_SEGMENT_BYTES, MAX_SIZES, sizes);
}

static bool measured_by_plan(const pat_algorithm *alg)
{
    return alg->formula && pat_collective_of(alg->op)->yardstick;
}

/* The MPI library's own operations that a choice is made among. */
static bool measured_natively(const pat_algorithm *alg)
{
    return !alg->build && !alg->chooses && pat_collective_of(alg->op)->yardstick;
}

/* Lengths that points are taken at; of the MPI library's own as if it were one of ours: longer it hardly takes. */
static int point_sizes(const run *r, const pat_algorithm *alg, int64_t *sizes)
{
    const pat_algorithm *like = alg->build ? alg : pat_algorithm_find(pat_collective_of(alg->op)->yardstick);
    return sizes_for(r, like, 256, 2 * MAX_SIZES, sizes);
}

/* Milliseconds that one run more or less takes, with the least repetitions. */
static double expected_ms(const run *r, const pat_algorithm *alg, int64_t bytes)
{
    const pat_form_cost c = cost_of(r, alg, bytes);
    return 1e3 * (r->options->patience.least + 1) * (link_s(r, c.messages + 2 * r->size, c.bytes) + 1e-4);
}

static double expected_total_ms(const run *r)
{
    int64_t sizes[2 * MAX_SIZES];
    double total = 0;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (measured_by_plan(alg) && !r->found.fits[a].known)
            for (int i = sizes_of(r, alg, sizes) - 1; i >= 0; i--)
                total += expected_ms(r, alg, sizes[i]) * (calibrate_needs_closing(alg) ? NUM_CLOSINGS : 1);
    }
    return total;
}

static void save(const run *r)
{
    if (r->rank > 0)
        return;
    const int error = pat_calibration_write(&r->found, r->options->out);
    if (!error)
        return;
    fprintf(stderr, "pat-calibrate: %s: %s\n", r->options->out, strerror(error));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Clocks drift apart by milliseconds in the minutes that a calibration takes. */
static void sync_clock(run *r)
{
    int same_machine;
    bench_must(bench_clock_sync(&r->clock, MPI_COMM_WORLD, 20, &same_machine), "the clock");
}

/* Nothing of an all-gather is to be prepared in the background while something else is measured. */
static void use_native(void)
{
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        const char *const native = pat_algorithm_native((enum pat_op)op)->name;
        bench_must(PAT_UseAlg(native), native);
    }
}

static void fit(run *r, const pat_algorithm *alg)
{
    int64_t sizes[2 * MAX_SIZES];
    bench_fit_row rows[MAX_ROWS];
    int num = 0, unsure = 0;
    use_native();
    sync_clock(r);
    for (int i = 0, n = sizes_of(r, alg, sizes); i < n; i++)
        for (int k = 0; k < (calibrate_needs_closing(alg) ? NUM_CLOSINGS : 1); k++) {
            const calibrate_job job = {alg, sizes[i], calibrate_needs_closing(alg) ? closings[k] : -1,
                                       &r->clock};
            bench_must(PAT_UseAlg(alg->name), alg->name);
            const calibrate_result t = calibrate_time(MPI_COMM_WORLD, &job, &r->options->patience, r->buffer);
            const pat_form_cost c = cost_for_fit(r, alg, sizes[i]);
            const double others = job.closing_bytes < 0 ? 0 : r->size - 1;
            rows[num++] = (bench_fit_row){c.messages + others, c.bytes + others * (double)job.closing_bytes,
                                          t.median_s};
            unsure += !(t.ci_s < r->options->patience.precision * t.mean_s);
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
    r->found.fits[alg - pat_algorithm_at(0)] = (pat_fit){.known = true,
                                                         .alpha_us = f.alpha_s * 1e6,
                                                         .beta_ns = f.beta_s * 1e9,
                                                         .rank = f.rank,
                                                         .condition = f.condition,
                                                         .spread = f.spread};
    printf("%-16s %10.3f %10.4f %5d %10.1f %9.1f %% %6d of %d\n", alg->name, f.alpha_s * 1e6, f.beta_s * 1e9,
           f.rank, f.condition, 100 * f.spread, unsure, num);
    fflush(stdout);
}

/*
 * Points of one algorithm with some of the ranks. One of ours has a formula for long messages: with fewer ranks only short ones
 * are measured.
 */
static void take_points(run *r, const pat_algorithm *alg, int ranks)
{
    int64_t sizes[2 * MAX_SIZES];
    MPI_Comm comm;
    use_native();
    sync_clock(r);
    if (alg->build)
        bench_must(PAT_UseAlg(alg->name), alg->name); /* all ranks, though not all take part */
    MPI_Comm_split(MPI_COMM_WORLD, r->rank < ranks ? 0 : MPI_UNDEFINED, r->rank, &comm);
    if (comm != MPI_COMM_NULL) {
        const calibrate_job nothing = {NULL, 0, 0, &r->clock};
        const calibrate_result empty = calibrate_time(comm, &nothing, &r->options->patience, r->buffer);
        const int before = r->found.num_points;
        int n = point_sizes(r, alg, sizes);
        while (alg->build && ranks < r->size && n > 1 && sizes[n - 1] > LONG_WITH_FEWER)
            n--;
        for (int i = 0; i < n && before + i < PAT_MAX_POINTS; i++) {
            const bool closed = calibrate_needs_closing(alg);
            const calibrate_job job = {alg, sizes[i], closed ? 0 : -1, &r->clock};
            const calibrate_result t = calibrate_time(comm, &job, &r->options->patience, r->buffer);
            const double s = closed ? t.median_s - empty.median_s : t.median_s;
            const double noise_s = closed ? hypot(t.ci_s, empty.ci_s) : 0;
            if (s > link_s(r, 1, 0) && noise_s < MOST_NOISE * s) /* else lost in the closing gather's noise */
                r->found.points[r->found.num_points++] =
                    (pat_point){(int)(alg - pat_algorithm_at(0)), ranks, sizes[i], 1e6 * s};
        }
        MPI_Comm_free(&comm);
    }
    bench_wait_quietly(MPI_COMM_WORLD); /* those that had no part */
    MPI_Bcast(&r->found, (int)sizeof(r->found), MPI_BYTE, 0, MPI_COMM_WORLD);
    if (r->rank == 0 && !alg->build)
        printf("%-16s with %d ranks\n", alg->name, ranks);
}

/* ---- The whole ---------------------------------------------------------------------------------------- */

static bool has_points(const pat_calibration *c, int alg, int ranks)
{
    for (int i = 0; i < c->num_points; i++)
        if (c->points[i].alg == alg && c->points[i].ranks == ranks)
            return true;
    return false;
}

/*
 * Rank 0: what an earlier start has found, if it was of the same. A file that is something else is somebody's: false, and it
 * stays as it is.
 */
static bool go_on(run *r)
{
    pat_calibration before;
    char why[512];
    if (r->options->again)
        return true;
    const int error = pat_calibration_read(&before, r->options->out, why, sizeof(why));
    if (error == ENOENT)
        return true;
    bool same = !error && pat_calibration_is_of(&before, &r->found.machine, why, sizeof(why)) &&
                pat_calibration_is_of_link(&before, r->found.link_mbit, why, sizeof(why));
    if (same && before.ranks != r->size) {
        same = false;
        snprintf(why, sizeof(why), "it was measured with %d ranks, these are %d", before.ranks, r->size);
    }
    if (same) {
        r->found = before;
        printf("# going on with %s\n", r->options->out);
    } else {
        fprintf(stderr, "pat-calibrate: %s cannot be gone on with: %s; accepted: --again, or another --out\n",
                r->options->out, why);
    }
    return same;
}

static void measure(run *r)
{
    if (r->found.num_gammas == 0) {
        r->found.num_gammas = r->size - 1 < MOST_GAMMAS ? r->size - 1 : MOST_GAMMAS;
        calibrate_gammas(MPI_COMM_WORLD, PAT_SEGMENT_BYTES, &r->options->patience, r->found.gammas,
                         r->found.num_gammas);
    }
    if (r->rank == 0) {
        printf("# gamma");
        for (int i = 0; i < r->found.num_gammas; i++)
            printf(" %.3f", r->found.gammas[i]);
        printf("\n%-16s %10s %10s %5s %10s %11s %s\n", "algorithm", "alpha [us]", "beta [ns]", "rank",
               "condition", "residual", "not precise");
        bench_progress_start(&r->progress, r->options->progress, expected_total_ms(r),
                             (int64_t)(MPI_Wtime() * 1e9));
    }
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (!measured_by_plan(alg))
            continue;
        if (!r->found.fits[a].known)
            fit(r, alg);
        for (int ranks = r->size; ranks == r->size || ranks >= LEAST_WITH_FEWER; ranks /= 2)
            if (!has_points(&r->found, a, ranks)) {
                take_points(r, alg, ranks);
                pat_calibration_sort(&r->found);
            }
        save(r);
    }
    for (int a = 0; a < pat_algorithm_count(); a++)
        for (int ranks = r->size; ranks > 1; ranks /= 2)
            if (measured_natively(pat_algorithm_at(a)) && !has_points(&r->found, a, ranks)) {
                take_points(r, pat_algorithm_at(a), ranks);
                pat_calibration_sort(&r->found);
                save(r);
            }
    if (r->rank == 0)
        bench_progress_end(&r->progress, (int64_t)(MPI_Wtime() * 1e9));
}

/* The largest buffer that an experiment needs. */
static size_t most_bytes(const run *r)
{
    int64_t sizes[2 * MAX_SIZES];
    size_t most = 0;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (!measured_by_plan(alg) && !measured_natively(alg))
            continue;
        for (int points = !measured_by_plan(alg); points < 2; points++) {
            const int n = points ? point_sizes(r, alg, sizes) : sizes_of(r, alg, sizes);
            const size_t bytes = calibrate_bytes(&(calibrate_job){alg, sizes[n - 1], 4096, NULL}, r->size);
            most = bytes > most ? bytes : most;
        }
    }
    return most;
}

/* FILE's choices held against runs that it has not seen. */
static int check(const options *o, int rank)
{
    pat_calibration *c;
    bench_must(PAT_Init(), "PAT_Init");
    pat_config config = pat_rt.config;
    snprintf(config.calibration, sizeof(config.calibration), "%s", o->out);
    int rc = pat_machine_calibration(MPI_COMM_WORLD, &config, &c);
    if (rc == MPI_SUCCESS)
        calibrate_check(c, &o->patience, o->longest_s, o->quick);
    else if (rank == 0)
        fprintf(stderr, "pat-calibrate: %s\n", PAT_Error_string(rc));
    if (rc == MPI_SUCCESS)
        free(c);
    bench_must(PAT_Finalize(), "PAT_Finalize");
    return rc == MPI_SUCCESS ? 0 : TOOL_BAD_INPUT;
}

/* Can the calibration be written? Asked before anything is measured. All ranks call. */
static bool out_is_good(const options *o, int rank)
{
    int error = rank == 0 ? pat_file_check(o->out) : 0;
    if (error)
        fprintf(stderr, "pat-calibrate: --out '%s': cannot be written: %s\n", o->out, strerror(error));
    MPI_Bcast(&error, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return !error;
}

static int calibrate(const options *o, int rank, int size)
{
    run r = {.options = o, .rank = rank, .size = size};
    int same_machine;
    bool alike;
    if (!out_is_good(o, rank))
        return TOOL_BAD_INPUT;
    bench_must(PAT_Init(), "PAT_Init");
    bench_must(pat_machine_find(MPI_COMM_WORLD, &r.found.machine, &alike), "the machine");
    if (!alike) {
        if (rank == 0)
            fprintf(stderr,
                    "pat-calibrate: the nodes are not alike (processor, MPI library, ranks per node): one "
                    "calibration cannot be of all of them\n");
        PAT_Finalize();
        return TOOL_BAD_INPUT;
    }
    r.found.ranks = size;
    bench_must(pat_link_find(&r.link, &pat_rt.config, MPI_COMM_WORLD, NULL), "the link");
    bench_must(bench_clock_sync(&r.clock, MPI_COMM_WORLD, 20, &same_machine), "the clock");
    r.found.link_us = (double)r.link.alpha_ns / 1e3;
    r.found.link_mbit = 8e6 / (double)r.link.beta_ps;
    int good = rank > 0 || go_on(&r);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!good) {
        PAT_Finalize();
        return TOOL_BAD_INPUT;
    }
    MPI_Bcast(&r.found, (int)sizeof(r.found), MPI_BYTE, 0, MPI_COMM_WORLD);
    r.buffer = calloc(1, most_bytes(&r));
    bench_must(r.buffer ? MPI_SUCCESS : MPI_ERR_NO_MEM, "memory");
    if (rank == 0)
        printf("# PAT calibration, %d ranks, %d on a node, link %.1f us, %.1f Mbit/s\n# %s\n# %s\n", size,
               r.found.machine.ranks_per_node, r.found.link_us, r.found.link_mbit, r.found.machine.cpu,
               r.found.machine.mpi);
    measure(&r);
    if (rank == 0)
        printf("# written to %s\n", o->out);
    free(r.buffer);
    bench_must(PAT_Finalize(), "PAT_Finalize");
    return 0;
}

/* Needs no ranks. */
static int write_rules(const options *o)
{
    const struct {
        const char *path;
        bool json;
    } files[] = {{o->rules, false}, {o->rules_json, true}};
    pat_calibration c;
    char why[512];
    if (pat_calibration_read(&c, o->out, why, sizeof(why)) != 0) {
        fprintf(stderr, "pat-calibrate: %s\n", why);
        return TOOL_BAD_INPUT;
    }
    for (int i = 0; i < 2; i++) {
        const int error = files[i].path ? bench_rules_write(&c, files[i].path, files[i].json) : 0;
        if (error) {
            fprintf(stderr, "pat-calibrate: %s: %s\n", files[i].path, strerror(error));
            return TOOL_FAILED;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    options o = {.out = "pat-calibration.json"};
    int rank, size, level, status;
    tool_parse("pat-calibrate", &argp, argc, argv,
               &o); /* before MPI_Init: a wrong option ends every rank alike */
    if (o.rules || o.rules_json)
        return write_rules(&o);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr,
                "pat-calibrate: 1 rank; accepted: 2 or more, for example mpirun -n 4 pat-calibrate\n");
        status = TOOL_BAD_INPUT;
    } else {
        status = o.check ? check(&o, rank) : calibrate(&o, rank, size);
    }
    MPI_Finalize();
    return status;
}

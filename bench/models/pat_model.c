/*
 * pat_model.c — pat-model: what the predictor says every algorithm takes, for given ranks, sizes, links and arrivals,
 * without running anything. The plans are those that the library runs. No MPI, no clock.
 */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_bound.h"
#include "bench_delay.h"
#include "bench_forecast.h"
#include "collective.h"
#include "model_judge.h"
#include "model_regressors.h"
#include "model_stages.h"
#include "predict_replay.h"
#include "printed_table.h"
#include "tool_options.h"

enum { MAX_ROWS = 32, MAX_LIST = 16, MOST_RANKS = 256, MOST_ITERS = 10000, MAX_CALIBRATIONS = 16 };
/* What is reduced is taken to be doubles. */
enum { ELEMENT_BYTES = 8 };

typedef struct options {
    enum pat_op op;
    int procs, iters;
    int64_t bytes[MAX_LIST], segment_bytes;
    int num_bytes;
    double factors[MAX_LIST];
    int num_factors;
    double latency_us, mbit;
    enum bench_pattern pattern;
    int64_t seed;
    int64_t arrival_ns[MOST_RANKS];
    int num_arrivals;                                  /* 0: by pattern */
    bool last;                                         /* the last exit counts, not the mean elapsed time */
    const char *calibrations[MAX_CALIBRATIONS], *plot; /* judging: how, and where points go */
    int num_calibrations;
    bool predictors;          /* replaying arrivals */
    bool regressors;          /* comparing them */
    const char *stages;       /* a calibration: which model describes its broadcasts */
    const char *printed;      /* machine whose printed parameters are replayed */
    const char *const *cells; /* and what; NULL: nothing is judged */
    int num_cells;
} options;

/* ---- Command line ---- */

static void parse_op(options *o, const char *arg, struct argp_state *state)
{
    char names[128] = "";
    o->op = pat_collective_find(arg);
    for (int op = 0; op < PAT_NUM_OPS; op++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", op ? ", " : "",
                 pat_collective_of((enum pat_op)op)->name);
    if (o->op == PAT_NUM_OPS)
        argp_error(state, "--op '%s': accepted: %s", arg, names);
}

static void parse_list(options *o, int key, char *arg, struct argp_state *state)
{
    int *const count = key == 'b' ? &o->num_bytes : key == 'f' ? &o->num_factors : &o->num_arrivals;
    const char *const name = key == 'b' ? "--bytes" : key == 'f' ? "--factor" : "--arrivals";
    const int most = key == 'a' ? MOST_RANKS : MAX_LIST;
    *count = 0;
    for (char *rest = arg, *word; (word = strsep(&rest, ",")) != NULL; ++*count) {
        if (*count == most)
            argp_error(state, "%s: accepted: at most %d numbers", name, most);
        if (key == 'b')
            o->bytes[*count] = tool_bytes(state, name, word, 1, INT64_C(1) << 28);
        else if (key == 'f')
            o->factors[*count] = tool_number(state, name, word, 0, 1e6);
        else
            o->arrival_ns[*count] = (int64_t)(tool_number(state, name, word, 0, 1e6) * 1e6);
    }
}

static const char *parse_printed(const char *arg, struct argp_state *state)
{
    char names[128];
    if (!printed_table_knows(arg, names, sizeof(names)))
        argp_error(state, "--printed '%s': accepted: %s", arg, names);
    return arg;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case 'o':
        parse_op(o, arg, state);
        return 0;
    case 'p':
        o->procs = (int)tool_whole(state, "--procs", arg, 2, MOST_RANKS);
        return 0;
    case 'b':
    case 'f':
    case 'a':
        parse_list(o, key, arg, state);
        return 0;
    case 's':
        o->segment_bytes = tool_bytes(state, "--segment", arg, 0, INT64_C(1) << 28);
        return 0;
    case 'l':
        tool_link(state, "--link", arg, &o->latency_us, &o->mbit);
        return 0;
    case 't':
        if (bench_pattern_find(arg) < 0)
            argp_error(state, "--pattern '%s': accepted: %s", arg, bench_pattern_names());
        o->pattern = (enum bench_pattern)bench_pattern_find(arg);
        return 0;
    case 'i':
        o->iters = (int)tool_whole(state, "--iters", arg, 1, MOST_ITERS);
        return 0;
    case 'e':
        o->seed = tool_whole(state, "--seed", arg, 0, INT64_MAX);
        return 0;
    case 'g':
        o->last = strcmp(arg, "last") == 0;
        if (!o->last && strcmp(arg, "mean") != 0)
            argp_error(state, "--goal '%s': accepted: mean, last", arg);
        return 0;
    case 'c':
        if (o->num_calibrations == MAX_CALIBRATIONS)
            argp_error(state, "--judge: accepted: at most %d times", MAX_CALIBRATIONS);
        o->calibrations[o->num_calibrations++] = arg;
        return 0;
    case 'd':
        o->plot = tool_output(state, "--points", arg);
        return 0;
    case 'r':
        o->predictors = true;
        return 0;
    case 'x':
        o->regressors = true;
        return 0;
    case 'u':
        o->stages = arg;
        return 0;
    case 'n':
        o->printed = parse_printed(arg, state);
        return 0;
    case ARGP_KEY_ARGS:
        if (o->num_calibrations == 0 && !o->predictors)
            argp_error(state, "'%s': accepted: files only with --judge and --predictors",
                       state->argv[state->next]);
        o->cells = (const char *const *)(state->argv + state->next);
        o->num_cells = state->argc - state->next;
        return 0;
    case ARGP_KEY_END:
        if ((o->num_calibrations > 0) + o->predictors + o->regressors + (o->printed != NULL) +
                (o->stages != NULL) >
            1)
            argp_error(state,
                       "--judge, --predictors, --printed, --regressors, --stages: accepted: one of them");
        if (o->num_calibrations > 0 && !o->cells)
            argp_error(state, "--judge: accepted: with JSON files of pat-bench, one cell each");
        for (int i = 0; i < o->num_bytes && pat_collective_of(o->op)->reduces; i++)
            if (o->bytes[i] % ELEMENT_BYTES != 0)
                argp_error(state, "--bytes '%lld': accepted: a multiple of the %d bytes of a double",
                           (long long)o->bytes[i], ELEMENT_BYTES);
        if (o->num_arrivals > 0 && o->num_arrivals != o->procs)
            argp_error(state, "--arrivals: %d numbers for %d ranks", o->num_arrivals, o->procs);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option keys[] = {
    {"op", 'o', "OP", 0, "allgather (default), bcast, gather or allreduce", 0},
    {"procs", 'p', "P", 0, "Ranks, each with a link of its own (default 8)", 0},
    {"bytes", 'b', "LIST", 0,
     "Bytes per rank, of a broadcast in all, of an all-reduce the vector's, doubles of 8 bytes; with K, M or "
     "G, up to 256M (default "
     "64K)",
     0},
    {"segment", 's', "BYTES", 0,
     "Length of the segments into which broadcasts and gathers cut messages, with K, M or G; 0: they do not "
     "(default 8K)",
     0},
    TOOL_LINK_OPTION,
    {"factor", 'f', "LIST", 0, "Largest delay, in times of a block on the link (default 0,4,16)", 0},
    {"pattern", 't', "P", 0, "Who is late, as in pat-bench (default uniform)", 0},
    {"arrivals", 'a', "LIST", 0, "When each rank calls, in ms, instead of a pattern", 0},
    {"iters", 'i', "N", 0, "Arrivals to average over (default 20)", 0},
    {"seed", 'e', "S", 0, "Seed of the delays (default 1)", 0},
    {"judge", 'c', "CALIBRATION", 0,
     "Compare FILE..., cells that pat-bench has measured, with what this file of pat-calibrate predicts and "
     "chooses; may "
     "be repeated, the one of the cell's link is taken",
     0},
    {"predictors", 'r', NULL, 0,
     "How well when ranks come is predicted by when they came before: replay made-up arrivals of --procs "
     "ranks, or those in FILE..., a "
     "call a line: when each rank came, in ms. What counts is up to a block's time: of the first length in "
     "--bytes, by --link",
     0},
    {"printed", 'n', "MACHINE", 0,
     "What the printed parameters of Nuriyev 2021 predict and choose, beside the choices printed there: "
     "grisou, gros, with a rank on each "
     "processor; grisou-cores, gros-cores, marenostrum-cores, with one on each core",
     0},
    {"regressors", 'x', NULL, 0,
     "How well each regressor finds latency and rate in made-up experiments, some of them disturbed; 20 "
     "trials for each of --iters",
     0},
    {"stages", 'u', "CALIBRATION", 0,
     "How far closed forms and the rule on trees are off of what this file of pat-calibrate says that "
     "broadcasts take",
     0},
    {"points", 'd', "FILE", 0, "With --judge: predicted and measured times go there, tab-separated", 0},
    {"goal", 'g', "G", 0, "What makes the best: mean (elapsed time, default) or last (exit)", 0},
    {0}};

static const struct argp argp = {
    keys,
    parse,
    "[FILE...]",
    "What the predictor says every algorithm takes, without running it.\n\nOptions:\v"
    "elapsed: call to return, mean over ranks; past last: last return after the last call; bound: what no "
    "algorithm can beat, for allgather and allreduce. Means over the arrivals. An algorithm that goes by "
    "predictions has these very arrivals as its "
    "prediction. Ranks have one link each, in both directions at once; a message takes latency + bytes / "
    "rate, and "
    "nothing else takes time.\n\n"
    "Exit status: 0, 1 when memory is short or --points cannot be written, 2 for bad options and files that "
    "cannot be used.",
    NULL,
    NULL,
    NULL};

/* ---- Prediction ---- */

typedef struct row {
    const char *name,
        *runs_as; /* as another algorithm, for this length and number of ranks; NULL: as itself */
    double elapsed_ms, past_ms;
} row;

static int64_t arrival(const options *o, int iteration, int rank, int64_t max_ns)
{
    return o->num_arrivals > 0
               ? o->arrival_ns[rank]
               : bench_delay_ns(o->pattern, (uint64_t)o->seed, iteration, rank, o->procs, max_ns);
}

/* Adds one iteration's bound. Returns 0 or ENOMEM. */
static int add_bound(row *r, const options *o, const pat_job *job, const int64_t *arrival_ns)
{
    int64_t exit_ns[MOST_RANKS], last = 0, last_exit;
    int rc = bench_bound_exits(pat_collective_of(o->op), o->procs, job->block_bytes, arrival_ns,
                               job->alpha_ns, job->beta_ps, exit_ns, &last_exit);
    for (int k = 0; rc == 0 && k < o->procs; k++) {
        r->elapsed_ms += (double)(exit_ns[k] - arrival_ns[k]) / 1e6 / o->procs / o->iters;
        last = arrival_ns[k] > last ? arrival_ns[k] : last;
    }
    r->past_ms += (double)(last_exit - last) / 1e6 / o->iters;
    return rc;
}

static int predict(row *r, const options *o, const pat_algorithm *alg, const pat_job *job,
                   const bench_net *net, int64_t max_ns)
{
    bench_forecast f = {0};
    int rc = alg ? bench_forecast_make(&f, alg, job) : 0;
    const pat_algorithm *as = alg ? pat_algorithm_runs_as(alg, job) : NULL;
    *r = (row){.name = alg ? alg->name : "bound", .runs_as = as != alg ? as->name : NULL};
    for (int i = 0; rc == 0 && i < o->iters; i++) {
        int64_t arrival_ns[MOST_RANKS];
        for (int k = 0; k < o->procs; k++)
            arrival_ns[k] = arrival(o, i, k, max_ns);
        if (!alg) {
            rc = add_bound(r, o, job, arrival_ns);
            continue;
        }
        bench_times t = bench_forecast_walk(&f, net, arrival_ns);
        r->elapsed_ms += t.elapsed_ns / 1e6 / o->iters;
        r->past_ms += t.past_last_ns / 1e6 / o->iters;
    }
    bench_forecast_free(&f);
    return rc;
}

static void print(const row *rows, int num, int best, double bound_ms)
{
    printf("%-18s %12s %14s%s\n", "algorithm", "elapsed [ms]", "past last [ms]",
           bound_ms > 0 ? "  / bound" : "");
    for (int i = 0; i < num; i++) {
        printf("%-18s %12.3f %14.3f", rows[i].name, rows[i].elapsed_ms, rows[i].past_ms);
        if (bound_ms > 0)
            printf(" %8.3f", rows[i].elapsed_ms / bound_ms);
        if (rows[i].runs_as)
            printf("  falls back on %s", rows[i].runs_as);
        puts(i == best ? "  best" : "");
    }
}

static int table(const options *o, int64_t bytes, double factor)
{
    const pat_collective *what = pat_collective_of(o->op);
    pat_job job = {.num_ranks = o->procs,
                   .block_bytes = bytes,
                   .element_bytes = what->reduces ? ELEMENT_BYTES : 0,
                   .alpha_ns = (int64_t)(o->latency_us * 1e3),
                   .beta_ps = (int64_t)(8e6 / o->mbit),
                   .segment_bytes = o->segment_bytes};
    bench_net net = {.num_ranks = o->procs, .num_nodes = o->procs, .ppn = 1, .beta_ps = job.beta_ps};
    row rows[MAX_ROWS];
    int num = 0, best = -1, rc = 0;
    job.tau_ns = job.alpha_ns + bytes * job.beta_ps / 1000;
    job.tau_ns = job.tau_ns > 0 ? job.tau_ns : 1;
    job.piece_ns = job.alpha_ns / 4;
    net.lambda_ns = job.alpha_ns;
    const int64_t max_ns = (int64_t)(factor * (double)(job.tau_ns - job.alpha_ns));
    for (int a = 0; rc == 0 && a < pat_algorithm_count() && num < MAX_ROWS - 1; a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (!alg->build || alg->op != o->op)
            continue;
        rc = predict(&rows[num], o, alg, &job, &net, max_ns);
        const double cost = o->last ? rows[num].past_ms : rows[num].elapsed_ms;
        if (best < 0 || cost < (o->last ? rows[best].past_ms : rows[best].elapsed_ms))
            best = num;
        num++;
    }
    const bool bounded = bench_is_bounded(what);
    if (rc == 0 && bounded)
        rc = predict(&rows[num++], o, NULL, &job, &net, max_ns);
    if (rc != 0) {
        fprintf(stderr, "pat-model: %lld bytes: %s\n", (long long)bytes, strerror(rc));
        return 1;
    }
    printf("\n# %s, %d ranks, %lld bytes%s, %g us, %g Mbit/s, ", what->name, o->procs, (long long)bytes,
           what->all_give ? " per rank" : "", o->latency_us, o->mbit);
    if (o->num_arrivals > 0)
        printf("given arrivals\n");
    else
        printf("%s, factor %g (%.3f ms)\n", bench_pattern_name(o->pattern), factor, (double)max_ns / 1e6);
    print(rows, num, best, bounded ? rows[num - 1].elapsed_ms : 0);
    return 0;
}

int main(int argc, char **argv)
{
    options o = {.procs = 8,
                 .iters = 20,
                 .bytes = {65536},
                 .num_bytes = 1,
                 .segment_bytes = 8192,
                 .factors = {0, 4, 16},
                 .num_factors = 3,
                 .latency_us = TOOL_LINK_US,
                 .mbit = TOOL_LINK_MBIT,
                 .seed = 1};
    tool_parse("pat-model", &argp, argc, argv, &o);
    if (o.num_calibrations > 0)
        return model_judge(o.calibrations, o.num_calibrations, o.cells, o.num_cells, o.plot);
    if (o.predictors)
        return predict_replay(o.cells, o.num_cells, o.procs, 8e-3 * (double)o.bytes[0] / o.mbit,
                              (uint64_t)o.seed);
    if (o.stages)
        return model_stages(o.stages);
    if (o.regressors) {
        const int error = model_regressors(20 * o.iters, (uint64_t)o.seed);
        if (error)
            fprintf(stderr, "pat-model: %s\n", strerror(error));
        return error ? TOOL_FAILED : 0;
    }
    if (o.printed) {
        printed_table(o.printed);
        return 0;
    }
    if (o.num_arrivals > 0)
        o.num_factors = o.iters = 1;
    puts("# PAT: predicted, not measured");
    int failed = 0;
    for (int b = 0; b < o.num_bytes && !failed; b++)
        for (int f = 0; f < o.num_factors && !failed; f++)
            failed = table(&o, o.bytes[b], o.factors[f]);
    return failed;
}

/*
 * plan_cost.c — pat-plan-cost: what one rank pays to plan a round, by number of ranks, without any ranks: building the
 * plan (once per size, and each round where it depends on predictions), setting up its execution (each round), choosing
 * the algorithm (each call), for broadcasts and all-gathers also by calibration (the first time
 * for a size, and again; the outlook of a round), and choosing by what ranks say of when they come. Medians over many
 * repetitions in one process; the exponent of growth is fitted to them.
 */
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <gsl/gsl_fit.h>

#include "bench_stats.h"
#include "clock.h"
#include "collective.h"
#include "comm.h"
#include "engine.h"
#include "runtime.h"
#include "select.h"
#include "tool_options.h"

enum { MAX_PROCS = 32, REPEATS = 101, CHOICES = 1000, MOST_RANKS = 4096 };

typedef struct options {
    int procs[MAX_PROCS], num_procs;
    int64_t block_bytes;
    double mbit, latency_us;
} options;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    char *rest = arg, *word;
    switch (key) {
    case 'p':
        for (o->num_procs = 0; (word = strsep(&rest, ",")) != NULL;) {
            if (o->num_procs == MAX_PROCS)
                argp_error(state, "--procs: accepted: at most %d numbers", MAX_PROCS);
            o->procs[o->num_procs++] = (int)tool_whole(state, "--procs", word, 2, MOST_RANKS);
        }
        return 0;
    case 'b':
        o->block_bytes = tool_bytes(state, "--bytes", arg, 1, 64 << 20);
        return 0;
    case 'l':
        tool_link(state, "--link", arg, &o->latency_us, &o->mbit);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option keys[] = {
    {"procs", 'p', "LIST", 0, "Numbers of ranks (default 4,8,16,32,48,64,128,256,512,1024)", 0},
    {"bytes", 'b', "BYTES", 0, "Bytes per rank, with K or M, up to 64M (default 64K)", 0},
    TOOL_LINK_OPTION,
    {0}};

static const struct argp argp = {
    keys,
    parse,
    NULL,
    "What one rank pays to plan a round, by number of ranks. Needs no launcher.\n\nOptions:\v"
    "Exit status: 0, 1 when memory is short, 2 for bad options.",
    NULL,
    NULL,
    NULL};

/* Microseconds to build a plan, and to set up and take down its execution; the plan's nodes. */
static int measure(const pat_algorithm *alg, const pat_job *job, double *build_us, double *setup_us,
                   int *nodes)
{
    double build[REPEATS], setup[REPEATS];
    /* Big plans fewer times: the median is as good. */
    const int repeats = job->num_ranks > 256 ? 15 : REPEATS;
    for (int i = 0; i < repeats; i++) {
        pat_plan plan;
        pat_exec *exec;
        const int64_t start = pat_clock_local_ns();
        int rc = pat_algorithm_plan(alg, job, i % job->num_ranks, &plan);
        const int64_t built = pat_clock_local_ns();
        if (rc == 0)
            rc = pat_exec_create(&exec, &plan, MPI_COMM_NULL, (pat_tags){0, INT_MAX});
        if (rc != 0)
            return rc;
        pat_exec_free(exec);
        setup[i] = (double)(pat_clock_local_ns() - built) / 1e3;
        build[i] = (double)(built - start) / 1e3;
        *nodes = plan.num_nodes;
        pat_plan_free(&plan);
    }
    *build_us = bench_median(build, repeats);
    *setup_us = bench_median(setup, repeats);
    return 0;
}

static double choice_us(pat_comm *c, int64_t block_bytes)
{
    const pat_algorithm *choose = pat_algorithm_find("auto"), *volatile chosen;
    const int64_t start = pat_clock_local_ns();
    for (int i = 0; i < CHOICES; i++)
        chosen = pat_select(c, choose, block_bytes, true, NULL);
    (void)chosen;
    return (double)(pat_clock_local_ns() - start) / 1e3 / CHOICES;
}

/* Broadcasts and what auto needs, with many points; relay a bit dearer than the MPI library when all call at once. */
static void make_up(pat_calibration *c)
{
    const pat_algorithm *const natives[] = {pat_algorithm_find("bcast_native"), pat_algorithm_find("native")};
    c->num_gammas = 7;
    for (int i = 0; i < c->num_gammas; i++)
        c->gammas[i] = 1 + 0.1 * i;
    for (int a = 0; a < pat_algorithm_count(); a++)
        c->fits[a] = (pat_fit){.known = true, .alpha_us = 50, .beta_ns = 8};
    for (int k = 0; k < 2; k++)
        for (int ranks = 2; ranks < 2000; ranks *= 2)
            for (int64_t bytes = 64; bytes < INT64_C(1) << 30; bytes *= 2)
                c->points[c->num_points++] = (pat_point){(int)(natives[k] - pat_algorithm_at(0)), ranks,
                                                         bytes, (ranks - 1) * (30 + (double)bytes / 200)};
    pat_calibration_sort(c);
}

static const pat_algorithm *choose(pat_comm *c, const pat_algorithm *alg, int64_t bytes)
{
    if (pat_collective_of(alg->op)->rooted)
        return pat_select_rooted(c, alg, bytes);
    alg = pat_select(c, alg, bytes, true, NULL);
    pat_select_passed_on(c, &c->lanes[alg->op], bytes,
                         false); /* what is judged is kept when the call is over */
    return alg;
}

/* A choice by calibration, microseconds: of a size never asked for, and of the one asked for last. */
static double calibrated_us(const pat_algorithm *alg, int ranks, bool again)
{
    static pat_comm c; /* large, and all zero */
    const pat_algorithm *volatile chosen;
    const int64_t least = 8192;
    c.size = ranks;
    c.background = true;
    c.calibration = pat_rt.calibration;
    c.calibrated = c.calibration != NULL;
    chosen = choose(&c, alg, least);
    const int64_t start = pat_clock_local_ns();
    for (int i = 0; i < CHOICES; i++)
        chosen = choose(&c, alg, again ? least : least + 131 * ranks + i);
    (void)chosen;
    return (double)(pat_clock_local_ns() - start) / 1e3 / CHOICES;
}

/* What a round's arrivals would have made of either algorithm: after every round that relay has run. */
static double outlook_us(int ranks)
{
    static pat_comm c;
    pat_carried *carried = calloc((size_t)ranks, sizeof(*carried));
    c.arrival_ns = calloc((size_t)ranks, sizeof(*c.arrival_ns));
    if (!carried || !c.arrival_ns) {
        free(carried);
        free(c.arrival_ns);
        return -1;
    }
    for (int r = 0; r < ranks; r++)
        carried[r].arrival_ns = r * INT64_C(7919) % ranks * 100000;
    c.size = ranks;
    c.background = true;
    c.alg = pat_algorithm_find("relay");
    c.calibration = pat_rt.calibration;
    c.calibrated = c.calibration != NULL;
    const int64_t start = pat_clock_local_ns();
    for (int i = 0; i < CHOICES; i++)
        pat_select_note(&c, &c.lanes[0], carried, 8192);
    const double us = (double)(pat_clock_local_ns() - start) / 1e3 / CHOICES;
    free(carried);
    free(c.arrival_ns);
    return us;
}

/* How pat_select and pat_select_said decide, nanoseconds. */
typedef struct decision_ns {
    double history, again, first;
    enum pat_verdict verdict;
} decision_ns;

static int said_ns(pat_comm *c, pat_lane *lane, int64_t bytes, int step, double *ns)
{
    const pat_algorithm *alg;
    const int64_t start = pat_clock_local_ns();
    for (int i = 0; i < CHOICES; i++)
        if (pat_select_said(c, lane, bytes + (int64_t)step * i, &alg) != MPI_SUCCESS)
            return ENOMEM;
    *ns = (double)(pat_clock_local_ns() - start) / CHOICES;
    return 0;
}

/* Estimates of ranks that come far apart and in no order. A length is judged once; what was judged is kept after a call. */
static int decide(pat_comm *c, int64_t bytes, decision_ns *d)
{
    const pat_algorithm *const choose = pat_algorithm_find("auto"), *volatile chosen;
    pat_lane *lane = &c->lanes[choose->op];
    int rc = 0;
    lane->op = choose->op;
    c->arrival_ns = calloc((size_t)c->size, sizeof(*c->arrival_ns));
    c->exchange.all = calloc((size_t)c->size, sizeof(*c->exchange.all));
    if (!c->arrival_ns || !c->exchange.all)
        rc = ENOMEM;
    for (int r = 0; rc == 0 && r < c->size; r++)
        c->exchange.all[r] =
            (pat_estimate){.arrival_ns = r * INT64_C(7919) % c->size * 100000, .doubt_ns = 1000};
    if (rc == 0) {
        pat_select_passed_on(c, lane, bytes, false);
        const int64_t start = pat_clock_local_ns();
        for (int i = 0; i < CHOICES; i++)
            chosen = pat_select(c, choose, bytes, true, NULL);
        (void)chosen;
        d->history = (double)(pat_clock_local_ns() - start) / CHOICES;
        memset(lane->judged, 0, sizeof(lane->judged));
        lane->by_estimates = true;
        pat_select_passed_on(c, lane, bytes, false);
        d->verdict = pat_select_verdict(c, lane->op, bytes).verdict;
        rc = said_ns(c, lane, bytes, 0, &d->again);
    }
    if (rc == 0) /* lengths never asked for, near enough to be judged alike */
        rc = said_ns(c, lane, bytes + 1, 1, &d->first);
    free(c->arrival_ns);
    free(c->exchange.all);
    return rc;
}

static int print_decision(const pat_link *link, const char *by, int ranks, int64_t bytes)
{
    static const char *const verdicts[] = {"", "never", "always", "by arrivals"};
    enum { TIMES = 11 };
    double history[TIMES], again[TIMES], first[TIMES];
    decision_ns d = {0};
    for (int i = 0; i < TIMES; i++) {
        static pat_comm c; /* large */
        memset(&c, 0, sizeof(c));
        c.size = ranks;
        c.background = true;
        c.layout.one_a_node = true;
        c.calibration = pat_rt.calibration;
        c.calibrated = c.calibration != NULL;
        c.link = *link;
        c.layout.blocks_in = ranks - 1;
        const int rc = decide(&c, bytes, &d);
        if (rc != 0) {
            fprintf(stderr, "pat-plan-cost: no memory for %d ranks\n", ranks);
            return 1;
        }
        history[i] = d.history;
        again[i] = d.again;
        first[i] = d.first;
    }
    printf("%-12s %6d %9lld %12.0f %12.0f %12.0f   %s\n", by, ranks, (long long)bytes,
           bench_median(history, TIMES), bench_median(again, TIMES), bench_median(first, TIMES),
           verdicts[d.verdict]);
    return 0;
}

/* By the link alone, of a block of half a millisecond, where the choice depends on arrivals; and by a calibration. */
static int measure_decisions(const options *o)
{
    static pat_calibration made_up;
    int failed = 0;
    pat_link link = {.alpha_ns = (int64_t)(o->latency_us * 1e3),
                     .beta_ps = (int64_t)(8e6 / o->mbit),
                     .packet_bytes = 1448};
    const int64_t bytes = (int64_t)(o->mbit * 500 / 8);
    link.piece_ns = pat_link_least_piece_ns(link.alpha_ns);
    make_up(&made_up);
    printf("\n# Who runs an all-gather, in ns: by the calls before it; by estimates of a length that is "
           "known, and of one never "
           "asked for; relay runs it\n%-12s %6s %9s %12s %12s %12s   %s\n",
           "", "ranks", "bytes", "history", "estimates", "new length", "relay");
    for (int i = 0; !failed && i < o->num_procs; i++) {
        failed = print_decision(&link, "link", o->procs[i], bytes);
        pat_rt.calibration = &made_up;
        failed = failed || print_decision(&link, "calibration", o->procs[i], 8192);
        pat_rt.calibration = NULL;
    }
    return failed;
}

static void measure_calibrated(const options *o)
{
    static pat_calibration made_up;
    make_up(&made_up);
    pat_rt.calibration = &made_up;
    printf("\n# A choice by calibration, in us; outlook: after a round, by its arrivals; a communicator's "
           "state: %zu bytes "
           "and 24 a rank, without plans; the calibration: %zu\n"
           "%-10s %6s %12s %12s %12s\n",
           sizeof(pat_comm), sizeof(pat_calibration), "", "ranks", "first", "again", "outlook");
    for (int i = 0; i < o->num_procs; i++) {
        const int P = o->procs[i];
        const pat_algorithm *const bcast = pat_algorithm_find("bcast_auto"), *const all =
                                                                                 pat_algorithm_find("auto");
        printf("%-10s %6d %12.4f %12.4f\n", "broadcast", P, calibrated_us(bcast, P, false),
               calibrated_us(bcast, P, true));
        printf("%-10s %6d %12.4f %12.4f %12.4f\n", "all-gather", P, calibrated_us(all, P, false),
               calibrated_us(all, P, true), outlook_us(P));
    }
    pat_rt.calibration = NULL;
}

/* The exponent g in time = a * P^g, by least squares over the logarithms. */
static double growth(const options *o, const double *us)
{
    double x[MAX_PROCS], y[MAX_PROCS], offset, slope, c00, c01, c11, sum;
    for (int i = 0; i < o->num_procs; i++) {
        x[i] = log(o->procs[i]);
        y[i] = log(us[i]);
    }
    gsl_fit_linear(x, 1, y, 1, (size_t)o->num_procs, &offset, &slope, &c00, &c01, &c11, &sum);
    return slope;
}

/* Are there two numbers of ranks, so that something can grow? */
static bool different(const options *o)
{
    for (int i = 1; i < o->num_procs; i++)
        if (o->procs[i] != o->procs[0])
            return true;
    return false;
}

static int measure_algorithm(const options *o, const pat_algorithm *alg)
{
    double build[MAX_PROCS], setup[MAX_PROCS];
    for (int i = 0; i < o->num_procs; i++) {
        const int P = o->procs[i];
        int64_t *arrival = malloc((size_t)P * sizeof(*arrival));
        pat_comm c = {.size = P, .background = true};
        int nodes = 0;
        c.link = (pat_link){.alpha_ns = (int64_t)(o->latency_us * 1e3), .beta_ps = (int64_t)(8e6 / o->mbit)};
        c.link.piece_ns = pat_link_least_piece_ns(c.link.alpha_ns);
        pat_job job = pat_comm_job(&c, &c.lanes[alg->op], &c.link, o->block_bytes);
        if (!arrival) {
            fprintf(stderr, "pat-plan-cost: no memory for %d ranks\n", P);
            return 1;
        }
        uint64_t state = 1;
        for (int r = 0; r < P; r++) { /* any order but one that is there already */
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            arrival[r] = (int64_t)(state >> 33) % P * job.tau_ns;
        }
        job.arrival_ns = arrival;
        const int rc = measure(alg, &job, &build[i], &setup[i], &nodes);
        free(arrival);
        if (rc != 0) {
            fprintf(stderr, "pat-plan-cost: %s for %d ranks: %s\n", alg->name, P, strerror(rc));
            return 1;
        }
        printf("%-6s %6d %8d %12.1f %12.1f %12.4f\n", alg->name, P, nodes, build[i], setup[i],
               choice_us(&c, o->block_bytes));
        fflush(stdout);
    }
    if (different(o))
        printf("%-6s growth with P: build P^%.2f, set up P^%.2f\n", alg->name, growth(o, build),
               growth(o, setup));
    return 0;
}

int main(int argc, char **argv)
{
    options o = {.procs = {4, 8, 16, 32, 48, 64, 128, 256, 512, 1024},
                 .num_procs = 10,
                 .block_bytes = 65536,
                 .mbit = TOOL_LINK_MBIT,
                 .latency_us = TOOL_LINK_US};
    int failed = 0;
    tool_parse("pat-plan-cost", &argp, argc, argv, &o);
    /* In a program other things lie at the end of the heap; here it would be handed back to the kernel after each plan. */
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, INT_MAX);
    printf("# One rank's plan, %lld bytes per rank, %g Mbit/s, latency %g us: medians in us\n"
           "%-6s %6s %8s %12s %12s %12s\n",
           (long long)o.block_bytes, o.mbit, o.latency_us, "", "ranks", "nodes", "build", "set up", "choose");
    for (int a = 0; !failed && a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (alg->op == PAT_OP_ALLGATHER && alg->build)
            failed = measure_algorithm(&o, alg);
    }
    if (!failed)
        measure_calibrated(&o);
    if (!failed)
        failed = measure_decisions(&o);
    return failed;
}

/*
 * pat_taulop.c — tau-Lop on this machine: measures L(m, tau), then says how well three models foretell what collectives take
 * among threads that share memory. Main program: options, tables.
 */
#include <argp.h>
#include <hwloc.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_stats.h"
#include "taulop_run.h"
#include "tool_options.h"

enum { MIB = 1 << 20, FIRST_BYTES = 4096, MAX_RUNS = 15 };

typedef struct options {
    int threads, runs;
    int64_t most_bytes;
} options;

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case 't':
        o->threads = (int)tool_whole(state, "--threads", arg, 2, 128);
        if (o->threads & (o->threads - 1))
            argp_error(state, "--threads '%s': accepted: a power of two from 2 to 128", arg);
        return 0;
    case 'm':
        o->most_bytes = tool_bytes(state, "--most", arg, MIB, 256LL * MIB);
        return 0;
    case 'r':
        o->runs = (int)tool_whole(state, "--runs", arg, 3, MAX_RUNS);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option keys[] = {
    {"threads", 't', "N", 0, "Threads, a power of two (default: as many cores as there are)", 0},
    {"most", 'm', "BYTES", 0, "Longest message, in bytes with K, M or G, 1M to 256M (default 4M)", 0},
    {"runs", 'r', "N", 0, "Runs of which the median counts (default 7)", 0},
    {0}};
static const struct argp argp = {
    keys,
    parse,
    NULL,
    "Measure what a copy takes while others run, and how well tau-Lop, LogGP and log_nP "
    "foretell collectives by it.\n\nOptions:\v"
    "Exit status: 0, 1 when memory or threads are short, 2 for bad options.",
    NULL,
    NULL,
    NULL};

/* As many messages as make a run long against what starts it. */
static int messages_of(int64_t bytes)
{
    const int64_t n = 32LL * MIB / bytes;
    return n > 2000 ? 2000 : n < 20 ? 20 : (int)n;
}

static double transfer_us(taulop_team *team, const options *o, enum taulop_setup setup, int tau,
                          int64_t bytes)
{
    double us[MAX_RUNS];
    for (int i = 0; i < o->runs; i++)
        us[i] = taulop_transfer_us(team, setup, tau, bytes, messages_of(bytes));
    return bench_median(us, o->runs);
}

static void measure(taulop_team *team, const options *o, pat_transfers *t)
{
    static const char *const names[] = {"ring", "ping", "bcast"};
    for (int tau = 1; tau <= o->threads && t->num_taus < PAT_MAX_TAUS; tau *= 2)
        t->tau[t->num_taus++] = tau;
    for (int64_t bytes = FIRST_BYTES; bytes <= o->most_bytes && t->num_sizes < PAT_MAX_TRANSFER_SIZES;
         bytes *= 2)
        t->bytes[t->num_sizes++] = bytes;
    for (int setup = TAULOP_RING; setup <= TAULOP_BCAST; setup++) {
        printf("\n# L(m, tau) in us, %s\n%10s", names[setup], "bytes");
        for (int k = 0; k < t->num_taus; k++)
            printf("   tau %4d", t->tau[k]);
        puts("");
        for (int i = 0; i < t->num_sizes; i++) {
            printf("%10lld", (long long)t->bytes[i]);
            for (int k = 0; k < t->num_taus; k++) {
                const bool can = setup != TAULOP_PING || t->tau[k] > 1;
                const double us =
                    can ? transfer_us(team, o, (enum taulop_setup)setup, t->tau[k], t->bytes[i]) : NAN;
                if (setup == TAULOP_RING)
                    t->us[k][i] = us;
                if (can)
                    printf(" %10.2f", us);
                else
                    printf(" %10s", "-");
            }
            puts("");
            fflush(stdout);
        }
    }
    t->copies = 2;
    for (int i = 0; i < t->num_sizes; i++) {
        t->alone_bytes[t->num_alone] = t->bytes[i];
        t->alone_us[t->num_alone++] = 2 * t->us[0][i];
    }
}

static void compare(taulop_team *team, const options *o, const pat_transfers *t)
{
    static const struct {
        enum pat_node_op op;
        const char *name;
    } ops[] = {
        {PAT_NODE_RING, "ring"}, {PAT_NODE_DOUBLING, "recursive doubling"}, {PAT_NODE_BINOMIAL, "binomial"}};
    printf("\n# mean relative error of the prediction, over %d message lengths\n%-20s %7s %9s %9s %9s\n",
           t->num_sizes, "operation", "ranks", "tau-Lop", "LogGP", "log_nP");
    for (int k = 0; k < 3; k++)
        for (int ranks = 2; ranks <= o->threads; ranks *= 2) {
            double error[PAT_NUM_NODE_MODELS] = {0};
            int num = 0;
            for (int i = 0; i < t->num_sizes; i++) {
                double us[MAX_RUNS];
                if (ops[k].op == PAT_NODE_DOUBLING && t->bytes[i] * ranks / 2 > o->most_bytes)
                    continue;
                for (int r = 0; r < o->runs; r++)
                    us[r] = taulop_operation_us(team, ops[k].op, ranks, t->bytes[i],
                                                messages_of(t->bytes[i] * ranks));
                const double took = bench_median(us, o->runs);
                num++;
                for (int model = PAT_TAULOP; model <= PAT_LOGNP; model++)
                    error[model] += fabs(
                        pat_node_us(t, (enum pat_node_model)model, ops[k].op, ranks, t->bytes[i]) / took - 1);
            }
            printf("%-20s %7d %7.1f %% %7.1f %% %7.1f %%\n", ops[k].name, ranks,
                   100 * error[PAT_TAULOP] / num, 100 * error[PAT_LOGGP] / num, 100 * error[PAT_LOGNP] / num);
            fflush(stdout);
        }
}

/* What all caches of the machine hold together, and how many cores it has. */
static int64_t look_at_machine(int *cores)
{
    hwloc_topology_t topology;
    int64_t bytes = 0;
    *cores = 0;
    if (hwloc_topology_init(&topology) != 0)
        return 0;
    if (hwloc_topology_load(topology) == 0) {
        *cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
        for (hwloc_obj_t l3 = NULL; (l3 = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_L3CACHE, l3));)
            bytes += (int64_t)l3->attr->cache.size;
    }
    hwloc_topology_destroy(topology);
    return bytes;
}

int main(int argc, char **argv)
{
    options o = {.runs = 7, .most_bytes = 4 * MIB};
    pat_transfers t = {.num_sizes = 0};
    int cores;
    tool_parse("pat-taulop", &argp, argc, argv, &o);
    int64_t cold = look_at_machine(&cores);
    for (int n = 2; !o.threads || (n <= cores && n <= 128); n *= 2)
        o.threads = n;
    cold = cold < 16 * MIB ? 16 * MIB : cold > 128 * MIB ? 128 * MIB : cold;
    cold = cold < 4 * o.most_bytes ? 4 * o.most_bytes : cold;
    taulop_team *team = taulop_start(o.threads, cold, o.most_bytes);
    if (!team) {
        fprintf(stderr, "pat-taulop: %d threads with %lld MiB each cannot be had\n", o.threads,
                (long long)(cold / MIB));
        return 1;
    }
    printf("# PAT: copies between threads, %d threads on %d cores, own buffers of %lld MiB\n", o.threads,
           cores, (long long)(cold / MIB));
    measure(team, &o, &t);
    compare(team, &o, &t);
    taulop_stop(team);
    return 0;
}

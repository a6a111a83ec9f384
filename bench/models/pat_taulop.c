/*
 * pat_taulop.c — tau-Lop on this machine: measures L(S, tau), then says how well three models foretell what collectives take among
 * threads that share memory, or among ranks of an MPI library. Main program: options, tables.
 */
#include <argp.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_stats.h"
#include "taulop_compare.h"
#include "taulop_mpi.h"
#include "taulop_slots.h"
#include "taulop_threads.h"
#include "tool_options.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

typedef struct options {
    taulop_plan plan;
    int threads, looks;
    const char *mpi; /* NULL: threads */
    int cores;
    int64_t cold_bytes; /* each member's own memory */
} options;

enum { LEAST_KEY = 256, LOOKS_KEY, EACH_KEY, MPI_KEY };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case 't':
        o->threads = (int)tool_whole(state, "--threads", arg, 2, TAULOP_MAX_MEMBERS);
        if (o->threads & (o->threads - 1))
            argp_error(state, "--threads '%s': accepted: a power of two from 2 to 128", arg);
        return 0;
    case 's':
        o->plan.segment_bytes = tool_bytes(state, "--segment", arg, KIB, MIB);
        return 0;
    case LEAST_KEY:
        o->plan.least_bytes = tool_bytes(state, "--least", arg, KIB, MIB);
        return 0;
    case 'm':
        o->plan.most_bytes = tool_bytes(state, "--most", arg, MIB, 256LL * MIB);
        return 0;
    case 'r':
        o->plan.runs = (int)tool_whole(state, "--runs", arg, 3, TAULOP_MAX_RUNS);
        return 0;
    case LOOKS_KEY:
        o->looks = (int)tool_whole(state, "--looks", arg, 1, 1000000);
        return 0;
    case EACH_KEY:
        o->plan.each = 1;
        return 0;
    case MPI_KEY:
        if (!taulop_mpi_knows(arg))
            argp_error(state, "--mpi '%s': accepted: %s", arg, TAULOP_MPI_HOWS);
        o->mpi = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option keys[] = {
    {"threads", 't', "N", 0, "Most threads, a power of two (default: as many cores as there are)", 0},
    {"segment", 's', "BYTES", 0, "Bytes of a segment between threads, with K or M, 1K to 1M (default 8K)", 0},
    {"least", LEAST_KEY, "BYTES", 0, "Shortest message that is compared, 1K to 1M (default 8K)", 0},
    {"most", 'm', "BYTES", 0, "Longest message, in bytes with K, M or G, 1M to 256M (default 4M)", 0},
    {"runs", 'r', "N", 0,
     "Runs through all measurements, of each of which the median counts, 3 to 31 (default 7)", 0},
    {"looks", LOOKS_KEY, "N", 0,
     "How often a waiting thread looks for a segment before it lets others run (default 200)", 0},
    {"each", EACH_KEY, NULL, 0, "Print every length that is compared", 0},
    {"mpi", MPI_KEY, "HOW", 0,
     "Compare with the collectives of Open MPI, among the ranks that mpirun has started on this machine, a "
     "power of two. HOW: " TAULOP_MPI_HOWS,
     0},
    {0}};
static const struct argp argp = {
    keys,
    parse,
    NULL,
    "Measure what a copy takes while others run, and how well tau-Lop, LogGP and log_nP "
    "foretell collectives by it.\n\nOptions:\v"
    "Exit status: 0, 1 when memory, threads or what --mpi needs cannot be had, 2 for bad options.",
    NULL,
    NULL,
    NULL};

/* The source's three set-ups side by side. */
static void print_setups(taulop_member *m, const options *o, const taulop_way *way)
{
    static const char *const names[] = {"ring", "ping", "bcast"};
    if (m->number == 0)
        printf("# L(%lld, tau) in us, by set-up\n", (long long)way->segment_bytes);
    for (int tau = 2; tau <= m->num; tau *= 2)
        for (int setup = TAULOP_RING; setup <= TAULOP_BCAST; setup++) {
            double us[TAULOP_MAX_RUNS];
            for (int i = 0; i < o->plan.runs; i++)
                us[i] = taulop_setup_us(m, &o->plan, way, (enum taulop_setup)setup, tau);
            if (m->number == 0)
                printf("%-6s tau %4d %10.2f\n", names[setup], tau, bench_median(us, o->plan.runs));
        }
}

/* What every member does. */
static void run(taulop_member *m, const options *o, const taulop_way *way)
{
    if (m->number == 0)
        printf("# PAT: copies between %d %s on %d cores, own memory of %lld MiB\n", m->num,
               o->mpi ? "ranks" : "threads", o->cores, (long long)(m->cold_bytes / MIB));
    if (!o->mpi)
        print_setups(m, o, way);
    if (taulop_compare(m, &o->plan, way) != 0) {
        fprintf(stderr, "pat-taulop: memory is short\n");
        exit(TOOL_FAILED);
    }
}

static void run_thread(taulop_member *m, void *arg)
{
    const options *o = arg;
    const taulop_way way = taulop_slots_way(m->segment_bytes);
    run(m, o, &way);
}

static void run_rank(taulop_member *m, const taulop_way *way, void *arg)
{
    run(m, arg, way);
}

/* How many cores the machine has, and what all its caches hold together. */
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

static int64_t cold_bytes(int *cores, int64_t most_bytes)
{
    const int64_t caches = look_at_machine(cores);
    const int64_t cold = caches < 16 * MIB ? 64 * MIB : caches > 64 * MIB ? 256 * MIB : 4 * caches;
    return cold < 8 * most_bytes ? 8 * most_bytes : cold;
}

int main(int argc, char **argv)
{
    options o = {
        .looks = TAULOP_LOOKS,
        .plan = {.runs = 7, .segment_bytes = 8 * KIB, .least_bytes = 8 * KIB, .most_bytes = 4 * MIB}};
    tool_parse("pat-taulop", &argp, argc, argv, &o);
    const int most = o.threads;
    o.cold_bytes = cold_bytes(&o.cores, o.plan.most_bytes);
    if (o.mpi)
        return taulop_mpi(o.mpi, o.cold_bytes, run_rank, &o) == 0 ? 0 : TOOL_FAILED;
    for (int n = 2; !most && n <= TAULOP_MAX_MEMBERS && (n == 2 || n <= o.cores); n *= 2)
        o.threads = n;
    taulop_member like = {
        .segment_bytes = o.plan.segment_bytes, .looks = o.looks, .cold_bytes = o.cold_bytes};
    for (like.num = 2; like.num <= o.threads; like.num *= 2)
        if (taulop_threads(&like, run_thread, &o) != 0) {
            fprintf(stderr, "pat-taulop: %d threads with %lld MiB each cannot be had\n", like.num,
                    (long long)(o.cold_bytes / MIB));
            return TOOL_FAILED;
        }
    return 0;
}

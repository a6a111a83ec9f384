/*
 * bench_about.c — see bench_about.h. Records PAT_* variables only: nobody's environment belongs in a
 * result file.
 */
#include "bench_about.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int bench_lab_read(int64_t *burst_bytes, const char **check, char *why, size_t why_size)
{
    const char *burst = getenv("PAT_LAB_BURST");
    *check = getenv("PAT_LAB_CHECK");
    *burst_bytes = 0;
    if (!*check)
        *check = "";
    if (strcmp(*check, "") != 0 && strcmp(*check, "pass") != 0 && strcmp(*check, "fail") != 0) {
        snprintf(why, why_size, "PAT_LAB_CHECK '%s': accepted: pass, fail", *check);
        return EINVAL;
    }
    if (burst && *burst) {
        char *end = NULL;
        errno = 0;
        *burst_bytes = strtoll(burst, &end, 10);
        if (burst[0] < '0' || burst[0] > '9' || *end != '\0' || errno != 0 || *burst_bytes > 1 << 30) {
            snprintf(why, why_size, "PAT_LAB_BURST '%s': a whole number of bytes from 0 to %d is accepted",
                     burst, 1 << 30);
            return EINVAL;
        }
    }
    return 0;
}

static int join(bench_settings *s, const char *key, int num, char (*item)[32])
{
    char text[BENCH_MAX_LIST * 32] = "";
    size_t used = 0;
    for (int i = 0; i < num; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? "," : "", item[i]);
    return bench_settings_add(s, key, "%s", text);
}

static int add_lists(bench_settings *s, const bench_run *run)
{
    const bench_options *o = run->options;
    char item[BENCH_MAX_LIST][32];
    for (int i = 0; i < o->num_algs; i++)
        snprintf(item[i], sizeof(item[i]), "%s", o->algs[i]);
    int rc = join(s, "alg", o->num_algs, item);
    for (int i = 0; i < o->num_counts; i++)
        snprintf(item[i], sizeof(item[i]), "%lld",
                 (long long)bench_round_count(o->op, o->counts[i], run->num_ranks));
    rc |= join(s, "count", o->num_counts, item);
    for (int i = 0; i < o->num_delays; i++)
        snprintf(item[i], sizeof(item[i]), "%.10g", o->delays_ms[i]);
    rc |= join(s, "max_delay_ms", o->num_delays, item);
    for (int i = 0; i < o->num_counts; i++) {
        const int64_t rounded = bench_round_count(o->op, o->counts[i], run->num_ranks);
        if (rounded != o->counts[i])
            rc |= bench_settings_add(s, "count_rounded_down", "%lld to %lld, a multiple of %d ranks",
                                     (long long)o->counts[i], (long long)rounded, run->num_ranks);
    }
    return rc;
}

/* In the words of files that were made when there was always one. */
static int add_edges(bench_settings *s, const bench_options *o)
{
    char text[256];
    int used = snprintf(text, sizeof(text), o->num_edges == 1 ? "one, at" : "at");
    for (int i = 0; i < o->num_edges && used < (int)sizeof(text) - 32; i++)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%s %g", i > 0 ? "," : "", o->edges[i]);
    return bench_settings_add(s, "milestones", "%s %%", text);
}

static int add_link(bench_settings *s, const bench_run *run, const bench_about *about)
{
    const bench_net *net = run->net;
    int rc = bench_settings_add(s, "link", about->link_measured ? "measured" : "given with --link");
    rc |= bench_settings_add(s, "link_lambda_us", "%.2f", (double)net->lambda_ns / 1e3);
    rc |= bench_settings_add(s, "link_mbit", "%.3f", 8e6 / (double)net->beta_ps);
    if (about->link_measured)
        rc |= bench_settings_add(s, "link_mbit_min_median_max", "%.3f,%.3f,%.3f", about->link.mbit_min,
                                 about->link.mbit_median, about->link.mbit_max);
    for (int i = 0; i < run->options->num_counts; i++) {
        const enum pat_op op = run->options->op;
        const int64_t count = bench_round_count(op, run->options->counts[i], run->num_ranks);
        const int64_t block = bench_block_bytes(op, count, run->num_ranks);
        char key[64];
        snprintf(key, sizeof(key), "tau_ms.%lld", (long long)count);
        rc |= bench_settings_add(s, key, "%.4f", (double)bench_tau_ns(net, block) / 1e6);
        snprintf(key, sizeof(key), "late_tolerance_ms.%lld", (long long)count);
        rc |= bench_settings_add(s, key, "%.4f", (double)bench_tolerance_ns(run->options, net, block) / 1e6);
    }
    rc |= bench_settings_add(s, "bound_burst_bytes", "%lld", (long long)net->burst_bytes);
    if (net->num_nodes == 1)
        rc |= bench_settings_add(s, "bound_note",
                                 "one node: no link between ranks, the bound is waiting for the last rank");
    if (strcmp(about->lab_check, "fail") == 0)
        rc |= bench_settings_add(s, "warning",
                                 "the emulated cluster failed its check: its links do not carry their rate");
    return rc;
}

int bench_settings_fill(bench_settings *s, const bench_run *run, const bench_about *about)
{
    static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
    const bench_options *o = run->options;
    char text[256], library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, major, minor, patch;
    time_t now = time(NULL);
    struct tm tm;
    PAT_Get_version(&major, &minor, &patch);
    MPI_Get_library_version(library, &length);
    library[strcspn(library, ",\n")] = '\0';
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
    int rc = bench_settings_add(s, "pat_version", "%d.%d.%d", major, minor, patch);
    rc |= bench_settings_add(s, "mpi_library", "%s", library);
    rc |= bench_settings_add(s, "date", "%s", text);
    rc |= bench_settings_add(s, "procs", "%d", run->num_ranks);
    rc |= bench_settings_add(s, "nodes", "%d", run->net->num_nodes);
    rc |= bench_settings_add(s, "ppn", "%d", run->net->ppn);
    rc |= bench_settings_add(s, "cpus_of_rank_0", "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    rc |= bench_settings_add(s, "thread_level", "%s",
                             about->thread_level == MPI_THREAD_MULTIPLE     ? levels[3]
                             : about->thread_level == MPI_THREAD_SERIALIZED ? levels[2]
                             : about->thread_level == MPI_THREAD_FUNNELED   ? levels[1]
                                                                            : levels[0]);
    rc |= bench_settings_add(s, "op", "%s", pat_collective_of(o->op)->name);
    rc |= add_lists(s, run);
    rc |= bench_settings_add(s, "pattern", "%s", bench_pattern_name(o->pattern));
    rc |= bench_settings_add(s, "iters", "%d", o->iters);
    rc |= bench_settings_add(s, "warmup", "%d", o->warmup);
    rc |= bench_settings_add(s, "flat_iters", "%d", o->flat_iters);
    rc |= bench_settings_add(s, "retries", "%d", o->retries);
    rc |= bench_settings_add(s, "base_ms", "%.10g", o->base_ms);
    rc |= bench_settings_add(s, "seed", "%llu", (unsigned long long)o->seed);
    rc |= bench_settings_add(s, "call", o->persistent ? "persistent" : "plain");
    rc |= bench_settings_add(s, "computation", o->burn ? "burn" : "sleep");
    rc |= o->no_milestones ? bench_settings_add(s, "milestones", "none") : add_edges(s, o);
    rc |= bench_settings_add(s, "delays", o->pause ? "one pause" : "slower computation");
    rc |= add_link(s, run, about);
    for (char **e = environ; *e; e++) {
        char key[128];
        const char *equals = strchr(*e, '=');
        if (strncmp(*e, "PAT_", 4) != 0 || !equals || equals - *e > 100)
            continue;
        snprintf(key, sizeof(key), "env.%.*s", (int)(equals - *e), *e);
        rc |= bench_settings_add(s, key, "%s", equals + 1);
    }
    return rc ? ENOMEM : 0;
}

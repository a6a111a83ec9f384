/*
 * report.c — see report.h. Places are told apart by their names, which are the same on all ranks that run the same program;
 * figures are means over calls and ranks. Times saved are estimates: for every call that a plan ran and in which all ranks
 * learnt when the others came, what the MPI library's own all-gather would have taken from the last arrival on, by
 * calibration or else the least that the link needs, less what the call took from there.
 */
#include "report.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dropin.h"
#include "error.h"
#include "pat.h"
#include "runtime.h"

enum { NAME = 160, CALL = 32 };

#define TEXT(number)     #number
#define DOTTED(a, b, c)  TEXT(a) "." TEXT(b) "." TEXT(c)
#define PAT_VERSION_TEXT DOTTED(PAT_VERSION_MAJOR, PAT_VERSION_MINOR, PAT_VERSION_PATCH)

/* A site as it travels: sums over the ranks that have it. */
typedef struct line {
    char name[NAME], call[CALL];
    int64_t ranks;
    pat_site_sums sums;
    int64_t last_rank, last_calls; /* who came last most often, as rank 0 has seen it; no ranks: -1 */
} line;

static int64_t begin_ns;

void pat_report_begin(void)
{
    begin_ns = pat_clock_local_ns();
}

/* ---- Collecting ----------------------------------------------------------------------------------------- */

static void fill(line *l, const pat_site *s)
{
    *l = (line){.ranks = 1, .last_rank = -1};
    pat_sites_name(s->address, l->name, NAME);
    snprintf(l->call, CALL, "%s", s->call);
    l->sums = s->sums;
    for (int r = 0; r < s->num_last; r++)
        if (s->last_calls[r] > l->last_calls) {
            l->last_calls = s->last_calls[r];
            l->last_rank = r;
        }
}

static void add(line *to, const line *l)
{
    pat_site_sums *sum = &to->sums;
    const pat_site_sums *more = &l->sums;
    to->ranks += l->ranks;
    sum->calls += more->calls;
    sum->time_ns += more->time_ns;
    sum->bytes += more->bytes;
    sum->least_bytes = more->least_bytes < sum->least_bytes ? more->least_bytes : sum->least_bytes;
    sum->most_bytes = more->most_bytes > sum->most_bytes ? more->most_bytes : sum->most_bytes;
    for (int a = 0; a < PAT_MAX_ALGS; a++)
        sum->alg_calls[a] += more->alg_calls[a];
    sum->num_known += more->num_known;
    sum->waited_ns += more->waited_ns;
    sum->native_ns += more->native_ns;
    sum->plan_ns += more->plan_ns;
}

static int by_name(const void *a, const void *b)
{
    const line *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->call, y->call);
}

/* Most time first. */
static int by_time(const void *a, const void *b)
{
    const line *x = a, *y = b;
    return (x->sums.time_ns < y->sums.time_ns) - (x->sums.time_ns > y->sums.time_ns);
}

/* qsort is not stable: lines of the same place are added up, wherever rank 0's own is among them. */
static int merge(line *lines, int num)
{
    int kept = 0;
    qsort(lines, (size_t)num, sizeof(*lines), by_name);
    for (int i = 0; i < num; i++) {
        if (kept == 0 || by_name(&lines[kept - 1], &lines[i]) != 0) {
            lines[kept++] = lines[i];
            continue;
        }
        if (lines[kept - 1].last_rank < 0) {
            lines[kept - 1].last_rank = lines[i].last_rank;
            lines[kept - 1].last_calls = lines[i].last_calls;
        }
        add(&lines[kept - 1], &lines[i]);
    }
    qsort(lines, (size_t)kept, sizeof(*lines), by_time);
    return kept;
}

/* On rank 0 all ranks' lines, in one block of memory to be freed; NULL and an error code when there is none. */
static int collect(line **all, int *num_all)
{
    int rank, size, rc, mine = pat_sites_count(), total = 0;
    PMPI_Comm_rank(pat_rt.world, &rank);
    PMPI_Comm_size(pat_rt.world, &size);
    line *lines = calloc((size_t)mine + 1, sizeof(*lines));
    int *num = calloc(2 * (size_t)size, sizeof(*num)), *at = num + size;
    int ok = lines && num, all_ok = 0;
    for (int i = 0; i < mine && lines; i++) {
        fill(&lines[i], pat_sites_at(i));
        if (rank != 0) { /* rank 0's word */
            lines[i].last_rank = -1;
            lines[i].last_calls = 0;
        }
    }
    *all = NULL;
    rc = PMPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, pat_rt.world);
    const int bytes = mine * (int)sizeof(line);
    if (rc == MPI_SUCCESS && all_ok)
        rc = PMPI_Gather(&bytes, 1, MPI_INT, num, 1, MPI_INT, 0, pat_rt.world);
    for (int r = 0; r < size && rank == 0 && num; r++) {
        at[r] = total;
        total += num[r];
    }
    *all = calloc(1, (size_t)total + 1);
    ok = all_ok && *all != NULL;
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, pat_rt.world);
    if (rc == MPI_SUCCESS && all_ok)
        rc = PMPI_Gatherv(lines, bytes, MPI_BYTE, *all, num, at, MPI_BYTE, 0, pat_rt.world);
    else if (rc == MPI_SUCCESS)
        rc = pat_error(MPI_ERR_NO_MEM, "no memory to collect the report");
    *num_all = total / (int)sizeof(line);
    free(lines);
    free(num);
    return rc;
}

/* ---- Writing -------------------------------------------------------------------------------------------- */

static const char *mpi_name(char *text)
{
    int length;
    if (PMPI_Get_library_version(text, &length) != MPI_SUCCESS)
        return "unknown MPI library";
    text[strcspn(text, ",\n")] = '\0';
    return text;
}

static double ms(int64_t ns, int64_t calls)
{
    return calls > 0 ? 1e-6 * (double)ns / (double)calls : 0;
}

static int64_t by_plan(const line *l)
{
    int64_t calls = 0;
    for (int a = 0; a < PAT_MAX_ALGS; a++)
        calls += l->sums.alg_calls[a];
    return calls;
}

/* Per call of which it is known; below 0: lost. */
static double saved_ms(const line *l)
{
    return ms(l->sums.native_ns - (l->sums.plan_ns - l->sums.waited_ns), l->sums.num_known);
}

static void write_algs(FILE *file, const line *l)
{
    const char *between = "";
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (l->sums.alg_calls[a]) {
            fprintf(file, "%s%s %.0f %%", between, pat_algorithm_at(a)->name,
                    100.0 * (double)l->sums.alg_calls[a] / (double)l->sums.calls);
            between = ", ";
        }
    if (by_plan(l) == 0)
        fputs("MPI library", file);
}

static void write_text(FILE *file, const line *lines, int num, int ranks)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    fprintf(file, "# PAT %s, %s, %d ranks, %.3f s from MPI_Init to MPI_Finalize\n", PAT_VERSION_TEXT,
            mpi_name(version), ranks, 1e-9 * (double)(pat_clock_local_ns() - begin_ns));
    fputs("# time, waiting for the last rank (where known), saved (estimated): ms a call, means over calls "
          "and ranks\n"
          "# last: the rank that most often came last, counted in the call's communicator\n",
          file);
    fprintf(file, "%-24s %9s %10s %10s %10s %10s  %-14s  %-22s  %s\n", "call", "calls", "bytes", "time",
            "waiting", "saved", "last", "run by", "at");
    for (int i = 0; i < num; i++) {
        const line *l = &lines[i];
        char last[32] = "-", waiting[32] = "-", saved[32] = "-";
        if (l->sums.num_known) {
            snprintf(waiting, sizeof(waiting), "%.4f", ms(l->sums.waited_ns, l->sums.num_known));
            snprintf(saved, sizeof(saved), "%.4f", saved_ms(l));
        }
        if (l->last_rank >= 0)
            snprintf(last, sizeof(last), "%lld (%lld of %lld)", (long long)l->last_rank,
                     (long long)l->last_calls, (long long)(l->sums.num_known / l->ranks));
        fprintf(file, "%-24s %9lld %10lld %10.4f %10s %10s  %-14s  ", l->call,
                (long long)(l->sums.calls / l->ranks),
                (long long)(l->sums.calls ? l->sums.bytes / l->sums.calls : 0),
                ms(l->sums.time_ns, l->sums.calls), waiting, saved, last);
        write_algs(file, l);
        fprintf(file, "  %s\n", l->name);
    }
}

static json_t *json_of(const line *l)
{
    json_t *algs = json_object();
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (l->sums.alg_calls[a])
            json_object_set_new(algs, pat_algorithm_at(a)->name, json_integer(l->sums.alg_calls[a]));
    json_object_set_new(algs, "mpi", json_integer(l->sums.calls - by_plan(l)));
    json_t *o =
        json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:o}", "call", l->call, "at", l->name, "ranks",
                  (json_int_t)l->ranks, "calls", (json_int_t)l->sums.calls, "bytes",
                  (json_int_t)l->sums.bytes, "least_bytes", (json_int_t)l->sums.least_bytes, "most_bytes",
                  (json_int_t)l->sums.most_bytes, "time_ms", ms(l->sums.time_ns, 1), "run_by", algs);
    if (o && l->sums.num_known) {
        json_object_set_new(o, "known_calls", json_integer(l->sums.num_known));
        json_object_set_new(o, "waiting_ms", json_real(ms(l->sums.waited_ns, 1)));
        json_object_set_new(o, "saved_ms_estimated", json_real(saved_ms(l) * (double)l->sums.num_known));
    }
    if (o && l->last_rank >= 0)
        json_object_set_new(
            o, "most_often_last",
            json_pack("{s:I, s:I}", "rank", (json_int_t)l->last_rank, "calls", (json_int_t)l->last_calls));
    return o;
}

static bool write_json(FILE *file, const line *lines, int num, int ranks)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    json_t *sites = json_array();
    bool whole = true;
    for (int i = 0; i < num; i++)
        whole = json_array_append_new(sites, json_of(&lines[i])) == 0 && whole;
    json_t *root = json_pack("{s:s, s:s, s:i, s:f, s:s, s:o}", "pat_version", PAT_VERSION_TEXT, "mpi_library",
                             mpi_name(version), "ranks", ranks, "seconds",
                             1e-9 * (double)(pat_clock_local_ns() - begin_ns), "sums_over", "ranks and calls",
                             "sites", sites);
    const bool good =
        whole && root && json_dumpf(root, file, JSON_INDENT(2)) == 0 && fputc('\n', file) != EOF;
    json_decref(root);
    return good;
}

static int write_all(const line *lines, int num, int ranks)
{
    const char *to = pat_rt.config.report;
    const size_t length = strlen(to);
    const bool on_stderr = strcasecmp(to, "text") == 0 || strcasecmp(to, "json") == 0;
    const bool as_json = strcasecmp(to, "json") == 0 || (length > 5 && strcmp(to + length - 5, ".json") == 0);
    FILE *file = on_stderr ? stderr : fopen(to, "we");
    bool good = file != NULL;
    errno = good ? 0 : errno;
    if (good && as_json)
        good = write_json(file, lines, num, ranks);
    else if (good)
        write_text(file, lines, num, ranks);
    if (file && !on_stderr)
        good = fclose(file) == 0 && good;
    return good ? MPI_SUCCESS
                : pat_error(MPI_ERR_OTHER, "PAT_REPORT=\"%s\": cannot be written: %s", to,
                            errno ? strerror(errno) : "no memory, or a name that is not UTF-8");
}

int pat_report_write(void)
{
    line *lines;
    int num, rank, ranks;
    PMPI_Comm_rank(pat_rt.world, &rank);
    PMPI_Comm_size(pat_rt.world, &ranks);
    int rc = collect(&lines, &num);
    if (rc == MPI_SUCCESS && rank == 0)
        rc = write_all(lines, merge(lines, num), ranks);
    free(lines);
    pat_sites_clear();
    return rc;
}

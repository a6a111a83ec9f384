/*
 * report_write.c — see report_lines.h: the report as text and as JSON. Figures are means over calls and ranks. Times saved are
 * estimates: for every call that a plan ran and in which all ranks learnt when the others came, what the MPI library's own
 * all-gather would have taken from the last arrival on, by calibration or else the least that the link needs, less what the
 * call took from there.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "error.h"
#include "file.h"
#include "pat.h"
#include "report_lines.h"
#include "runtime.h"

#define TEXT(number)     #number
#define DOTTED(a, b, c)  TEXT(a) "." TEXT(b) "." TEXT(c)
#define PAT_VERSION_TEXT DOTTED(PAT_VERSION_MAJOR, PAT_VERSION_MINOR, PAT_VERSION_PATCH)

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

static int64_t by_plan(const pat_report_line *l)
{
    int64_t calls = 0;
    for (int a = 0; a < PAT_MAX_ALGS; a++)
        calls += l->sums.alg_calls[a];
    return calls;
}

/* Per call of which it is known; below 0: lost. */
static double saved_ms(const pat_report_line *l)
{
    return ms(l->sums.native_ns - (l->sums.plan_ns - l->sums.waited_ns), l->sums.num_known);
}

static void append(char *text, size_t size, const char *what, int64_t calls, const pat_report_line *l)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s %.0f %%", used ? ", " : "", what,
             100.0 * (double)calls / (double)l->sums.calls);
}

static void name_algs(char *text, size_t size, const pat_report_line *l)
{
    const int64_t by_mpi = l->sums.calls - by_plan(l);
    text[0] = '\0';
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (l->sums.alg_calls[a])
            append(text, size, pat_algorithm_at(a)->name, l->sums.alg_calls[a], l);
    if (by_mpi)
        append(text, size, "MPI library", by_mpi, l);
}

/* The most frequent reasons; of what is only passed on there is none. */
static void name_whys(char *text, size_t size, const pat_report_line *l)
{
    enum { MOST = 2 };
    bool named[PAT_NUM_WHYS] = {false};
    text[0] = '\0';
    for (int k = 0; k < MOST; k++) {
        int best = PAT_WHY_NOT_KNOWN;
        for (int why = 1; why < PAT_NUM_WHYS; why++)
            if (!named[why] && l->sums.why_calls[why] > (best ? l->sums.why_calls[best] : 0))
                best = why;
        if (best == PAT_WHY_NOT_KNOWN)
            break;
        named[best] = true;
        append(text, size, pat_why_text((enum pat_why)best), l->sums.why_calls[best], l);
    }
    if (text[0] == '\0')
        snprintf(text, size, "-");
}

static void write_text(FILE *file, const pat_report_line *lines, int num, int ranks, int64_t time_ns)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    fprintf(file, "# PAT %s, %s, %d ranks, %.3f s from MPI_Init to MPI_Finalize\n", PAT_VERSION_TEXT,
            mpi_name(version), ranks, 1e-9 * (double)time_ns);
    fputs("# time, waiting for the last rank (where known), saved (estimated): ms a call, means over calls "
          "and ranks\n"
          "# last: the rank that most often came last, counted in the call's communicator\n",
          file);
    fprintf(file, "%-24s %9s %10s %10s %10s %10s  %-14s  %-30s  %-40s  %s\n", "call", "calls", "bytes",
            "time", "waiting", "saved", "last", "run by", "because", "at");
    for (int i = 0; i < num; i++) {
        const pat_report_line *l = &lines[i];
        char last[32] = "-", waiting[32] = "-", saved[32] = "-", algs[128], whys[128];
        if (l->sums.num_known) {
            snprintf(waiting, sizeof(waiting), "%.4f", ms(l->sums.waited_ns, l->sums.num_known));
            snprintf(saved, sizeof(saved), "%.4f", saved_ms(l));
        }
        if (l->last_rank >= 0)
            snprintf(last, sizeof(last), "%lld (%lld of %lld)", (long long)l->last_rank,
                     (long long)l->last_calls, (long long)(l->sums.num_known / l->ranks));
        name_algs(algs, sizeof(algs), l);
        name_whys(whys, sizeof(whys), l);
        fprintf(file, "%-24s %9lld %10lld %10.4f %10s %10s  %-14s  %-30s  %-40s  %s\n", l->call,
                (long long)(l->sums.calls / l->ranks),
                (long long)(l->sums.calls ? l->sums.bytes / l->sums.calls : 0),
                ms(l->sums.time_ns, l->sums.calls), waiting, saved, last, algs, whys, l->name);
    }
}

static json_t *json_of(const pat_report_line *l)
{
    json_t *algs = json_object();
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (l->sums.alg_calls[a])
            json_object_set_new(algs, pat_algorithm_at(a)->name, json_integer(l->sums.alg_calls[a]));
    json_object_set_new(algs, "mpi", json_integer(l->sums.calls - by_plan(l)));
    json_t *whys = json_object();
    for (int why = 1; why < PAT_NUM_WHYS; why++)
        if (l->sums.why_calls[why])
            json_object_set_new(whys, pat_why_text((enum pat_why)why), json_integer(l->sums.why_calls[why]));
    json_t *o = json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o}", "call", l->call, "at",
                          l->name, "ranks", (json_int_t)l->ranks, "calls", (json_int_t)l->sums.calls, "bytes",
                          (json_int_t)l->sums.bytes, "least_bytes", (json_int_t)l->sums.least_bytes,
                          "most_bytes", (json_int_t)l->sums.most_bytes, "time_ms", ms(l->sums.time_ns, 1),
                          "run_by", algs, "because", whys);
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

static bool write_json(FILE *file, const pat_report_line *lines, int num, int ranks, int64_t time_ns)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    json_t *sites = json_array();
    bool whole = true;
    for (int i = 0; i < num; i++)
        whole = json_array_append_new(sites, json_of(&lines[i])) == 0 && whole;
    json_t *root = json_pack("{s:s, s:s, s:i, s:f, s:s, s:o}", "pat_version", PAT_VERSION_TEXT, "mpi_library",
                             mpi_name(version), "ranks", ranks, "seconds", 1e-9 * (double)time_ns,
                             "sums_over", "ranks and calls", "sites", sites);
    const bool good =
        whole && root && json_dumpf(root, file, JSON_INDENT(2)) == 0 && fputc('\n', file) != EOF;
    json_decref(root);
    return good;
}

static bool on_stderr(const char *report)
{
    return strcasecmp(report, "text") == 0 || strcasecmp(report, "json") == 0;
}

int pat_report_place(const char *report, char **file)
{
    *file = NULL;
    if (on_stderr(report))
        return 0;
    char *here = report[0] == '/' ? NULL : getcwd(NULL, 0);
    if (report[0] != '/' && !here)
        return errno;
    if (asprintf(file, "%s%s%s", here ? here : "", here ? "/" : "", report) < 0)
        *file = NULL;
    free(here);
    const int error = *file ? pat_file_check(*file) : ENOMEM;
    if (error) {
        free(*file);
        *file = NULL;
    }
    return error;
}

int pat_report_put(const pat_report_line *lines, int num, int ranks, int64_t time_ns, const char *file)
{
    const char *report = pat_rt.config.report;
    const size_t length = strlen(report);
    const bool as_json =
        strcasecmp(report, "json") == 0 || (length > 5 && strcmp(report + length - 5, ".json") == 0);
    char *text = NULL;
    size_t num_bytes = 0;
    FILE *memory = open_memstream(&text, &num_bytes);
    bool good = memory != NULL;
    if (good && as_json)
        good = write_json(memory, lines, num, ranks, time_ns);
    else if (good)
        write_text(memory, lines, num, ranks, time_ns);
    good = memory && fclose(memory) == 0 && good;
    int error = 0;
    if (good && file)
        error = pat_file_write(file, text, num_bytes);
    else if (good && fwrite(text, 1, num_bytes, stderr) != num_bytes)
        error = errno ? errno : EIO;
    free(text);
    return good && !error ? MPI_SUCCESS
                          : pat_error(MPI_ERR_OTHER, "PAT_REPORT=\"%s\": cannot be written: %s", report,
                                      error ? strerror(error) : "no memory, or a name that is not UTF-8");
}

/*
 * pat_report.c — pat-report: what a directory that PAT_TRACE has filled says of a program: who was late, where, and what it has cost, as text, as JSON and as a page with pictures; and all calls as CSV
 * or for a viewer of timelines. Main program: options. Needs no MPI.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "file.h"
#include "log_read.h"
#include "tool_options.h"
#include "trace_models.h"
#include "trace_otf2.h"
#include "trace_out.h"

typedef struct options {
    const char *dir, *html, *json, *csv, *chrome, *otf2;
} options;

enum { HTML_KEY = 256, JSON_KEY, CSV_KEY, CHROME_KEY, OTF2_KEY };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case HTML_KEY:
        if (!pat_trace_has_html())
            argp_error(state, "--html: this pat-report was built without Chart.js (Debian's libjs-chart.js)");
        o->html = tool_output(state, "--html", arg);
        return 0;
    case JSON_KEY:
        o->json = tool_output(state, "--json", arg);
        return 0;
    case CSV_KEY:
        o->csv = tool_output(state, "--csv", arg);
        return 0;
    case CHROME_KEY:
        o->chrome = tool_output(state, "--chrome", arg);
        return 0;
    case OTF2_KEY:
        o->otf2 = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (o->dir)
            argp_error(state, "'%s': accepted: one directory", arg);
        o->dir = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->dir)
            argp_error(state, "a directory is missing; accepted: one that PAT_TRACE has filled");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option option_list[] = {
    {"html", HTML_KEY, "FILE", 0,
     "Write a page for a browser, with pictures: who comes how late, what each rank does when, who waits for "
     "whom",
     0},
    {"json", JSON_KEY, "FILE", 0,
     "Write the sums of places and ranks, and the efficiencies of the POP project, as JSON", 0},
    {"csv", CSV_KEY, "FILE", 0, "Write all calls of all ranks, as comma-separated values", 0},
    {"chrome", CHROME_KEY, "FILE", 0,
     "Write them as a timeline in the JSON format of Chrome's trace viewer, which Perfetto reads too", 0},
    {"otf2", OTF2_KEY, "NEW", 0,
     "Write them as an archive of OTF2 into the directory NEW, which must not be there", 0},
    {0}};

static const struct argp argp = {
    option_list,
    parse,
    "DIR",
    "Tell who was late in a program's collectives, where, and what it has cost, from the calls that the "
    "program "
    "has left in DIR under the drop-in with PAT_TRACE=DIR.\n\nOptions:\v"
    "Files of ranks that were killed, and of ranks that ran out of room, are read as far as they go; what is "
    "missing is said on the standard error.\n\n"
    "Exit status: 0, 1 if a file cannot be written, 2 for bad options and for a directory without calls.",
    NULL,
    NULL,
    NULL};

typedef bool write_log(const pat_log *log, const trace_sums *sums, FILE *to);

/* By way of a file that nobody sees: what is written may be longer than memory, and must be whole or not there. */
static int write_to(const char *path, write_log *write, const pat_log *log, const trace_sums *sums)
{
    FILE *to = tmpfile();
    if (!to)
        return errno;
    errno = 0;
    const bool good = write(log, sums, to) && fflush(to) == 0;
    const off_t length = good ? ftello(to) : -1;
    int error = length > 0 ? 0 : errno ? errno : EIO;
    void *text = error ? MAP_FAILED : mmap(NULL, (size_t)length, PROT_READ, MAP_PRIVATE, fileno(to), 0);
    if (!error)
        error = text == MAP_FAILED ? errno : pat_file_write(path, text, (size_t)length);
    if (text != MAP_FAILED)
        munmap(text, (size_t)length);
    fclose(to);
    return error;
}

static bool put(const char *path, write_log *write, const pat_log *log, const trace_sums *sums)
{
    const int error = path ? write_to(path, write, log, sums) : 0;
    if (error)
        fprintf(stderr, "pat-report: %s: %s\n", path, strerror(error));
    return !error;
}

int main(int argc, char **argv)
{
    options o = {.dir = NULL};
    char why[1000];
    tool_parse("pat-report", &argp, argc, argv, &o);
    pat_log *log = pat_log_read(o.dir, why, sizeof(why));
    if (!log) {
        fprintf(stderr, "pat-report: %s\n", why);
        return TOOL_BAD_INPUT;
    }
    for (const char *line = log->warnings; *line; line = strchr(line, '\n') + 1)
        fprintf(stderr, "pat-report: %.*s\n", (int)strcspn(line, "\n"), line);
    trace_sums sums;
    if (!trace_sums_make(&sums, log)) {
        fprintf(stderr, "pat-report: no memory\n");
        trace_sums_free(&sums);
        pat_log_free(log);
        return TOOL_FAILED;
    }
    trace_models_make(&sums, log);
    bool good = pat_trace_text(log, &sums, stdout) && fflush(stdout) == 0;
    if (!good)
        fprintf(stderr, "pat-report: not all could be printed: the standard output takes no more\n");
    good = put(o.html, pat_trace_html, log, &sums) && good;
    good = put(o.json, pat_trace_json, log, &sums) && good;
    good = put(o.csv, pat_trace_csv, log, &sums) && good;
    good = put(o.chrome, pat_trace_chrome, log, &sums) && good;
    const char *otf2_error = o.otf2 ? trace_otf2_write(log, o.otf2) : NULL;
    if (otf2_error)
        fprintf(stderr, "pat-report: --otf2 '%s': no whole archive: %s\n", o.otf2, otf2_error);
    good = !otf2_error && good;
    trace_sums_free(&sums);
    pat_log_free(log);
    return good ? 0 : TOOL_FAILED;
}

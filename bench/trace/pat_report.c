/*
 * pat_report.c — pat-report: what a directory that PAT_TRACE has filled says of a program: who was late, where, and what it has cost, as text; and all calls as CSV
 * or for a viewer of timelines. Main program: options. Needs no MPI.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "log_read.h"
#include "tool_options.h"
#include "trace_out.h"

typedef struct options {
    const char *dir, *csv, *chrome;
} options;

enum { CSV_KEY = 256, CHROME_KEY };

static error_t parse(int key, char *arg, struct argp_state *state)
{
    options *o = state->input;
    switch (key) {
    case CSV_KEY:
        o->csv = tool_output(state, "--csv", arg);
        return 0;
    case CHROME_KEY:
        o->chrome = tool_output(state, "--chrome", arg);
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
    {"csv", CSV_KEY, "FILE", 0, "Write all calls of all ranks, as comma-separated values", 0},
    {"chrome", CHROME_KEY, "FILE", 0,
     "Write them as a timeline in the JSON format of Chrome's trace viewer, which Perfetto reads too", 0},
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

typedef bool write_log(const pat_log *log, FILE *to);

/* Whole or not there. */
static bool put(const char *path, write_log *write, const pat_log *log)
{
    char *text = NULL;
    size_t bytes = 0;
    if (!path)
        return true;
    FILE *memory = open_memstream(&text, &bytes);
    bool good = memory && write(log, memory);
    good = memory && fclose(memory) == 0 && good;
    const int error = good ? pat_file_write(path, text, bytes) : 0;
    free(text);
    if (!good || error)
        fprintf(stderr, "pat-report: %s: %s\n", path, error ? strerror(error) : "no memory");
    return good && !error;
}

int main(int argc, char **argv)
{
    options o = {NULL, NULL, NULL};
    char why[1000];
    tool_parse("pat-report", &argp, argc, argv, &o);
    pat_log *log = pat_log_read(o.dir, why, sizeof(why));
    if (!log) {
        fprintf(stderr, "pat-report: %s\n", why);
        return TOOL_BAD_INPUT;
    }
    for (const char *line = log->warnings; *line; line = strchr(line, '\n') + 1)
        fprintf(stderr, "pat-report: %.*s\n", (int)strcspn(line, "\n"), line);
    bool good = pat_trace_text(log, stdout);
    good = put(o.csv, pat_trace_csv, log) && good;
    good = put(o.chrome, pat_trace_chrome, log) && good;
    good = fflush(stdout) == 0 && good;
    pat_log_free(log);
    return good ? 0 : TOOL_FAILED;
}

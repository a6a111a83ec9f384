/*
 * tool_options.c — see tool_options.h. Must never take a value that it does not understand whole.
 */
#include "tool_options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "file.h"

int tool_launcher_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);
        if (value && *value >= '0' && *value <= '9')
            return atoi(value);
    }
    return -1;
}

/* A tool's command line. */
typedef struct command {
    void *input;
    bool takes_arguments;
} command;

/*
 * What all tools have beside --help, --usage and --version, which are argp's own: -h, as everywhere else, and a word for those who
 * give arguments to a tool that takes none.
 */
static error_t parse_common(int key, char *arg, struct argp_state *state)
{
    const command *const c = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = c->input;
        return 0;
    case ARGP_KEY_ARG:
        if (!c->takes_arguments)
            argp_error(state, "'%s': no arguments are accepted", arg);
        return ARGP_ERR_UNKNOWN; /* the tool knows it */
    case 'h':
        argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void tool_parse(const char *name, const struct argp *argp, int argc, char **argv, void *input)
{
    static char version[64];
    static const struct argp_option common[] = {{NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0}, {0}};
    command c = {.input = input, .takes_arguments = argp->args_doc != NULL};
    struct argp own = *argp;
    own.doc = own.args_doc = NULL; /* said once, by the whole */
    const struct argp_child children[] = {{&own, 0, NULL, 0}, {0}};
    const struct argp whole = {.options = common,
                               .parser = parse_common,
                               .args_doc = argp->args_doc,
                               .doc = argp->doc,
                               .children = children};
    FILE *const output = stdout, *const errors = stderr;
    FILE *const nowhere = tool_launcher_rank() > 0 ? fopen("/dev/null", "w") : NULL;
    snprintf(version, sizeof(version), "%s %s", name, PAT_PROJECT_VERSION);
    argp_program_version = version;
    argp_err_exit_status = TOOL_BAD_INPUT;
    if (nowhere)
        stdout = stderr = nowhere; /* argp writes to these, and may not return */
    argp_parse(&whole, argc, argv, 0, NULL, &c);
    stdout = output;
    stderr = errors;
    if (nowhere)
        fclose(nowhere);
}

bool tool_read_whole(const char *text, int64_t least, int64_t most, int64_t *value)
{
    char *end = NULL;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return *end == '\0' && errno == 0 && *value >= least && *value <= most;
}

int64_t tool_whole(struct argp_state *state, const char *option, const char *text, int64_t least,
                   int64_t most)
{
    int64_t value = least;
    if (!tool_read_whole(text, least, most, &value))
        argp_error(state, "%s '%s': accepted: a whole number from %" PRId64 " to %" PRId64, option, text,
                   least, most);
    return value;
}

const char *tool_bytes_text(char *to, size_t size, int64_t bytes)
{
    static const char *const units[] = {"", "K", "M", "G"};
    int unit = 0;
    while (unit < 3 && bytes > 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(to, size, "%" PRId64 "%s", bytes, units[unit]);
    return to;
}

int64_t tool_bytes(struct argp_state *state, const char *option, const char *text, int64_t least,
                   int64_t most)
{
    int64_t value = -1;
    char low[32], high[32];
    if (!pat_config_bytes(text, &value) || value < least || value > most)
        argp_error(state, "%s '%s': accepted: bytes from %s to %s, with K, M or G for 1024, 1024^2 or 1024^3",
                   option, text, tool_bytes_text(low, sizeof(low), least),
                   tool_bytes_text(high, sizeof(high), most));
    return value;
}

static bool read_number(const char *text, size_t length, double least, double most, double *value)
{
    char copy[64], *end;
    if (length == 0 || length >= sizeof(copy) || strspn(text, "+-.0123456789eE") < length)
        return false; /* strtod takes "nan", "inf" and hexadecimals too */
    memcpy(copy, text, length);
    copy[length] = '\0';
    *value = strtod(copy, &end);
    return *end == '\0' && *value >= least && *value <= most;
}

bool tool_read_number(const char *text, double least, double most, double *value)
{
    return read_number(text, strlen(text), least, most, value);
}

bool tool_read_link(const char *text, double *latency_us, double *mbit)
{
    const size_t comma = strcspn(text, ",");
    return text[comma] == ',' && read_number(text, comma, 0, 1e6, latency_us) &&
           tool_read_number(text + comma + 1, 1e-3, 1e6, mbit);
}

double tool_number(struct argp_state *state, const char *option, const char *text, double least, double most)
{
    double value = 0;
    if (!tool_read_number(text, least, most, &value))
        argp_error(state, "%s '%s': accepted: a number from %.10g to %.10g", option, text, least, most);
    return value;
}

void tool_link(struct argp_state *state, const char *option, const char *text, double *latency_us,
               double *mbit)
{
    if (!tool_read_link(text, latency_us, mbit))
        argp_error(state,
                   "%s '%s': accepted: LATENCY,RATE: microseconds from 0 to 1000000 and Mbit/s from 0.001 to "
                   "1000000, for example 50,940",
                   option, text);
}

const char *tool_output(struct argp_state *state, const char *option, const char *path)
{
    const int error = *path ? pat_file_check(path) : ENOENT;
    if (error)
        argp_error(state, "%s '%s': cannot be written: %s", option, path, strerror(error));
    return path;
}

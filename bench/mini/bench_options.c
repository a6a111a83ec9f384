/*
 * bench_options.c — see bench_options.h. Must never guess: a value it does not understand whole is an error.
 */
#include "bench_options.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bench_help.h"
#include "bench_item.h"
#include "config.h"
#include "tool_options.h"

enum { MAX_COUNT = 1 << 28, MAX_ITERS = 100000, MAX_MS = 60000 };

static int fail(bench_options *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int fail(bench_options *o, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(o->error, sizeof(o->error), format, args);
    va_end(args);
    return EINVAL;
}

static int take_int(bench_options *o, const char *option, const char *text, int64_t low, int64_t high,
                    int *value)
{
    int64_t v;
    if (!tool_read_whole(text, low, high, &v))
        return fail(o, "--%s '%s': a whole number from %lld to %lld is accepted", option, text,
                    (long long)low, (long long)high);
    *value = (int)v;
    return 0;
}

static int take_ms(bench_options *o, const char *option, const char *text, double *value)
{
    if (!tool_read_number(text, 0, MAX_MS, value))
        return fail(o, "--%s '%s': milliseconds from 0 to %d are accepted", option, text, MAX_MS);
    return 0;
}

/* Is it one that pat-bench measures? All ranks have to do alike. */
static bool is_measured(enum pat_op op)
{
    return op < PAT_NUM_OPS && !pat_collective_of(op)->rooted && !pat_collective_of(op)->personal;
}

static int take_op(bench_options *o, const char *text)
{
    char names[128] = "";
    o->op = pat_collective_find(text);
    for (int op = 0; op < PAT_NUM_OPS; op++)
        if (is_measured((enum pat_op)op))
            snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", *names ? ", " : "",
                     pat_collective_of((enum pat_op)op)->name);
    return is_measured(o->op) ? 0 : fail(o, "--op '%s': unknown or not measured; accepted: %s", text, names);
}

/* A size of a list, each once. */
static int add_size(bench_options *o, const char *option, const char *what, char *item, int64_t least,
                    int64_t *list, int *num)
{
    int64_t value;
    char most[32];
    if (!pat_config_bytes(item, &value) || value % least != 0 || value < least || value / least > MAX_COUNT)
        return fail(o, "--%s '%s': %s from %d to %s is accepted, with K, M or G for 1024, 1024^2 or 1024^3",
                    option, item, what, (int)least, tool_bytes_text(most, sizeof(most), MAX_COUNT * least));
    for (int i = 0; i < *num; i++)
        if (list[i] == value)
            return fail(o, "--%s '%s': given twice", option, item);
    list[(*num)++] = value;
    return 0;
}

static int add_count(bench_options *o, char *item)
{
    char what[64];
    snprintf(what, sizeof(what), "a whole number of %ss", bench_item_of(o->op)->name);
    return add_size(o, "count", what, item, 1, o->counts, &o->num_counts);
}

static int add_bytes(bench_options *o, char *item)
{
    const bench_item *is = bench_item_of(o->op);
    char what[64];
    snprintf(what, sizeof(what), "a multiple of the %d bytes of a %s", is->bytes, is->name);
    return add_size(o, "bytes", what, item, is->bytes, o->bytes, &o->num_bytes);
}

static int add_delay(bench_options *o, char *item)
{
    double value;
    int rc = take_ms(o, "max-delay", item, &value);
    for (int i = 0; rc == 0 && i < o->num_delays; i++)
        if (o->delays_ms[i] == value)
            return fail(o, "--max-delay '%s': given twice", item);
    if (rc == 0)
        o->delays_ms[o->num_delays++] = value;
    return rc;
}

static int add_edge(bench_options *o, char *item)
{
    double value, last = o->num_edges > 0 ? o->edges[o->num_edges - 1] : 0;
    if (!tool_read_number(item, 0, 100, &value) || value <= last || value >= 100)
        return fail(o, "--edges '%s': accepted: percentages below 100, each above the one before and above 0",
                    item);
    o->edges[o->num_edges++] = value;
    return 0;
}

static int add_alg(bench_options *o, char *item)
{
    const bool all = strcmp(item, "all") == 0;
    const pat_algorithm *one = bench_algorithm_find(o->op, item);
    bool found = false;
    for (int i = 0; i < pat_algorithm_count(); i++) {
        const pat_algorithm *alg = pat_algorithm_at(i);
        if (alg->op != o->op || (all ? alg->chooses : alg != one))
            continue;
        found = true;
        for (int j = 0; j < o->num_algs; j++)
            if (o->algs[j] == alg->name)
                return fail(o, "--alg '%s': '%s' is given twice", item, alg->name);
        if (o->num_algs == BENCH_MAX_ALGS)
            return fail(o, "--alg '%s': more than %d algorithms", item, BENCH_MAX_ALGS);
        o->algs[o->num_algs++] = alg->name;
    }
    return found ? 0
                 : fail(o, "--alg '%s': unknown algorithm; accepted: all, %s", item,
                        pat_algorithm_names(o->op));
}

static int add_from(bench_options *o, char *item)
{
    const char *dot = strrchr(item, '.');
    if (!dot || (strcmp(dot, ".csv") != 0 && strcmp(dot, ".json") != 0))
        return fail(o, "--from '%s': a file name ending in .csv or .json is accepted", item);
    o->from[o->num_from] = strdup(item);
    return o->from[o->num_from++] ? 0 : fail(o, "out of memory");
}

/* Split a comma-separated list. A list given twice replaces nothing: it goes on. */
static int take_list(bench_options *o, const char *option, const char *text, const int *used,
                     int (*add)(bench_options *, char *))
{
    char *copy = strdup(text), *rest = copy, *item;
    int rc = copy ? 0 : fail(o, "out of memory");
    while (rc == 0 && (item = strsep(&rest, ",")) != NULL) {
        if (*item == '\0')
            rc = fail(o, "--%s '%s': an entry of the list is empty", option, text);
        else if (*used >= BENCH_MAX_LIST)
            rc = fail(o, "--%s '%s': more than %d entries", option, text, BENCH_MAX_LIST);
        else
            rc = add(o, item);
    }
    free(copy);
    return rc;
}

static int take_link(bench_options *o, const char *text)
{
    if (!tool_read_link(text, &o->link_latency_us, &o->link_mbit))
        return fail(
            o,
            "--link '%s': accepted is LATENCY,RATE: microseconds from 0 to 1000000 and Mbit/s from 0.001 to "
            "1000000",
            text);
    o->link_set = true;
    return 0;
}

static int take_progress(bench_options *o, const char *what, const char *text)
{
    if (strcmp(text, "1") == 0 || strcmp(text, "0") == 0)
        text = *text == '1' ? "lines" : "off";
    if (bench_progress_find(text, &o->progress) && o->progress != BENCH_PROGRESS_AUTO)
        return 0;
    return fail(o, "%s '%s': accepted: bar, lines, off, 1, 0", what, text);
}

static int take_path(bench_options *o, const char *option, const char *text, const char **path)
{
    if (*text == '\0')
        return fail(o, "--%s '': a path is missing", option);
    *path = text;
    return 0;
}

static int take_versus(bench_options *o, const char *text)
{
    const pat_algorithm *alg = bench_algorithm_find(o->op, text);
    if (!alg)
        return fail(o, "--versus '%s': unknown algorithm; accepted: %s", text, pat_algorithm_names(o->op));
    o->versus = alg->name;
    return 0;
}

static error_t take(int key, char *arg, struct argp_state *state)
{
    bench_options *o = state->input;
    int64_t seed;
    int pattern;
    switch (key) {
    case BENCH_KEY_OP: /* find_op has read it */
        return 0;
    case BENCH_KEY_ALG:
        return take_list(o, "alg", arg, &o->num_algs, add_alg);
    case BENCH_KEY_BYTES:
        return take_list(o, "bytes", arg, &o->num_bytes, add_bytes);
    case BENCH_KEY_COUNT:
        return take_list(o, "count", arg, &o->num_counts, add_count);
    case BENCH_KEY_DELAY:
        return take_list(o, "max-delay", arg, &o->num_delays, add_delay);
    case BENCH_KEY_FROM:
        o->action = BENCH_FROM;
        return take_list(o, "from", arg, &o->num_from, add_from);
    case BENCH_KEY_ITERS:
        return take_int(o, "iters", arg, 1, MAX_ITERS, &o->iters);
    case BENCH_KEY_WARMUP:
        return take_int(o, "warmup", arg, 0, MAX_ITERS, &o->warmup);
    case BENCH_KEY_FLAT:
        return take_int(o, "flat-iters", arg, 0, MAX_ITERS, &o->flat_iters);
    case BENCH_KEY_RETRIES:
        return take_int(o, "retries", arg, 0, 1000, &o->retries);
    case BENCH_KEY_BASE:
        return take_ms(o, "base", arg, &o->base_ms);
    case BENCH_KEY_TOLERANCE:
        return take_ms(o, "tolerance", arg, &o->tolerance_ms);
    case BENCH_KEY_PATTERN:
        pattern = bench_pattern_find(arg);
        if (pattern < 0)
            return fail(o, "--pattern '%s': unknown pattern; accepted: %s", arg, bench_pattern_names());
        o->pattern = (enum bench_pattern)pattern;
        return 0;
    case BENCH_KEY_SEED:
        if (!tool_read_whole(arg, 0, INT64_MAX, &seed))
            return fail(o, "--seed '%s': a whole number from 0 to %lld is accepted", arg,
                        (long long)INT64_MAX);
        o->seed = (uint64_t)seed;
        return 0;
    case BENCH_KEY_LINK:
        return take_link(o, arg);
    case BENCH_KEY_BURN:
        o->burn = true;
        return 0;
    case BENCH_KEY_NO_MILESTONES:
        o->no_milestones = true;
        return 0;
    case BENCH_KEY_EDGES:
        return take_list(o, "edges", arg, &o->num_edges, add_edge);
    case BENCH_KEY_PAUSE:
        o->pause = true;
        return 0;
    case BENCH_KEY_PERSISTENT:
        o->persistent = true;
        return 0;
    case BENCH_KEY_VERSUS:
        return take_versus(o, arg);
    case BENCH_KEY_PAPER:
        o->paper = true;
        return 0;
    case BENCH_KEY_CSV:
        return take_path(o, "csv", arg, &o->csv);
    case BENCH_KEY_JSON:
        return take_path(o, "json", arg, &o->json);
    case BENCH_KEY_PLOT:
        return take_path(o, "plot", arg, &o->plot);
    case BENCH_KEY_PROGRESS:
        return take_progress(o, "--progress", arg ? arg : "lines");
    case 'h':
        o->action = BENCH_HELP;
        return 0;
    case 'V':
        o->action = BENCH_VERSION;
        return 0;
    case ARGP_KEY_ERROR: /* argp was the one to refuse: only here it says where */
        o->bad_word = state->next - 1;
        return 0;
    case ARGP_KEY_ARG:
        return fail(o, "unexpected argument '%s'; pat-bench takes options only", arg);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {.options = bench_help_options, .parser = take, .doc = bench_help_text};

/* What the other options mean depends on the collective, wherever it stands; what is wrong with them is found later. */
static error_t find_op(int key, char *arg, struct argp_state *state)
{
    return key == BENCH_KEY_OP ? take_op(state->input, arg) : 0;
}

static const struct argp argp_for_op = {.options = bench_help_options, .parser = find_op};

/* argp only says "bad"; whether the name or the use of it was wrong is worked out here. */
static int bad_option(bench_options *o, const char *text)
{
    char accepted[400] = "";
    const size_t length = strcspn(text, "=");
    const char *why = "unknown option";
    for (const struct argp_option *t = bench_help_options; t->name || t->doc; t++) {
        if (!t->name)
            continue;
        if (length > 2 && strncmp(text + 2, t->name, length - 2) == 0)
            why = text[length] == '=' ? "takes no value, or is short for several options"
                                      : "its value is missing, or it is short for several options";
        const size_t used = strlen(accepted);
        snprintf(accepted + used, sizeof(accepted) - used, "%s--%s", used ? ", " : "", t->name);
    }
    return fail(o, "'%s': %s; accepted: %s", text, why, accepted);
}

int bench_options_parse(bench_options *o, int argc, char **argv, const char *progress_env)
{
    *o = (bench_options){.iters = 20,
                         .warmup = 2,
                         .flat_iters = 4,
                         .retries = 10,
                         .base_ms = 100,
                         .tolerance_ms = -1,
                         .seed = 1};
    if (progress_env && take_progress(o, "PAT_PROGRESS", progress_env) != 0)
        return EINVAL;
    argp_parse(&argp_for_op, argc, argv, ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, o);
    if (o->error[0] != '\0')
        return EINVAL;
    if (argp_parse(&argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_ERRS | ARGP_NO_HELP, NULL, o) != 0) {
        if (o->error[0] == '\0')
            bad_option(o, o->bad_word > 0 && o->bad_word < argc ? argv[o->bad_word] : "?");
        return EINVAL;
    }
    if (o->action == BENCH_FROM && (o->csv || o->json))
        return fail(o, "--from only looks at results: --csv and --json do not go with it");
    const pat_collective *collective = pat_collective_of(o->op);
    if (o->persistent && collective->reduces)
        return fail(o, "--persistent: there are requests for all-gathers only, and none for --op %s",
                    collective->name);
    if (o->plot && collective->reduces)
        return fail(o, "--plot: the figures are of all-gathers, and there are none of --op %s",
                    collective->name);
    if (o->paper && collective->reduces)
        return fail(o, "--paper: its figures are those of all-gathers, and none of --op %s",
                    collective->name);
    char all[] = "all", count[] = "128K", delays[] = "0,10,100";
    if (o->num_algs == 0)
        add_alg(o, all);
    if (o->num_counts > 0 && o->num_bytes > 0)
        return fail(o, "--bytes and --count say the same: one of them is accepted");
    if (o->num_counts == 0 && o->num_bytes == 0)
        add_count(o, count);
    if (o->num_edges == 0)
        o->edges[o->num_edges++] = 50;
    if (o->num_delays == 0)
        take_list(o, "max-delay", delays, &o->num_delays, add_delay);
    return 0;
}

void bench_options_free(bench_options *o)
{
    for (int i = 0; i < o->num_from; i++)
        free(o->from[i]);
    o->num_from = 0;
}

void bench_options_help(FILE *to)
{
    char name[] = "pat-bench";
    argp_help(&argp, to, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
}

int bench_options_sizes(bench_options *o, int num_ranks)
{
    const int item_bytes = bench_item_of(o->op)->bytes;
    const int blocks = pat_collective_blocks(pat_collective_of(o->op), num_ranks);
    for (int i = 0; i < o->num_bytes; i++) {
        if (o->bytes[i] / item_bytes > MAX_COUNT / blocks)
            return fail(o, "--bytes '%lld': at most %lld are accepted with %d ranks", (long long)o->bytes[i],
                        (long long)(MAX_COUNT / blocks * item_bytes), num_ranks);
        o->counts[i] = o->bytes[i] / item_bytes * blocks;
    }
    o->num_counts = o->num_bytes > 0 ? o->num_bytes : o->num_counts;
    return 0;
}

int64_t bench_round_count(enum pat_op op, int64_t count, int num_ranks)
{
    return count - count % pat_collective_blocks(pat_collective_of(op), num_ranks);
}

int64_t bench_block_bytes(enum pat_op op, int64_t count, int num_ranks)
{
    return count / pat_collective_blocks(pat_collective_of(op), num_ranks) * bench_item_of(op)->bytes;
}

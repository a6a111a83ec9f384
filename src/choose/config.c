/*
 * config.c — see config.h. Numbers are read in integer arithmetic and without strtod: an application's locale
 * must not decide what "12.5" means, and all ranks must get the same bits. Must never print, and never fall
 * back in silence.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collective.h"

#define NANO INT64_C(1000000000)

#define PREFIX "PAT_"

/* PAT_LINK: up to a second, and from 1 kbit/s to 1 Tbit/s; what is beyond is a slip in the unit. */
#define MAX_LATENCY_US 1000000
#define MAX_MBIT       1000000

/* ---- Parts of a value: each takes what it knows off the front of *text ----------------------------------
 */

/* A run of decimal digits. False when there is none or it does not fit. */
static bool take_digits(const char **text, int64_t *value)
{
    const char *at = *text;
    int64_t v = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *at - '0', &v))
            return false;
    if (at == *text)
        return false;
    *text = at;
    *value = v;
    return true;
}

/* A decimal fraction as 1e-9 units; digits after the ninth are below anything that is measured, and dropped.
 */
static bool take_nano(const char **text, int64_t most, int64_t *value)
{
    int64_t whole, unit = NANO;
    if (!take_digits(text, &whole) || whole > most)
        return false;
    *value = whole * NANO;
    if (**text != '.')
        return true;
    const char *at = *text + 1;
    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        unit /= 10;
        *value += (*at - '0') * unit;
    }
    *text = at;
    return *value <= most * NANO;
}

bool pat_config_bytes(const char *text, int64_t *bytes)
{
    static const char suffixes[] = "KMG";
    int64_t value;
    if (!take_digits(&text, &value))
        return false;
    if (*text) {
        const char *suffix = strchr(suffixes, *text >= 'a' ? *text - 'a' + 'A' : *text);
        if (!suffix || text[1] ||
            __builtin_mul_overflow(value, INT64_C(1024) << 10 * (suffix - suffixes), &value))
            return false;
    }
    *bytes = value;
    return true;
}

/* ---- One reader per setting ---------------------------------------------------------------------------- */

/* Any text that is not empty and fits. */
static bool read_text(char *to, size_t size, const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length >= size)
        return false;
    memcpy(to, text, length + 1);
    return true;
}

static bool read_report(pat_config *config, const char *text)
{
    return read_text(config->report, sizeof(config->report), text);
}

static bool read_thread_level(pat_config *config, const char *text)
{
    config->thread_level_keep = strcasecmp(text, "keep") == 0;
    return config->thread_level_keep || strcasecmp(text, "multiple") == 0;
}

static bool read_switch(bool *to, const char *text)
{
    static const char *const words[][2] = {{"0", "1"}, {"off", "on"}, {"no", "yes"}, {"false", "true"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        for (int on = 0; on < 2; on++)
            if (strcasecmp(text, words[i][on]) == 0) {
                *to = on;
                return true;
            }
    return false;
}

static bool read_background(pat_config *config, const char *text)
{
    return read_switch(&config->background, text);
}

static bool read_explain(pat_config *config, const char *text)
{
    return read_switch(&config->explain, text);
}

static bool read_reorder(pat_config *config, const char *text)
{
    return read_switch(&config->reorder, text);
}

static bool read_calibration(pat_config *config, const char *text)
{
    config->calibration_sought = false;
    config->calibration[0] = '\0';
    return strcasecmp(text, "none") == 0 || read_text(config->calibration, sizeof(config->calibration), text);
}

static bool read_ranks_per_node(pat_config *config, const char *text)
{
    int64_t ranks = 0;
    if (strcasecmp(text, "auto") != 0 &&
        (!take_digits(&text, &ranks) || *text || ranks < 1 || ranks > INT_MAX))
        return false;
    config->ranks_per_node = (int)ranks;
    return true;
}

static bool read_single_copy(pat_config *config, const char *text)
{
    return read_switch(&config->single_copy, text);
}

static bool read_thread_pin(pat_config *config, const char *text)
{
    int64_t pu;
    if (strcasecmp(text, "auto") == 0 || strcasecmp(text, "off") == 0) {
        snprintf(config->thread_pin, sizeof(config->thread_pin), "%s",
                 strcasecmp(text, "off") ? "auto" : "off");
        return true;
    }
    if (!take_digits(&text, &pu) || *text || pu > INT_MAX)
        return false;
    snprintf(config->thread_pin, sizeof(config->thread_pin), "%" PRId64, pu);
    return true;
}

static bool read_wait(pat_config *config, const char *text)
{
    config->wait_spin = strcasecmp(text, "spin") == 0;
    return config->wait_spin || strcasecmp(text, "adaptive") == 0;
}

static bool read_goal(pat_config *config, const char *text)
{
    config->goal_last = strcasecmp(text, "last") == 0;
    return config->goal_last || strcasecmp(text, "mean") == 0;
}

static bool read_mem(pat_config *config, const char *text)
{
    return pat_config_bytes(text, &config->mem_bytes);
}

static bool read_trace_mem(pat_config *config, const char *text)
{
    return pat_config_bytes(text, &config->trace_mem_bytes);
}

static bool read_stack(pat_config *config, const char *text)
{
    int64_t depth;
    if (!take_digits(&text, &depth) || *text || depth < 1 || depth > 16)
        return false;
    config->stack_depth = (int)depth;
    return true;
}

static bool read_signal(pat_config *config, const char *text)
{
    static const struct {
        const char *name;
        int signal;
    } known[] = {{"none", 0}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcasecmp(text, known[i].name) == 0) {
            config->state_signal = known[i].signal;
            return true;
        }
    return false;
}

static bool read_link(pat_config *config, const char *text)
{
    int64_t latency, rate; /* nanounits of a microsecond and of a Mbit/s */
    if (!take_nano(&text, MAX_LATENCY_US, &latency) || *text++ != ',' || !take_nano(&text, MAX_MBIT, &rate) ||
        *text)
        return false;
    int64_t alpha_ns = (latency + NANO / 2000) / (NANO / 1000);
    if (alpha_ns < 1 || rate < NANO / 1000)
        return false;
    config->link_set = true;
    config->link_alpha_ns = alpha_ns;
    config->link_beta_ps = (8000000 * NANO + rate / 2) / rate; /* 8e6 / Mbit/s, rounded */
    return true;
}

static bool read_trace(pat_config *config, const char *text)
{
    return read_text(config->trace, sizeof(config->trace), text);
}

static bool read_mockups(pat_config *config, const char *text)
{
    return read_text(config->mockups, sizeof(config->mockups), text);
}

/* ---- All of them --------------------------------------------------------------------------------------- */

#define ALGORITHM "the name of an algorithm, at most 31 characters, e.g. "
#define SWITCH    "0 or 1, off or on, no or yes, false or true"

#define NAMES_ALGORITHM(op, lower, LIST, title, mpi, setting, alg, ...)                                      \
    {setting, NULL, alg, ALGORITHM alg, "The algorithm of " title "s, until the program calls PAT_UseAlg.",  \
     #lower},

static const pat_setting settings[] = {
    PAT_COLLECTIVES(NAMES_ALGORITHM) /* one for each collective */
    {"PAT_FORCE", NULL, "nothing", ALGORITHM "relay",
     "The same as PAT_ALG, and it goes before that: for programs under the drop-in.", "allgather"},
    {"PAT_CALIBRATION", read_calibration, "found",
     "a file that pat-calibrate has written, at most 255 characters, or none",
     "What auto, bcast_auto and gather_auto choose by. Where it is not set, the library looks for what "
     "pat-calibrate "
     "has kept of this machine and network in $XDG_CACHE_HOME/pat, or in $HOME/.cache/pat; with none it does "
     "not "
     "look.",
     NULL},
    {"PAT_GOAL", read_goal, "mean", "mean or last",
     "What auto makes small where there is a calibration: the time from a call to its return, mean over the "
     "ranks, or the time until the last rank returns.",
     NULL},
    {"PAT_REORDER", read_reorder, "0", SWITCH,
     "Whether allreduce_auto, and of unchanged programs non-blocking reductions and mock-ups, may join "
     "floating-point numbers in another order than the MPI library does. The last "
     "bits of results are then not the MPI library's, and may be others from run to run.",
     NULL},
    {"PAT_RANKS_PER_NODE", read_ranks_per_node, "auto", "auto, or a number of at least 1, e.g. 4",
     "How many ranks, by their numbers in MPI_COMM_WORLD, plans take as being on one node of the cluster. "
     "With auto, "
     "those that can share memory, as the MPI library says.",
     NULL},
    {"PAT_SINGLE_COPY", read_single_copy, "1", SWITCH,
     "Whether ranks of a node copy long messages straight from each other's memory, where the system lets "
     "them. With "
     "0 they go through the MPI library, as they do where it does not.",
     NULL},
    {"PAT_EXPLAIN", read_explain, "0", SWITCH,
     "Whether rank 0 tells on the standard error what was chosen and why, and which PAT_* variables nobody "
     "knows.",
     NULL},
    {"PAT_BACKGROUND", read_background, "1", SWITCH,
     "Whether there is a background thread. Without one everything works, but no data moves early.", NULL},
    {"PAT_THREAD_PIN", read_thread_pin, "auto", "auto, off, or the number of a processing unit, e.g. 3",
     "Where the background thread runs: on a processing unit that no rank computes on, if there is one; "
     "where the scheduler puts it; or on the one with this number of the operating system's.",
     NULL},
    {"PAT_WAIT", read_wait, "adaptive", "adaptive or spin",
     "How a call waits for late ranks: it sleeps until something comes in, or it polls without a pause.",
     NULL},
    {"PAT_MEM", read_mem, "256M", "a number of bytes with optional K, M or G, e.g. 256M",
     "The most memory that early data may wait in, per process.", NULL},
    {"PAT_REPORT", read_report, "nothing", "text, json or a file, at most 255 characters",
     "What the drop-in writes in MPI_Finalize for every place that calls a collective or sends messages: "
     "text or JSON on the "
     "standard error, or a file, as JSON if its name ends in .json.",
     NULL},
    {"PAT_THREAD_LEVEL", read_thread_level, "multiple", "multiple or keep",
     "The thread level with which the drop-in starts MPI: MPI_THREAD_MULTIPLE, or what the program asks "
     "for.",
     NULL},
    {"PAT_TRACE", read_trace, "nothing", "a directory that is there, at most 255 characters",
     "Every rank writes what it sent and received, and when, to a file in this directory, and under the "
     "drop-in "
     "all its calls of collectives to another one, for pat-report.",
     NULL},
    {"PAT_TRACE_MEM", read_trace_mem, "64M", "a number of bytes with optional K, M or G, e.g. 256M",
     "The most memory, per process, in which the drop-in keeps when calls began, to tell by PAT_REPORT who "
     "was late.",
     NULL},
    {"PAT_STACK", read_stack, "1", "a number from 1 to 16",
     "How many lines of the stack are a place in reports and traces: the one that calls MPI, the one that "
     "calls that function, and so on.",
     NULL},
    {"PAT_SIGNAL", read_signal, "none", "none, USR1 or USR2",
     "A signal at which every rank that gets it writes on the standard error in which call it is, where, and "
     "for how long: for programs under the drop-in that stand still.",
     NULL},
    {"PAT_MOCKUPS", read_mockups, "nothing", "a directory with profiles, at most 255 characters",
     "Under the drop-in, which collectives of the MPI library are run by mock-ups, put together out of its "
     "other collectives, or by PAT's own algorithms, and for how many ranks and bytes.",
     NULL},
    {"PAT_LINK", read_link, "measured",
     "<latency in us>,<rate in Mbit/s>, up to 1000000 each and at least 0.001, e.g. 50,940",
     "One-way latency and rate of the network, which are taken instead of a measurement.", NULL},
};
enum { NUM_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

const pat_setting *pat_config_setting(int i)
{
    return i >= 0 && i < NUM_SETTINGS ? &settings[i] : NULL;
}

bool pat_config_take(pat_config *config, const pat_setting *setting, const char *text)
{
    if (!setting->collective)
        return setting->read(config, text);
    const enum pat_op op = pat_collective_find(setting->collective);
    config->alg_setting[op] = setting->name;
    return read_text(config->alg[op], sizeof(config->alg[op]), text);
}

/* ---- Names that are no setting's ------------------------------------------------------------------------- */

/* How many letters must be put in, taken out or changed to make one name the other. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64], width = strlen(b);
    if (width >= sizeof(row) / sizeof(row[0]))
        return width;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t before = row[0]; /* of the row above, one to the left */
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            const size_t changed = before + (a[i - 1] != b[j - 1]);
            const size_t fewer = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            before = row[j];
            row[j] = changed < fewer ? changed : fewer;
        }
    }
    return row[width];
}

static bool is_known(const char *name)
{
    /* Of the tools, the emulated cluster, pat-run and the tests. */
    static const char *const others[] = {"PAT_PROGRESS", "PAT_BUILD", "PAT_SOURCE", "PAT_RUN"};
    for (int i = 0; i < NUM_SETTINGS; i++)
        if (strcmp(settings[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (strcmp(others[i], name) == 0)
            return true;
    return strncmp(name, "PAT_LAB_", 8) == 0 || strncmp(name, "PAT_TEST_", 9) == 0;
}

bool pat_config_stray(char *const *environment, int i, char *name, size_t size, const char **nearest)
{
    for (; *environment; environment++) {
        if (strncmp(*environment, PREFIX, strlen(PREFIX)) != 0)
            continue;
        snprintf(name, size, "%.*s", (int)strcspn(*environment, "="), *environment);
        if (!is_known(name) && i-- == 0)
            break;
    }
    if (!*environment)
        return false;
    size_t least = (strlen(name) - strlen(PREFIX)) / 2 + 1; /* farther away it is another word */
    *nearest = NULL;
    for (int k = 0; k < NUM_SETTINGS; k++)
        if (distance(name, settings[k].name) < least) {
            least = distance(name, settings[k].name);
            *nearest = settings[k].name;
        }
    return true;
}

/* ---- Reading ---------------------------------------------------------------------------------------------- */

/* A value may be anything: show only the head of a long one, and nothing that could garble a terminal. */
static void tell(char *why, size_t why_size, const pat_setting *setting, const char *text)
{
    char shown[48];
    snprintf(shown, sizeof(shown), "%s", text);
    if (strlen(text) >= sizeof(shown))
        strcpy(shown + sizeof(shown) - 4, "...");
    for (char *c = shown; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    snprintf(why, why_size, "%s=\"%s\": accepted: %s", setting->name, shown, setting->accepted);
}

const char *pat_config_env(const char *name)
{
    return getenv(name);
}

int pat_config_read(pat_config *config, const char *(*get)(const char *name), char *why, size_t why_size)
{
    pat_config result = {.background = true,
                         .single_copy = true,
                         .calibration_sought = true,
                         .thread_pin = "auto",
                         .mem_bytes = INT64_C(256) << 20,
                         .trace_mem_bytes = INT64_C(64) << 20,
                         .stack_depth = 1};
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        const pat_collective *collective = pat_collective_of((enum pat_op)op);
        result.alg_setting[op] = collective->setting;
        snprintf(result.alg[op], sizeof(result.alg[op]), "%s", collective->default_alg);
    }
    for (int i = 0; i < NUM_SETTINGS; i++) {
        const char *text = get(settings[i].name);
        if (text && !pat_config_take(&result, &settings[i], text)) {
            tell(why, why_size, &settings[i], text);
            return EINVAL;
        }
    }
    *config = result;
    return 0;
}

uint64_t pat_config_digest(const pat_config *config)
{
    /*
     * Values, not the text they were given as: 1M and 1024K are one setting. PAT_THREAD_PIN,
     * PAT_WAIT, PAT_BACKGROUND, PAT_EXPLAIN, PAT_TRACE, PAT_TRACE_MEM, PAT_STACK and PAT_SIGNAL are left out because they change when things happen on one rank, never
     * which messages there are.
     */
    char text[1000 + sizeof(config->alg)] = "alg=";
    for (int op = 0; op < PAT_NUM_OPS; op++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", op ? "," : "", config->alg[op]);
    snprintf(text + strlen(text), sizeof(text) - strlen(text),
             ";cal=%d,%s,%d;reorder=%d;per_node=%d;copy=%d;report=%s;mockups=%s;mem=%" PRId64
             ";link=%d,%" PRId64 ",%" PRId64,
             config->calibration_sought, config->calibration, config->goal_last, config->reorder,
             config->ranks_per_node, config->single_copy, config->report, config->mockups, config->mem_bytes,
             config->link_set, config->link_alpha_ns, config->link_beta_ps);
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a, 64 bits */
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    return hash;
}

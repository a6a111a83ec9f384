/*
 * config.c — see config.h. Numbers are read in integer arithmetic and without strtod: an application's locale
 * must not decide what "12.5" means, and all ranks must get the same bits. Must never print, and never fall
 * back in silence.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NANO INT64_C(1000000000)

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

static bool read_alg(pat_config *config, const char *text)
{
    return read_text(config->alg, sizeof(config->alg), text);
}

static bool read_force(pat_config *config, const char *text)
{
    config->alg_setting = "PAT_FORCE";
    return read_alg(config, text);
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

static bool read_bcast_alg(pat_config *config, const char *text)
{
    return read_text(config->bcast_alg, sizeof(config->bcast_alg), text);
}

static bool read_gather_alg(pat_config *config, const char *text)
{
    return read_text(config->gather_alg, sizeof(config->gather_alg), text);
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

static bool read_calibration(pat_config *config, const char *text)
{
    return read_text(config->calibration, sizeof(config->calibration), text);
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

/* ---- All of them --------------------------------------------------------------------------------------- */

static const struct setting {
    const char *name;
    bool (*read)(pat_config *config, const char *text);
    const char *unset; /* what holds without it */
    const char *accepted;
} settings[] = {
    {"PAT_ALG", read_alg, "auto", "the name of an algorithm, at most 31 characters, e.g. bdr"},
    {"PAT_FORCE", read_force, "nothing", "the name of an algorithm, at most 31 characters, e.g. relay"},
    {"PAT_ALG_BCAST", read_bcast_alg, "bcast_auto",
     "the name of an algorithm, at most 31 characters, e.g. bcast_chain"},
    {"PAT_ALG_GATHER", read_gather_alg, "gather_auto",
     "the name of an algorithm, at most 31 characters, e.g. gather_binomial"},
    {"PAT_BACKGROUND", read_background, "1", "0 or 1, off or on, no or yes, false or true"},
    {"PAT_EXPLAIN", read_explain, "0", "0 or 1, off or on, no or yes, false or true"},
    {"PAT_CALIBRATION", read_calibration, "nothing",
     "a file that pat-calibrate has written, at most 255 characters"},
    {"PAT_GOAL", read_goal, "mean", "mean or last"},
    {"PAT_THREAD_LEVEL", read_thread_level, "multiple", "multiple or keep"},
    {"PAT_REPORT", read_report, "nothing", "text, json or a file, at most 255 characters"},
    {"PAT_THREAD_PIN", read_thread_pin, "auto", "auto, off, or the number of a processing unit, e.g. 3"},
    {"PAT_WAIT", read_wait, "adaptive", "spin or adaptive"},
    {"PAT_MEM", read_mem, "256M", "a number of bytes with optional K, M or G, e.g. 256M"},
    {"PAT_TRACE", read_trace, "nothing", "a directory that is there, at most 255 characters"},
    {"PAT_LINK", read_link, "measured",
     "<latency in us>,<rate in Mbit/s>, up to 1000000 each and at least 0.001, e.g. 50,940"},
};
enum { NUM_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

bool pat_config_setting(int i, const char **name, const char **unset, const char **accepted)
{
    if (i < 0 || i >= NUM_SETTINGS)
        return false;
    *name = settings[i].name;
    *unset = settings[i].unset;
    *accepted = settings[i].accepted;
    return true;
}

/* A value may be anything: show only the head of a long one, and nothing that could garble a terminal. */
static void tell(char *why, size_t why_size, const struct setting *setting, const char *text)
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
    pat_config result = {.alg = "auto",
                         .alg_setting = "PAT_ALG",
                         .bcast_alg = "bcast_auto",
                         .gather_alg = "gather_auto",
                         .background = true,
                         .thread_pin = "auto",
                         .mem_bytes = INT64_C(256) << 20};
    for (int i = 0; i < NUM_SETTINGS; i++) {
        const char *text = get(settings[i].name);
        if (text && !settings[i].read(&result, text)) {
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
     * PAT_WAIT, PAT_BACKGROUND, PAT_EXPLAIN and PAT_TRACE are left out because they change when things happen on one rank, never
     * which messages there are.
     */
    char text[800];
    snprintf(text, sizeof(text),
             "alg=%s,%s,%s;cal=%s,%d;report=%s;mem=%" PRId64 ";link=%d,%" PRId64 ",%" PRId64, config->alg,
             config->bcast_alg, config->gather_alg, config->calibration, config->goal_last, config->report,
             config->mem_bytes, config->link_set, config->link_alpha_ns, config->link_beta_ps);
    uint64_t hash = UINT64_C(14695981039346656037); /* FNV-1a, 64 bits */
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    return hash;
}

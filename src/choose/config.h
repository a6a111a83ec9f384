/*
 * config.h — the PAT_* settings: read once from the environment, checked, never guessed. A malformed value is
 * an error that names the variable, its value and what is accepted; there are no silent defaults.
 */
#ifndef PAT_CONFIG_H
#define PAT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms.h"

typedef struct pat_config {
    char alg
        [PAT_NUM_OPS]
        [32]; /* each collective's algorithm, by its setting; PAT_FORCE, where it is set, stands in for PAT_ALG */
    const char *alg_setting[PAT_NUM_OPS]; /* which setting each is from, or would be */
    char calibration[256]; /* PAT_CALIBRATION=<file> that pat-calibrate has written; else empty */
    bool
        calibration_sought; /* PAT_CALIBRATION is not set: look for one in the store (store.h); not with PAT_CALIBRATION=none */
    bool
        thread_level_keep; /* PAT_THREAD_LEVEL=multiple|keep: what the drop-in starts MPI with, default multiple */
    char report[256];  /* PAT_REPORT=text|json|<file>: what the drop-in writes in the end; default nothing */
    char mockups[256]; /* PAT_MOCKUPS=<directory> of profiles, for the drop-in; default none */
    bool
        goal_last; /* PAT_GOAL=mean|last: which time `auto` makes small by calibration (pat_goal), default mean */
    bool
        reorder; /* PAT_REORDER=0|1: `auto`, and mock-ups in the MPI library's place, may join floating-point numbers in an order of its own; default 0 */
    int ranks_per_node; /* PAT_RANKS_PER_NODE=auto|<number>: plans take so many ranks, by number, as a node; 0: as the MPI library says, default */
    bool single_copy;   /* PAT_SINGLE_COPY=0|1: ranks of a node copy from each other's memory; default 1 */
    bool explain;       /* PAT_EXPLAIN=0|1: tell on the standard error what was chosen and why; default 0 */
    bool background;    /* PAT_BACKGROUND=0|1 (also off|on, no|yes, false|true), default 1 */
    char thread_pin[32]; /* PAT_THREAD_PIN=auto|off|<PU number>, default auto */
    bool wait_spin;      /* PAT_WAIT=spin|adaptive, default adaptive */
    int64_t mem_bytes;   /* PAT_MEM: cap on early data waiting in this process, with K, M, G; default 256M */
    char trace[256];     /* PAT_TRACE=<directory> for a file per rank of what moved when; default none */
    int64_t
        trace_mem_bytes; /* PAT_TRACE_MEM: cap on what is kept of calls for PAT_REPORT, with K, M, G; default 64M */
    int stack_depth;  /* PAT_STACK=<depth>: how many lines of the stack are a place, default 1 */
    int state_signal; /* PAT_SIGNAL=USR1|USR2|none: at which each rank says what it does, default none (0) */
    bool link_set;    /* PAT_LINK=<latency us>,<Mbit/s> given: no measurement */
    int64_t link_alpha_ns; /* as nanoseconds */
    int64_t link_beta_ps;  /* as picoseconds per byte */
} pat_config;

/* A variable of the environment, for pat_config_read; NULL: not set. */
const char *pat_config_env(const char *name);

/*
 * Read the settings through get (pat_config_env, but for tests, which have a table). Returns 0, or EINVAL with a
 * message in `why` that names the variable, the bad value and the accepted ones; *config is then left as it
 * was. Unknown PAT_* names are no error: see pat_config_stray.
 */
int pat_config_read(pat_config *config, const char *(*get)(const char *name), char *why, size_t why_size);

/* A number of bytes, with K, M or G (or lower case) for 1024, 1024^2 or 1024^3; the whole text or nothing. */
bool pat_config_bytes(const char *text, int64_t *bytes);

/* One setting. What the manual, docs/settings.md and pat-info say of it is said here. */
typedef struct pat_setting {
    const char *name;
    bool (*read)(pat_config *config, const char *text); /* NULL: it names an algorithm */
    const char *unset;                                  /* what holds without it */
    const char *accepted;                               /* its values */
    const char *description;                            /* whole sentences */
    const char *collective; /* whose algorithm it names, as pat_collective_find has it; NULL: none */
} pat_setting;

/* Take a value of a setting. False: it is malformed, and *config is not to be used. */
bool pat_config_take(pat_config *config, const pat_setting *setting, const char *text);

/* The settings one by one; NULL beyond the last. */
const pat_setting *pat_config_setting(int i);

/*
 * The i-th variable of an environment (environ) that is called PAT_* but is no setting: a misspelt one, or another
 * program's. *nearest: the setting whose name is like it, or NULL. False beyond the last. The name always ends within `size`
 * bytes.
 */
bool pat_config_stray(char *const *environment, int i, char *name, size_t size, const char **nearest);

/*
 * A digest of the settings that shape plans. Where it differs between ranks PAT_Init fails. The same on every platform.
 */
uint64_t pat_config_digest(const pat_config *config);

#endif

/*
 * bench_about.h — everything about a run that a reader needs to judge its figures, as #@key=value lines.
 */
#ifndef BENCH_ABOUT_H
#define BENCH_ABOUT_H

#include "bench_link.h"
#include "bench_loop.h"
#include "bench_settings.h"

typedef struct bench_about {
    int thread_level;
    bool link_measured;
    bench_link link;
    const char *lab_check; /* "pass", "fail" or "" */
} bench_about;

/* Fill the list on rank 0, before the run. Returns 0 or ENOMEM. */
int bench_settings_fill(bench_settings *s, const bench_run *run, const bench_about *about);

/*
 * What the emulated cluster says of itself in the environment: PAT_LAB_BURST and PAT_LAB_CHECK. Returns 0, or
 * EINVAL with a text in why.
 */
int bench_lab_read(int64_t *burst_bytes, const char **check, char *why, size_t why_size);

#endif

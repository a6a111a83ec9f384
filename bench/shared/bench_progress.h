/*
 * bench_progress.h — how far the run is and how long it will take, on the standard error. One process shows
 * it.
 */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum bench_progress_mode {
    BENCH_PROGRESS_AUTO,
    BENCH_PROGRESS_OFF,
    BENCH_PROGRESS_BAR,
    BENCH_PROGRESS_LINES
};

/* Of that name: auto, off, bar, lines. False: there is none. */
bool bench_progress_find(const char *name, enum bench_progress_mode *mode);

typedef struct bench_progress {
    enum bench_progress_mode mode; /* AUTO is settled by the start */
    double total_ms, done_ms;      /* expected, for the whole run and for what is behind us */
    int64_t start_ns, shown_ns;
} bench_progress;

void bench_progress_start(bench_progress *p, enum bench_progress_mode mode, double total_ms, int64_t now_ns);
/* `step_ms` of the expected time are done; `what` says where we are. */
void bench_progress_step(bench_progress *p, double step_ms, const char *what, int64_t now_ns);
void bench_progress_end(bench_progress *p, int64_t now_ns);

/* "1:02:03" or "2:03". */
void bench_clock_text(char *to, size_t size, double seconds);

#endif

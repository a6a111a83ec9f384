/*
 * bench_progress.c — see bench_progress.h. Must never write to the standard output, which scripts read.
 */
#include "bench_progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 30 };
static const int64_t every_bar_ns = 200000000, every_line_ns = INT64_C(10000000000);

void bench_clock_text(char *to, size_t size, double seconds)
{
    const long s = seconds > 0 ? (long)(seconds + 0.5) : 0;
    if (s >= 3600)
        snprintf(to, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(to, size, "%ld:%02ld", s / 60, s % 60);
}

bool bench_progress_find(const char *name, enum bench_progress_mode *mode)
{
    static const char *const names[] = {[BENCH_PROGRESS_AUTO] = "auto",
                                        [BENCH_PROGRESS_OFF] = "off",
                                        [BENCH_PROGRESS_BAR] = "bar",
                                        [BENCH_PROGRESS_LINES] = "lines"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0) {
            *mode = (enum bench_progress_mode)i;
            return true;
        }
    return false;
}

void bench_progress_start(bench_progress *p, enum bench_progress_mode mode, double total_ms, int64_t now_ns)
{
    if (mode == BENCH_PROGRESS_AUTO)
        mode = isatty(STDERR_FILENO) ? BENCH_PROGRESS_BAR : BENCH_PROGRESS_OFF;
    *p = (bench_progress){
        .mode = mode, .total_ms = total_ms, .start_ns = now_ns, .shown_ns = now_ns - every_line_ns};
}

void bench_progress_step(bench_progress *p, double step_ms, const char *what, int64_t now_ns)
{
    p->done_ms += step_ms;
    const int64_t every = p->mode == BENCH_PROGRESS_BAR ? every_bar_ns : every_line_ns;
    if (p->mode == BENCH_PROGRESS_OFF || now_ns - p->shown_ns < every)
        return;
    p->shown_ns = now_ns;
    /* The rest will be as much slower than expected as what is behind us was. */
    double share = p->total_ms > 0 ? p->done_ms / p->total_ms : 1;
    share = share > 1 ? 1 : share;
    const double gone = (double)(now_ns - p->start_ns) / 1e9;
    char left[32];
    bench_clock_text(left, sizeof(left), share > 0 ? gone * (1 - share) / share : 0);
    if (p->mode == BENCH_PROGRESS_BAR) {
        char bar[BAR + 1];
        memset(bar, '.', BAR);
        memset(bar, '#', (size_t)(share * BAR));
        bar[BAR] = '\0';
        fprintf(stderr, "\r[%s] %3.0f %%  %s left  %s\033[K", bar, 100 * share, left, what);
    } else {
        fprintf(stderr, "%s: %3.0f %%, %s left, %s\n", program_invocation_short_name, 100 * share, left,
                what);
    }
    fflush(stderr);
}

void bench_progress_end(bench_progress *p, int64_t now_ns)
{
    char took[32];
    bench_clock_text(took, sizeof(took), (double)(now_ns - p->start_ns) / 1e9);
    if (p->mode == BENCH_PROGRESS_BAR)
        fprintf(stderr, "\r\033[K");
    if (p->mode == BENCH_PROGRESS_BAR || p->mode == BENCH_PROGRESS_LINES)
        fprintf(stderr, "%s: done in %s\n", program_invocation_short_name, took);
    fflush(stderr);
}

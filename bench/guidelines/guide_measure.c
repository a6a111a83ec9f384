/*
 * guide_measure.c — see guide_measure.h. Must never decide on one rank alone what the next sample is.
 */
#include "guide_measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_must.h"
#include "guide_need.h"

enum { FIRST_CALLS = 2, BALANCED = 11, BARRIER_SAMPLES = 500, MISSED = 20 };
static const double barrier_time_ms = 2000;

/* A side's series. The same on all ranks, but for wall_ms, which rank 0 goes by. */
typedef struct series {
    const guide_side *side;
    const char *reason; /* NULL: it runs */
    int num;
    double wall_ms, told_ms; /* told: to the progress bar */
    bool is_done;
} series;

typedef struct size_run {
    guide_run *run;
    const guide_line *line;
    guide_data data;
    series *all;
    int num;
    bool has_arrivals; /* ranks come late, by a pattern in times of this: */
    double balanced_ms;
    int late; /* starts that were missed */
    bool round_time;
    char where[GUIDE_NAME + 64];
} size_run;

typedef struct sample {
    bool in_time, is_over;
    double ms, past_ms;
} sample;

/* ---- One sample ---------------------------------------------------------------------------------------------- */

static void call(const size_run *r, const guide_side *side)
{
    if (side)
        guide_side_run(side, &r->data.call, r->run->scratch);
    else
        MUST(PMPI_Barrier(r->run->comm));
}

/* Not nothing, even where the clock has not moved on: sides are divided by one another. */
static double to_ms(double ns)
{
    return 1e-6 * fmax(1, ns);
}

/* side NULL: a barrier. The same result on all ranks. */
static sample take(size_run *r, const guide_side *side, int iteration, double *wall_ms, double most_wall_ms)
{
    enum { LOCAL, FIRST_START, LAST_START, LAST_END, LATE, OVER, FIGURES };
    guide_run *run = r->run;
    const int64_t began_ns = pat_clock_local_ns();
    const int64_t delay_ns = r->has_arrivals ? guide_arrival_late_ns(&run->arrival, iteration, run->rank,
                                                                     run->size, r->line->root, r->balanced_ms)
                                             : 0;
    const bool needs_clock = r->round_time || r->line->global || r->has_arrivals;
    if (side)
        guide_side_set(side);
    if (needs_clock)
        guide_sync_again(&run->sync);
    const enum guide_start start = guide_sync_begin(&run->sync, r->round_time, delay_ns);
    const double start_ns = guide_sync_now_ns(&run->sync);
    call(r, side);
    const double end_ns = guide_sync_now_ns(&run->sync);
    const double spent_ms = *wall_ms + 1e-6 * (double)(pat_clock_local_ns() - began_ns);
    double own[FIGURES] = {[LOCAL] = end_ns - start_ns,
                           [FIRST_START] = -start_ns,
                           [LAST_START] = start_ns,
                           [LAST_END] = end_ns,
                           [LATE] = start,
                           [OVER] = run->rank == 0 && spent_ms >= most_wall_ms},
           all[FIGURES], sum = 0;
    MUST(PMPI_Allreduce(own, all, FIGURES, MPI_DOUBLE, MPI_MAX, run->comm));
    sample s = {.in_time = all[LATE] == GUIDE_IN_TIME,
                .is_over = all[OVER] != 0,
                .ms = to_ms(r->line->global ? all[LAST_END] + all[FIRST_START] : all[LOCAL]),
                .past_ms = to_ms(all[LAST_END] - all[LAST_START])};
    if (r->has_arrivals) {
        MUST(PMPI_Allreduce(&own[LOCAL], &sum, 1, MPI_DOUBLE, MPI_SUM, run->comm));
        s.ms = to_ms(sum / run->size);
    }
    if (all[LATE] == GUIDE_HEARD_LATE)
        guide_sync_widen(&run->sync);
    *wall_ms += 1e-6 * (double)(pat_clock_local_ns() - began_ns); /* with all that is about it */
    return s;
}

/* ---- Before the samples -------------------------------------------------------------------------------------- */

/* The first calls of a side, looked at. */
static const char *first_calls(size_run *r, const guide_side *side)
{
    const char *reason = guide_side_ready(side, &r->data.call, r->run->scratch);
    for (int i = 0; i < FIRST_CALLS && !reason; i++) {
        guide_data_wipe(&r->data);
        guide_side_set(side);
        reason = guide_side_run(side, &r->data.call, r->run->scratch);
        if (!reason && !guide_data_is_right(&r->data))
            reason = "its result is wrong";
    }
    return reason;
}

static int by_number(const void *va, const void *vb)
{
    const double a = *(const double *)va, b = *(const double *)vb;
    return (a > b) - (a < b);
}

/* What the left side takes where ranks come together: by it they are late. */
static double balanced_ms(size_run *r)
{
    double ms[BALANCED], wall_ms = 0;
    const bool round_time = r->round_time;
    int missed = 0;
    for (int i = 0; i < BALANCED;) {
        const sample one = take(r, r->all[0].side, i, &wall_ms, 0);
        if (one.in_time)
            ms[i++] = one.ms;
        else if (++missed == MISSED)
            r->round_time = false; /* after barriers, since it must be known */
    }
    r->round_time = round_time;
    qsort(ms, BALANCED, sizeof(ms[0]), by_number);
    return ms[BALANCED / 2];
}

/* ---- Series -------------------------------------------------------------------------------------------------- */

static void tell(size_run *r, series *s)
{
    const guide_line *line = r->line;
    double part = (double)s->num / line->samples, by_time = s->wall_ms / line->time_ms;
    part = by_time > part ? by_time : part;
    part = part > 1 || s->is_done ? 1 : part;
    if (r->run->rank == 0 && part * line->time_ms > s->told_ms) {
        bench_progress_step(r->run->progress, part * line->time_ms - s->told_ms, r->where,
                            pat_clock_local_ns());
        s->told_ms = part * line->time_ms;
    }
}

static void keep(size_run *r, const series *s, const sample *one, int64_t bytes)
{
    guide_run *run = r->run;
    if (run->rank != 0)
        return;
    guide_results *const to[] = {&run->results, &run->past};
    for (int i = 0; i < (r->has_arrivals ? 2 : 1); i++) {
        guide_cell *c = guide_results_cell(to[i], s->side->native->mpi_name, bytes, run->grid);
        guide_series_add(guide_cell_series(c, s->side->name), run->launch, i == 0 ? one->ms : one->past_ms);
    }
}

/* One more sample of a series, or a start that was missed. */
static void go_on(size_run *r, series *s, int64_t bytes)
{
    const guide_line *line = r->line;
    const sample one = take(r, s->side, s->num, &s->wall_ms, line->time_ms);
    if (one.in_time) {
        keep(r, s, &one, bytes);
        s->num++;
    } else if (++r->late >= line->barrier_after && line->barrier_after >= 0) {
        r->round_time = false;
    }
    s->is_done = s->num >= line->samples || one.is_over;
    if (s->is_done && s->num == 0)
        s->reason = "no sample began in time on all ranks";
    tell(r, s);
}

/* Who goes first, second and so on: the same on all ranks. */
static void draw_order(const size_run *r, int64_t bytes, int turn, int *order)
{
    uint64_t drawn = bench_mix(r->run->o->seed + bench_mix((uint64_t)bytes ^ (uint64_t)turn << 32) +
                               (uint64_t)r->run->launch);
    for (int k = 0; k < r->num; k++) {
        drawn = bench_mix(drawn);
        const int at = (int)(drawn % (uint64_t)(k + 1));
        if (at < k)
            order[k] = order[at];
        order[at] = k;
    }
}

static void in_turns(size_run *r, int64_t bytes)
{
    int *order = guide_need_array((size_t)r->num, sizeof(*order));
    bool any = true;
    for (int turn = 0; any; turn++) {
        draw_order(r, bytes, turn, order);
        any = false;
        for (int k = 0; k < r->num; k++) {
            series *s = &r->all[order[k]];
            if (!s->is_done)
                go_on(r, s, bytes);
            any = any || !s->is_done;
        }
    }
    free(order);
}

/* Rank 0: the cell, with its sides in order and why some have not run. */
static void keep_reasons(size_run *r, int64_t bytes)
{
    guide_run *run = r->run;
    guide_results *const to[] = {&run->results, &run->past};
    for (int i = 0; i < (guide_is_late(run->o) ? 2 : 1) && run->rank == 0; i++) {
        guide_cell *c = guide_results_cell(to[i], r->all[0].side->native->mpi_name, bytes, run->grid);
        c->missed = r->late;
        for (int k = 0; k < r->num; k++) {
            guide_series *s = guide_cell_series(c, r->all[k].side->name);
            snprintf(s->reason, sizeof(s->reason), "%s", r->all[k].reason ? r->all[k].reason : "");
        }
    }
}

void guide_measure_size(guide_run *run, const guide_line *line, int64_t bytes, const guide_side *sides,
                        int num)
{
    size_run r = {.run = run, .line = line, .num = num, .all = guide_need_array((size_t)num, sizeof(*r.all))};
    r.round_time = line->round_time && line->barrier_after != 0;
    const int length = snprintf(r.where, sizeof(r.where), "%s, %lld bytes", line->mpi, (long long)bytes);
    if (run->o->ranks.num > 0)
        snprintf(r.where + length, sizeof(r.where) - (size_t)length, ", %d ranks", run->size);
    const char *reason = guide_data_make(&r.data, &sides[0], bytes, line->root, run->comm, run->scratch);
    for (int i = 0; i < num; i++) {
        series *s = &r.all[i];
        s->side = &sides[i];
        s->reason = reason ? reason : first_calls(&r, s->side);
        if (i == 0 && s->reason)
            reason = "the left side did not run";
        s->is_done = s->reason != NULL;
        tell(&r, s);
    }
    keep_reasons(&r, bytes);
    if (!reason && guide_is_late(run->o)) {
        r.balanced_ms = run->o->trace ? 0 : balanced_ms(&r);
        r.has_arrivals = true;
    }
    if (run->o->in_series)
        for (int i = 0; i < num; i++)
            while (!r.all[i].is_done)
                go_on(&r, &r.all[i], bytes);
    else
        in_turns(&r, bytes);
    keep_reasons(&r, bytes);
    guide_data_free(&r.data);
    free(r.all);
}

void guide_measure_barrier(guide_run *run, const guide_line *line)
{
    size_run r = {.run = run, .line = line, .round_time = line->round_time && line->barrier_after != 0};
    double wall_ms = 0;
    sample one = {.is_over = false};
    for (int num = 0; num < BARRIER_SAMPLES && !one.is_over;) {
        one = take(&r, NULL, 0, &wall_ms, barrier_time_ms);
        num += one.in_time;
        if (!one.in_time && ++r.late == MISSED)
            r.round_time = false; /* without a barrier's time no gain could be held against it */
        if (one.in_time && run->rank == 0) {
            guide_cell *c = guide_results_cell(&run->barrier, "MPI_Barrier", 0, run->grid);
            guide_series_add(&c->series[0], run->launch, one.ms);
        }
    }
}

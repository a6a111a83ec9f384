/*
 * guide_keep.c — see guide_keep.h. Must never let a campaign begin whose results could not be kept, or judge another's samples as its own.
 */
#include "guide_keep.h"

#include <string.h>

#include "guide_beyond.h"
#include "guide_judge.h"
#include "guide_need.h"
#include "guide_raw.h"

static char *below(const char *dir, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", dir, name) < 0)
        path = NULL;
    return guide_need(path);
}

void guide_keep_make(guide_keep *k, const guide_plan *plan, guide_run *run, const char *threads,
                     const char *dir)
{
    *k = (guide_keep){.plan = plan, .run = run, .threads = threads};
    if (!dir)
        return;
    k->dir = guide_need(strdup(dir));
    k->raw = below(dir, "data");
    k->past = below(dir, "past-last");
    k->beyond = below(dir, "beyond");
    k->past_raw = below(k->past, "data");
}

void guide_keep_free(guide_keep *k)
{
    free(k->dir);
    free(k->raw);
    free(k->past);
    free(k->past_raw);
    free(k->beyond);
}

/* ---- Earlier launches and campaigns ---------------------------------------------------------------------------------- */

static int latest_launch(const guide_results *r)
{
    int latest = 0;
    for (int i = 0; i < r->num; i++)
        for (int k = 0; k < r->cells[i].num; k++) {
            const guide_series *s = &r->cells[i].series[k];
            if (s->num_launches > 0 && s->launch[s->num_launches - 1] > latest)
                latest = s->launch[s->num_launches - 1];
        }
    return latest;
}

static guide_way way_of(const guide_keep *k, const guide_line *line)
{
    guide_way way = {.sync = "barrier", .root = line->root};
    if (line->round_time && line->barrier_after < 0)
        snprintf(way.sync, sizeof(way.sync), "roundtime");
    else if (line->round_time && line->barrier_after > 0)
        snprintf(way.sync, sizeof(way.sync), "roundtime:%d", line->barrier_after);
    snprintf(way.order, sizeof(way.order), "%s", k->plan->o->in_series ? "series" : "random");
    snprintf(way.threads, sizeof(way.threads), "%s", k->threads);
    return way;
}

/* What earlier launches have left of this algorithm. */
static int take_over(const guide_keep *k, guide_results *r, const guide_line *line, const char *mpi,
                     const char *alg, const char *dir, char *why, size_t why_size)
{
    const guide_way way = way_of(k, line);
    return guide_raw_read(r, mpi, alg, k->run->grid, &way, dir, why, why_size);
}

static int take_over_all(const guide_keep *k, guide_results *r, const char *dir, char *why, size_t why_size)
{
    int error = 0;
    for (int i = 0; i < k->plan->input.num; i++) {
        const guide_line *line = &k->plan->input.lines[i];
        int num;
        guide_side *sides = guide_plan_sides(k->plan, line->mpi, &num);
        for (int s = 0; s < num && !error; s++)
            error = take_over(k, r, line, line->mpi, sides[s].name, dir, why, why_size);
        free(sides);
    }
    return error;
}

/* What another campaign has left would be judged as a part of this one. */
static int refuse_others(const guide_keep *k, char *why, size_t why_size)
{
    const char *const dirs[] = {k->raw, k->past_raw};
    for (int i = 0; i < 2; i++)
        if (guide_raw_is_there(dirs[i])) {
            snprintf(
                why, why_size,
                "'%s' has the raw data of an earlier campaign; accepted: --launch N to add to it, --fresh to "
                "remove it, or another directory",
                dirs[i]);
            return TOOL_BAD_INPUT;
        }
    return 0;
}

int guide_keep_check(guide_keep *k, char *why, size_t why_size)
{
    const guide_options *o = k->plan->o;
    guide_run *run = k->run;
    if (!k->dir || o->fresh)
        return 0;
    if (o->launch == 0)
        return refuse_others(k, why, why_size);
    int error = take_over(k, &run->barrier, &k->plan->input.lines[0], "MPI_Barrier", "default", k->raw, why,
                          why_size);
    error = error ? error : take_over_all(k, &run->results, k->raw, why, why_size);
    if (guide_is_late(o))
        error = error ? error : take_over_all(k, &run->past, k->past_raw, why, why_size);
    const int latest = latest_launch(&run->barrier);
    if (!error && o->launch <= latest) {
        snprintf(why, why_size, "--launch '%d': '%s' has launch %d already; accepted: %d", o->launch, k->dir,
                 latest, latest + 1);
        error = TOOL_BAD_INPUT;
    }
    return error ? TOOL_BAD_INPUT : 0;
}

int guide_keep_make_dirs(const guide_keep *k, char *why, size_t why_size)
{
    const guide_options *o = k->plan->o;
    if (!k->dir)
        return 0;
    return guide_dir_make(k->raw, why, why_size) != 0 || guide_dir_make(k->dir, why, why_size) != 0 ||
                   (guide_is_late(o) && guide_dir_make(k->past_raw, why, why_size) != 0) ||
                   (o->beyond && guide_dir_make(k->beyond, why, why_size) != 0)
               ? TOOL_BAD_INPUT
               : 0;
}

int guide_keep_clear(const guide_keep *k, char *why, size_t why_size)
{
    if (!k->dir || !k->plan->o->fresh)
        return 0;
    return guide_raw_remove(k->raw, why, why_size) != 0 || guide_raw_remove(k->past_raw, why, why_size) != 0
               ? TOOL_FAILED
               : 0;
}

/* ---- What has been measured ------------------------------------------------------------------------------------------ */

static void judge(const guide_run *run, guide_results *r)
{
    for (int i = 0; i < r->num; i++)
        r->cells[i].barrier_ms = run->barrier.num > 0 ? run->barrier.cells[0].series[0].median_ms : 0;
    guide_judge(r);
}

static int write_results(const guide_keep *k, const guide_results *r, const guide_line *line, const char *dir,
                         const char *raw, char *why, size_t why_size)
{
    int error = 0;
    if (line) {
        const guide_way way = way_of(k, line);
        error = guide_raw_write(r, line->mpi, &way, raw, why, why_size);
    }
    return error ? error : guide_output_write(r, &k->plan->o->shape, dir, why, why_size);
}

int guide_keep_write(const guide_keep *k, const guide_line *line, bool complete, char *why, size_t why_size)
{
    const guide_options *o = k->plan->o;
    guide_run *run = k->run;
    int error = 0;
    run->results.complete = run->past.complete = complete;
    guide_results_settle(&run->barrier);
    judge(run, &run->results);
    judge(run, &run->past);
    if (!k->dir)
        return 0;
    if (!line) {
        const guide_way way = way_of(k, &k->plan->input.lines[0]);
        error = guide_raw_write(&run->barrier, "MPI_Barrier", &way, k->raw, why, why_size);
    }
    error = error ? error : write_results(k, &run->results, line, k->dir, k->raw, why, why_size);
    if (guide_is_late(o) && !error)
        error = write_results(k, &run->past, line, k->past, k->past_raw, why, why_size);
    if (o->beyond && !error) {
        guide_results beyond;
        guide_beyond(&run->results, &beyond);
        error = guide_output_write(&beyond, &o->shape, k->beyond, why, why_size);
        guide_results_free(&beyond);
    }
    return error;
}

void guide_keep_print(const guide_keep *k, FILE *to)
{
    const guide_options *o = k->plan->o;
    guide_output_print(&k->run->results, &o->shape, to);
    if (o->beyond) {
        guide_results beyond;
        guide_beyond(&k->run->results, &beyond);
        fprintf(to, "\nThe left side at one size against itself at others\n\n");
        guide_output_print(&beyond, &o->shape, to);
        guide_results_free(&beyond);
    }
    if (guide_is_late(o)) {
        fprintf(to, "\nBy the time past the last arrival\n\n");
        guide_output_print(&k->run->past, &o->shape, to);
    }
}

/*
 * bench_json.c — see bench_json.h: the CSV's columns by the same names, and what a
 * CSV has no room for: the settings, every iteration, the judgement of each cell.
 */
#include "bench_json.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "bench_stats.h"
#include "collective.h"

enum { FORMAT = 1 };

/* The doubles of a row, by name. */
static const struct {
    const char *name;
    size_t offset;
} doubles[] = {
#define FIELD(name)                                                                                          \
    {                                                                                                        \
#name, offsetof(bench_row, name)                                                                     \
    }
    FIELD(max_delay_ms),
    FIELD(elapsed_ms),
    FIELD(elapsed_ci_ms),
    FIELD(past_last_ms),
    FIELD(run_ms),
    FIELD(absorption_ms),
    FIELD(imbalance_factor),
    FIELD(bound_ms),
    FIELD(early_share),
    FIELD(thread_cpu_ms),
    FIELD(waiting_cpu_ms),
    FIELD(tau_ms),
    FIELD(ideal_ring_ms),
    FIELD(slip_ms),
    FIELD(bound_past_last_ms),
    FIELD(predicted_ms),
    FIELD(predicted_past_last_ms),
    FIELD(announced),
    FIELD(estimate_off_ms),
    FIELD(estimate_off_95_ms),
#undef FIELD
};
enum { NUM_DOUBLES = sizeof(doubles) / sizeof(doubles[0]) };

/* So many that what is read is what was written: tables of it are the same, down to how a figure is rounded. */
enum { DIGITS = 17 };

/* JSON has no NaN and no infinity: null stands for them. */
static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *ran_json(const bench_row *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->num_iters; i++)
        json_array_append_new(list, r->iter_ran[i] ? json_string(r->iter_ran[i]->name) : json_null());
    return list;
}

static json_t *row_json(const bench_row *r)
{
    json_t *o = json_pack("{ss ss si si sI sI ss si si}", "op", pat_collective_of(r->op)->name, "alg", r->alg,
                          "procs", r->procs, "ppn", r->ppn, "count", (json_int_t)r->count, "segment_bytes",
                          (json_int_t)r->segment_bytes, "pattern", r->pattern, "iters", r->iters, "repeats",
                          r->repeats);
    for (int i = 0; o && i < NUM_DOUBLES; i++)
        json_object_set_new(o, doubles[i].name, real(*(const double *)((const char *)r + doubles[i].offset)));
    if (o) /* it follows from the interval, and is not read again */
        json_object_set_new(o, "elapsed_sd_ms", real(bench_sd_of_ci95(r->elapsed_ci_ms, r->iters)));
    if (o && r->iter_elapsed_ms) {
        json_t *list = json_array();
        for (int i = 0; i < r->num_iters; i++)
            json_array_append_new(list, real(r->iter_elapsed_ms[i]));
        json_object_set_new(o, "iter_elapsed_ms", list);
    }
    if (o && r->iter_ran)
        json_object_set_new(o, "iter_ran", ran_json(r));
    return o;
}

static json_t *cell_json(const bench_table *table, const bench_cell *c)
{
    json_t *o = json_pack("{ss si si sI sI ss sb sb sb}", "op", pat_collective_of(c->op)->name, "procs",
                          c->procs, "ppn", c->ppn, "count", (json_int_t)c->count, "segment_bytes",
                          (json_int_t)c->segment_bytes, "pattern", c->pattern, "paired", c->paired,
                          "beyond_doubt", c->beyond_doubt, "intervals_apart", c->apart);
    const struct {
        const char *name;
        int row;
    } best[] = {{"best", c->best}, {"best_regular", c->best_regular}, {"best_aware", c->best_aware}};
    for (size_t i = 0; o && i < sizeof(best) / sizeof(best[0]); i++)
        json_object_set_new(o, best[i].name,
                            best[i].row < 0 ? json_null() : json_string(table->rows[best[i].row].alg));
    if (o) {
        json_object_set_new(o, "max_delay_ms", real(c->max_delay_ms));
        json_object_set_new(o, "imbalance_factor", real(c->factor));
        json_object_set_new(o, "speedup", real(c->speedup));
        json_object_set_new(o, "difference_ms", real(c->diff_ms));
        json_object_set_new(o, "difference_ci_ms", real(c->diff_ci_ms));
    }
    return o;
}

char *bench_json_text(const bench_table *table, const bench_settings *settings, bool complete, size_t *length)
{
    json_t *about = json_object(), *rows = json_array(), *list = json_array();
    bench_cell *cells;
    const int num = bench_table_cells(table, &cells);
    for (int i = 0; i < settings->num; i++)
        json_object_set_new(about, settings->keys[i], json_string(settings->values[i]));
    for (int i = 0; i < table->num; i++)
        json_array_append_new(rows, row_json(&table->rows[i]));
    for (int i = 0; i < num; i++)
        json_array_append_new(list, cell_json(table, &cells[i]));
    free(cells);
    json_t *root = json_pack("{si sb ss so so so}", "format", FORMAT, "complete", complete, "lab_check",
                             table->lab_check, "settings", about, "rows", rows, "cells", list);
    char *text = root ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(DIGITS)) : NULL;
    json_decref(root);
    *length = text ? strlen(text) : 0;
    return text;
}

/* Files of older versions do not say it. */
static int take_ran(bench_row *r, json_t *list)
{
    if (!json_is_array(list))
        return 0;
    r->iter_ran = malloc((size_t)r->num_iters * sizeof(*r->iter_ran));
    for (int i = 0; r->iter_ran && i < r->num_iters; i++) {
        const char *name = json_string_value(json_array_get(list, (size_t)i));
        r->iter_ran[i] = name ? pat_algorithm_find(name) : NULL;
    }
    return r->iter_ran ? 0 : ENOMEM;
}

static int take_row(bench_row *r, json_t *o)
{
    const char *alg, *pattern, *op = pat_collective_of(PAT_OP_ALLGATHER)->name; /* where none is said */
    json_int_t count, segment;
    if (json_unpack(o, "{s?s ss si si sI sI ss si s?i}", "op", &op, "alg", &alg, "procs", &r->procs, "ppn",
                    &r->ppn, "count", &count, "segment_bytes", &segment, "pattern", &pattern, "iters",
                    &r->iters, "repeats", &r->repeats) != 0 ||
        strlen(alg) >= sizeof(r->alg) || strlen(pattern) >= sizeof(r->pattern) || r->procs < 1 ||
        (r->op = pat_collective_find(op)) == PAT_NUM_OPS)
        return EINVAL;
    strcpy(r->alg, alg);
    strcpy(r->pattern, pattern);
    r->count = count;
    r->segment_bytes = segment;
    for (int i = 0; i < NUM_DOUBLES; i++) {
        json_t *v = json_object_get(o, doubles[i].name);
        *(double *)((char *)r + doubles[i].offset) = json_is_number(v) ? json_number_value(v) : NAN;
    }
    json_t *list = json_object_get(o, "iter_elapsed_ms");
    if (!json_is_array(list) || json_array_size(list) == 0)
        return 0;
    r->num_iters = (int)json_array_size(list);
    r->iter_elapsed_ms = malloc((size_t)r->num_iters * sizeof(*r->iter_elapsed_ms));
    if (!r->iter_elapsed_ms)
        return ENOMEM;
    for (int i = 0; i < r->num_iters; i++) {
        json_t *v = json_array_get(list, (size_t)i);
        r->iter_elapsed_ms[i] = json_is_number(v) ? json_number_value(v) : NAN;
    }
    return take_ran(r, json_object_get(o, "iter_ran"));
}

int bench_json_parse(bench_table *table, const char *path, FILE *from, char *why, size_t why_size)
{
    json_error_t error;
    json_t *root = json_loadf(from, 0, &error), *rows = json_object_get(root, "rows");
    const char *check = json_string_value(json_object_get(root, "lab_check"));
    int rc = 0;
    if (!root) {
        snprintf(why, why_size, "'%s', line %d: %s", path, error.line, error.text);
        return EINVAL;
    }
    if (json_integer_value(json_object_get(root, "format")) != FORMAT || !json_is_array(rows)) {
        snprintf(why, why_size, "'%s': not a result of pat-bench, or of another version of it", path);
        rc = EINVAL;
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(rows); i++) {
        bench_row *row = bench_table_add(table);
        rc = row ? take_row(row, json_array_get(rows, i)) : ENOMEM;
        if (row) /* of each file its own check counts */
            row->doubtful = check && strcmp(check, "fail") == 0;
        if (rc != 0)
            snprintf(why, why_size, "'%s': row %zu is not one of pat-bench's", path, i + 1);
    }
    json_decref(root);
    return rc;
}

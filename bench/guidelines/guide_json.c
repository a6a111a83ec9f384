/*
 * guide_json.c — see guide_json.h. JSON has no NaN: null stands for it.
 */
#include "guide_json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "guide_need.h"
#include "guide_test.h"
#include "guide_totals.h"
#include "json_text.h"

enum { FORMAT = 2 };

static json_t *real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *verdict_json(const guide_verdict *v)
{
    if (!v->is_judged)
        return json_null();
    return guide_need(json_pack("{sb sb sb so so so so so so si si}", "violation", v->violation, "starred",
                                v->starred, "certain", v->certain, "statistic", real(v->statistic),
                                "critical", real(v->critical), "p", real(v->p), "p_all_tests", real(v->p_all),
                                "effect_size", real(v->delta), "slowdown", real(v->slowdown), "launches",
                                v->launches, "launches_in_violation", v->launches_in_violation));
}

static json_t *cell_json(const guide_cell *c)
{
    json_t *list = json_array();
    for (int i = 0; i < c->num; i++) {
        const guide_series *s = &c->series[i];
        const bool ran = guide_series_ran(s);
        json_array_append_new(
            list, guide_need(json_pack("{so si so so so so}", "algorithm", pat_json_text(s->alg), "n", s->num,
                                       "mean_ms", real(ran ? s->mean_ms : NAN), "median_ms",
                                       real(ran ? s->median_ms : NAN), "not_run",
                                       s->reason[0] ? pat_json_text(s->reason) : json_null(), "verdict",
                                       i > 0 ? verdict_json(&s->verdict) : json_null())));
    }
    return guide_need(json_pack("{so sI si si si so si so}", "collective", pat_json_text(c->mpi), "bytes",
                                (json_int_t)c->bytes, "nodes", c->grid.nodes, "ppn", c->grid.ppn, "ranks",
                                c->grid.ranks, "barrier_ms", real(c->barrier_ms), "missed_starts", c->missed,
                                "series", list));
}

static json_t *totals_json(const guide_totals *t)
{
    return guide_need(json_pack("{si si si si so so si}", "cells", t->cells, "brave", t->brave, "cautious",
                                t->cautious, "certain", t->certain, "worst_slowdown", real(t->worst), "score",
                                real(t->score), "not_run", t->not_run));
}

char *guide_json_text(const guide_results *r, size_t *length)
{
    json_t *cells = json_array(), *collectives = json_object();
    guide_totals t = guide_total(r, NULL, NULL);
    json_t *all = totals_json(&t);
    for (int i = 0; i < r->num; i++) {
        json_array_append_new(cells, cell_json(&r->cells[i]));
        if (guide_results_new(r, i)) {
            t = guide_total(r, r->cells[i].mpi, NULL);
            json_object_set_new(collectives, r->cells[i].mpi, totals_json(&t));
        }
    }
    json_t *root = guide_need(json_pack("{si sb so ss ss ss ss so so so}", "format", FORMAT, "complete",
                                        r->complete, "library", pat_json_text(r->library), "test",
                                        r->test->name, "left", r->left, "arrival", r->arrival, "score_by",
                                        r->score, "totals", all, "collectives", collectives, "cells", cells));
    char *text = guide_need(json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17)));
    json_decref(root);
    *length = strlen(text);
    return text;
}

/* ---- Back -------------------------------------------------------------------------------------------------- */

static double number(json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static bool take_text(char *to, size_t size, const char *text)
{
    return text && snprintf(to, size, "%s", text) < (int)size;
}

static bool take_verdict(guide_verdict *v, json_t *o)
{
    int violation, starred, certain;
    *v = (guide_verdict){.is_judged = json_is_object(o)};
    if (!v->is_judged)
        return true;
    if (json_unpack(o, "{sb sb sb si si}", "violation", &violation, "starred", &starred, "certain", &certain,
                    "launches", &v->launches, "launches_in_violation", &v->launches_in_violation) != 0)
        return false;
    v->violation = violation;
    v->starred = starred;
    v->certain = certain;
    v->statistic = number(o, "statistic");
    v->critical = number(o, "critical");
    v->p = number(o, "p");
    v->p_all = number(o, "p_all_tests");
    v->delta = number(o, "effect_size");
    v->slowdown = number(o, "slowdown");
    return v->slowdown > 0;
}

static bool take_cell(guide_results *r, json_t *o)
{
    const char *mpi;
    json_int_t bytes;
    int missed;
    guide_grid grid;
    json_t *list, *item;
    size_t i;
    if (json_unpack(o, "{ss sI si si si si so}", "collective", &mpi, "bytes", &bytes, "nodes", &grid.nodes,
                    "ppn", &grid.ppn, "ranks", &grid.ranks, "missed_starts", &missed, "series", &list) != 0 ||
        !guide_is_name(mpi) || bytes < 0 || !guide_is_grid(grid) || !json_is_array(list))
        return false;
    guide_cell *c = guide_results_cell(r, mpi, bytes, grid);
    c->barrier_ms = number(o, "barrier_ms");
    c->missed = missed;
    json_array_foreach(list, i, item)
    {
        const char *alg, *reason = json_string_value(json_object_get(item, "not_run"));
        int num;
        if (json_unpack(item, "{ss si}", "algorithm", &alg, "n", &num) != 0 || !guide_is_name(alg) ||
            num < 0 || (i == 0 && strcmp(alg, r->left) != 0))
            return false;
        guide_series *s = guide_cell_series(c, alg);
        s->num = num;
        s->mean_ms = number(item, "mean_ms");
        s->median_ms = number(item, "median_ms");
        snprintf(s->reason, sizeof(s->reason), "%s", reason ? reason : "");
        if (!take_verdict(&s->verdict, json_object_get(item, "verdict")) ||
            (guide_series_ran(s) && !(s->median_ms > 0)) ||
            (s->verdict.is_judged && !(guide_series_ran(s) && guide_series_ran(&c->series[0]))))
            return false;
    }
    return json_array_size(list) > 0;
}

static const guide_test *test_of(const char *name)
{
    for (int i = 0; name && guide_test_number(i); i++)
        if (strcmp(guide_test_number(i)->name, name) == 0)
            return guide_test_number(i);
    return NULL;
}

int guide_json_read(guide_results *r, const char *path, char *why, size_t why_size)
{
    json_error_t error;
    FILE *from = fopen(path, "r");
    if (!from) {
        const int code = errno;
        snprintf(why, why_size, "cannot read '%s': %s", path, strerror(code));
        return code;
    }
    json_t *root = json_loadf(from, 0, &error), *cells = json_object_get(root, "cells"), *item;
    size_t i;
    fclose(from);
    const char *left = json_string_value(json_object_get(root, "left"));
    guide_results_make(r, left ? left : "default");
    if (!root) {
        snprintf(why, why_size, "'%s', line %d: %s", path, error.line, error.text);
        return EINVAL;
    }
    const guide_test *test = test_of(json_string_value(json_object_get(root, "test")));
    bool ok =
        json_integer_value(json_object_get(root, "format")) == FORMAT && json_is_array(cells) && test &&
        left && guide_is_name(left) &&
        take_text(r->library, sizeof(r->library), json_string_value(json_object_get(root, "library"))) &&
        take_text(r->arrival, sizeof(r->arrival), json_string_value(json_object_get(root, "arrival"))) &&
        take_text(r->score, sizeof(r->score), json_string_value(json_object_get(root, "score_by")));
    if (!ok)
        snprintf(why, why_size, "'%s': not a result of pat-guidelines, or of another version of it", path);
    r->test = test;
    r->complete = json_is_true(json_object_get(root, "complete"));
    json_array_foreach(cells, i, item)
    {
        if (!ok)
            break;
        ok = take_cell(r, item);
        if (!ok)
            snprintf(why, why_size, "'%s': cell %zu is not one of pat-guidelines'", path, i + 1);
    }
    json_decref(root);
    if (!ok)
        guide_results_free(r);
    return ok ? 0 : EINVAL;
}

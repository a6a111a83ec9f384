/*
 * bench_measured.c — see bench_measured.h. In the file a point carries its own figures; experiments of fits are a list.
 */
#include "bench_measured.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench_stats.h"

void bench_measured_add(bench_measured *m, const bench_experiment *e)
{
    if (m->num < BENCH_MOST_MEASURED)
        m->of[m->num++] = *e;
}

/* What is kept of the gamma of i + 1 receivers: no less than that of one fewer, no more than as many. */
static double kept_gamma(double gamma, double before, int i)
{
    return fmin(fmax(gamma, before), i + 1);
}

void bench_measured_gammas(bench_measured *m, const double *once, const double *again, double *gammas,
                           int num)
{
    double kept[2] = {1, 1};
    m->num_apart = num;
    for (int i = 0; i < num; i++) {
        m->gammas_apart[i] = fabs(once[i] - again[i]) / ((once[i] + again[i]) / 2);
        kept[0] = kept_gamma(once[i], kept[0], i);
        kept[1] = kept_gamma(again[i], kept[1], i);
        gammas[i] = (kept[0] + kept[1]) / 2;
    }
}

double bench_measured_gammas_apart(const bench_measured *m)
{
    double most = 0;
    for (int i = 0; i < m->num_apart; i++)
        most = fmax(most, m->gammas_apart[i]);
    return most;
}

void bench_measured_forget_fit(bench_measured *m, int alg)
{
    int kept = 0;
    for (int i = 0; i < m->num; i++)
        if (m->of[i].is_point || m->of[i].alg != alg)
            m->of[kept++] = m->of[i];
    m->num = kept;
}

/* alg: negative: all experiments, those of points too. */
static bench_quality quality(const bench_measured *m, int alg)
{
    bench_quality q = {.least_share = -1, .most_share = -1};
    for (int i = 0; i < m->num; i++) {
        const bench_experiment *e = &m->of[i];
        const double share = e->known.closing_share;
        if (alg >= 0 && (e->is_point || e->alg != alg))
            continue;
        q.num++;
        q.dependent += bench_is_dependent(e->known.lag1, e->known.runs);
        q.not_normal += e->known.normal_p < 0.05;
        q.unsure += e->known.unsure;
        if (share >= 0 && (q.least_share < 0 || share < q.least_share))
            q.least_share = share;
        if (share > q.most_share)
            q.most_share = share;
    }
    return q;
}

bench_quality bench_measured_quality(const bench_measured *m, int alg)
{
    return quality(m, alg);
}

bench_quality bench_measured_quality_of_all(const bench_measured *m)
{
    return quality(m, -1);
}

bool bench_measured_is_closing(const bench_experiment *e)
{
    enum { LONG_MESSAGE = 65536 };
    return !e->is_point && e->bytes >= LONG_MESSAGE && e->known.closing_share > 0.5;
}

/* ---- Writing ------------------------------------------------------------------------------------------ */

static bool put_fit(json_t *list, const bench_experiment *e)
{
    json_t *one = json_pack("{ss si sI sf}", "algorithm", pat_algorithm_at(e->alg)->name, "ranks", e->ranks,
                            "bytes", (json_int_t)e->bytes, "us", e->us);
    bool good = one && bench_known_put(one, &e->known);
    if (good && e->closing_bytes >= 0)
        good = json_object_set_new(one, "closing_bytes", json_integer(e->closing_bytes)) == 0;
    return json_array_append_new(list, one) == 0 && good;
}

static const bench_experiment *of_point(const bench_measured *m, const pat_point *p)
{
    for (int i = 0; i < m->num; i++) {
        const bench_experiment *e = &m->of[i];
        if (e->is_point && e->alg == p->alg && e->ranks == p->ranks && e->bytes == p->bytes)
            return e;
    }
    return NULL;
}

static bool put_all(json_t *all, const pat_calibration *c, const bench_measured *m)
{
    json_t *points = json_object_get(all, "points"), *fits = json_array(), *apart = json_array();
    bool good = json_object_set_new(all, "gamma_apart", apart) == 0;
    good = json_object_set_new(all, "experiments", fits) == 0 && good;
    if (m->library.num > 0 && good)
        good = json_object_set_new(all, "library", bench_library_json(&m->library)) == 0;
    for (int i = 0; i < m->num_apart && good; i++)
        good = json_array_append_new(apart, json_real(m->gammas_apart[i])) == 0;
    for (int i = 0; i < m->num && good; i++)
        good = m->of[i].is_point || put_fit(fits, &m->of[i]);
    for (int i = 0; i < c->num_points && good; i++) {
        const bench_experiment *e = of_point(m, &c->points[i]);
        good = !e || bench_known_put(json_array_get(points, (size_t)i), &e->known);
    }
    return good;
}

int bench_measured_write(const pat_calibration *c, const bench_measured *m, const char *path, bool own)
{
    json_t *all = pat_calibration_json(c);
    if (all && put_all(all, c, m))
        return pat_calibration_write_json(all, path, own);
    json_decref(all);
    return ENOMEM;
}

/* ---- Reading ------------------------------------------------------------------------------------------ */

/* As bench_known_get. */
static bool get_one(bench_experiment *e, json_t *from, json_error_t *error)
{
    const char *name;
    json_int_t bytes, closing_bytes = -1;
    if (json_unpack_ex(from, error, 0, "{ss si sI sF s?I}", "algorithm", &name, "ranks", &e->ranks, "bytes",
                       &bytes, "us", &e->us, "closing_bytes", &closing_bytes) != 0 ||
        !bench_known_get(&e->known, from, error))
        return false;
    const pat_algorithm *alg = pat_algorithm_find(name);
    e->alg = alg ? (int)(alg - pat_algorithm_at(0)) : -1;
    e->bytes = bytes;
    e->closing_bytes = closing_bytes;
    return alg && e->ranks >= 2 && bytes >= 1 && e->us > 0;
}

static bool get_list(bench_measured *m, const json_t *list, bool points, json_error_t *error)
{
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
    {
        bench_experiment e = {.is_point = points};
        if (points && !json_object_get(one, "runs")) /* an older version's */
            continue;
        if (!get_one(&e, one, error))
            return false;
        bench_measured_add(m, &e);
    }
    return true;
}

static bool get_apart(bench_measured *m, const json_t *list)
{
    size_t i;
    json_t *one;
    m->num_apart = 0;
    json_array_foreach(list, i, one)
    {
        const double apart = json_number_value(one);
        if (i >= PAT_MAX_GAMMAS || !json_is_number(one) || !(apart >= 0))
            return false;
        m->gammas_apart[m->num_apart++] = apart;
    }
    return true;
}

int bench_measured_read(bench_measured *m, const char *path, char *why, size_t why_size)
{
    json_error_t error = {.text = ""};
    json_t *all = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    bool good = all != NULL;
    m->num = 0;
    if (good)
        good = get_apart(m, json_object_get(all, "gamma_apart")) &&
               get_list(m, json_object_get(all, "experiments"), false, &error) &&
               get_list(m, json_object_get(all, "points"), true, &error) &&
               bench_library_read(&m->library, json_object_get(all, "library"), &error);
    if (!good)
        snprintf(
            why, why_size, "%s: an experiment is wrong: %s", path,
            error.text[0]
                ? error.text
                : "accepted: a known algorithm, 2 ranks or more, times above 0, gammas apart by 0 or more");
    json_decref(all);
    return good ? 0 : EINVAL;
}

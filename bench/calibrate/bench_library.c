/*
 * bench_library.c — see bench_library.h. Between what was measured it goes as a calibration goes: each variant is made the points of one.
 */
#include "bench_library.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"

void bench_library_add(bench_library *l, const bench_library_time *t)
{
    if (l->num < BENCH_MOST_LIBRARY)
        l->of[l->num++] = *t;
}

bool bench_library_has(const bench_library *l, enum pat_op op, int ranks)
{
    for (int i = 0; i < l->num; i++)
        if (l->of[i].variant.op == op && l->of[i].ranks == ranks)
            return true;
    return false;
}

int bench_library_ranks(const bench_library *l)
{
    int most = 0;
    for (int i = 0; i < l->num; i++)
        most = l->of[i].ranks > most ? l->of[i].ranks : most;
    return most;
}

bool bench_variant_same(const bench_variant *a, const bench_variant *b)
{
    return a->op == b->op && a->id == b->id && a->fan == b->fan && a->segment_bytes == b->segment_bytes &&
           !strcmp(a->name, b->name);
}

double bench_library_us(const bench_library *l, const bench_variant *variant, int ranks, int64_t bytes)
{
    const pat_algorithm *native = pat_algorithm_native(variant->op);
    int64_t least = INT64_MAX, most = 0;
    double us = NAN;
    pat_calibration *c = malloc(sizeof(*c)); /* of which only the points are looked at */
    if (!c)
        return us;
    c->num_points = 0;
    for (int i = 0; i < l->num && c->num_points < PAT_MAX_POINTS; i++) {
        const bench_library_time *t = &l->of[i];
        if (!bench_variant_same(&t->variant, variant))
            continue;
        c->points[c->num_points++] =
            (pat_point){(int)(native - pat_algorithm_at(0)), t->ranks, t->bytes, t->us};
        least = t->bytes < least ? t->bytes : least;
        most = t->bytes > most ? t->bytes : most;
    }
    pat_calibration_sort(c);
    if (c->num_points > 0)
        us = pat_calibration_us(c, native, ranks, bytes < least ? least : bytes > most ? most : bytes);
    free(c);
    return us;
}

bench_variant bench_library_best(const bench_library *l, enum pat_op op, int ranks, int64_t bytes)
{
    bench_variant best = {.op = op, .name = "ignore"};
    double least = 0.95 * bench_library_us(l, &best, ranks, bytes);
    for (int i = 0; i < l->num; i++) {
        const bench_variant *v = &l->of[i].variant;
        int first = 0;
        while (!bench_variant_same(&l->of[first].variant, v))
            first++;
        const double us = v->op == op && first == i ? bench_library_us(l, v, ranks, bytes) : NAN;
        if (us < least || (isnan(least) && us >= 0)) {
            least = us;
            best = *v;
        }
    }
    return best;
}

json_t *bench_library_json(const bench_library *l)
{
    json_t *list = json_array();
    bool good = list != NULL;
    for (int i = 0; i < l->num && good; i++) {
        const bench_library_time *t = &l->of[i];
        const bench_variant *v = &t->variant;
        json_t *one =
            json_pack("{ss ss si si si si sI sf}", "collective", pat_collective_of(v->op)->name, "algorithm",
                      v->name, "id", v->id, "fan", v->fan, "segment_bytes", v->segment_bytes, "ranks",
                      t->ranks, "bytes", (json_int_t)t->bytes, "us", t->us);
        good = one && bench_known_put(one, &t->known);
        good = json_array_append_new(list, one) == 0 && good;
    }
    if (!good) {
        json_decref(list);
        return NULL;
    }
    return list;
}

bool bench_library_read(bench_library *l, json_t *list, json_error_t *error)
{
    size_t i;
    json_t *one;
    l->num = 0;
    json_array_foreach(list, i, one)
    {
        const char *collective, *name;
        json_int_t bytes;
        bench_library_time t = {.ranks = 0};
        bench_variant *v = &t.variant;
        if (json_unpack_ex(one, error, 0, "{ss ss si si si si sI sF}", "collective", &collective, "algorithm",
                           &name, "id", &v->id, "fan", &v->fan, "segment_bytes", &v->segment_bytes, "ranks",
                           &t.ranks, "bytes", &bytes, "us", &t.us) != 0 ||
            !bench_known_get(&t.known, one, error))
            return false;
        v->op = pat_collective_find(collective);
        t.bytes = bytes;
        if (v->op == PAT_NUM_OPS || strlen(name) >= sizeof(v->name) || v->id < 0 || v->fan < 0 ||
            v->segment_bytes < 0 || t.ranks < 2 || bytes < 1 || !(t.us > 0))
            return false;
        strcpy(v->name, name);
        bench_library_add(l, &t);
    }
    return true;
}

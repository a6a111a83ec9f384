/*
 * bench_known.c — see bench_known.h.
 */
#include "bench_known.h"

bool bench_known_put(json_t *to, const bench_known *k)
{
    json_t *more = json_pack("{sf sf sf sf si sb}", "mean_us", k->mean_us, "ci95_us", k->ci_us, "lag1",
                             k->lag1, "normal_p", k->normal_p, "runs", k->runs, "not_precise", k->unsure);
    bool good = more && json_object_update(to, more) == 0;
    if (good && k->closing_share >= 0)
        good = json_object_set_new(to, "closing_share", json_real(k->closing_share)) == 0;
    json_decref(more);
    return good;
}

bool bench_known_get(bench_known *k, json_t *from, json_error_t *error)
{
    int unsure;
    *k = (bench_known){.closing_share = -1};
    if (json_unpack_ex(from, error, 0, "{sF sF sF sF si sb s?F}", "mean_us", &k->mean_us, "ci95_us",
                       &k->ci_us, "lag1", &k->lag1, "normal_p", &k->normal_p, "runs", &k->runs, "not_precise",
                       &unsure, "closing_share", &k->closing_share) != 0)
        return false;
    k->unsure = unsure;
    return k->ci_us >= 0 && k->runs >= 1;
}

/*
 * guide_judge.c — see guide_judge.h. Must never compare what has not run.
 */
#include "guide_judge.h"

#include <math.h>
#include <string.h>

#include "guide_need.h"
#include "guide_test.h"

static const double level = 0.05;

/* The samples of one launch; n is 0 where it has none. */
static guide_sample of_launch(const guide_series *s, int launch)
{
    for (int i = 0; i < s->num_launches; i++)
        if (s->launch[i] == launch) {
            const int begin = i > 0 ? s->end[i - 1] : 0;
            return (guide_sample){s->ms + begin, s->end[i] - begin};
        }
    return (guide_sample){NULL, 0};
}

static bool violates(const guide_test *test, guide_sample left, guide_sample right)
{
    return guide_is_violation(test->statistic(left, right), guide_critical(test->freedom(left, right)));
}

/*
 * By the turns that both sides have taken, launch after launch: a side whose time is up has none of the later ones, and what the other one does then, call after
 * call, is not like what it does in turns.
 */
static void judge_samples(const guide_test *test, const guide_series *l, const guide_series *r,
                          guide_verdict *v)
{
    double *x = guide_need_array((size_t)r->num, sizeof(*x)),
           *y = guide_need_array((size_t)r->num, sizeof(*y));
    guide_sample left = {x, 0}, right = {y, 0};
    for (int i = 0; i < r->num_launches; i++) {
        guide_sample a = of_launch(l, r->launch[i]), b = of_launch(r, r->launch[i]);
        a.n = b.n = a.n < b.n ? a.n : b.n;
        if (a.n == 0)
            continue;
        v->launches++;
        v->launches_in_violation += violates(test, a, b);
        memcpy(x + left.n, a.x, (size_t)a.n * sizeof(*x));
        memcpy(y + right.n, b.x, (size_t)b.n * sizeof(*y));
        left.n = right.n += a.n;
    }
    if (left.n > 0) {
        v->statistic = test->statistic(left, right);
        v->critical = guide_critical(test->freedom(left, right));
        v->violation = guide_is_violation(v->statistic, v->critical);
        v->p = test->p(left, right);
        v->delta = guide_cliffs_delta(left, right);
    }
    free(x);
    free(y);
}

static void judge(const guide_test *test, const guide_cell *c, guide_series *r)
{
    const guide_series *l = &c->series[0];
    guide_verdict *v = &r->verdict;
    *v = (guide_verdict){.statistic = NAN, .critical = NAN, .p = NAN, .p_all = NAN, .delta = NAN};
    v->is_judged = guide_series_ran(l) && guide_series_ran(r);
    if (!v->is_judged)
        return;
    v->slowdown = l->median_ms / r->median_ms;
    if (l->ms && r->ms)
        judge_samples(test, l, r, v);
    else
        v->violation = r->median_ms < l->median_ms;
    v->starred = v->violation && l->median_ms - r->median_ms < c->barrier_ms;
}

void guide_judge(guide_results *r)
{
    int num = 0;
    guide_results_settle(r);
    for (int i = 0; i < r->num; i++)
        num += r->cells[i].num;
    double *p = guide_need_array((size_t)num, sizeof(*p));
    num = 0;
    for (int i = 0; i < r->num; i++)
        for (int k = 1; k < r->cells[i].num; k++) {
            judge(r->test, &r->cells[i], &r->cells[i].series[k]);
            p[num++] = r->cells[i].series[k].verdict.p;
        }
    guide_holm(p, num);
    num = 0;
    for (int i = 0; i < r->num; i++)
        for (int k = 1; k < r->cells[i].num; k++) {
            guide_verdict *v = &r->cells[i].series[k].verdict;
            v->p_all = p[num++];
            v->certain = v->violation && !v->starred && v->launches >= GUIDE_CERTAIN_LAUNCHES &&
                         v->launches_in_violation == v->launches && v->p_all < level;
        }
    free(p);
}

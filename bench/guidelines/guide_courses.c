/*
 * guide_courses.c — see guide_courses.h.
 */
#include "guide_courses.h"

#include <string.h>

#include "guide_need.h"

static int by_ranks(const void *va, const void *vb)
{
    const guide_view *const *a = va, *const *b = vb;
    const int x = (*a)->grid.ranks, y = (*b)->grid.ranks;
    return x != y ? (x > y) - (x < y) : (*a > *b) - (*a < *b);
}

/* Do they differ in the number of ranks alone? */
static bool are_of_one(const guide_view *a, const guide_view *b)
{
    return a->group == b->group && a->r->test == b->r->test && strcmp(a->kind, b->kind) == 0;
}

static void add(guide_courses *c, const guide_view *view, int most)
{
    int i = 0;
    for (; i < c->num; i++) {
        const guide_view *last = c->courses[i].views[c->courses[i].num - 1];
        if (are_of_one(last, view) && last->grid.ranks < view->grid.ranks)
            break;
    }
    guide_course *to = &c->courses[i];
    if (i == c->num) {
        to->views = guide_need_array((size_t)most, sizeof(*to->views));
        c->num++;
    }
    to->views[to->num++] = view;
    c->is_sweep = c->is_sweep || to->num > 1;
}

void guide_courses_make(guide_courses *c, const guide_views *v)
{
    const guide_view **sorted = guide_need_array((size_t)v->num, sizeof(*sorted));
    *c = (guide_courses){.courses = guide_need_array((size_t)v->num, sizeof(*c->courses))};
    for (int i = 0; i < v->num; i++)
        sorted[i] = &v->views[i];
    qsort(sorted, (size_t)v->num, sizeof(*sorted), by_ranks);
    for (int i = 0; i < v->num; i++)
        add(c, sorted[i], v->num);
    free(sorted);
}

void guide_courses_free(guide_courses *c)
{
    for (int i = 0; i < c->num; i++)
        free(c->courses[i].views);
    free(c->courses);
    *c = (guide_courses){.num = 0};
}

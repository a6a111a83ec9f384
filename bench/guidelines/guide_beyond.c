/*
 * guide_beyond.c — see guide_beyond.h. Must never hold samples of one grid against those of another.
 */
#include "guide_beyond.h"

#include <stdio.h>
#include <string.h>

#include "guide_judge.h"

static bool is_beside(const guide_cell *a, const guide_cell *b)
{
    return strcmp(a->mpi, b->mpi) == 0 && guide_same_grid(a->grid, b->grid);
}

/* The left side's samples at one size, each `times` as long, as a side of the cell of another one. */
static void add(guide_results *to, const guide_cell *of, const guide_cell *from, const char *name,
                int64_t times)
{
    const guide_series *s = &from->series[0];
    guide_cell *c = guide_results_cell(to, of->mpi, of->bytes, of->grid);
    guide_series *side = guide_cell_series(c, name);
    c->barrier_ms = of->barrier_ms;
    for (int l = 0; l < s->num_launches; l++)
        for (int i = l > 0 ? s->end[l - 1] : 0; i < s->end[l]; i++)
            guide_series_add(side, s->launch[l], (double)times * s->ms[i]);
}

/* The next larger size at which the left side was measured; NULL: there is none. */
static const guide_cell *next_size(const guide_results *r, const guide_cell *c)
{
    const guide_cell *next = NULL;
    for (int i = 0; i < r->num; i++) {
        const guide_cell *other = &r->cells[i];
        if (is_beside(c, other) && guide_series_ran(&other->series[0]) && other->bytes > c->bytes &&
            (!next || other->bytes < next->bytes))
            next = other;
    }
    return next;
}

void guide_beyond(const guide_results *r, guide_results *to)
{
    guide_results_make(to, r->left);
    to->test = r->test;
    to->complete = r->complete;
    memcpy(to->library, r->library, sizeof(to->library));
    memcpy(to->arrival, r->arrival, sizeof(to->arrival));
    memcpy(to->score, r->score, sizeof(to->score));
    for (int i = 0; i < r->num; i++) {
        const guide_cell *c = &r->cells[i], *next = next_size(r, c);
        char name[GUIDE_NAME];
        if (!guide_series_ran(&c->series[0]) || !c->series[0].ms)
            continue;
        add(to, c, c, r->left, 1);
        if (next) {
            snprintf(name, sizeof(name), "at_%lld_bytes", (long long)next->bytes);
            add(to, c, next, name, 1);
        }
        for (int k = 0; k < r->num; k++) {
            const guide_cell *part = &r->cells[k];
            if (!is_beside(c, part) || !guide_series_ran(&part->series[0]) || part->bytes < 1 ||
                part->bytes >= c->bytes || c->bytes % part->bytes != 0)
                continue; /* no number of calls of nothing is a call of something */
            snprintf(name, sizeof(name), "%lld_calls_of_%lld_bytes", (long long)(c->bytes / part->bytes),
                     (long long)part->bytes);
            add(to, c, part, name, c->bytes / part->bytes);
        }
    }
    guide_judge(to);
}

/*
 * guide_results.c — see guide_results.h. Must never mix the samples of two grids, sizes or algorithms.
 */
#include "guide_results.h"

#include <string.h>

#include "guide_need.h"
#include "guide_test.h"

bool guide_is_name(const char *text)
{
    static const char accepted[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    const size_t length = strlen(text);
    return length > 0 && length < GUIDE_NAME && strspn(text, accepted) == length;
}

bool guide_is_grid(guide_grid g)
{
    return g.nodes >= 1 && g.ppn >= 1 && g.ranks >= (int64_t)g.nodes + g.ppn - 1 &&
           g.ranks <= (int64_t)g.nodes * g.ppn;
}

bool guide_same_grid(guide_grid a, guide_grid b)
{
    return a.nodes == b.nodes && a.ppn == b.ppn && a.ranks == b.ranks;
}

const char *guide_grid_text(char to[GUIDE_GRID_TEXT], guide_grid g)
{
    const int length = snprintf(to, GUIDE_GRID_TEXT, "%dx%d", g.nodes, g.ppn);
    if (g.ranks != (int64_t)g.nodes * g.ppn)
        snprintf(to + length, GUIDE_GRID_TEXT - (size_t)length, "(%d)", g.ranks);
    return to;
}

void guide_results_make(guide_results *r, const char *left)
{
    *r = (guide_results){.test = guide_test_number(0), .arrival = "none", .score = "local"};
    snprintf(r->left, sizeof(r->left), "%s", left);
}

void guide_results_free(guide_results *r)
{
    for (int i = 0; i < r->num; i++) {
        for (int k = 0; k < r->cells[i].num; k++)
            free(r->cells[i].series[k].ms);
        free(r->cells[i].series);
    }
    free(r->cells);
    r->cells = NULL;
    r->num = 0;
}

guide_cell *guide_results_cell(guide_results *r, const char *mpi, int64_t bytes, guide_grid grid)
{
    for (int i = 0; i < r->num; i++) {
        guide_cell *c = &r->cells[i];
        if (c->bytes == bytes && guide_same_grid(c->grid, grid) && strcmp(c->mpi, mpi) == 0)
            return c;
    }
    r->cells = guide_need(realloc(r->cells, (size_t)(r->num + 1) * sizeof(*r->cells)));
    guide_cell *c = &r->cells[r->num++];
    *c = (guide_cell){.bytes = bytes, .grid = grid};
    snprintf(c->mpi, sizeof(c->mpi), "%s", mpi);
    guide_cell_series(c, r->left);
    return c;
}

const guide_series *guide_cell_find(const guide_cell *c, const char *alg)
{
    for (int i = 0; i < c->num; i++)
        if (strcmp(c->series[i].alg, alg) == 0)
            return &c->series[i];
    return NULL;
}

guide_series *guide_cell_series(guide_cell *c, const char *alg)
{
    const guide_series *found = guide_cell_find(c, alg);
    if (found)
        return &c->series[found - c->series];
    c->series = guide_need(realloc(c->series, (size_t)(c->num + 1) * sizeof(*c->series)));
    guide_series *s = &c->series[c->num++];
    *s = (guide_series){.num = 0};
    snprintf(s->alg, sizeof(s->alg), "%s", alg);
    return s;
}

void guide_series_add(guide_series *s, int launch, double ms)
{
    if (s->num == s->room) {
        s->room = s->room > 0 ? 2 * s->room : 64;
        s->ms = guide_need(realloc(s->ms, (size_t)s->room * sizeof(*s->ms)));
    }
    s->ms[s->num++] = ms;
    if (s->num_launches == 0 ||
        (s->launch[s->num_launches - 1] != launch && s->num_launches < GUIDE_LAUNCHES))
        s->launch[s->num_launches++] = launch;
    s->end[s->num_launches - 1] = s->num;
}

void guide_results_settle(guide_results *r)
{
    for (int i = 0; i < r->num; i++)
        for (int k = 0; k < r->cells[i].num; k++) {
            guide_series *s = &r->cells[i].series[k];
            if (!s->ms)
                continue;
            s->mean_ms = guide_mean((guide_sample){s->ms, s->num});
            s->median_ms = guide_median((guide_sample){s->ms, s->num});
        }
}

const guide_series *guide_cell_worst(const guide_cell *c)
{
    const guide_series *worst = NULL;
    for (int i = 1; i < c->num; i++)
        if (c->series[i].verdict.violation && (!worst || c->series[i].median_ms < worst->median_ms))
            worst = &c->series[i];
    return worst;
}

bool guide_cell_is_judged(const guide_cell *c)
{
    for (int i = 1; i < c->num; i++)
        if (c->series[i].verdict.is_judged)
            return true;
    return false;
}

const char *guide_results_new(const guide_results *r, int i)
{
    for (int k = 0; k < i; k++)
        if (strcmp(r->cells[k].mpi, r->cells[i].mpi) == 0)
            return NULL;
    return r->cells[i].mpi;
}

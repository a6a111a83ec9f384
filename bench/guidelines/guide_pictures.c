/*
 * guide_pictures.c — see guide_pictures.h. Must never draw a cell that was not judged.
 */
#include "guide_pictures.h"

#include <stdio.h>
#include <string.h>

#include "bench_draw.h"
#include "guide_courses.h"
#include "guide_need.h"
#include "guide_totals.h"
#include "tool_options.h"

typedef struct album {
    const guide_views *v;
    const guide_place *places;
    int num;
} album;

/* What a place is called along an axis. */
static const char *size_text(char to[32], int64_t bytes)
{
    return tool_bytes_text(to, 32, bytes);
}

/* The sizes of all collectives, ascending, each once. For the caller to free. */
static int64_t *all_sizes(const album *a, int *num)
{
    int64_t *sizes = guide_need_array((size_t)a->num, sizeof(*sizes));
    *num = 0;
    for (int i = 0; i < a->num; i++) {
        int at = 0;
        while (at < *num && sizes[at] < a->places[i].bytes)
            at++;
        if (at < *num && sizes[at] == a->places[i].bytes)
            continue;
        memmove(&sizes[at + 1], &sizes[at], (size_t)(*num - at) * sizeof(*sizes));
        sizes[at] = a->places[i].bytes;
        (*num)++;
    }
    return sizes;
}

static int place_of(const int64_t *sizes, int64_t bytes)
{
    int at = 0;
    while (sizes[at] != bytes)
        at++;
    return at;
}

/* Collective up, size across. */
static void heat(bench_sheets *s, const album *a, const guide_view *w, int number)
{
    int num, up = -1, judged = 0;
    char name[32], size[32];
    int64_t *sizes = all_sizes(a, &num);
    if (bench_sheet_begin(s)) {
        fputs("view,across,up,collective,size,slowdown,violated,starred,certain,mockup\n", s->to);
        for (int i = 0; i < a->num; i++) {
            const guide_cell *c = guide_view_cell(w, a->places[i].mpi, a->places[i].bytes);
            const guide_series *worst = c ? guide_cell_worst(c) : NULL;
            up += i == 0 || strcmp(a->places[i - 1].mpi, a->places[i].mpi) != 0;
            if (!c)
                continue;
            judged++;
            fprintf(s->to, "%s,%d,%d,%s,%s,%.6f,%d,%d,%d,%s\n", w->label, place_of(sizes, c->bytes), up,
                    c->mpi, size_text(size, c->bytes), worst ? worst->verdict.slowdown : 1, worst != NULL,
                    worst && worst->verdict.starred, worst && worst->verdict.certain,
                    worst ? worst->alg : "");
        }
        snprintf(name, sizeof(name), "heat-%d", number);
        bench_sheet_end(s, "guide-heat.gp", name, judged > 0);
    }
    free(sizes);
}

/* The largest slow-down of all collectives at each size, a row of bars for each view. */
static void bars(bench_sheets *s, const album *a)
{
    int num, judged = 0;
    char size[32];
    int64_t *sizes = all_sizes(a, &num);
    if (bench_sheet_begin(s)) {
        fputs("view,number,views,across,size,slowdown,collective\n", s->to);
        for (int k = 0; k < a->v->num; k++)
            for (int i = 0; i < num; i++) {
                const guide_series *most = NULL;
                const char *mpi = "";
                bool any = false;
                for (int p = 0; p < a->num; p++) {
                    const guide_cell *c = a->places[p].bytes == sizes[i]
                                              ? guide_view_cell(&a->v->views[k], a->places[p].mpi, sizes[i])
                                              : NULL;
                    const guide_series *worst = c ? guide_cell_worst(c) : NULL;
                    any = any || c;
                    if (worst && (!most || worst->verdict.slowdown > most->verdict.slowdown)) {
                        most = worst;
                        mpi = a->places[p].mpi;
                    }
                }
                if (!any)
                    continue;
                judged++;
                fprintf(s->to, "%s,%d,%d,%d,%s,%.6f,%s\n", a->v->views[k].label, k, a->v->num, i,
                        size_text(size, sizes[i]), most ? most->verdict.slowdown : 1, mpi);
            }
        bench_sheet_end(s, "guide-bars.gp", "worst-by-size", judged > 0);
    }
    free(sizes);
}

/* The left side over the fastest right side by size, a line for each view; significant or not. */
static void lines(bench_sheets *s, const album *a, const char *mpi)
{
    int points = 0;
    char name[GUIDE_NAME + 16], size[32];
    if (!bench_sheet_begin(s))
        return;
    fputs("view,number,collective,bytes,size,ratio,violated\n", s->to);
    for (int k = 0; k < a->v->num; k++)
        for (int i = 0; i < a->num; i++) {
            const guide_cell *c = strcmp(a->places[i].mpi, mpi) == 0
                                      ? guide_view_cell(&a->v->views[k], mpi, a->places[i].bytes)
                                      : NULL;
            if (!c)
                continue;
            points++;
            fprintf(s->to, "%s,%d,%s,%lld,%s,%.6f,%d\n", a->v->views[k].label, k, mpi, (long long)c->bytes,
                    size_text(size, c->bytes), guide_cell_ratio(c), guide_cell_worst(c) != NULL);
        }
    snprintf(name, sizeof(name), "ratio-%s", mpi);
    bench_sheet_end(s, "guide-lines.gp", name, points > 1);
}

/* What its lines are called beside their size: nothing where it is alone, and no two the same. */
static void name_course(char to[GUIDE_LABEL + 32], const guide_views *v, const guide_courses *all, int course)
{
    const guide_view *first = all->courses[course].views[0];
    bool is_twice = false;
    for (int k = 0; k < all->num; k++)
        is_twice = is_twice || (k != course && strcmp(all->courses[k].views[0]->kind, first->kind) == 0);
    if (all->num == 1)
        *to = '\0';
    else if (is_twice)
        snprintf(to, GUIDE_LABEL + 32, " %s with view %d", first->kind, (int)(first - v->views) + 1);
    else
        snprintf(to, GUIDE_LABEL + 32, " %s", first->kind);
}

/* The same by the number of ranks, a line for each size of each course. */
static void courses(bench_sheets *s, const album *a, const guide_courses *all, const char *mpi)
{
    int number = 0, most = 0;
    char name[GUIDE_NAME + 16], size[32], called[GUIDE_LABEL + 32];
    if (!bench_sheet_begin(s))
        return;
    fputs("line,number,collective,bytes,size,ranks,ratio,violated\n", s->to);
    for (int k = 0; k < all->num; k++) {
        name_course(called, a->v, all, k);
        for (int i = 0; i < a->num; i++) {
            int points = 0;
            for (int w = 0; w < all->courses[k].num && strcmp(a->places[i].mpi, mpi) == 0; w++) {
                const guide_view *view = all->courses[k].views[w];
                const guide_cell *c = guide_view_cell(view, mpi, a->places[i].bytes);
                if (!c)
                    continue;
                points++;
                fprintf(s->to, "%s%s,%d,%s,%lld,%s,%d,%.6f,%d\n", size_text(size, c->bytes), called, number,
                        mpi, (long long)c->bytes, size, c->grid.ranks, guide_cell_ratio(c),
                        guide_cell_worst(c) != NULL);
            }
            number += points > 0;
            most = points > most ? points : most;
        }
    }
    snprintf(name, sizeof(name), "ranks-%s", mpi);
    bench_sheet_end(s, "guide-ranks.gp", name, most > 1);
}

static void totals(bench_sheets *s, const album *a)
{
    if (!bench_sheet_begin(s))
        return;
    fputs("view,number,cells,brave,cautious,certain,score\n", s->to);
    for (int k = 0; k < a->v->num; k++) {
        const guide_view *w = &a->v->views[k];
        const guide_totals t = guide_total(w->r, NULL, &w->grid);
        if (t.cells > 0)
            fprintf(s->to, "%s,%d,%d,%d,%d,%d,%.4f\n", w->label, k, t.cells, t.brave, t.cautious, t.certain,
                    t.score);
    }
    bench_sheet_end(s, "guide-totals.gp", "totals", a->num > 0);
}

static void fill(bench_sheets *s, const void *with)
{
    const album *a = with;
    for (int k = 0; k < a->v->num && s->num >= 0; k++)
        heat(s, a, &a->v->views[k], k + 1);
    if (s->num >= 0)
        bars(s, a);
    guide_courses all;
    guide_courses_make(&all, a->v);
    for (int i = 0; i < a->num && s->num >= 0; i++)
        if (i == 0 || strcmp(a->places[i - 1].mpi, a->places[i].mpi) != 0) {
            lines(s, a, a->places[i].mpi);
            if (all.is_sweep && s->num >= 0)
                courses(s, a, &all, a->places[i].mpi);
        }
    guide_courses_free(&all);
    if (s->num >= 0)
        totals(s, a);
}

int guide_pictures_make(const guide_views *v, const char *dir, char *why, size_t why_size)
{
    album a = {.v = v};
    guide_place *places = guide_views_places(v, &a.num);
    a.places = places;
    const int num = bench_draw(dir, fill, &a, why, why_size);
    free(places);
    return num;
}

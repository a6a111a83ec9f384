/*
 * guide_views.c — see guide_views.h.
 */
#include "guide_views.h"

#include <errno.h>
#include <string.h>

#include "guide_json.h"
#include "guide_need.h"

/* As much of the text as the label has room for: a file says how long it is. */
static void add_to(char label[GUIDE_LABEL], const char *text)
{
    const size_t length = strlen(label);
    snprintf(label + length, GUIDE_LABEL - length, "%s%s", length > 0 && *text ? " " : "", text);
}

static void add_way(char label[GUIDE_LABEL], const guide_results *r, bool with_digest)
{
    char arrival[GUIDE_NAME];
    snprintf(arrival, sizeof(arrival), "%s", r->arrival);
    char *digest = strncmp(arrival, "trace:", 6) == 0 ? strrchr(arrival, '+') : NULL;
    if (digest && !with_digest)
        *digest = '\0';
    if (strcmp(r->left, "default") != 0)
        add_to(label, r->left);
    if (strcmp(r->arrival, "none") != 0) {
        add_to(label, arrival);
        add_to(label, r->score);
    }
}

static void name_view(guide_view *v)
{
    const guide_results *r = v->r;
    char grid[GUIDE_GRID_TEXT];
    add_to(v->label, r->library);
    add_to(v->label, guide_grid_text(grid, v->grid));
    add_way(v->label, r, true);
    if (!r->complete)
        add_to(v->label, "(cut short)");
    add_to(v->kind, r->library);
    add_way(v->kind, r, false);
}

/* It becomes a word of a CSV and of gnuplot's, so it has letters, digits and a few signs. */
static void make_plain(char *label)
{
    for (char *c = label; *c; c++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .:/()+_-", *c))
            *c = '_';
}

/* Two campaigns of one kind are told apart by where they are. */
static void tell_apart(guide_views *v, const char *const *dirs)
{
    for (int i = 0; i < v->num; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(v->views[i].label, v->views[k].label) == 0)
                add_to(v->views[i].label, dirs[v->views[i].r - v->results]);
}

/* How long the name of the directory above is where this one holds a part of a sweep, as in "sweep/ranks-4"; negative: it holds none. */
static int sweep_length(const char *dir)
{
    static const char part[] = "ranks-";
    size_t end = strlen(dir), begin;
    while (end > 0 && dir[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && dir[begin - 1] != '/';)
        begin--;
    const size_t name = begin + strlen(part);
    if (name >= end || strncmp(dir + begin, part, strlen(part)) != 0 ||
        strspn(dir + name, "0123456789") != end - name)
        return -1;
    while (begin > 0 && dir[begin - 1] == '/')
        begin--;
    return (int)begin;
}

/* May their numbers of ranks make one course? */
static bool are_grouped(const guide_views *v, const char *const *dirs, const guide_view *a,
                        const guide_view *b)
{
    const char *in = dirs[a->r - v->results], *other = dirs[b->r - v->results];
    const int length = sweep_length(in);
    if (length != sweep_length(other))
        return false;
    if (length >= 0)
        return strncmp(in, other, (size_t)length) == 0;
    return a->grid.nodes == 1 || b->grid.nodes == 1 ? a->grid.nodes == b->grid.nodes
                                                    : a->grid.ppn == b->grid.ppn;
}

static void group(guide_views *v, const char *const *dirs)
{
    for (int i = 0; i < v->num; i++) {
        int k = 0;
        while (k < i && !are_grouped(v, dirs, &v->views[i], &v->views[k]))
            k++;
        v->views[i].group = k < i ? v->views[k].group : i;
    }
}

static bool has_view(const guide_views *v, const guide_results *r, const guide_cell *c)
{
    for (int i = 0; i < v->num; i++)
        if (v->views[i].r == r && guide_same_grid(v->views[i].grid, c->grid))
            return true;
    return false;
}

int guide_views_read(guide_views *v, const char *const *dirs, int num, char *why, size_t why_size)
{
    *v = (guide_views){.results = guide_need_array((size_t)num, sizeof(*v->results))};
    for (int i = 0; i < num; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/guidelines.json", dirs[i]) < 0)
            path = NULL;
        const int error = guide_json_read(&v->results[i], guide_need(path), why, why_size);
        free(path);
        if (error) {
            guide_views_free(v);
            return error;
        }
        v->num_results++;
    }
    for (int i = 0; i < num; i++)
        for (int k = 0; k < v->results[i].num; k++) {
            const guide_cell *c = &v->results[i].cells[k];
            if (has_view(v, &v->results[i], c))
                continue;
            v->views = guide_need(realloc(v->views, (size_t)(v->num + 1) * sizeof(*v->views)));
            v->views[v->num] = (guide_view){.r = &v->results[i], .grid = c->grid};
            name_view(&v->views[v->num++]);
        }
    tell_apart(v, dirs);
    group(v, dirs);
    for (int i = 0; i < v->num; i++) {
        make_plain(v->views[i].label);
        make_plain(v->views[i].kind);
    }
    return 0;
}

void guide_views_free(guide_views *v)
{
    for (int i = 0; i < v->num_results; i++)
        guide_results_free(&v->results[i]);
    free(v->results);
    free(v->views);
    *v = (guide_views){.num = 0};
}

const guide_cell *guide_view_cell(const guide_view *view, const char *mpi, int64_t bytes)
{
    for (int i = 0; i < view->r->num; i++) {
        const guide_cell *c = &view->r->cells[i];
        if (c->bytes == bytes && guide_same_grid(c->grid, view->grid) && strcmp(c->mpi, mpi) == 0)
            return guide_cell_is_judged(c) ? c : NULL;
    }
    return NULL;
}

static int place_of(const guide_place *places, int num, const char *mpi)
{
    int i = 0;
    while (i < num && strcmp(places[i].mpi, mpi) != 0)
        i++;
    return i;
}

guide_place *guide_views_places(const guide_views *v, int *num)
{
    guide_place *places = NULL;
    *num = 0;
    for (int i = 0; i < v->num_results; i++)
        for (int k = 0; k < v->results[i].num; k++) {
            const guide_cell *c = &v->results[i].cells[k];
            int at = place_of(places, *num, c->mpi);
            while (at < *num && strcmp(places[at].mpi, c->mpi) == 0 && places[at].bytes < c->bytes)
                at++;
            if (at < *num && strcmp(places[at].mpi, c->mpi) == 0 && places[at].bytes == c->bytes)
                continue;
            places = guide_need(realloc(places, (size_t)(*num + 1) * sizeof(*places)));
            memmove(&places[at + 1], &places[at], (size_t)(*num - at) * sizeof(*places));
            places[at] = (guide_place){c->mpi, c->bytes};
            (*num)++;
        }
    return places;
}

double guide_cell_ratio(const guide_cell *c)
{
    double ratio = 0;
    for (int i = 1; i < c->num; i++)
        if (c->series[i].verdict.is_judged && c->series[i].verdict.slowdown > ratio)
            ratio = c->series[i].verdict.slowdown;
    return ratio;
}

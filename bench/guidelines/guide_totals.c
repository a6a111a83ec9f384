/*
 * guide_totals.c — see guide_totals.h. Must never count a cell that was not judged as one that keeps its guidelines.
 */
#include "guide_totals.h"

#include <math.h>
#include <string.h>

#include "guide_need.h"
#include "guide_test.h"

enum { TOP = 10 };

/* Is there a certain one among the right sides? Then the fastest violated one may be another. */
static bool has_certain(const guide_cell *c)
{
    for (int i = 1; i < c->num; i++)
        if (c->series[i].verdict.certain)
            return true;
    return false;
}

guide_totals guide_total(const guide_results *r, const char *mpi, const guide_grid *grid)
{
    guide_totals t = {.worst = 1};
    double logs = 0;
    for (int i = 0; i < r->num; i++) {
        const guide_cell *c = &r->cells[i];
        if ((mpi && strcmp(c->mpi, mpi) != 0) || (grid && !guide_same_grid(c->grid, *grid)))
            continue;
        for (int k = 1; k < c->num; k++)
            t.not_run += c->series[k].reason[0] != '\0';
        if (!guide_cell_is_judged(c))
            continue;
        const guide_series *worst = guide_cell_worst(c);
        t.cells++;
        t.brave += worst != NULL;
        t.certain += has_certain(c);
        if (!worst)
            continue;
        t.worst = fmax(t.worst, worst->verdict.slowdown);
        if (!worst->verdict.starred) {
            t.cautious++;
            logs += log(fmin(1, worst->median_ms / c->series[0].median_ms));
        }
    }
    t.score = t.cells > 0 ? 100 * exp(logs / t.cells) : NAN;
    return t;
}

static void row(guide_sheet *sheet, const char *what, const guide_totals *t)
{
    if (t->cells > 0)
        guide_sheet_row(sheet, "%s,%d,%d,%d,%d,%.4f,%.2f,%d", what, t->cells, t->brave, t->cautious,
                        t->certain, t->worst, t->score, t->not_run);
    else
        guide_sheet_row(sheet, "%s,0,0,0,0,,,%d", what, t->not_run);
}

/* Has no earlier cell this one's grid? */
static bool is_new_grid(const guide_results *r, int i)
{
    for (int k = 0; k < i; k++)
        if (guide_same_grid(r->cells[k].grid, r->cells[i].grid))
            return false;
    return true;
}

void guide_totals_sheet(guide_sheet *sheet, const guide_results *r)
{
    guide_totals t;
    guide_sheet_make(sheet, "of,cells,brave,cautious,certain,worst,score,not_run");
    for (int i = 0; i < r->num; i++)
        if (is_new_grid(r, i)) {
            char grid[GUIDE_GRID_TEXT];
            t = guide_total(r, NULL, &r->cells[i].grid);
            row(sheet, guide_grid_text(grid, r->cells[i].grid), &t);
        }
    for (int i = 0; i < r->num; i++)
        if (guide_results_new(r, i)) {
            t = guide_total(r, r->cells[i].mpi, NULL);
            row(sheet, r->cells[i].mpi, &t);
        }
    t = guide_total(r, NULL, NULL);
    row(sheet, "all", &t);
}

static int by_slowdown(const void *va, const void *vb)
{
    const guide_cell *const *a = va, *const *b = vb;
    const double x = guide_cell_worst(*a)->verdict.slowdown, y = guide_cell_worst(*b)->verdict.slowdown;
    return x != y ? (x < y) - (x > y) : (*a > *b) - (*a < *b);
}

void guide_top_sheet(guide_sheet *sheet, const guide_results *r, int most)
{
    const guide_cell **cells = guide_need_array((size_t)r->num, sizeof(const guide_cell *));
    int num = 0;
    for (int i = 0; i < r->num; i++)
        if (guide_cell_worst(&r->cells[i]))
            cells[num++] = &r->cells[i];
    qsort(cells, (size_t)num, sizeof(*cells), by_slowdown);
    guide_sheet_make(sheet, "collective,count,N,ppn,default_median,mockup,mockup_median,slowdown");
    for (int i = 0; i < num && i < most; i++) {
        const guide_series *worst = guide_cell_worst(cells[i]);
        guide_sheet_row(sheet, "%s,%lld,%d,%d,%.6f,%s%s,%.6f,%.4f", cells[i]->mpi, (long long)cells[i]->bytes,
                        cells[i]->grid.nodes, cells[i]->grid.ppn, cells[i]->series[0].median_ms, worst->alg,
                        worst->verdict.starred ? "*" : "", worst->median_ms, worst->verdict.slowdown);
    }
    free(cells);
}

/* sign 1: the best, -1: the worst. */
static const char *extreme(const guide_results *r, int sign)
{
    const char *found = NULL;
    guide_totals of_it = {.cells = 0};
    for (int i = 0; i < r->num; i++) {
        const char *mpi = guide_results_new(r, i);
        const guide_totals t = guide_total(r, mpi, NULL);
        if (!mpi || t.cells == 0)
            continue;
        const double by_score = sign * (t.score - of_it.score), by_count = sign * (of_it.brave - t.brave);
        if (!found || by_score > 0 || (by_score == 0 && by_count > 0)) {
            found = mpi;
            of_it = t;
        }
    }
    return found;
}

const char *guide_best(const guide_results *r)
{
    return extreme(r, 1);
}

const char *guide_worst(const guide_results *r)
{
    return extreme(r, -1);
}

void guide_totals_print(const guide_results *r, FILE *to)
{
    guide_sheet sheet;
    fprintf(to, "# %s%s%s, left side %s, arrival %s, scored by %s%s\n", r->library, r->library[0] ? ", " : "",
            r->test->title, r->left, r->arrival, r->score, r->complete ? "" : "; the campaign was cut short");
    guide_totals_sheet(&sheet, r);
    guide_sheet_print(&sheet, false, to);
    guide_sheet_free(&sheet);
    if (guide_worst(r) && guide_total(r, NULL, NULL).brave > 0)
        fprintf(to, "# best: %s, worst: %s\n", guide_best(r), guide_worst(r));
    guide_top_sheet(&sheet, r, TOP);
    if (sheet.num > 1) {
        fputs("# The largest slow-downs\n", to);
        guide_sheet_print(&sheet, false, to);
    }
    guide_sheet_free(&sheet);
}

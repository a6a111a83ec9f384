/*
 * guide_report.c — see guide_report.h. Must never let a cell that was not judged look like one that keeps its guidelines.
 */
#include "guide_report.h"

#include <string.h>

#include "bench_file.h"
#include "guide_courses.h"
#include "guide_need.h"
#include "guide_output.h"
#include "guide_pictures.h"
#include "guide_test.h"
#include "guide_totals.h"

enum { TOP = 10 };

static void print_sheet(guide_sheet *sheet, FILE *to)
{
    guide_sheet_print(sheet, false, to);
    guide_sheet_free(sheet);
    fputc('\n', to);
}

/* Which view has which number. */
static void print_views(const guide_views *v, FILE *to)
{
    guide_sheet sheet;
    guide_sheet_make(&sheet, "view,of,test,cells,brave,cautious,certain,worst,score,not_run");
    for (int i = 0; i < v->num; i++) {
        const guide_view *w = &v->views[i];
        const guide_totals t = guide_total(w->r, NULL, &w->grid);
        guide_sheet_row(&sheet, "#%d,%s,%s,%d,%d,%d,%d", i + 1, w->label, w->r->test->name, t.cells, t.brave,
                        t.cautious, t.certain);
        if (t.cells > 0)
            guide_sheet_more(&sheet, ",%.4f,%.2f,%d", t.worst, t.score, t.not_run);
        else
            guide_sheet_more(&sheet, ",,,%d", t.not_run);
    }
    print_sheet(&sheet, to);
}

static void begin_columns(guide_sheet *sheet, const guide_views *v, const char *columns)
{
    guide_sheet_make(sheet, columns);
    for (int i = 0; i < v->num; i++)
        guide_sheet_more(sheet, ",#%d", i + 1);
}

/* Cautious of judged cells, and the score, of each collective. */
static void print_collectives(const guide_views *v, const guide_place *places, int num, FILE *to)
{
    guide_sheet sheet;
    begin_columns(&sheet, v, "collective");
    for (int i = 0; i < num; i++) {
        if (i > 0 && strcmp(places[i - 1].mpi, places[i].mpi) == 0)
            continue;
        guide_sheet_row(&sheet, "%s", places[i].mpi);
        for (int k = 0; k < v->num; k++) {
            const guide_totals t = guide_total(v->views[k].r, places[i].mpi, &v->views[k].grid);
            if (t.cells > 0)
                guide_sheet_more(&sheet, ",%d/%d of %d  %.1f", t.brave, t.cautious, t.cells, t.score);
            else
                guide_sheet_more(&sheet, ",");
        }
    }
    print_sheet(&sheet, to);
}

/* A slow-down with its mark, "kept", or nothing where the cell was not judged; c may be NULL. */
static const char *cell_text(char to[32], const guide_cell *c)
{
    const guide_series *worst = c ? guide_cell_worst(c) : NULL;
    if (worst)
        snprintf(to, 32, "%.3f%s", worst->verdict.slowdown,
                 worst->verdict.starred   ? "*"
                 : worst->verdict.certain ? "!"
                                          : "");
    else
        snprintf(to, 32, "%s", c ? "kept" : "");
    return to;
}

static void print_cells(const guide_views *v, const guide_place *places, int num, FILE *to)
{
    guide_sheet sheet;
    char text[32];
    begin_columns(&sheet, v, "collective,count");
    for (int i = 0; i < num; i++) {
        guide_sheet_row(&sheet, "%s,%lld", places[i].mpi, (long long)places[i].bytes);
        for (int k = 0; k < v->num; k++)
            guide_sheet_more(&sheet, ",%s",
                             cell_text(text, guide_view_cell(&v->views[k], places[i].mpi, places[i].bytes)));
    }
    print_sheet(&sheet, to);
}

/* A row for each number of ranks, a column for each size of the collective, which are `num` places. */
static void print_course(const guide_views *v, const guide_courses *courses, const guide_place *places,
                         int num, FILE *to)
{
    guide_sheet sheet;
    char text[32];
    guide_sheet_make(&sheet, "ranks,view");
    for (int i = 0; i < num; i++)
        guide_sheet_more(&sheet, ",%s", tool_bytes_text(text, sizeof(text), places[i].bytes));
    for (int c = 0; c < courses->num; c++)
        for (int k = 0; k < courses->courses[c].num; k++) {
            const guide_view *w = courses->courses[c].views[k];
            guide_sheet_row(&sheet, "%d,#%d", w->grid.ranks, (int)(w - v->views) + 1);
            for (int i = 0; i < num; i++)
                guide_sheet_more(&sheet, ",%s",
                                 cell_text(text, guide_view_cell(w, places[i].mpi, places[i].bytes)));
        }
    print_sheet(&sheet, to);
}

/* Collective by collective, where there are several numbers of ranks. */
static void print_courses(const guide_views *v, const guide_place *places, int num, FILE *to)
{
    guide_courses courses;
    guide_courses_make(&courses, v);
    for (int i = 0, next; i < num && courses.is_sweep; i = next) {
        for (next = i + 1; next < num && strcmp(places[next].mpi, places[i].mpi) == 0;)
            next++;
        fprintf(to, "%s: slow-downs by the number of ranks\n", places[i].mpi);
        print_course(v, &courses, places + i, next - i, to);
    }
    guide_courses_free(&courses);
}

typedef struct top_cell {
    const guide_series *worst;
    int view, place;
} top_cell;

static int by_slowdown(const void *va, const void *vb)
{
    const top_cell *a = va, *b = vb;
    const double x = a->worst->verdict.slowdown, y = b->worst->verdict.slowdown;
    if (x != y)
        return x < y ? 1 : -1;
    return a->view != b->view ? a->view - b->view : a->place - b->place;
}

static void print_top(const guide_views *v, const guide_place *places, int num, FILE *to)
{
    top_cell *top = guide_need_array((size_t)num * (size_t)v->num, sizeof(*top));
    guide_sheet sheet;
    int found = 0;
    for (int i = 0; i < num; i++)
        for (int k = 0; k < v->num; k++) {
            const guide_cell *c = guide_view_cell(&v->views[k], places[i].mpi, places[i].bytes);
            if (c && guide_cell_worst(c))
                top[found++] = (top_cell){guide_cell_worst(c), k, i};
        }
    qsort(top, (size_t)found, sizeof(*top), by_slowdown);
    guide_sheet_make(&sheet, "view,collective,count,mockup,slowdown");
    for (int i = 0; i < found && i < TOP; i++)
        guide_sheet_row(&sheet, "#%d,%s,%lld,%s%s,%.3f", top[i].view + 1, places[top[i].place].mpi,
                        (long long)places[top[i].place].bytes, top[i].worst->alg,
                        top[i].worst->verdict.starred ? "*" : "", top[i].worst->verdict.slowdown);
    free(top);
    guide_sheet_print(&sheet, false, to);
    guide_sheet_free(&sheet);
}

void guide_report_print(const guide_views *v, FILE *to)
{
    int num;
    guide_place *places = guide_views_places(v, &num);
    print_views(v, to);
    fputs("Brave and cautious violations of cells, and the score\n", to);
    print_collectives(v, places, num, to);
    fputs("Slow-downs; *: a gain below a barrier, !: certain, kept: no violation, blank: not judged\n", to);
    print_cells(v, places, num, to);
    print_courses(v, places, num, to);
    fputs("The largest slow-downs\n", to);
    print_top(v, places, num, to);
    free(places);
}

int guide_report_write(const guide_views *v, const char *dir, int *pictures, char *why, size_t why_size)
{
    char *text = NULL, *path = NULL;
    size_t length;
    int error = guide_dir_make(dir, why, why_size);
    if (error)
        return error;
    FILE *to = guide_need(open_memstream(&text, &length));
    guide_report_print(v, to);
    fclose(to);
    if (asprintf(&path, "%s/report.txt", dir) < 0)
        path = NULL;
    error = bench_file_write(guide_need(path), guide_need(text), length, why, why_size);
    free(text);
    free(path);
    if (!error)
        *pictures = guide_pictures_make(v, dir, why, why_size);
    return error;
}

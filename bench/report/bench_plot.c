/*
 * bench_plot.c — see bench_plot.h. Must never give a figure's data away without saying which cells are doubtful.
 */
#include "bench_plot.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_file.h"
#include "bench_growth.h"
#include "bench_heat.h"
#include "bench_wins.h"
#include "collective.h"

/* ---- Elapsed time, along one axis ----------------------------------------------------------------------- */

/* What lies along the horizontal axis of a figure; the rest of a cell's place is the same for the whole
 * figure. */
enum axis { BY_SIZE, BY_DELAY, BY_PROCS };
static const char *const axis_name[] = {[BY_SIZE] = "size", [BY_DELAY] = "delay", [BY_PROCS] = "ranks"};

typedef struct figure {
    const bench_table *table;
    const bench_cell **cells; /* in the axis's order */
    int num;
    enum axis axis;
} figure;

static bool fits(enum axis axis, const bench_cell *a, const bench_cell *b)
{
    return a->ppn == b->ppn && strcmp(a->pattern, b->pattern) == 0 &&
           (axis == BY_PROCS || a->procs == b->procs) && (axis == BY_SIZE || a->count == b->count) &&
           (axis == BY_DELAY || a->max_delay_ms == b->max_delay_ms);
}

static void name_elapsed(const figure *f, char *name, size_t size)
{
    const bench_cell *c = f->cells[0];
    const double kilo = (double)c->count / 1024;
    char suffix[48] = "";
    if (c->ppn != 1 || strcmp(c->pattern, "uniform") != 0)
        snprintf(suffix, sizeof(suffix), "-ppn%d-%s", c->ppn, c->pattern);
    if (f->axis == BY_SIZE)
        snprintf(name, size, "elapsed-by-size-p%d-md%g%s", c->procs, c->max_delay_ms, suffix);
    else if (f->axis == BY_DELAY)
        snprintf(name, size, "elapsed-by-delay-p%d-n%gk%s", c->procs, kilo, suffix);
    else
        snprintf(name, size, "elapsed-by-ranks-n%gk-md%g%s", kilo, c->max_delay_ms, suffix);
}

/* "nan" where there is none. */
static void put(double value, FILE *to)
{
    if (isnan(value))
        fputs(",nan", to);
    else
        fprintf(to, ",%.6g", value);
}

/* By algorithm, and then in the axis's order. */
static void write_elapsed(const figure *f, FILE *to)
{
    const char *algs[BENCH_TABLE_ALGS];
    const int num_algs = bench_table_algs(f->table, algs, BENCH_TABLE_ALGS);
    fputs("axis,place,procs,ppn,segment_kib,total_kfloats,max_delay_ms,pattern,imbalance_factor,doubtful,alg,"
          "elapsed_ms,elapsed_ci_ms,bound_ms,ideal_ring_ms\n",
          to);
    for (int a = 0; a < num_algs; a++)
        for (int i = 0; i < f->num; i++) {
            const bench_cell *c = f->cells[i];
            const bench_row *r = bench_cell_row(f->table, c, algs[a]);
            if (!r || isnan(r->elapsed_ms))
                continue;
            fprintf(to, "%s,%d,%d,%d,%.6g,%.6g,%.6g,%s,%.4g,%d,%s,%.6g", axis_name[f->axis], i, c->procs,
                    c->ppn, (double)c->segment_bytes / 1024, (double)c->count / 1024, c->max_delay_ms,
                    c->pattern, c->factor, c->doubtful, algs[a], r->elapsed_ms);
            put(r->elapsed_ci_ms, to);
            put(c->bound_ms > 0 ? c->bound_ms : NAN, to);
            put(c->ideal_ring_ms > 0 ? c->ideal_ring_ms : NAN, to);
            fputc('\n', to);
        }
}

/* ---- All figures ---------------------------------------------------------------------------------------- */

/* A figure's data, as it is written, and where it goes. */
typedef struct sheets {
    const char *dir, *templates;
    FILE *calls, *to;
    char *text;
    size_t length;
    int num; /* -1: something went wrong, as `why` says */
    char *why;
    size_t why_size;
} sheets;

static FILE *begin(sheets *s)
{
    s->text = NULL;
    s->to = open_memstream(&s->text, &s->length);
    if (!s->to) {
        snprintf(s->why, s->why_size, "no figures: no memory");
        s->num = -1;
    }
    return s->to;
}

static void quote(FILE *to, const char *dir, const char *name)
{
    fputc('\'', to);
    for (const char *p = dir; *p; p++)
        fprintf(to, *p == '\'' ? "''" : "%c", *p);
    fprintf(to, "/%s'", name);
}

/* worth_it: there is something to draw. */
static void end(sheets *s, const char *template, const char *name, bool worth_it)
{
    char *path = NULL;
    if (fclose(s->to) != 0 || asprintf(&path, "%s/%s.csv", s->dir, name) < 0) {
        snprintf(s->why, s->why_size, "no figures: no memory");
        s->num = -1;
    } else if (worth_it && bench_file_write(path, s->text, s->length, s->why, s->why_size) != 0) {
        s->num = -1;
    } else if (worth_it) {
        s->num++;
        if (s->calls) {
            fputs("call ", s->calls);
            quote(s->calls, s->templates, template);
            fputc(' ', s->calls);
            quote(s->calls, s->dir, name);
            fputc('\n', s->calls);
        }
    }
    free(path);
    free(s->text);
}

static void all_elapsed(const bench_table *table, const bench_cell *cells, int num, sheets *s)
{
    figure f = {.table = table, .cells = calloc((size_t)(num > 0 ? num : 1), sizeof(*f.cells))};
    for (int axis = BY_SIZE; axis <= BY_PROCS && f.cells; axis++)
        for (int i = 0; i < num && s->num >= 0; i++) {
            /* A cell opens a figure when no earlier one belongs to the same. */
            char name[96];
            bool first = true;
            f.axis = (enum axis)axis;
            f.num = 0;
            for (int k = 0; k < num; k++)
                if (fits(f.axis, &cells[i], &cells[k])) {
                    first = first && k >= i;
                    f.cells[f.num++] = &cells[k];
                }
            if (!first || f.num < 2 || !begin(s))
                continue;
            name_elapsed(&f, name, sizeof(name));
            write_elapsed(&f, s->to);
            end(s, "elapsed.gp", name, true);
        }
    free(f.cells);
}

static void all_heat(const bench_table *table, const bench_cell *cells, int num, const char *versus,
                     sheets *s)
{
    char name[96];
    for (int i = 0, n; i < num && s->num >= 0; i += n) {
        for (n = 1; i + n < num && cells[i].procs == cells[i + n].procs && cells[i].ppn == cells[i + n].ppn &&
                    strcmp(cells[i].pattern, cells[i + n].pattern) == 0;
             n++)
            ;
        if (n > 1 && begin(s))
            end(s, "speedup.gp", name, bench_heat_speedup(table, &cells[i], n, name, sizeof(name), s->to));
    }
    for (int i = 0, n; versus && i < num && s->num >= 0; i += n) {
        for (n = 1; i + n < num && strcmp(cells[i].pattern, cells[i + n].pattern) == 0; n++)
            ;
        if (begin(s))
            end(s, "over-bound.gp", name,
                bench_heat_bound(table, &cells[i], n, versus, name, sizeof(name), s->to));
    }
}

int bench_plot_data(const bench_table *table, const char *versus, const char *dir, const char *templates,
                    FILE *calls, char *why, size_t why_size)
{
    sheets s = {.dir = dir, .templates = templates, .calls = calls, .why = why, .why_size = why_size};
    bench_cell *cells;
    char name[96];
    const int num = bench_table_cells(table, &cells);
    all_elapsed(table, cells, num, &s);
    if (s.num >= 0)
        all_heat(table, cells, num, versus, &s);
    for (int i = 0; i < num && s.num >= 0; i++)
        if (begin(&s))
            end(&s, "growth.gp", name, bench_growth_data(table, cells, num, i, name, sizeof(name), s.to));
    if (s.num >= 0 && begin(&s))
        end(&s, "winners.gp", name, bench_wins_data(table, cells, num, name, sizeof(name), s.to));
    free(cells);
    return s.num;
}

/* ---- Gnuplot -------------------------------------------------------------------------------------------- */

bool bench_plot_available(void)
{
    const char *path = getenv("PATH");
    char *copy = strdup(path ? path : ""), *rest = copy, *dir, file[4096];
    bool found = false;
    while (!found && copy && (dir = strsep(&rest, ":")) != NULL) {
        snprintf(file, sizeof(file), "%s/gnuplot", *dir ? dir : ".");
        found = access(file, X_OK) == 0;
    }
    free(copy);
    return found;
}

/* Where the templates are, from where this program is: a tree may be moved. */
static bool find_templates(char *dir, size_t size)
{
    char program[3000];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);
    program[length > 0 ? length : 0] = '\0';
    char *name = strrchr(program, '/');
    if (!name)
        return false;
    *name = '\0';
    snprintf(dir, size, "%s/%s", program, PAT_BIN_TO_PLOTS);
    return access(dir, R_OK | X_OK) == 0;
}

int bench_plot_make(const bench_table *table, const char *versus, const char *dir, char *why, size_t why_size)
{
    char templates[4096] = "";
    for (int i = 0; i < table->num; i++)
        if (table->rows[i].op != PAT_OP_ALLGATHER) {
            snprintf(why, why_size, "no figures: they are of all-gathers, and there are results of %ss",
                     pat_collective_of(table->rows[i].op)->title);
            return -1;
        }
    if (!bench_plot_available()) {
        snprintf(why, why_size, "no figures: gnuplot is not on the PATH (Debian package gnuplot-nox)");
        return -1;
    }
    if (!find_templates(templates, sizeof(templates))) {
        snprintf(why, why_size, "no figures: their templates are not in '%s'", templates);
        return -1;
    }
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        snprintf(why, why_size, "no figures: cannot make '%s': %s", dir, strerror(errno));
        return -1;
    }
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* a gnuplot that dies is told by its status */
    FILE *calls = popen("gnuplot", "w");
    const int figures = calls ? bench_plot_data(table, versus, dir, templates, calls, why, why_size) : -1;
    const int status = calls ? pclose(calls) : -1;
    signal(SIGPIPE, before);
    if (status != 0) {
        snprintf(why, why_size, "no figures, or not all: gnuplot failed (wait status %d)", status);
        return -1;
    }
    return figures;
}

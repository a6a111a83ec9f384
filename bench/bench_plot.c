/*
 * bench_plot.c — see bench_plot.h. Must never draw a figure of a doubtful lab without saying so in its title.
 */
#include "bench_plot.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_growth.h"
#include "bench_heat.h"

enum { MAX_ALGS = 16 };

/* Okabe and Ito's colours, told apart by the colour-blind; the shapes differ as well. */
static const bench_style style[] = {{"#000000", 5},  {"#0072B2", 7},  {"#56B4E9", 9}, {"#009E73", 11},
                                    {"#D55E00", 13}, {"#CC79A7", 15}, {"#E69F00", 4}, {"#999999", 6}};

bench_style bench_plot_style(int number)
{
    return style[(size_t)number % (sizeof(style) / sizeof(style[0]))];
}

const char *bench_plot_doubt(const bench_table *table)
{
    return bench_is_doubtful(table) ? "\\nTHE EMULATED CLUSTER FAILED ITS CHECK" : "";
}

/* What lies along the horizontal axis of a figure; the rest of a cell's place is the same for the whole
 * figure. */
enum axis { BY_SIZE, BY_DELAY, BY_PROCS };

typedef struct figure {
    const bench_table *table;
    const bench_cell **cells; /* in the axis's order */
    int num;
    enum axis axis;
    char name[96], title[240];
} figure;

static bool fits(enum axis axis, const bench_cell *a, const bench_cell *b)
{
    return a->ppn == b->ppn && strcmp(a->pattern, b->pattern) == 0 &&
           (axis == BY_PROCS || a->procs == b->procs) && (axis == BY_SIZE || a->count == b->count) &&
           (axis == BY_DELAY || a->max_delay_ms == b->max_delay_ms);
}

static void describe(figure *f)
{
    const bench_cell *c = f->cells[0];
    const double size = (double)c->count / 1024;
    const char *doubt = bench_plot_doubt(f->table);
    char ranks[64] = "", suffix[48] = "";
    snprintf(ranks, sizeof(ranks), "%d ranks, %d per node", c->procs, c->ppn);
    if (c->ppn != 1 || strcmp(c->pattern, "uniform") != 0)
        snprintf(suffix, sizeof(suffix), "-ppn%d-%s", c->ppn, c->pattern);
    if (f->axis == BY_SIZE) {
        snprintf(f->name, sizeof(f->name), "elapsed-by-size-p%d-md%g%s", c->procs, c->max_delay_ms, suffix);
        snprintf(f->title, sizeof(f->title), "All-gather by size: %s, delays up to %g ms (%s)%s", ranks,
                 c->max_delay_ms, c->pattern, doubt);
    } else if (f->axis == BY_DELAY) {
        snprintf(f->name, sizeof(f->name), "elapsed-by-delay-p%d-n%gk%s", c->procs, size, suffix);
        snprintf(f->title, sizeof(f->title),
                 "All-gather by delay: %s, %gK floats in all, segments of %g KiB (%s)%s", ranks, size,
                 (double)c->segment_bytes / 1024, c->pattern, doubt);
    } else {
        snprintf(f->name, sizeof(f->name), "elapsed-by-ranks-n%gk-md%g%s", size, c->max_delay_ms, suffix);
        snprintf(f->title, sizeof(f->title),
                 "All-gather by ranks: %gK floats in all, delays up to %g ms (%s), %d per node%s", size,
                 c->max_delay_ms, c->pattern, c->ppn, doubt);
    }
}

static void write_tics(const figure *f, FILE *to)
{
    static const char *const label[] = {[BY_SIZE] = "gathered data [K floats]; imbalance factor below",
                                        [BY_DELAY] = "maximum delay [ms]; imbalance factor below",
                                        [BY_PROCS] = "ranks; imbalance factor below"};
    fprintf(to, "set xlabel '%s' offset 0,-1\nset xtics (", label[f->axis]);
    for (int i = 0; i < f->num; i++) {
        const bench_cell *c = f->cells[i];
        const double at = f->axis == BY_SIZE    ? (double)c->count / 1024
                          : f->axis == BY_DELAY ? c->max_delay_ms
                                                : c->procs;
        fprintf(to, "%s\"%.6g\\n(%.3g)\" %d", i ? ", " : "", at, c->factor, i);
    }
    fprintf(to, ")\nset xrange [-0.5:%g]\n", f->num - 0.5);
}

/* One block of lines "place value half-width" per algorithm, set off a little from each other, then ring and
 * bound. */
static int write_data(const figure *f, const char *const *algs, int num_algs, FILE *to, double *low,
                      double *high)
{
    *low = INFINITY;
    *high = 0;
    for (int a = 0; a < num_algs; a++) {
        fprintf(to, "$alg%d << EOD\n", a);
        for (int i = 0; i < f->num; i++) {
            const bench_row *r = bench_cell_row(f->table, f->cells[i], algs[a]);
            if (!r || isnan(r->elapsed_ms))
                continue;
            fprintf(to, "%.4f %.6g %.6g\n", i + 0.09 * (a - (num_algs - 1) / 2.0), r->elapsed_ms,
                    isnan(r->elapsed_ci_ms) ? 0 : r->elapsed_ci_ms);
            *low = fmin(*low, r->elapsed_ms);
            *high = fmax(*high, r->elapsed_ms);
        }
        fprintf(to, "EOD\n");
    }
    /* What the model says holds for the whole place on the axis: a short level line. */
    int have = 0;
    fprintf(to, "$bound << EOD\n");
    for (int i = 0; i < f->num; i++)
        if (f->cells[i]->bound_ms > 0) {
            fprintf(to, "%d %.6g\n", i, f->cells[i]->bound_ms);
            *low = fmin(*low, f->cells[i]->bound_ms);
            have |= 1;
        }
    fprintf(to, "EOD\n$ideal << EOD\n");
    for (int i = 0; i < f->num; i++)
        if (f->cells[i]->ideal_ring_ms > 0) {
            fprintf(to, "%d %.6g\n", i, f->cells[i]->ideal_ring_ms);
            have |= 2;
        }
    fprintf(to, "EOD\n");
    return have;
}

static void quote(FILE *to, const char *dir, const char *name, const char *ending)
{
    fputc('\'', to);
    for (const char *p = dir; *p; p++)
        fprintf(to, *p == '\'' ? "''" : "%c", *p);
    fprintf(to, "/%s.%s'", name, ending);
}

void bench_plot_terminal(const char *dir, const char *name, int kind, FILE *to)
{
    if (kind == 0)
        fprintf(to, "set terminal svg size 1000,600 font 'DejaVu Sans,13' background 'white'\n");
    else
        fprintf(to, "set terminal pngcairo size 1000,600 font 'DejaVu Sans,11' background 'white'\n");
    fprintf(to, "set output ");
    quote(to, dir, name, kind == 0 ? "svg" : "png");
    fprintf(to, "\n");
}

static void write_figure(const figure *f, const char *dir, FILE *to)
{
    const char *algs[MAX_ALGS];
    int num_algs = 0;
    double low, high;
    const char *every[MAX_ALGS];
    const int num_every = bench_table_algs(f->table, every, MAX_ALGS);
    for (int a = 0; a < num_every; a++)
        for (int i = 0; i < f->num; i++)
            if (bench_cell_row(f->table, f->cells[i], every[a])) {
                algs[num_algs++] = every[a];
                break;
            }
    fprintf(to, "reset\n");
    const int have = write_data(f, algs, num_algs, to, &low, &high);
    fprintf(to,
            "set title \"%s\" noenhanced\nset ylabel 'mean elapsed time [ms], bars: 95 %% confidence'\n"
            "set grid ytics back lt 1 lw 1 lc rgb '#d8d8d8'\nset key outside right top vertical "
            "noenhanced\nset tics nomirror\n"
            "set border 3\n",
            f->title);
    write_tics(f, to);
    /* A linear axis from 0 is honest about ratios; where it would flatten the small ones, a logarithmic one.
     */
    if (low > 0 && high / low > 20)
        fprintf(to, "set logscale y\n");
    else
        fprintf(to, "set yrange [0:*]\n");
    for (int kind = 0; kind < 2; kind++) {
        bench_plot_terminal(dir, f->name, kind, to);
        fprintf(to, "plot ");
        for (int a = 0; a < num_algs; a++)
            fprintf(to,
                    "%s$alg%d using 1:2 with lines lw 1 lc rgb '%s' notitle, \\\n"
                    "  $alg%d using 1:2:3 with yerrorbars lw 1.6 pt %d ps 1.1 lc rgb '%s' title '%s'",
                    a ? ", \\\n  " : "", a, bench_plot_style(a).colour, a, bench_plot_style(a).shape,
                    bench_plot_style(a).colour, algs[a]);
        if (have & 2)
            fprintf(
                to,
                ", \\\n  $ideal using ($1-0.4):2:(0.8):(0) with vectors nohead lw 1.6 dt 3 lc rgb '#0072B2' "
                "title 'ideal ring'");
        if (have & 1)
            fprintf(
                to,
                ", \\\n  $bound using ($1-0.4):2:(0.8):(0) with vectors nohead lw 2.2 lc rgb '#777777' title "
                "'bound'");
        fprintf(to, "\nunset output\n");
    }
}

int bench_plot_script(const bench_table *table, const char *versus, const char *dir, FILE *to)
{
    bench_cell *cells;
    const int num = bench_table_cells(table, &cells);
    int figures = 0;
    figure f = {.table = table, .cells = calloc((size_t)(num > 0 ? num : 1), sizeof(*f.cells))};
    for (int axis = BY_SIZE; axis <= BY_PROCS && f.cells; axis++) {
        for (int i = 0; i < num; i++) {
            /* A cell opens a figure when no earlier one belongs to the same. */
            bool first = true;
            f.axis = (enum axis)axis;
            f.num = 0;
            for (int k = 0; k < num; k++)
                if (fits(f.axis, &cells[i], &cells[k])) {
                    first = first && k >= i;
                    f.cells[f.num++] = &cells[k];
                }
            if (!first || f.num < 2)
                continue;
            describe(&f);
            write_figure(&f, dir, to);
            figures++;
        }
    }
    for (int i = 0, n; i < num; i += n) {
        bool any = false;
        for (n = 0; i + n < num && cells[i].procs == cells[i + n].procs && cells[i].ppn == cells[i + n].ppn &&
                    strcmp(cells[i].pattern, cells[i + n].pattern) == 0;
             n++)
            any = any || cells[i + n].speedup > 0;
        if (n < 2 || !any)
            continue;
        bench_heat_speedup(table, &cells[i], n, dir, to);
        figures++;
    }
    for (int i = 0, n; versus && i < num; i += n) {
        for (n = 1; i + n < num && strcmp(cells[i].pattern, cells[i + n].pattern) == 0; n++)
            ;
        figures += bench_heat_bound(table, &cells[i], n, versus, dir, to);
    }
    figures += bench_growth_plot(table, cells, num, dir, to);
    free(f.cells);
    free(cells);
    return figures;
}

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

int bench_plot_make(const bench_table *table, const char *versus, const char *dir, char *why, size_t why_size)
{
    if (!bench_plot_available()) {
        snprintf(why, why_size, "no figures: gnuplot is not on the PATH (Debian package gnuplot-nox)");
        return -1;
    }
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        snprintf(why, why_size, "no figures: cannot make '%s': %s", dir, strerror(errno));
        return -1;
    }
    void (*before)(int) = signal(SIGPIPE, SIG_IGN); /* a gnuplot that dies is told by its status */
    FILE *to = popen("gnuplot", "w");
    int figures = to ? bench_plot_script(table, versus, dir, to) : -1;
    const int status = to ? pclose(to) : -1;
    signal(SIGPIPE, before);
    if (status != 0) {
        snprintf(why, why_size, "no figures, or not all: gnuplot failed (wait status %d)", status);
        return -1;
    }
    return figures;
}

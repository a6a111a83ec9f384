/*
 * guide_compare.c — see guide_compare.h. Must never have a row for a series that did not run: it is told of below the table.
 */
#include "guide_compare.h"

#include <math.h>
#include <string.h>

static const char *star(const guide_series *s)
{
    return s->verdict.starred ? "*" : "";
}

static void put(guide_sheet *sheet, const char *format, double value)
{
    char text[64] = "";
    if (!isnan(value))
        snprintf(text, sizeof(text), format, value);
    guide_sheet_more(sheet, ",%s", text);
}

/* Our columns: effect_size,p,p_all_tests,launches,certain */
static void put_more(guide_sheet *sheet, const guide_verdict *v, bool more)
{
    if (!more)
        return;
    put(sheet, "%.4f", v->delta);
    put(sheet, "%.4g", v->p);
    put(sheet, "%.4g", v->p_all);
    guide_sheet_more(sheet, ",%d,%d", v->launches, v->certain);
}
#define MORE "effect_size,p,p_all_tests,launches,certain"

static void simple(guide_sheet *sheet, const char *before, const guide_cell *c, bool more)
{
    (void)more;
    for (int i = 0; i < c->num; i++)
        if (guide_series_ran(&c->series[i]))
            guide_sheet_row(sheet, "%s%s,%lld,%.6f", before, c->series[i].alg, (long long)c->bytes,
                            c->series[i].mean_ms);
}

static void absolute(guide_sheet *sheet, const char *before, const guide_cell *c, bool more)
{
    (void)more;
    for (int i = 0; i < c->num; i++)
        if (guide_series_ran(&c->series[i]))
            guide_sheet_row(sheet, "%s%lld,%s,%.6f", before, (long long)c->bytes, c->series[i].alg,
                            c->series[i].median_ms);
}

static void relative(guide_sheet *sheet, const char *before, const guide_cell *c, bool more)
{
    (void)more;
    for (int i = 0; i < c->num; i++)
        if (guide_series_ran(&c->series[i]) && guide_series_ran(&c->series[0]))
            guide_sheet_row(sheet, "%s%lld,%s,%.6f", before, (long long)c->bytes, c->series[i].alg,
                            c->series[0].median_ms / c->series[i].median_ms);
}

static void violation(guide_sheet *sheet, const char *before, const guide_cell *c, bool more)
{
    for (int i = 0; i < c->num; i++) {
        const guide_series *s = &c->series[i];
        if (!guide_series_ran(s))
            continue;
        guide_sheet_row(sheet, "%s%s%s,%lld,%d,%d,%d,%.6f,%.6f", before, s->alg, star(s), (long long)c->bytes,
                        c->grid.nodes, c->grid.ppn, s->num, s->mean_ms, s->median_ms);
        if (s->verdict.is_judged) {
            put(sheet, "%.6f", s->verdict.statistic);
            put(sheet, "%.6f", s->verdict.critical);
            guide_sheet_more(sheet, ",%d", s->verdict.violation);
            put_more(sheet, &s->verdict, more);
        } else {
            guide_sheet_more(sheet, ",,,%s", more ? ",,,,," : "");
        }
    }
}

static void detailed(guide_sheet *sheet, const char *before, const guide_cell *c, bool more)
{
    for (int i = 1; i < c->num; i++) {
        const guide_series *s = &c->series[i], *l = &c->series[0];
        const guide_verdict *v = &s->verdict;
        if (!v->is_judged)
            continue;
        guide_sheet_row(sheet, "%s%s,%lld,%d,%d,%d,%.6f,%.6f,%.6f,%.6f", before, s->alg, (long long)c->bytes,
                        c->grid.nodes, c->grid.ppn, s->num, l->mean_ms, l->median_ms, s->mean_ms,
                        s->median_ms);
        put(sheet, "%.6f", v->statistic);
        put(sheet, "%.6f", v->critical);
        guide_sheet_more(sheet, ",%d,%.6f,%d,%d", v->violation, v->slowdown, c->barrier_ms > 0,
                         l->median_ms - s->median_ms < c->barrier_ms);
        put_more(sheet, v, more);
    }
}

static void grouped(guide_sheet *sheet, const char *before, const guide_cell *c, bool more)
{
    const guide_series *l = &c->series[0], *worst = guide_cell_worst(c);
    (void)before; /* it has the collective anyhow */
    if (!guide_series_ran(l))
        return;
    guide_sheet_row(sheet, "%s,%lld,%d,%d,%d,%.6f", c->mpi, (long long)c->bytes, c->grid.nodes, c->grid.ppn,
                    l->num, l->median_ms);
    if (worst)
        guide_sheet_more(sheet, ",%.6f,%s%s,%.6f", worst->verdict.slowdown, worst->alg, star(worst),
                         worst->median_ms);
    else
        guide_sheet_more(sheet, ",,,");
    if (worst)
        put_more(sheet, &worst->verdict, more);
    else
        guide_sheet_more(sheet, "%s", more ? ",,,,," : "");
}

static const guide_comparer comparers[] = {
    {"simple", "mockup,count,runtime", NULL, simple},
    {"abs_runtime", "message_size,mockup,median_ms", NULL, absolute},
    {"rel_runtime", "message_size,mockup,relative_runtime", NULL, relative},
    {"violation", "mockup,count,N,ppn,n,runtime_mean,runtime_median,z_value,critical_value,violation", MORE,
     violation},
    {"detailed_violation",
     "mockup,count,N,ppn,n,default_mean,default_median,mockup_mean,mockup_median,z_value,critical_val,"
     "violation,"
     "slowdown,has_barrier,diff<barrier",
     MORE, detailed},
    {"grouped_violation", "collective,count,N,ppn,n,default_median,slowdown,mockup,mockup_median", MORE,
     grouped},
};

const guide_comparer *guide_comparer_number(int number)
{
    return number >= 0 && number < (int)(sizeof(comparers) / sizeof(comparers[0])) ? &comparers[number]
                                                                                   : NULL;
}

void guide_compare(guide_sheet *sheet, const guide_comparer *comparer, const guide_results *r,
                   const char *mpi, bool more)
{
    const bool names_it = strncmp(comparer->columns, "collective,", strlen("collective,")) == 0;
    more = more && comparer->more;
    guide_sheet_make(sheet, !mpi && !names_it ? "collective," : "");
    guide_sheet_more(sheet, "%s%s%s", comparer->columns, more ? "," : "", more ? comparer->more : "");
    for (int i = 0; i < r->num; i++) {
        char before[GUIDE_NAME + 1] = "";
        if (mpi && strcmp(r->cells[i].mpi, mpi) != 0)
            continue;
        if (!mpi)
            snprintf(before, sizeof(before), "%.*s,", GUIDE_NAME - 1, r->cells[i].mpi);
        comparer->rows(sheet, before, &r->cells[i], more);
    }
}

void guide_compare_notes(const guide_results *r, const char *mpi, FILE *to)
{
    bool stars = false, medians = false;
    for (int i = 0; i < r->num; i++) {
        const guide_cell *c = &r->cells[i];
        for (int k = 0; k < c->num && (!mpi || strcmp(c->mpi, mpi) == 0); k++) {
            const guide_series *s = &c->series[k];
            stars = stars || s->verdict.starred;
            medians = medians || (s->verdict.is_judged && isnan(s->verdict.statistic) && !s->ms);
            if (s->reason[0])
                fprintf(to, "# not run: %s by %s, %lld bytes, %d x %d ranks: %s\n", c->mpi, s->alg,
                        (long long)c->bytes, c->grid.nodes, c->grid.ppn, s->reason);
        }
    }
    if (stars)
        fputs("# *: what is gained is less than a barrier takes\n", to);
    if (medians)
        fputs("# Medians alone are known: no test, a smaller median is a violation\n", to);
}

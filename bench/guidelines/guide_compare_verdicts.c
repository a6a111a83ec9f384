/*
 * guide_compare_verdicts.c — the tables of verdicts: of every series, of every right side in detail, and of each cell the fastest right side that violates.
 */
#include "guide_compare.h"

#include <math.h>

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

const guide_comparer guide_comparer_violation = {
    "violation", "violations",
    "mockup,count,N,ppn,n,runtime_mean,runtime_median,z_value,critical_value,violation", MORE, violation};
const guide_comparer guide_comparer_detailed = {
    "detailed_violation", "violations in detail",
    "mockup,count,N,ppn,n,default_mean,default_median,mockup_mean,mockup_median,z_value,critical_val,"
    "violation,slowdown,has_barrier,diff<barrier",
    MORE, detailed};
const guide_comparer guide_comparer_grouped = {
    "grouped_violation", "grouped: the fastest right side of each violated cell",
    "collective,count,N,ppn,n,default_median,slowdown,mockup,mockup_median", MORE, grouped};

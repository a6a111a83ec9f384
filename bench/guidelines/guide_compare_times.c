/*
 * guide_compare_times.c — the tables of run times: means, medians, and medians of the left side over those of each.
 */
#include "guide_compare.h"

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

const guide_comparer guide_comparer_simple = {"simple", "simple", "mockup,count,runtime", NULL, simple};
const guide_comparer guide_comparer_absolute = {"abs_runtime", "absolute medians",
                                                "message_size,mockup,median_ms", NULL, absolute};
const guide_comparer guide_comparer_relative = {"rel_runtime", "relative medians",
                                                "message_size,mockup,relative_runtime", NULL, relative};

/*
 * guide_compare.c — see guide_compare.h: the list of comparers, and what they share. Must never have a row for a series that did not run: it is told of below the table.
 */
#include "guide_compare.h"

#include <math.h>
#include <string.h>

#define ROW(name) &guide_comparer_##name,
static const guide_comparer *const comparers[] = {GUIDE_COMPARERS(ROW)};

const guide_comparer *guide_comparer_number(int number)
{
    return number >= 0 && number < (int)(sizeof(comparers) / sizeof(comparers[0])) ? comparers[number] : NULL;
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

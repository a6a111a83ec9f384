/*
 * report_arrivals.c — the report's second table as text: how far apart the ranks came to the calls of each place (imbalance.h), for short messages and long ones.
 */
#include "report_lines.h"

enum { PLACE = 30, SHORTEST_PLACE = 16 };

static void write_line(const pat_report_line *l, bool is_long, FILE *to)
{
    const pat_imbalance *i = &l->arrivals[is_long];
    const double calls = (double)i->calls;
    char average[PAT_REPORT_NUMBER + 1], worst[PAT_REPORT_NUMBER + 1], aif[PAT_REPORT_NUMBER + 1],
        wif[PAT_REPORT_NUMBER + 1], place[PAT_REPORT_WIDTH + 1], rest[160], balanced[12];
    int64_t known = 0;
    for (int k = 0; k < PAT_IMBALANCE_CLASSES; k++)
        known += i->classes[k];
    snprintf(balanced, sizeof(balanced), known ? "%.0f%%" : "-",
             known ? 100.0 * (double)i->classes[0] / (double)known : 0);
    snprintf(rest, sizeof(rest), "  %-25s %6s %9s %9s %8s %8s %9s %6.2f", l->call,
             is_long ? "> 1000" : "<=1000", pat_report_digits(1e-6 * i->average_ns / calls, average),
             pat_report_digits(1e-6 * i->worst_ns / calls, worst),
             known ? pat_report_digits(i->aif / (double)known, aif) : "-",
             known ? pat_report_digits(i->wif / (double)known, wif) : "-", balanced, pat_imbalance_alike(i));
    const int room = PAT_REPORT_WIDTH - (int)strlen(rest);
    pat_report_where(l, room > PLACE ? PLACE : room > SHORTEST_PLACE ? room : SHORTEST_PLACE, place);
    fprintf(to, "%-*s%s\n", PLACE, place, rest);
}

void pat_report_arrivals_text(const pat_report *r, FILE *to)
{
    bool any = false;
    for (int i = 0; i < r->num; i++)
        for (int is_long = 0; is_long < 2; is_long++) {
            if (r->lines[i].arrivals[is_long].calls == 0)
                continue;
            if (!any) {
                fputs("#\n# How far apart the ranks came, means over calls: average and worst imbalance "
                      "time, and the "
                      "same in times of a message\n"
                      "# of the call's size (AIF, WIF); how many calls are balanced (WIF < 1); how alike "
                      "calls in a row "
                      "are (-1 to 1).\n",
                      to);
                fprintf(to, "%-*s  %-25s %6s %9s %9s %8s %8s %9s %6s\n", PLACE, "place", "call", "bytes",
                        "avg/ms", "worst/ms", "AIF", "WIF", "balanced", "alike");
            }
            any = true;
            write_line(&r->lines[i], is_long, to);
        }
}

/*
 * report_late.c — the first lines of the report as text: the answer in words, for people who read no further.
 */
#include <stdlib.h>

#include "collective.h"
#include "report_lines.h"

enum { SHORTEST_PLACE = 16 };

/* Whom the ranks wait for longest there, and how long each time. */
static void write_late(const pat_report *r, const pat_report_line *l, FILE *to)
{
    const pat_report_late *late = &l->late[0];
    char seconds[PAT_REPORT_NUMBER + 1], each[PAT_REPORT_NUMBER + 1], rest[200], place[PAT_REPORT_WIDTH + 1];

    const int length = snprintf(
        rest, sizeof(rest), "  %s: %.0f %% of waits are for rank %lld on %s, %s ms each", l->call,
        100.0 * (double)late->calls / (double)l->late_calls, (long long)late->rank,
        pat_report_host_of(r, late->rank), pat_report_digits(pat_report_ms(late->ns, late->calls), each));
    const int begin = fprintf(to, "#   %6s s  ",
                              pat_report_digits(1e-3 * pat_report_ms(l->sums.late_ns, r->ranks), seconds));
    const int room = PAT_REPORT_WIDTH - begin - length;
    pat_report_where(l, room > SHORTEST_PLACE ? room : SHORTEST_PLACE, place);
    fprintf(to, "%s%s\n", place, rest);
}

static int by_spared(const void *a, const void *b)
{
    const double x = pat_report_spared_ns(*(const pat_report_line *const *)a),
                 y = pat_report_spared_ns(*(const pat_report_line *const *)b);
    return (x < y) - (x > y);
}

/* What another algorithm would spare, where it is clearly more than the model may be wrong. */
static void write_spared(const pat_report *r, FILE *to)
{
    enum { MOST_LINES = 3 };
    static const double WORTH = 0.01; /* of the run */
    const pat_report_line **lines = malloc(((size_t)r->num + 1) * sizeof(*lines));
    for (int i = 0; i < r->num && lines; i++)
        lines[i] = &r->lines[i];
    if (lines)
        qsort(lines, (size_t)r->num, sizeof(*lines), by_spared);
    for (int i = 0; i < r->num && i < MOST_LINES && lines; i++) {
        const pat_report_line *l = lines[i];
        const double spared_ns = pat_report_spared_ns(l);
        const pat_algorithm *alg = l->best >= 0 ? pat_algorithm_at(l->best) : NULL;
        char place[PAT_REPORT_WIDTH + 1], best[PAT_REPORT_NUMBER + 1], took[PAT_REPORT_NUMBER + 1],
            spared[PAT_REPORT_NUMBER + 1];
        if (!alg || spared_ns < WORTH * (double)r->time_ns)
            break;
        pat_report_where(l, PAT_REPORT_WIDTH / 2, place);
        fprintf(to,
                "# By the model, %s=%s would take %s ms in place of %s:\n"
                "#   %6s s less of the run, about, at %s (%s).\n",
                pat_collective_of(alg->op)->setting, alg->name, pat_report_digits(1e-6 * l->best_ns, best),
                pat_report_digits(1e-6 * l->took_ns, took), pat_report_digits(1e-9 * spared_ns, spared),
                place, l->call);
    }
    free(lines);
}

static int by_waiting(const void *a, const void *b)
{
    const pat_report_line *const *x = a, *const *y = b;
    return ((*x)->sums.late_ns < (*y)->sums.late_ns) - ((*x)->sums.late_ns > (*y)->sums.late_ns);
}

void pat_report_late_text(const pat_report *r, FILE *to)
{
    enum { MOST_PLACES = 8 };         /* in the first ten lines */
    static const double WORTH = 0.01; /* of all waiting */
    const pat_report_sum sum = pat_report_add_up(r);
    char waited[PAT_REPORT_NUMBER + 1], whole[PAT_REPORT_NUMBER + 1];
    const pat_report_line **places = malloc(((size_t)r->num + 1) * sizeof(*places));
    fprintf(to,
            "# Waiting for late ranks in collectives took %.1f %% of the run: %s of %s s (mean over %d "
            "rank%s).\n",
            r->time_ns > 0 ? 100.0 * (double)sum.late_ns / (double)r->time_ns / r->ranks : 0,
            pat_report_digits(1e-3 * pat_report_ms(sum.late_ns, r->ranks), waited),
            pat_report_digits(1e-3 * pat_report_ms(r->time_ns, 1), whole), r->ranks,
            r->ranks == 1 ? "" : "s");
    for (int i = 0; i < r->num && places; i++)
        places[i] = &r->lines[i];
    if (places)
        qsort(places, (size_t)r->num, sizeof(*places), by_waiting);
    for (int i = 0; i < r->num && i < MOST_PLACES && places; i++)
        if (places[i]->late[0].calls > 0 && (double)places[i]->sums.late_ns >= WORTH * (double)sum.late_ns)
            write_late(r, places[i], to);
    if (sum.messages > 0)
        fprintf(
            to,
            "# Messages between two ranks, and waiting for them, took another %.1f %%: %s s. For whom is not "
            "known.\n",
            r->time_ns > 0 ? 100.0 * (double)sum.message_ns / (double)r->time_ns / r->ranks : 0,
            pat_report_digits(1e-3 * pat_report_ms(sum.message_ns, r->ranks), waited));
    write_spared(r, to);
    if (r->too_many_calls > 0)
        fprintf(to,
                "# Of %lld calls it is not known when the other ranks came to them: there were too many "
                "communicators and persistent requests.\n",
                (long long)r->too_many_calls);
    if (r->unmet_calls > r->too_many_calls)
        fprintf(to, "# Of %lld calls it is not known when the other ranks came to them%s.\n",
                (long long)(r->unmet_calls - r->too_many_calls),
                r->lost_calls > 0 ? ": there was no room for them (PAT_TRACE_MEM, or the disk)"
                                  : ": the ranks' calls do not fit together");
    if (r->off_calls > 0)
        fprintf(to,
                "# %lld calls of all ranks are left out, since MPI_Pcontrol(0) had switched counting off.\n",
                (long long)r->off_calls);
    fputs("#\n", to);
    free(places);
}

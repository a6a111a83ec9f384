/*
 * trace_text.c — see trace_out.h.
 */
#include <string.h>

#include "collective.h"
#include "trace_models.h"
#include "trace_out.h"
#include "trace_sums.h"

enum { PLACE = 34 };

/* A place in at most PLACE characters: lines and addresses are at the end, but of a stack what matters most is at its beginning. */
static void shorten(const char *name, char text[PLACE + 1])
{
    const int too_long = (int)strlen(name) - PLACE;
    if (too_long > 0 && strstr(name, " < "))
        snprintf(text, PLACE + 1, "%.*s...", PLACE - 3, name);
    else
        snprintf(text, PLACE + 1, "%s%s", too_long > 0 ? "..." : "",
                 name + (too_long > 0 ? too_long + 3 : 0));
}

/* By which plans its calls ran, on lines of their own. */
static void write_run(const pat_log *log, const trace_place *p, FILE *to)
{
    enum { WIDTH = 80 }; /* and the longest name behind it */
    int used = 0;
    for (int a = 0; a < log->num_algs; a++)
        if (p->by_alg[a] > 0) {
            if (used > WIDTH) {
                fputs(",\n", to);
                used = 0;
            }
            used += fprintf(to, "%s%lld by %s", used ? ", " : "    ", (long long)p->by_alg[a], log->algs[a]);
        }
    if (used && p->early_bytes > 0)
        fprintf(to, "; %.3g MB were there early", 1e-6 * p->early_bytes);
    if (used)
        fputc('\n', to);
}

static void write_place(const pat_log *log, const trace_place *p, FILE *to)
{
    const pat_log_site *site = &log->sites[p->site];
    char late[80] = "-", wait[20] = "-", name[PLACE + 1];
    shorten(pat_log_name(site), name);
    if (p->worst >= 0)
        snprintf(late, sizeof(late), "%d (%.0f %%)", p->worst,
                 100.0 * (double)p->for_rank_calls[p->worst] / (double)p->late_calls);
    if (p->known)
        snprintf(wait, sizeof(wait), "%.3g", trace_ms(p->wait_ns, p->known));
    fprintf(to, "%-*s  %-24.24s %9lld %10.0f %9.3g %9s  %s\n", PLACE, name, site->call, (long long)p->calls,
            p->bytes / (double)p->calls, trace_ms(p->time_ns, p->calls), wait, late);
    write_run(log, p, to);
}

static void write_messages(const pat_log *log, const trace_sums *sums, FILE *to)
{
    if (sums->messages == 0)
        return;
    fputs(
        "#\n# Messages between two ranks, and waiting for them: calls of all ranks, bytes and time of a call "
        "(means).\n",
        to);
    fprintf(to, "%-*s  %-24s %9s %10s %9s\n", PLACE, "place", "call", "calls", "bytes", "time/ms");
    for (int i = 0; i < sums->num_places; i++) {
        const trace_place *p = &sums->places[i];
        char name[PLACE + 1];
        shorten(pat_log_name(&log->sites[p->site]), name);
        if (p->messages > 0)
            fprintf(to, "%-*s  %-24.24s %9.0f %10.0f %9.3g\n", PLACE, name, log->sites[p->site].call,
                    p->messages, p->message_bytes / p->messages, 1e-6 * p->message_ns / p->messages);
    }
}

/* What another algorithm would spare, at the place where most is to be spared. */
static void write_spared(const pat_log *log, const trace_sums *sums, FILE *to)
{
    static const double WORTH = 0.01; /* of the run */
    const trace_place *best = NULL;
    double most_ms = 1e-6 * WORTH * sums->run_ns;
    char name[PLACE + 1];
    for (int i = 0; i < sums->num_places; i++)
        if (sums->places[i].models && sums->places[i].models->spared_ms > most_ms) {
            best = &sums->places[i];
            most_ms = best->models->spared_ms;
        }
    if (!best)
        return;
    const trace_model *by = &best->models->of[0];
    shorten(pat_log_name(&log->sites[best->site]), name);
    fprintf(to,
            "# By the model, %s=%s would take %.3g ms in place of %.3g:\n"
            "#   %.3g s less of the run, about, at %s (%s).\n",
            pat_collective_of(by->alg->op)->setting, by->alg->name, by->ms, best->models->took_ms,
            1e-3 * most_ms, name, log->sites[best->site].call);
}

static void write_head(const pat_log *log, const trace_sums *sums, FILE *to)
{
    fprintf(to,
            "# Waiting for late ranks in collectives took %.1f %% of the run: %.3g of %.3g s (mean over %d "
            "rank%s).\n",
            sums->run_ns > 0 && sums->there > 0 ? 100.0 * sums->wait_ns / sums->there / sums->run_ns : 0,
            1e-3 * trace_ms(sums->wait_ns, sums->there), 1e-3 * trace_ms(sums->run_ns, 1), sums->there,
            sums->there == 1 ? "" : "s");
    if (sums->moves_ns > 0)
        fprintf(to,
                "# Moving data took another %.3g s; early data could spare at most about %.3g s of that.\n",
                1e-3 * trace_ms(sums->moves_ns, sums->there), 1e-3 * trace_ms(sums->early_ns, sums->there));
    if (sums->unknown_ns > 0)
        fprintf(to, "# Of calls that took another %.3g s it is not known how long they waited.\n",
                1e-3 * trace_ms(sums->unknown_ns, sums->there));
    if (sums->messages > 0)
        fprintf(to, "# Messages between two ranks, and waiting for them, took another %.3g s.\n",
                1e-3 * trace_ms(sums->message_ns, sums->there));
    write_spared(log, sums, to);
    fprintf(to, "# PAT %s and %s, %d ranks, %lld calls\n", log->pat, log->mpi, log->num_ranks,
            (long long)sums->calls);
    fprintf(to, "# command: %.108s\n#\n", log->command);
}

static void write_tables(const pat_log *log, const trace_sums *sums, FILE *to)
{
    fputs("# Places: calls of all ranks, bytes and time of a call (means), of it waiting for late ranks; the "
          "rank that "
          "was waited\n"
          "# for longest, and in how many of the calls in which a rank waited.\n",
          to);
    fprintf(to, "%-*s  %-24s %9s %10s %9s %9s  %s\n", PLACE, "place", "call", "calls", "bytes", "time/ms",
            "wait/ms", "late rank");
    for (int i = 0; i < sums->num_places; i++)
        if (sums->places[i].calls)
            write_place(log, &sums->places[i], to);
    write_messages(log, sums, to);
    fputs("#\n# Ranks: time in collectives, of it waiting for late ranks, and how long others have waited "
          "for it, all together;\n"
          "# and time in messages.\n",
          to);
    fprintf(to, "%6s  %-30s %9s %12s %12s %12s %12s\n", "rank", "host", "calls", "time/s", "waits/s",
            "waited for/s", "messages/s");
    for (int r = 0; r < log->num_ranks; r++)
        fprintf(to, "%6d  %-30.30s %9lld %12.4g %12.4g %12.4g %12.4g\n", r,
                log->ranks[r].is_there ? log->ranks[r].host : "(no file)", (long long)sums->ranks[r].calls,
                1e-3 * trace_ms(sums->ranks[r].time_ns, 1), 1e-3 * trace_ms(sums->ranks[r].wait_ns, 1),
                1e-3 * trace_ms(sums->ranks[r].caused_ns, 1), 1e-3 * trace_ms(sums->ranks[r].message_ns, 1));
}

bool pat_trace_text(const pat_log *log, const trace_sums *sums, FILE *to)
{
    write_head(log, sums, to);
    write_tables(log, sums, to);
    return !ferror(to);
}

/*
 * trace_text.c — see trace_out.h.
 */
#include <stdlib.h>
#include <string.h>

#include "trace_out.h"

enum { PLACE = 34 };

/* Of a place: sums over calls and ranks, which nonsense in a file must not overflow. */
typedef struct place {
    int site;
    int64_t calls, known;
    double bytes, time_ns, wait_ns;
    double *for_rank_ns; /* how long others have waited for each rank */
    int64_t *for_rank_calls;
} place;

/* Of a rank. */
typedef struct sums {
    int64_t calls;
    double time_ns, wait_ns, caused_ns; /* caused: others have waited for it */
} sums;

static int by_waiting(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->wait_ns != y->wait_ns)
        return x->wait_ns < y->wait_ns ? 1 : -1;
    return (x->time_ns < y->time_ns) - (x->time_ns > y->time_ns);
}

static double ms(double ns, int64_t parts)
{
    return parts > 0 ? 1e-6 * ns / (double)parts : 0;
}

static void add(const pat_log *log, place *places, sums *ranks)
{
    for (int r = 0; r < log->num_ranks; r++)
        for (int64_t i = 0; i < log->ranks[r].num_events; i++) {
            const pat_log_event *e = &log->ranks[r].events[i];
            place *p = &places[e->site];
            p->calls++;
            p->bytes += (double)e->bytes;
            p->time_ns += (double)e->time_ns;
            p->known += e->wait_ns >= 0;
            p->wait_ns += e->wait_ns > 0 ? (double)e->wait_ns : 0;
            ranks[r].calls++;
            ranks[r].time_ns += (double)e->time_ns;
            ranks[r].wait_ns += e->wait_ns > 0 ? (double)e->wait_ns : 0;
            if (e->late < 0)
                continue;
            p->for_rank_ns[e->late] += (double)e->wait_ns;
            p->for_rank_calls[e->late]++;
            ranks[e->late].caused_ns += (double)e->wait_ns;
        }
}

/* How long the program has run, as far as its ranks tell. */
static double run_ns(const pat_log *log)
{
    double most = 0;
    for (int r = 0; r < log->num_ranks; r++) {
        const pat_log_rank *rank = &log->ranks[r];
        const pat_log_event *last = rank->num_events > 0 ? &rank->events[rank->num_events - 1] : NULL;
        const double own = rank->is_ended ? (double)rank->end_ns - (double)rank->begin_ns
                           : last         ? (double)last->start_ns + (double)last->time_ns
                                          : 0;
        most = own > most ? own : most;
    }
    return most;
}

static void write_place(const pat_log *log, const place *p, FILE *to)
{
    const pat_log_site *site = &log->sites[p->site];
    const char *name = site->line[0] ? site->line : site->name;
    const int too_long = (int)strlen(name) - PLACE; /* lines and addresses are at the end */
    char late[80] = "-", short_name[PLACE + 1];
    int worst = 0;
    int64_t all = 0;
    for (int r = 0; r < log->num_ranks; r++) {
        all += p->for_rank_calls[r];
        if (p->for_rank_ns[r] > p->for_rank_ns[worst])
            worst = r;
    }
    if (too_long > 0)
        snprintf(short_name, sizeof(short_name), "...%s", name + too_long + 3);
    else
        snprintf(short_name, sizeof(short_name), "%s", name);
    if (all > 0)
        snprintf(late, sizeof(late), "%d (%.0f %%)", worst,
                 100.0 * (double)p->for_rank_calls[worst] / (double)all);
    fprintf(to, "%-*s  %-24.24s %9lld %10.0f %9.3g %9.3g  %s\n", PLACE, short_name, site->call,
            (long long)p->calls, p->calls ? p->bytes / (double)p->calls : 0, ms(p->time_ns, p->calls),
            ms(p->wait_ns, p->known), late);
}

static void write_head(const pat_log *log, const place *places, FILE *to)
{
    int64_t calls = 0;
    double wait_ns = 0;
    const double took_ns = run_ns(log);
    int there = 0;
    for (int s = 0; s < log->num_sites; s++) {
        wait_ns += places[s].wait_ns;
        calls += places[s].calls;
    }
    for (int r = 0; r < log->num_ranks; r++)
        there += log->ranks[r].is_there;
    fprintf(to,
            "# Waiting for late ranks in collectives took %.1f %% of the run: %.3g of %.3g s (mean over %d "
            "rank%s).\n",
            took_ns > 0 && there > 0 ? 100.0 * wait_ns / there / took_ns : 0, 1e-3 * ms(wait_ns, there),
            1e-3 * ms(took_ns, 1), there, there == 1 ? "" : "s");
    fprintf(to, "# PAT %s and %s, %d ranks, %lld calls\n", log->pat, log->mpi, log->num_ranks,
            (long long)calls);
    fprintf(to, "# command: %.108s\n#\n", log->command);
}

static void write_tables(const pat_log *log, const place *places, const sums *ranks, FILE *to)
{
    fputs("# Places: calls of all ranks, bytes and time of a call (means), of it waiting for late ranks; the "
          "rank that "
          "was waited\n"
          "# for longest, and in how many of the calls in which a rank waited.\n",
          to);
    fprintf(to, "%-*s  %-24s %9s %10s %9s %9s  %s\n", PLACE, "place", "call", "calls", "bytes", "time/ms",
            "wait/ms", "late rank");
    for (int s = 0; s < log->num_sites; s++)
        if (places[s].calls)
            write_place(log, &places[s], to);
    fputs("#\n# Ranks: time in collectives, of it waiting for late ranks, and how long others have waited "
          "for it, all together.\n",
          to);
    fprintf(to, "%6s  %-30s %9s %12s %12s %12s\n", "rank", "host", "calls", "time/s", "waits/s",
            "waited for/s");
    for (int r = 0; r < log->num_ranks; r++)
        fprintf(to, "%6d  %-30.30s %9lld %12.4g %12.4g %12.4g\n", r,
                log->ranks[r].is_there ? log->ranks[r].host : "(no file)", (long long)ranks[r].calls,
                1e-3 * ms(ranks[r].time_ns, 1), 1e-3 * ms(ranks[r].wait_ns, 1),
                1e-3 * ms(ranks[r].caused_ns, 1));
}

bool pat_trace_text(const pat_log *log, FILE *to)
{
    const size_t sites = (size_t)log->num_sites, size = (size_t)log->num_ranks;
    place *places = calloc(sites + 1, sizeof(*places));
    sums *ranks = calloc(size, sizeof(*ranks));
    double *late_ns = calloc(sites * size + 1, sizeof(*late_ns));
    int64_t *late_calls = calloc(sites * size + 1, sizeof(*late_calls));
    const bool good = places && ranks && late_ns && late_calls;
    for (int s = 0; s < log->num_sites && good; s++) {
        places[s].site = s;
        places[s].for_rank_ns = late_ns + (size_t)s * size;
        places[s].for_rank_calls = late_calls + (size_t)s * size;
    }
    if (good) {
        add(log, places, ranks);
        write_head(log, places, to);
        if (sites > 0)
            qsort(places, sites, sizeof(*places), by_waiting);
        write_tables(log, places, ranks, to);
    }
    free(places);
    free(ranks);
    free(late_ns);
    free(late_calls);
    return good && !ferror(to);
}

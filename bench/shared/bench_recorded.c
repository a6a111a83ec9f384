/*
 * bench_recorded.c — see bench_recorded.h. Must never mix the arrivals of two places, or take those of a call that has failed.
 */
#include "bench_recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_must.h"
#include "log_read.h"

static bool is_good(const pat_log *log, int comm, int64_t turn, const bench_recorded_wish *w)
{
    for (int m = 0; m < w->ranks; m++) {
        const pat_log_event *e = pat_log_event_of(log, comm, m, turn);
        if (e->has_failed || e->after_ns < 0)
            return false;
    }
    const pat_log_event *first = pat_log_event_of(log, comm, 0, turn);
    return !w->takes || w->takes(log->sites[first->site].call, first->root, w->with);
}

/* Of each site how long ranks have waited there in calls that are of use. */
static void weigh(const pat_log *log, const bench_recorded_wish *w, double wait_ns[])
{
    for (int c = 0; c < log->num_comms; c++)
        for (int64_t turn = 0; turn < log->comms[c].num_calls && log->comms[c].size == w->ranks; turn++)
            for (int m = 0, good = is_good(log, c, turn, w); m < w->ranks && good; m++) {
                const pat_log_event *e = pat_log_event_of(log, c, m, turn);
                wait_ns[e->site] += 1 + (e->wait_ns > 0 ? (double)e->wait_ns : 0);
            }
}

/* The place that is meant, or that with most waiting; negative: there is none. */
static int choose(const pat_log *log, const double wait_ns[], const char *place)
{
    int best = -1;
    for (int s = 0; s < log->num_sites; s++)
        if (wait_ns[s] > 0 && (!place || strcmp(place, pat_log_name(&log->sites[s])) == 0) &&
            (best < 0 || wait_ns[s] > wait_ns[best]))
            best = s;
    return best;
}

/* Ranks may make one call from different places: one that any of them makes here is taken. */
static bool is_of(const pat_log *log, int comm, int64_t turn, int site, const bench_recorded_wish *w)
{
    bool any = false;
    for (int m = 0; m < w->ranks; m++)
        any = any || pat_log_event_of(log, comm, m, turn)->site == site;
    return any && is_good(log, comm, turn, w);
}

static void take_call(const pat_log *log, int comm, int64_t turn, bench_recorded *r)
{
    for (int m = 0; m < r->ranks; m++) {
        const pat_log_event *e = pat_log_event_of(log, comm, m, turn);
        const int here = e->root > 0 ? (m - e->root + r->ranks) % r->ranks : m;
        r->after_ns[(size_t)r->num * (size_t)r->ranks + (size_t)here] =
            e->after_ns > 0 ? (float)e->after_ns : 0;
        r->has_root = r->has_root || e->root >= 0;
        r->apart_ms += 1e-6 * (double)e->apart_ns;
        r->bytes += (double)e->bytes;
        r->elapsed_ms += 1e-6 * (double)e->time_ns;
    }
    r->num++;
}

static void take(const pat_log *log, int site, const bench_recorded_wish *w, bench_recorded *r)
{
    int room = 0;
    for (int c = 0; c < log->num_comms; c++)
        for (int64_t turn = 0;
             turn < log->comms[c].num_calls && log->comms[c].size == w->ranks && r->num < w->most; turn++) {
            if (!is_of(log, c, turn, site, w))
                continue;
            if (r->num == room) {
                room = room > 0 ? 2 * room : 64;
                r->after_ns = realloc(r->after_ns, (size_t)room * (size_t)w->ranks * sizeof(*r->after_ns));
                bench_must(r->after_ns ? MPI_SUCCESS : MPI_ERR_NO_MEM, "memory");
            }
            take_call(log, c, turn, r);
        }
    r->bytes /= (double)r->num * w->ranks;
    r->elapsed_ms /= (double)r->num * w->ranks;
    r->apart_ms /= (double)r->num * w->ranks;
    snprintf(r->name, sizeof(r->name), "%s", pat_log_name(&log->sites[site]));
    snprintf(r->call, sizeof(r->call), "%s", log->sites[site].call);
}

/* The list of places that have been weighed, after `before`, with what they call where they have calls of another function than was meant; false: there is none. */
static bool tell_places(const pat_log *log, const double wait_ns[], const char *before, bool with_calls,
                        char *why, size_t why_size)
{
    const char *between = before;
    size_t length = strlen(why);
    for (int s = 0; s < log->num_sites && length < why_size; s++)
        if (wait_ns[s] > 0) {
            length += (size_t)snprintf(why + length, why_size - length, "%s%s%s%s%s", between,
                                       pat_log_name(&log->sites[s]), with_calls ? " (" : "",
                                       with_calls ? log->sites[s].call : "", with_calls ? ")" : "");
            between = ", ";
        }
    return between != before;
}

static void tell_ranks(const pat_log *log, char *why, size_t why_size)
{
    const char *before = "; calls are there of so many ranks: ";
    size_t length = strlen(why);
    for (int c = 0; c < log->num_comms && length < why_size; c++) {
        bool is_new = log->comms[c].num_calls > 0;
        for (int k = 0; k < c; k++)
            is_new = is_new && !(log->comms[k].num_calls > 0 && log->comms[k].size == log->comms[c].size);
        if (!is_new)
            continue;
        length += (size_t)snprintf(why + length, why_size - length, "%s%d", before, log->comms[c].size);
        before = ", ";
    }
}

/* What there is in place of it: other places, or else those of other functions, or else calls of other numbers of ranks. */
static void tell_accepted(const pat_log *log, const bench_recorded_wish *w, double wait_ns[], char *why,
                          size_t why_size)
{
    bench_recorded_wish any = *w;
    any.takes = NULL;
    if (tell_places(log, wait_ns, "; accepted: ", false, why, why_size))
        return;
    weigh(log, &any, wait_ns);
    if (!tell_places(log, wait_ns, "; calls of so many ranks are there at: ", true, why, why_size))
        tell_ranks(log, why, why_size);
}

bool bench_recorded_read(bench_recorded *r, const bench_recorded_wish *w, char *why, size_t why_size)
{
    *r = (bench_recorded){.ranks = w->ranks};
    pat_log *log = pat_log_read(w->dir, why, why_size);
    if (!log) {
        const size_t length = strlen(why);
        snprintf(why + length, why_size - length, "; accepted: a directory that PAT_TRACE has filled");
        return false;
    }
    double *wait_ns = bench_must_alloc((size_t)log->num_sites + 1, sizeof(*wait_ns));
    weigh(log, w, wait_ns);
    const int site = choose(log, wait_ns, w->place);
    if (site >= 0) {
        take(log, site, w, r);
    } else {
        snprintf(why, why_size,
                 "no call%s%s%s%s in '%s' that %d ranks have made together (the trace is of %d ranks)",
                 w->what ? " of " : "", w->what ? w->what : "", w->place ? " at " : "",
                 w->place ? w->place : "", w->dir, w->ranks, log->num_ranks);
        tell_accepted(log, w, wait_ns, why, why_size);
    }
    free(wait_ns);
    pat_log_free(log);
    return site >= 0;
}

void bench_recorded_share(bench_recorded *r, MPI_Comm comm)
{
    int rank;
    MUST(PMPI_Comm_rank(comm, &rank));
    bench_recorded all = *r;
    MUST(PMPI_Bcast(&all, (int)sizeof(all), MPI_BYTE, 0, comm));
    all.after_ns = r->after_ns;
    if (rank > 0)
        all.after_ns = bench_must_alloc((size_t)all.num * (size_t)all.ranks, sizeof(*all.after_ns));
    *r = all;
    for (int i = 0; i < r->num; i++)
        MUST(PMPI_Bcast(r->after_ns + (size_t)i * (size_t)r->ranks, r->ranks, MPI_FLOAT, 0, comm));
}

void bench_recorded_free(bench_recorded *r)
{
    free(r->after_ns);
    *r = (bench_recorded){.num = 0};
}

/*
 * trace_sums.c — see trace_sums.h.
 */
#include "trace_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "waits.h"

static int by_waiting(const void *a, const void *b)
{
    const trace_place *x = a, *y = b;
    if ((x->calls > 0) != (y->calls > 0))
        return x->calls > 0 ? -1 : 1;
    if (x->wait_ns != y->wait_ns)
        return x->wait_ns < y->wait_ns ? 1 : -1;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    return (x->site > y->site) - (x->site < y->site);
}

/*
 * Of the time that a call takes besides waiting as much could have been spared, had data moved early, as lies between the first arrival and the last one: about, since a
 * rank may still wait for what another one has not yet got. So a rank that came last, and waits for nobody, may gain too.
 */
static void add_event(trace_sums *s, trace_place *p, trace_rank *rank, const pat_log_event *e)
{
    const double wait_ns = e->wait_ns > 0 ? (double)e->wait_ns : 0,
                 other_ns = p->moves ? fmax(0, (double)e->time_ns - wait_ns) : 0;
    p->calls++;
    p->bytes += (double)e->bytes;
    p->time_ns += (double)e->time_ns;
    p->wait_ns += wait_ns;
    if (e->wait_ns < 0 && !p->begins) {
        p->unknown_ns += (double)e->time_ns;
        rank->unknown_ns += (double)e->time_ns;
    } else if (!p->begins) {
        p->known++;
        p->moves_ns += other_ns;
        p->early_ns += fmax(0, fmin((double)e->apart_ns, other_ns));
    }
    if (e->alg >= 0) {
        p->by_alg[e->alg]++;
        p->early_bytes += (double)e->early_bytes;
    }
    rank->calls++;
    rank->time_ns += (double)e->time_ns;
    rank->wait_ns += wait_ns;
    if (e->late < 0)
        return;
    p->for_rank_ns[e->late] += (double)e->wait_ns;
    p->for_rank_calls[e->late]++;
    p->late_calls++;
    s->ranks[e->late].caused_ns += (double)e->wait_ns;
    if (p->worst < 0 || p->for_rank_ns[e->late] > p->for_rank_ns[p->worst])
        p->worst = e->late;
}

/* calls: room for a number for each place. */
static void add_rank(trace_sums *s, const pat_log_rank *rank, trace_rank *sums, int64_t *calls)
{
    const pat_log_event *last = rank->num_events > 0 ? &rank->events[rank->num_events - 1] : NULL;
    const double run_ns = rank->is_ended ? (double)rank->end_ns - (double)rank->begin_ns
                          : last         ? (double)last->start_ns + (double)last->time_ns
                                         : 0;
    s->there += rank->is_there;
    s->run_ns = fmax(s->run_ns, run_ns);
    memset(calls, 0, (size_t)s->num_places * sizeof(*calls));
    for (int64_t i = 0; i < rank->num_events; i++) {
        trace_place *p = &s->places[rank->events[i].site];
        add_event(s, p, sums, &rank->events[i]);
        if (++calls[p->site] > p->most_calls)
            p->most_calls = calls[p->site];
    }
    for (int64_t i = 0; i < rank->num_messages; i++) {
        const pat_log_messages *m = &rank->messages[i];
        trace_place *p = &s->places[m->site];
        p->messages += (double)m->calls;
        p->message_ns += (double)m->time_ns;
        p->message_bytes += (double)m->bytes;
        sums->message_ns += (double)m->time_ns;
    }
}

static void find_pop(trace_sums *s, const pat_log *log)
{
    double busy_ns = 0, most_ns = 0, ideal_ns = 0;
    bool whole = true;
    for (int r = 0; r < log->num_ranks; r++) {
        const trace_rank *rank = &s->ranks[r];
        const double in_mpi_ns = rank->time_ns + rank->message_ns;
        whole = whole && log->ranks[r].is_ended && log->ranks[r].num_lost == 0 && in_mpi_ns <= s->run_ns;
        const double own_ns = fmax(0, s->run_ns - in_mpi_ns);
        busy_ns += own_ns / log->num_ranks;
        most_ns = fmax(most_ns, own_ns);
        ideal_ns = fmax(ideal_ns, own_ns + rank->wait_ns);
    }
    if (!whole || s->run_ns <= 0 || most_ns <= 0)
        return;
    s->pop = (trace_pop){.known = true,
                         .is_split = s->unknown_ns + s->message_ns <= (s->time_ns + s->message_ns) / 20,
                         .parallel = busy_ns / s->run_ns,
                         .load_balance = busy_ns / most_ns,
                         .communication = most_ns / s->run_ns,
                         .serialisation = most_ns / ideal_ns,
                         .transfer = ideal_ns / s->run_ns};
}

bool trace_sums_make(trace_sums *s, const pat_log *log)
{
    const size_t sites = (size_t)log->num_sites, size = (size_t)log->num_ranks;
    *s = (trace_sums){.places = calloc(sites + 1, sizeof(*s->places)),
                      .ranks = calloc(size + 1, sizeof(*s->ranks))};
    int64_t *calls = calloc(sites + 1, sizeof(*calls));
    bool good = s->places && s->ranks && calls;
    for (size_t i = 0; i < sites && good; i++) {
        trace_place *p = &s->places[i];
        *p = (trace_place){.site = (int)i,
                           .worst = -1,
                           .moves = !pat_waits_moves_nothing(log->sites[i].call),
                           .begins = pat_waits_begins(log->sites[i].call),
                           .for_rank_ns = calloc(size, sizeof(*p->for_rank_ns)),
                           .for_rank_calls = calloc(size, sizeof(*p->for_rank_calls)),
                           .by_alg = calloc((size_t)log->num_algs + 1, sizeof(*p->by_alg))};
        s->num_places++;
        good = p->for_rank_ns && p->for_rank_calls && p->by_alg;
    }
    for (int r = 0; r < log->num_ranks && good; r++)
        add_rank(s, &log->ranks[r], &s->ranks[r], calls);
    free(calls);
    if (!good)
        return false;
    qsort(s->places, sites, sizeof(*s->places), by_waiting);
    for (size_t i = 0; i < sites; i++) {
        s->calls += s->places[i].calls;
        s->time_ns += s->places[i].time_ns;
        s->wait_ns += s->places[i].wait_ns;
        s->unknown_ns += s->places[i].unknown_ns;
        s->moves_ns += s->places[i].moves_ns;
        s->early_ns += s->places[i].early_ns;
        s->messages += s->places[i].messages;
        s->message_ns += s->places[i].message_ns;
    }
    find_pop(s, log);
    return true;
}

void trace_sums_free(trace_sums *s)
{
    for (int i = 0; i < s->num_places; i++) {
        free(s->places[i].for_rank_ns);
        free(s->places[i].for_rank_calls);
        free(s->places[i].by_alg);
        free(s->places[i].models);
    }
    free(s->places);
    free(s->ranks);
}

/*
 * trace_models.c — see trace_models.h.
 */
#include "trace_models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

enum { MOST_CALLS = 16 };

/* No file says more that makes sense; what says less cannot overflow the model. */
static const int64_t MOST_NS = INT64_C(1000000000000000);

static bool can(const pat_log *log)
{
    if (log->num_link == 0 || log->num_ranks < 2 || log->num_ranks > PAT_REPLAY_RANKS ||
        !log->ranks[0].is_there)
        return false;
    for (int r = 0; r < log->num_ranks; r++)
        for (int q = 0; q < r; q++)
            if (!log->ranks[r].is_there || strcmp(log->ranks[r].host, log->ranks[q].host) == 0)
                return false;
    return true;
}

/* As pat_one_way_ns has it: on the line between the two sizes around it. */
static double message_ns(const pat_log *log, double bytes)
{
    const pat_log_link *t = log->link;
    int i = 1;
    if (log->num_link == 1 || bytes <= (double)t[0].bytes)
        return (double)t[0].ns;
    while (i < log->num_link - 1 && bytes > (double)t[i].bytes)
        i++;
    const double slope = (double)(t[i].ns - t[i - 1].ns) / (double)(t[i].bytes - t[i - 1].bytes);
    return (double)t[i - 1].ns + slope * (bytes - (double)t[i - 1].bytes);
}

/* A call of all members of a communicator, as the model takes it. arrival_ns: room for as many. */
static pat_replay replay_of(const pat_log *log, enum pat_op op, const pat_log_event *of, int64_t *arrival_ns,
                            double *took_ns)
{
    const int size = log->comms[of->comm].size;
    pat_replay call = {
        .op = op, .num_ranks = size, .root = of->root, .bytes = of->bytes, .arrival_ns = arrival_ns};
    pat_replay_link(&call, message_ns(log, 0), message_ns(log, (double)of->bytes));
    *took_ns = 0;
    for (int m = 0; m < size; m++) {
        const pat_log_event *e = pat_log_event_of(log, of->comm, m, of->turn);
        arrival_ns[m] = e->after_ns;
        *took_ns += (double)e->time_ns / size;
    }
    return call;
}

/* Calls at that place that all members have made, seen once each: by their first member. Into `calls` some, evenly from the first to the last. */
static int choose(const pat_log *log, int site, int most, const pat_log_event *calls[MOST_CALLS])
{
    int64_t num = 0, at = 0;
    int some = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int r = 0; r < log->num_ranks; r++)
            for (int64_t i = 0; i < log->ranks[r].num_events; i++) {
                const pat_log_event *e = &log->ranks[r].events[i];
                if (e->site != site || e->is_wait || e->has_failed || e->apart_ns < 0 ||
                    e->apart_ns > MOST_NS || e->bytes < 1 || log->comms[e->comm].rank[0] != r ||
                    e->root >= log->comms[e->comm].size)
                    continue;
                if (pass == 0)
                    num++;
                else if (some < most && at++ * most / num >= some)
                    calls[some++] = e;
            }
    return some;
}

static int by_time(const void *a, const void *b)
{
    const trace_model *x = a, *y = b;
    return (x->ms > y->ms) - (x->ms < y->ms);
}

/* Calls of more ranks take longer to walk, so fewer are. */
static int most_calls(const pat_log *log)
{
    enum { FEW_RANKS = 16, SOME_CALLS = 4 };
    return log->num_ranks <= FEW_RANKS ? MOST_CALLS : SOME_CALLS;
}

static void make(trace_models *m, const pat_log *log, int site)
{
    const enum pat_op op = pat_replay_op(log->sites[site].call);
    const pat_log_event *calls[MOST_CALLS];
    const int num = op == PAT_NUM_OPS ? 0 : choose(log, site, most_calls(log), calls);
    int64_t *arrival_ns = malloc((size_t)log->num_ranks * sizeof(*arrival_ns));
    for (int i = 0; i < num && arrival_ns; i++) {
        double took_ns;
        replay_of(log, op, calls[i], arrival_ns, &took_ns);
        m->took_ms += 1e-6 * took_ns / num;
    }
    for (int a = 0; a < pat_algorithm_count() && num > 0 && arrival_ns; a++) {
        trace_model of = {.alg = pat_algorithm_at(a)};
        if (of.alg->op != op || !pat_replay_can(of.alg))
            continue;
        for (int i = 0; i < num; i++) {
            double took_ns;
            const pat_replay call = replay_of(log, op, calls[i], arrival_ns, &took_ns);
            of.ms += 1e-6 * pat_replay_ns(&call, of.alg) / num;
        }
        if (of.ms >= 0)
            m->of[m->num++] = of;
    }
    m->calls = m->num > 0 ? num : 0;
    qsort(m->of, (size_t)m->num, sizeof(m->of[0]), by_time);
    free(arrival_ns);
}

/* The algorithm that ran most of the calls, by its plans; NULL: the MPI library did, or none of those that the model knows. */
static const trace_model *ran(const trace_models *m, const pat_log *log, const trace_place *p)
{
    for (int a = 0; a < log->num_algs; a++)
        for (int i = 0; i < m->num && 2 * p->by_alg[a] > p->calls; i++)
            if (strcmp(m->of[i].alg->name, log->algs[a]) == 0)
                return &m->of[i];
    return NULL;
}

/* The model is held against what was recorded, and where it knows what ran, against itself. */
static double spared(const trace_models *m, const pat_log *log, const trace_place *p)
{
    const trace_model *by = ran(m, log, p);
    return pat_replay_spared(by ? by->ms : m->took_ms, m->of[0].ms) * 1e-6 * p->time_ns / log->num_ranks;
}

static int longest_first(const void *a, const void *b)
{
    const trace_place *const *x = a, *const *y = b;
    return ((*x)->time_ns < (*y)->time_ns) - ((*x)->time_ns > (*y)->time_ns);
}

void trace_models_make(trace_sums *sums, const pat_log *log)
{
    enum { MOST_PLACES = 16 };
    trace_place **places = can(log) ? malloc(((size_t)sums->num_places + 1) * sizeof(*places)) : NULL;
    for (int i = 0; i < sums->num_places && places; i++)
        places[i] = &sums->places[i];
    if (places)
        qsort(places, (size_t)sums->num_places, sizeof(*places), longest_first);
    for (int i = 0; i < sums->num_places && i < MOST_PLACES && places; i++) {
        trace_place *p = places[i];
        trace_models m = {.calls = 0};
        make(&m, log, p->site);
        if (m.calls == 0 || (p->models = malloc(sizeof(*p->models))) == NULL)
            continue;
        *p->models = m;
        p->models->spared_ms = spared(&m, log, p);
    }
    free(places);
}

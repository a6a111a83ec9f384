/*
 * trace_json.c — see trace_out.h.
 */
#include <math.h>

#include "collective.h"
#include "json_text.h"
#include "trace_html.h"
#include "trace_models.h"
#include "trace_out.h"
#include "trace_sums.h"

enum { SCHEMA = 2, MOST_LATE = 4 };

static double s_of(double ns)
{
    return 1e-9 * ns;
}

/* The ranks that others have waited for longest; `seen` has room for a flag for each rank, and is left cleared. */
static json_t *waited_for(const trace_place *p, int num_ranks, bool *seen)
{
    json_t *all = json_array();
    int told[MOST_LATE], num = 0;
    for (; num < MOST_LATE; num++) {
        int most = -1;
        for (int r = 0; r < num_ranks; r++)
            if (!seen[r] && p->for_rank_calls[r] > 0 &&
                (most < 0 || p->for_rank_ns[r] > p->for_rank_ns[most]))
                most = r;
        if (most < 0)
            break;
        seen[most] = true;
        told[num] = most;
        json_array_append_new(all, json_pack("{s:i, s:I, s:f}", "rank", most, "calls",
                                             (json_int_t)p->for_rank_calls[most], "wait_s",
                                             s_of(p->for_rank_ns[most])));
    }
    while (num > 0)
        seen[told[--num]] = false;
    return all;
}

/* How many calls each algorithm has run; all others were passed on. */
static json_t *run_by(const pat_log *log, const trace_place *p)
{
    json_t *all = json_object();
    for (int a = 0; a < log->num_algs; a++)
        if (p->by_alg[a] > 0)
            json_object_set_new(all, log->algs[a], json_integer(p->by_alg[a]));
    return all;
}

/* What other algorithms would have taken, the least first; null: it is not known. */
static json_t *model_of(const trace_models *m)
{
    if (!m)
        return json_null();
    json_t *all = json_array();
    for (int i = 0; i < m->num; i++)
        json_array_append_new(all, json_pack("{s:s, s:s, s:f}", "setting",
                                             pat_collective_of(m->of[i].alg->op)->setting, "algorithm",
                                             m->of[i].alg->name, "mean_ms", m->of[i].ms));
    return json_pack("{s:i, s:f, s:f, s:o}", "calls", m->calls, "recorded_mean_ms", m->took_ms,
                     "spared_ms_of_a_rank", m->spared_ms, "algorithms", all);
}

static json_t *place_of(const pat_log *log, const trace_place *p, bool *seen)
{
    const pat_log_site *site = &log->sites[p->site];
    return json_pack("{s:o, s:o, s:o, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:f, s:o, s:I, s:o}",
                     "call", pat_json_text(site->call), "at", pat_json_text(site->name), "source",
                     pat_json_text(site->line), "calls", (json_int_t)p->calls, "known_calls",
                     (json_int_t)p->known, "mean_bytes", p->bytes / (double)p->calls, "time_s",
                     s_of(p->time_ns), "wait_s", s_of(p->wait_ns), "unknown_s", s_of(p->unknown_ns),
                     "moving_s", s_of(p->moves_ns), "early_at_most_s", s_of(p->early_ns), "run_by",
                     run_by(log, p), "early_bytes", p->early_bytes, "model", model_of(p->models), "waits",
                     (json_int_t)p->late_calls, "waited_for", waited_for(p, log->num_ranks, seen));
}

static json_t *messages_of(const pat_log *log, const trace_place *p)
{
    const pat_log_site *site = &log->sites[p->site];
    return json_pack("{s:o, s:o, s:o, s:I, s:f, s:f}", "call", pat_json_text(site->call), "at",
                     pat_json_text(site->name), "source", pat_json_text(site->line), "calls",
                     (json_int_t)fmin(p->messages, 9e18), "mean_bytes", p->message_bytes / p->messages,
                     "time_s", s_of(p->message_ns));
}

static json_t *rank_of(const pat_log_rank *rank, const trace_rank *sums)
{
    return json_pack("{s:o, s:b, s:b, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "host",
                     pat_json_text(rank->host), "has_file", rank->is_there, "came_to_its_end", rank->is_ended,
                     "calls", (json_int_t)sums->calls, "missing_calls", (json_int_t)rank->num_lost, "time_s",
                     s_of(sums->time_ns), "wait_s", s_of(sums->wait_ns), "unknown_s", s_of(sums->unknown_ns),
                     "waited_for_s", s_of(sums->caused_ns), "messages_s", s_of(sums->message_ns),
                     "clock_error_us", 1e-3 * (double)rank->clock_error_ns);
}

static json_t *pop_of(const trace_pop *pop)
{
    if (!pop->known)
        return json_null();
    json_t *o = json_pack("{s:f, s:f, s:f}", "parallel_efficiency", pop->parallel, "load_balance",
                          pop->load_balance, "communication_efficiency", pop->communication);
    json_object_set_new(o, "serialisation_efficiency",
                        pop->is_split ? json_real(pop->serialisation) : json_null());
    json_object_set_new(o, "transfer_efficiency", pop->is_split ? json_real(pop->transfer) : json_null());
    return o;
}

static json_t *head_of(const pat_log *log, const trace_sums *s)
{
    const double parts = s->there > 0 ? (double)s->there : 1;
    return json_pack(
        "{s:i, s:o, s:o, s:o, s:i, s:i, s:I, s:f, s:{s:f, s:f, s:f, s:f, s:f, s:f, s:f}, s:o, s:o}", "schema",
        SCHEMA, "pat", pat_json_text(log->pat), "mpi_library", pat_json_text(log->mpi), "command",
        pat_json_text(log->command), "ranks", log->num_ranks, "ranks_with_files", s->there, "calls",
        (json_int_t)s->calls, "run_s", s_of(s->run_ns), "mean_of_a_rank", "in_collectives_s",
        s_of(s->time_ns) / parts, "waiting_s", s_of(s->wait_ns) / parts, "waiting_share_of_run",
        s->run_ns > 0 ? s->wait_ns / parts / s->run_ns : 0, "unknown_s", s_of(s->unknown_ns) / parts,
        "moving_s", s_of(s->moves_ns) / parts, "early_at_most_s", s_of(s->early_ns) / parts, "messages_s",
        s_of(s->message_ns) / parts, "pop", pop_of(&s->pop), "warnings", pat_json_text(log->warnings));
}

json_t *pat_trace_summary(const pat_log *log, const trace_sums *s)
{
    bool *seen = calloc((size_t)log->num_ranks + 1, sizeof(*seen));
    json_t *o = seen ? head_of(log, s) : NULL, *places = json_array(), *messages = json_array(),
           *ranks = json_array();
    bool good = o != NULL;
    for (int i = 0; i < s->num_places && good; i++)
        if (s->places[i].calls)
            good = json_array_append_new(places, place_of(log, &s->places[i], seen)) == 0;
    for (int i = 0; i < s->num_places && good; i++)
        if (s->places[i].messages > 0)
            good = json_array_append_new(messages, messages_of(log, &s->places[i])) == 0;
    for (int r = 0; r < log->num_ranks && good; r++)
        good = json_array_append_new(ranks, rank_of(&log->ranks[r], &s->ranks[r])) == 0;
    free(seen);
    good = json_object_set_new(o, "places", places) == 0 && good;
    good = json_object_set_new(o, "messages", messages) == 0 && good;
    good = json_object_set_new(o, "by_rank", ranks) == 0 && good;
    if (!good)
        json_decref(o);
    return good ? o : NULL;
}

bool pat_trace_json(const pat_log *log, const trace_sums *sums, FILE *to)
{
    json_t *o = pat_trace_summary(log, sums);
    const bool good = o && json_dumpf(o, to, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0;
    fputc('\n', to);
    json_decref(o);
    return good && !ferror(to);
}

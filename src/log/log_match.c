/*
 * log_match.c — see log_match.h.
 */
#include "log_match.h"

#include <stdlib.h>
#include <string.h>

#include "waits.h"

/* As many lists of calls, one for each rank and communicator, as there is memory for. */
enum { MOST_LISTS = 1 << 28 };

static bool sort_by_comm(pat_log_rank *rank, int num_comms)
{
    int64_t *next = malloc(((size_t)num_comms + 1) * sizeof(*next));
    rank->first = calloc((size_t)num_comms + 1, sizeof(*rank->first));
    rank->by_comm = malloc((size_t)(rank->num_events + 1) * sizeof(*rank->by_comm));
    rank->wait_of = malloc((size_t)(rank->num_events + 1) * sizeof(*rank->wait_of));
    const bool good = next && rank->first && rank->by_comm && rank->wait_of;
    for (int64_t i = 0; i < rank->num_events && good; i++)
        if (!rank->events[i].is_wait)
            rank->first[rank->events[i].comm + 1]++;
    for (int c = 1; c <= num_comms && good; c++)
        rank->first[c] += rank->first[c - 1];
    if (good)
        memcpy(next, rank->first, ((size_t)num_comms + 1) * sizeof(*next));
    for (int64_t i = 0; i < rank->num_events && good; i++) {
        pat_log_event *e = &rank->events[i];
        rank->wait_of[i] = -1;
        if (e->is_wait)
            continue;
        e->turn = next[e->comm] - rank->first[e->comm];
        rank->by_comm[next[e->comm]++] = i;
    }
    for (int64_t i = 0; i < rank->num_awaited && good; i++) {
        const pat_log_awaited *a = &rank->awaited[i];
        if (a->turn < rank->first[a->comm + 1] - rank->first[a->comm])
            rank->wait_of[rank->first[a->comm] + a->turn] = a->event;
    }
    free(next);
    return good;
}

/* The call of a member that has waited for this one, which does not block; NULL: there is none. */
static pat_log_event *wait_of(const pat_log *log, int comm, int member, int64_t turn)
{
    const pat_log_rank *rank = &log->ranks[log->comms[comm].rank[member]];
    const int64_t event = rank->wait_of[rank->first[comm] + turn];
    return event < 0 ? NULL : &rank->events[event];
}

/* When a member was done with a call. It is not known of one that does not block before it has been waited for. */
static int64_t end_of(const pat_log *log, int comm, int member, int64_t turn, bool blocks)
{
    const pat_log_event *e =
        blocks ? pat_log_event_of(log, comm, member, turn) : wait_of(log, comm, member, turn);
    return e ? e->start_ns + e->time_ns : INT64_MAX;
}

/* How long member `came->own` has waited in a call, or in the one that has waited for it: whoever waits for several calls waits until the last rank has come to any of them. */
static void note_wait(const pat_log *log, int comm, int64_t turn, enum pat_waits waits, bool blocks,
                      pat_came *came)
{
    pat_log_event *e =
        blocks ? pat_log_event_of(log, comm, came->own, turn) : wait_of(log, comm, came->own, turn);
    int late;
    if (!e)
        return;
    if (!blocks) /* how late it came to what it waits for, for pictures */
        e->after_ns = pat_log_event_of(log, comm, came->own, turn)->after_ns;
    came->own_ns = e->start_ns;
    const int64_t wait_ns = pat_waits_ns(waits, came, e->time_ns, &late);
    if (wait_ns > e->wait_ns) {
        e->wait_ns = wait_ns;
        e->late = late < 0 ? -1 : log->comms[comm].rank[late];
    }
}

/* One call. Returns false where members have not made the same one. */
static bool match_one(const pat_log *log, int comm, int64_t turn)
{
    const pat_log_members *c = &log->comms[comm];
    const pat_log_event *first = pat_log_event_of(log, comm, 0, turn);
    const char *call = log->sites[first->site].call;
    const bool blocks = !pat_waits_begins(call);
    int last = 0;
    int64_t last_ns = first->start_ns, first_ns = first->start_ns, first_end_ns = INT64_MAX, root_ns = 0;
    for (int m = 0; m < c->size; m++) {
        const pat_log_event *e = pat_log_event_of(log, comm, m, turn);
        if (e->root != first->root || strcmp(log->sites[e->site].call, call) != 0)
            return false;
        if (e->start_ns > last_ns) {
            last_ns = e->start_ns;
            last = m;
        }
        if (e->start_ns < first_ns)
            first_ns = e->start_ns;
        if (m == first->root)
            root_ns = e->start_ns;
        const int64_t end_ns = end_of(log, comm, m, turn, blocks);
        first_end_ns = end_ns < first_end_ns ? end_ns : first_end_ns;
    }
    const enum pat_waits waits = first->root >= c->size ? PAT_WAITS_NOT_KNOWN
                                 : blocks               ? pat_waits_of(call)
                                                        : pat_waits_of_end(call);
    for (int m = 0; m < c->size; m++) {
        pat_log_event *e = pat_log_event_of(log, comm, m, turn);
        pat_came came = {.last_ns = last_ns,
                         .root_ns = root_ns,
                         .first_end_ns = first_end_ns,
                         .last = last,
                         .root = first->root,
                         .own = m};
        e->after_ns = e->start_ns - first_ns;
        e->apart_ns = last_ns - first_ns;
        note_wait(log, comm, turn, e->has_failed ? PAT_WAITS_NOT_KNOWN : waits, blocks, &came);
    }
    return true;
}

/* How many calls all members have told of. */
static int64_t num_told(const pat_log *log, int comm)
{
    const pat_log_members *c = &log->comms[comm];
    int64_t num = INT64_MAX;
    for (int m = 0; m < c->size; m++) {
        if (c->rank[m] < 0)
            return 0;
        const int64_t *first = &log->ranks[c->rank[m]].first[comm], own = first[1] - first[0];
        num = own < num ? own : num;
    }
    return num;
}

/* Returns whether its calls fit together. */
static bool match_comm(pat_log *log, int comm)
{
    pat_log_members *c = &log->comms[comm];
    const int64_t num = num_told(log, comm);
    while (c->num_calls < num && match_one(log, comm, c->num_calls))
        c->num_calls++;
    return c->num_calls == num;
}

/* What does not fit is said of the first communicator: persistent requests count as such, and there may be many. */
static void match_comms(pat_log *log, FILE *warnings)
{
    const pat_log_members *first = NULL;
    int others = 0;
    for (int c = 0; c < log->num_comms; c++) {
        if (match_comm(log, c))
            continue;
        others += first != NULL;
        first = first ? first : &log->comms[c];
    }
    if (first)
        fprintf(warnings, "calls of a communicator of %d ranks do not fit together from number %lld on\n",
                first->size, (long long)first->num_calls);
    if (others > 0)
        fprintf(warnings, "nor do those of others, communicators and persistent requests: %d\n", others);
}

static void count_from_first(pat_log *log)
{
    int64_t first_ns = INT64_MAX;
    for (int r = 0; r < log->num_ranks; r++)
        for (int64_t i = 0; i < log->ranks[r].num_events; i++)
            if (log->ranks[r].events[i].start_ns < first_ns)
                first_ns = log->ranks[r].events[i].start_ns;
    for (int r = 0; r < log->num_ranks; r++)
        for (int64_t i = 0; i < log->ranks[r].num_told; i++)
            if (log->ranks[r].told[i].start_ns < first_ns)
                first_ns = log->ranks[r].told[i].start_ns;
    for (int r = 0; r < log->num_ranks; r++)
        for (int64_t i = 0; i < log->ranks[r].num_events; i++)
            log->ranks[r].events[i].start_ns -= first_ns;
    for (int r = 0; r < log->num_ranks; r++)
        for (int64_t i = 0; i < log->ranks[r].num_told; i++)
            log->ranks[r].told[i].start_ns -= first_ns;
}

bool pat_log_match(pat_log *log, FILE *warnings)
{
    int64_t there = 0;
    for (int r = 0; r < log->num_ranks; r++)
        there += log->ranks[r].is_there;
    if (there * log->num_comms > MOST_LISTS) {
        fprintf(warnings,
                "there are too many communicators and persistent requests: nobody knows who was late\n");
        log->num_comms = 0;
        for (int r = 0; r < log->num_ranks; r++)
            log->ranks[r].num_events = log->ranks[r].num_awaited = 0;
    }
    count_from_first(log);
    for (int r = 0; r < log->num_ranks; r++)
        if (log->ranks[r].is_there && !sort_by_comm(&log->ranks[r], log->num_comms))
            return false;
    match_comms(log, warnings);
    return true;
}

/*
 * event_order.c — see event_order.h.
 */
#include "event_order.h"

#include <stdlib.h>

/* Where in the order the call is that this record waited for; negative: it is not there. */
static int64_t place_of(const pat_event_order *o, const pat_events *e, const pat_log_wait *w)
{
    const bool is_there = w->comm >= 0 && w->comm < e->num_comms && w->turn >= 0 &&
                          w->turn < o->first[w->comm + 1] - o->first[w->comm];
    return is_there ? o->first[w->comm] + w->turn : -1;
}

static bool note_waits(pat_event_order *o, const pat_events *e)
{
    o->waits = malloc((size_t)(e->num + 1) * sizeof(*o->waits));
    o->waited = malloc((size_t)(e->num + 1) * sizeof(*o->waited));
    if (!o->waits || !o->waited)
        return false;
    for (int64_t i = 0; i < e->num; i++) {
        o->waits[i] = -1;
        o->waited[i] = (pat_event_waited){-1, -1};
    }
    int64_t head = 0; /* the records of one call are side by side */
    for (int64_t i = 0; i < e->num; i++)
        if (pat_log_kind(pat_events_at(e, i)) == PAT_LOG_WAIT) {
            const pat_log_wait *w = &pat_events_at(e, i)->wait;
            const int64_t at = place_of(o, e, w);
            head = w->follows ? head : i;
            if (at >= 0)
                o->waits[at] = head;
        }
    return true;
}

bool pat_event_order_make(pat_event_order *o, const pat_events *e)
{
    *o = (pat_event_order){.calls = malloc((size_t)(e->num + 1) * sizeof(*o->calls)),
                           .first = calloc((size_t)e->num_comms + 1, sizeof(*o->first))};
    if (!o->calls || !o->first)
        return false;
    int64_t *at = o->first;
    for (int c = 1; c <= e->num_comms; c++)
        at[c] = at[c - 1] + e->comms[c - 1]->num_calls;
    for (int64_t i = 0; i < e->num; i++)
        if (pat_log_is_call(pat_events_at(e, i)))
            o->calls[at[pat_events_at(e, i)->call.comm]++] = i;
    for (int c = e->num_comms; c > 0; c--)
        at[c] = at[c - 1];
    at[0] = 0;
    return e->num_waits == 0 || note_waits(o, e);
}

void pat_event_order_free(pat_event_order *o)
{
    free(o->calls);
    free(o->first);
    free(o->waits);
    free(o->waited);
}

void pat_event_order_waited(pat_event_order *o, const pat_events *e, int64_t k, int64_t ns, int late)
{
    const int64_t at = place_of(o, e, &pat_events_at(e, o->waits[k])->wait);
    if (at >= 0 && ns > o->waited[at].ns)
        o->waited[at] = (pat_event_waited){ns, late};
}

const pat_log_call *pat_event_order_before(const pat_events *e, int64_t i)
{
    while (--i >= 0)
        if (pat_log_is_call(pat_events_at(e, i)))
            return &pat_events_at(e, i)->call;
    return NULL;
}

/*
 * announce.c — see announce.h. A rank tells the others once for each call when it will come (exchange.h), and the later it does the better it
 * knows. So it waits for the phase's next PAT_Edge if that comes in time: if the last phase had one there, and all ranks will hear of it
 * before the first one calls. That is only guessed; an estimate that is due is sent, whether a better one has come or not.
 */
#include "announce.h"

#include "pace.h"
#include "runtime.h"

/* The communicator that the phase is likely to end in: the same as the last time after a call on the last one. */
static pat_comm *leads_to(void)
{
    pat_comm *c = pat_rt.last && pat_rt.last->led_to ? pat_rt.comms : NULL;
    while (c && c->number != pat_rt.last->led_to)
        c = c->next;
    return c ? c : pat_rt.last;
}

/* Until an estimate has reached all, one step after the other (tell.h), each a latency and a thread that wakes. */
static int64_t exchange_ns(const pat_comm *c)
{
    int64_t steps = 0;
    for (int ranks = 1; ranks < c->size; ranks *= 2)
        steps++;
    return steps * (c->link.alpha_ns + pat_pace_passes_on_ns());
}

bool pat_announce_edge(int64_t now_ns)
{
    const pat_milestone *m = &pat_rt.milestone;
    pat_comm *c = m->called ? NULL : leads_to();
    if (!c || !pat_rt.thread)
        return false;
    const int64_t first_ns = m->estimate_ns - atomic_load(&c->ahead_ns), next_ns = pat_milestone_next_ns(m),
                  by_ns = pat_pace_tell(now_ns, first_ns, exchange_ns(c)),
                  due_ns = next_ns < by_ns ? by_ns : now_ns,
                  was_due_ns = atomic_load(&c->edge) ? atomic_load(&c->edge_due_ns) : INT64_MAX;
    atomic_store(&c->edge_arrival_ns,
                 m->estimate_ns + pat_timekeeper_offset_ns(&pat_rt.time, m->estimate_ns));
    atomic_store(&c->edge_next_ns, next_ns);
    atomic_store(&c->edge_due_ns, due_ns);
    atomic_store(&c->edge, true);
    pat_rt.announced = c;
    return due_ns < was_due_ns && (pat_runtime_estimates() || atomic_load(&c->listens));
}

void pat_announce_called(pat_comm *c)
{
    pat_milestone *m = &pat_rt.milestone;
    pthread_mutex_lock(&pat_rt.lock);
    if (m->have_estimate && !m->called) {
        if (pat_rt.last)
            pat_rt.last->led_to = c->number;
        m->called = true;
    }
    if (pat_rt.announced && pat_rt.announced != c) /* it was not that one which the phase ended in */
        atomic_store(&pat_rt.announced->edge, false);
    pat_rt.announced = NULL;
    pat_rt.last = c;
    pthread_mutex_unlock(&pat_rt.lock);
}

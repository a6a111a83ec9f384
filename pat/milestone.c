/*
 * milestone.c — see milestone.h. Linear extrapolation: what is left of the phase goes on as fast as what is
 * done. The application may say anything, so whatever it says gives an estimate that can be calculated with,
 * or an error.
 */
#include "milestone.h"

#include <string.h>

/* The latest estimate, 146 years: sums and differences of estimates and clock offsets stay within 64 bits. */
#define LATEST_NS (INT64_MAX / 2)

void pat_milestone_start(pat_milestone *m, int64_t now_ns)
{
    pat_milestone next = {.running = true, .start_ns = now_ns, .num_before = m->num_edges};
    memcpy(next.before, m->edges, sizeof(next.before));
    *m = next;
}

enum pat_milestone_error pat_milestone_edge(pat_milestone *m, double percent, int64_t now_ns)
{
    if (!m->running)
        return PAT_MILESTONE_NO_START;
    if (!(percent > 0 && percent < 100)) /* so written that it refuses what is not a number */
        return PAT_MILESTONE_RANGE;
    if (percent <= m->percent)
        return PAT_MILESTONE_NOT_INCREASING;
    int64_t from = now_ns > m->start_ns ? now_ns : m->start_ns;
    double elapsed = (double)((uint64_t)from - (uint64_t)m->start_ns);
    /* Added to now, not to the start: rounding can then never put the arrival into the past. */
    double left = elapsed * (100 - percent) / percent;
    m->percent = percent;
    m->have_estimate = true;
    if (m->num_edges < PAT_EDGES)
        m->edges[m->num_edges++] = percent;
    if (from >= LATEST_NS)
        m->estimate_ns = from;
    else if (left >= (double)LATEST_NS || from + (int64_t)left > LATEST_NS)
        m->estimate_ns = LATEST_NS;
    else
        m->estimate_ns = from + (int64_t)left;
    return PAT_MILESTONE_OK;
}

enum pat_milestone_error pat_milestone_end(pat_milestone *m, int64_t now_ns)
{
    (void)now_ns; /* the call itself tells when the rank arrived */
    if (!m->running)
        return PAT_MILESTONE_NO_START;
    m->running = false;
    return PAT_MILESTONE_OK;
}

int64_t pat_milestone_next_ns(const pat_milestone *m)
{
    const double whole = (double)((uint64_t)m->estimate_ns - (uint64_t)m->start_ns);
    for (int i = 0; i < m->num_before; i++)
        if (m->before[i] > m->percent)
            return m->start_ns + (int64_t)(whole * (m->before[i] / 100));
    return INT64_MAX;
}

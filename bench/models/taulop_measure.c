/*
 * taulop_measure.c — see taulop_measure.h. A transfer's time is what a message takes, less its overhead, by its copies that follow
 * one another.
 */
#include "taulop_measure.h"

#include <math.h>
#include <string.h>

#include "bench_stats.h"
#include "taulop_slots.h"

/* What a run of measurements does again and again. */
typedef struct repeated {
    taulop_work *work;
    void *arg;
    int times;
} repeated;

static void repeat(taulop_member *m, void *arg)
{
    const repeated *r = arg;
    for (int i = 0; i < r->times; i++)
        r->work(m, r->arg);
}

double taulop_each_us(taulop_member *m, int workers, taulop_work *work, void *arg)
{
    enum { RUN_US = 4000, MOST_TIMES = 2000 };
    repeated r = {work, arg, 3};
    const double once = taulop_timed(m, workers, repeat, &r) / r.times;
    r.times = once * MOST_TIMES < RUN_US ? MOST_TIMES : once * 3 > RUN_US ? 3 : (int)(RUN_US / once);
    return taulop_timed(m, workers, repeat, &r) / r.times;
}

typedef struct transfers {
    const taulop_way *way;
    enum taulop_setup setup;
    int tau;
    int64_t bytes;
    taulop_fan fan;
    char *last; /* what came in the last time */
} transfers;

static void to_and_fro(taulop_member *m, void *arg)
{
    const transfers *t = arg;
    for (int way = 0; way < 2 && m->number < 2; way++) {
        char *own = taulop_cold(m, t->bytes);
        if (m->number == way)
            t->way->send(m, 1 - m->number, own, t->bytes);
        else
            t->way->receive(m, 1 - m->number, own, t->bytes);
    }
}

static void at_once(taulop_member *m, void *arg)
{
    transfers *t = arg;
    const int tau = t->tau, right = (m->number + 1) % tau, left = (m->number + tau - 1) % tau;
    if (m->number >= tau)
        return;
    char *own = taulop_cold(m, t->bytes), *out = t->last ? t->last : own;
    if (t->setup == TAULOP_RING) /* what comes in goes on, as in most collectives */
        t->way->exchange(m, right, out, left, t->last = taulop_cold(m, t->bytes), t->bytes);
    else if (t->setup == TAULOP_BCAST)
        taulop_fan_out(m, &t->fan, own, t->bytes);
    else if (m->number % 2 == 0)
        t->way->send(m, m->number + 1, own, t->bytes);
    else
        t->way->receive(m, m->number - 1, own, t->bytes);
}

/* A message that goes to and fro between the first two members: one way. */
static double alone_us(taulop_member *m, const taulop_way *way, int64_t bytes)
{
    transfers t = {.way = way, .bytes = bytes};
    return taulop_each_us(m, 2, to_and_fro, &t) / 2;
}

/* How many of a segment's copies follow one another: in a ring, and where it goes alone, all of them. */
static int copies_of(const transfers *t)
{
    return t->setup == TAULOP_RING || t->tau == 1 ? t->way->copies : 1;
}

/* What a message takes of so many segments of that length; its length goes to *bytes. */
static double message_us(taulop_member *m, transfers t, int segments, int64_t *bytes)
{
    *bytes = t.bytes *= segments;
    if (t.tau == 1)
        return alone_us(m, t.way, t.bytes);
    t.fan = (taulop_fan){t.tau, t.tau - 1, 0};
    return taulop_each_us(m, t.tau, at_once, &t);
}

/*
 * Messages of 1, 2, 4 ... segments up to the plan's longest one; one copy at a time there is only in a message of one. What does not grow
 * with the segments, by least squares of the relative error, is the overhead; what remains is the copies, and their mean is L.
 */
static double segments_us(taulop_member *m, const taulop_plan *plan, const transfers *s, pat_transfers *t,
                          int at_tau)
{
    enum { MAX_MESSAGES = 32 };
    const int copies = copies_of(s);
    double us[MAX_MESSAGES], sum = 0, w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    int num = 0;
    for (int k = 1; k == 1 || (s->tau > 1 && k * s->bytes <= plan->most_bytes && num < MAX_MESSAGES);
         k *= 2) {
        int64_t bytes;
        us[num] = message_us(m, *s, k, &bytes);
        us[num] -= t->threshold_bytes && bytes >= t->threshold_bytes ? t->protocol_us : 0;
        const double weight = 1 / (us[num] * us[num]), x = k, y = us[num++];
        w += weight, wx += weight * x, wy += weight * y, wxx += weight * x * x, wxy += weight * x * y;
    }
    if (num > 1)
        t->overhead_us[at_tau] = fmax(0, (wy * wxx - wx * wxy) / (w * wxx - wx * wx));
    for (int i = 0, k = 1; i < num; i++, k *= 2)
        sum += (us[i] - t->overhead_us[at_tau]) / (copies * k);
    return fmax(0, sum / num);
}

double taulop_setup_us(taulop_member *m, const taulop_plan *plan, const taulop_way *way,
                       enum taulop_setup setup, int tau)
{
    const transfers s = {.way = way, .setup = setup, .tau = tau, .bytes = way->segment_bytes};
    pat_transfers t = {.num_taus = 1};
    return segments_us(m, plan, &s, &t, 0);
}

void taulop_measure(taulop_member *m, const taulop_plan *plan, const taulop_way *way, pat_transfers *t)
{
    const int64_t longest = way->segment_bytes ? way->segment_bytes : plan->most_bytes;
    *t = (pat_transfers){
        .copies = way->copies, .segment_bytes = way->segment_bytes, .tree_degree = TAULOP_TREE_DEGREE};
    for (int tau = 1; tau <= m->num && t->num_taus < PAT_MAX_TAUS; tau *= 2)
        t->tau[t->num_taus++] = tau;
    if (way->overhead)
        way->overhead(m, t);
    int64_t first = longest;
    while (first > 1024 && t->num_sizes++ < PAT_MAX_TRANSFER_SIZES - 1)
        first /= 2;
    t->num_sizes = 0;
    for (int64_t bytes = first; bytes <= longest; bytes *= 2)
        t->bytes[t->num_sizes++] = bytes;
    for (int k = 0; k < t->num_taus; k++) {
        transfers s = {.way = way, .setup = way->setup, .tau = t->tau[k], .bytes = longest};
        const int last = t->num_sizes - 1;
        if (way->segment_bytes)
            t->us[k][last] = segments_us(m, plan, &s, t, k);
        for (int i = 0; i < t->num_sizes - (way->segment_bytes > 0); i++) {
            s.bytes = t->bytes[i];
            const double us = message_us(m, s, 1, &s.bytes) - pat_overhead_us(t, s.bytes, t->tau[k]);
            t->us[k][i] = fmax(0, us / copies_of(&s));
        }
    }
    for (int64_t bytes = plan->least_bytes;
         bytes <= plan->most_bytes && t->num_alone < PAT_MAX_TRANSFER_SIZES; bytes *= 2) {
        t->alone_bytes[t->num_alone] = bytes;
        t->alone_us[t->num_alone++] = alone_us(m, way, bytes);
    }
}

/* The median over runs of the number that lies so far into each. */
static void median_at(pat_transfers *t, int runs, const double *in_first)
{
    const size_t at = (size_t)((const char *)in_first - (const char *)t);
    double us[TAULOP_MAX_RUNS];
    for (int i = 0; i < runs; i++)
        memcpy(&us[i], (const char *)&t[i] + at, sizeof(us[i]));
    const double median = bench_median(us, runs);
    memcpy((char *)t + at, &median, sizeof(median));
}

void taulop_median(pat_transfers *t, int runs)
{
    median_at(t, runs, &t->protocol_us);
    for (int k = 0; k < t->num_taus; k++) {
        median_at(t, runs, &t->overhead_us[k]);
        for (int i = 0; i < t->num_sizes; i++)
            median_at(t, runs, &t->us[k][i]);
    }
    for (int i = 0; i < t->num_alone; i++)
        median_at(t, runs, &t->alone_us[i]);
}

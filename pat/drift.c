/*
 * drift.c — see drift.h.
 */
#include "drift.h"

#include <string.h>

#define USEC INT64_C(1000)
#define MSEC INT64_C(1000000)
#define SEC  INT64_C(1000000000)

/*
 * Before two samples are far enough apart. Quartz oscillators are specified to 50 ppm or better, and two may be wrong in opposite
 * directions. Where samples say otherwise they are believed.
 */
static const double DRIFT_MOST = 100e-6;

/* By how much a rate may change while samples are kept and until the next one, which is what some kelvins make of a quartz. Where it has changed
 * by more they contradict each other, and nothing is known of it. */
static const double DRIFT_WANDER = 0.5e-6;

/* Between samples: the first interval, and what it grows to. The bound then grows by the wander alone to some 30 us. */
static const int64_t INTERVAL_LEAST_NS = 1 * SEC, INTERVAL_MOST_NS = 32 * SEC;

/* Between looks: a part of the time waited so far, within limits; after LOOKS_NS only at multiples of MEET_NS, for as long again. */
static const int64_t LOOK_PART = 4, LOOK_LEAST_NS = 100 * USEC, LOOK_MOST_NS = 50 * MSEC, LOOKS_NS = 1 * SEC,
                     MEET_NS = 16 * SEC;

typedef struct range {
    double low, high;
} range;

static bool meet(range *r, double low, double high)
{
    r->low = low > r->low ? low : r->low;
    r->high = high < r->high ? high : r->high;
    return r->low <= r->high;
}

/* What a sample's error is at the time of the newest one, whose rate the line is to have. */
static double aged(const pat_drift *d, int i)
{
    return (double)d->kept[i].error_ns +
           DRIFT_WANDER * (double)(d->kept[d->num - 1].local_ns - d->kept[i].local_ns);
}

/* The rates of all lines through every kept sample; false: there is none. */
static bool find_rates(const pat_drift *d, range *rates)
{
    range r = {-1, 1};
    bool any = true;
    for (int j = 1; j < d->num; j++)
        for (int i = 0; i < j && any; i++) {
            const pat_drift_sample *a = &d->kept[i], *b = &d->kept[j];
            const double apart = (double)(b->local_ns - a->local_ns),
                         more = (double)(b->offset_ns - a->offset_ns), wrong = aged(d, i) + aged(d, j);
            any = apart <= 0 || meet(&r, (more - wrong) / apart, (more + wrong) / apart);
        }
    *rates = r;
    range likely = r;
    if (any && meet(&likely, -DRIFT_MOST, DRIFT_MOST))
        *rates = likely;
    return any;
}

static void forget_oldest(pat_drift *d)
{
    d->num--;
    memmove(d->kept, d->kept + 1, (size_t)d->num * sizeof(d->kept[0]));
}

/* The slope of the line with the least squares, each sample with the weight that its error leaves it, and where it is at the newest sample. */
static double fit(const pat_drift *d, const range *rates, double *offset_ns)
{
    const pat_drift_sample *last = &d->kept[d->num - 1];
    double all = 0, when = 0, where = 0, square = 0, product = 0, rate;
    for (int i = 0; i < d->num; i++) {
        const double weight = 1 / ((double)d->kept[i].error_ns + 1) / ((double)d->kept[i].error_ns + 1);
        all += weight;
        when += weight * (double)(d->kept[i].local_ns - last->local_ns);
        where += weight * (double)(d->kept[i].offset_ns - last->offset_ns);
    }
    when /= all;
    where /= all;
    for (int i = 0; i < d->num; i++) {
        const double weight = 1 / ((double)d->kept[i].error_ns + 1) / ((double)d->kept[i].error_ns + 1),
                     since = (double)(d->kept[i].local_ns - last->local_ns) - when;
        square += weight * since * since;
        product += weight * since * ((double)(d->kept[i].offset_ns - last->offset_ns) - where);
    }
    rate = square > 0 ? product / square : 0;
    rate = fmax(rates->low, fmin(rates->high, rate));
    *offset_ns = where - rate * when;
    return rate;
}

/* The line that is likely, and on both sides of it what is possible: where the truth is, by all samples, at the newest one. */
static pat_line line_through(const pat_drift *d, const range *rates)
{
    const pat_drift_sample *last = &d->kept[d->num - 1];
    double likely_ns, low_ns = -INFINITY, high_ns = INFINITY;
    const double rate = fit(d, rates, &likely_ns),
                 rate_error = fmax(rates->high - rate, rate - rates->low) + DRIFT_WANDER;
    for (int i = 0; i < d->num; i++) {
        const pat_drift_sample *s = &d->kept[i];
        const double age_ns = (double)(last->local_ns - s->local_ns),
                     middle_ns = (double)(s->offset_ns - last->offset_ns) + rate * age_ns,
                     wrong_ns = (double)s->error_ns + rate_error * age_ns;
        low_ns = fmax(low_ns, middle_ns - wrong_ns);
        high_ns = fmin(high_ns, middle_ns + wrong_ns);
    }
    const double offset_ns = round(fmax(low_ns, fmin(high_ns, likely_ns)));
    return (pat_line){.ref_ns = last->local_ns,
                      .offset_ns = last->offset_ns + (int64_t)offset_ns,
                      .error_ns = (int64_t)ceil(fmax(high_ns - offset_ns, offset_ns - low_ns)),
                      .rate = rate,
                      .rate_error = rate_error};
}

bool pat_drift_add(pat_drift *d, const pat_drift_sample *sample, pat_line *line)
{
    bool agreed = true;
    range rates;
    if (d->num == PAT_DRIFT_KEPT)
        forget_oldest(d);
    d->kept[d->num++] = *sample;
    if (!find_rates(d, &rates)) {
        /* The last one before it changed would agree with this one, at some rate in between. */
        d->kept[0] = *sample;
        d->num = 1;
        find_rates(d, &rates);
        agreed = false;
    }
    *line = line_through(d, &rates);
    return agreed;
}

int64_t pat_drift_interval_ns(int64_t num_agreed)
{
    int64_t interval_ns = INTERVAL_LEAST_NS;
    for (int64_t n = num_agreed; n > 2 && interval_ns < INTERVAL_MOST_NS; n -= 2)
        interval_ns *= 2;
    return interval_ns;
}

int64_t pat_drift_look_ns(int64_t now_ns, int64_t since_ns)
{
    const int64_t met_ns = now_ns - now_ns % MEET_NS, from_ns = since_ns > met_ns ? since_ns : met_ns;
    const int64_t waited_ns = now_ns - from_ns, pause_ns = waited_ns / LOOK_PART;
    if (waited_ns >= LOOKS_NS)
        return met_ns + MEET_NS;
    return now_ns + (pause_ns < LOOK_LEAST_NS  ? LOOK_LEAST_NS
                     : pause_ns > LOOK_MOST_NS ? LOOK_MOST_NS
                                               : pause_ns);
}

/*
 * trace_maps.c — of each place a picture of ranks and calls: how long after the first rank each one came (trace_html.h). Where there are more
 * calls or ranks than a page can hold, neighbours share a field, which is their mean.
 */
#include <math.h>
#include <stdlib.h>

#include "trace_html.h"

enum {
    MOST_ROWS = 1024,
    MOST_COLUMNS = 1000,
    MOST_FIELDS = 1 << 19,
    MOST_MAPS = 24,
    BINS = 33,
    BINS_A_DECADE = 4
};

typedef struct map {
    int rows, columns;
    int64_t calls; /* of the rank with most */
    double *sum;   /* of each field */
    int64_t *num;
    unsigned char *fields;
    float *
        worst_ms; /* of each call, and then of each column the mean: how long after the first the last one came; negative: not known */
} map;

/* The sums of a place's fields. */
static void fill(const pat_log *log, int site, map *m)
{
    for (int64_t i = 0; i < m->calls; i++)
        m->worst_ms[i] = -1;
    for (int r = 0; r < log->num_ranks; r++) {
        const int row = (int)((int64_t)r * m->rows / log->num_ranks);
        int64_t call = 0;
        for (int64_t i = 0; i < log->ranks[r].num_events; i++) {
            const pat_log_event *e = &log->ranks[r].events[i];
            if (e->site != site)
                continue;
            const int field = row * m->columns + (int)(call * m->columns / m->calls);
            m->worst_ms[call] = fmaxf(m->worst_ms[call], 1e-6F * (float)e->after_ns);
            call++;
            if (e->after_ns < 0)
                continue;
            m->sum[field] += (double)e->after_ns;
            m->num[field]++;
        }
    }
}

/* 0: nothing is known; 1 to 255: the logarithm of 1 and as many microseconds, as a part of that of the most. */
static double quantise(map *m)
{
    double most_us = 0;
    const size_t fields = (size_t)m->rows * (size_t)m->columns;
    for (size_t i = 0; i < fields; i++)
        if (m->num[i])
            most_us = fmax(most_us, 1e-3 * m->sum[i] / (double)m->num[i]);
    for (size_t i = 0; i < fields; i++) {
        const double us = m->num[i] ? 1e-3 * m->sum[i] / (double)m->num[i] : 0;
        m->fields[i] =
            m->num[i] == 0
                ? 0
                : (unsigned char)(1 + lround(254 * (most_us > 0 ? log1p(us) / log1p(most_us) : 0)));
    }
    return most_us;
}

/* In place: a column is never before its first call. */
static void average_worst(map *m)
{
    int64_t call = 0;
    for (int c = 0; c < m->columns; c++) {
        double sum = 0;
        int64_t num = 0;
        for (; call < m->calls && call * m->columns / m->calls == c; call++)
            if (m->worst_ms[call] >= 0) {
                sum += (double)m->worst_ms[call];
                num++;
            }
        m->worst_ms[c] = num ? (float)(sum / (double)num) : -1;
    }
}

static json_t *map_of(const pat_log *log, const trace_place *p)
{
    map m = {.calls = p->most_calls, .rows = log->num_ranks < MOST_ROWS ? log->num_ranks : MOST_ROWS};
    m.columns = MOST_FIELDS / m.rows < MOST_COLUMNS ? MOST_FIELDS / m.rows : MOST_COLUMNS;
    m.columns = m.calls < m.columns ? (int)m.calls : m.columns;
    const size_t fields = (size_t)m.rows * (size_t)m.columns;
    m.sum = calloc(fields, sizeof(*m.sum));
    m.num = calloc(fields, sizeof(*m.num));
    m.fields = calloc(fields, 1);
    m.worst_ms = calloc((size_t)m.calls, sizeof(*m.worst_ms));
    json_t *o = NULL;
    if (m.sum && m.num && m.fields && m.worst_ms) {
        fill(log, p->site, &m);
        const double most_us = quantise(&m);
        average_worst(&m);
        o = json_pack("{s:i, s:i, s:I, s:f, s:o, s:o}", "rows", m.rows, "columns", m.columns, "calls",
                      (json_int_t)m.calls, "most_us", most_us, "fields", trace_base64(m.fields, fields, 1),
                      "worst_ms", trace_base64(m.worst_ms, (size_t)m.columns, sizeof(*m.worst_ms)));
    }
    free(m.sum);
    free(m.num);
    free(m.fields);
    free(m.worst_ms);
    return o;
}

/* How many calls of each site waited how long: below 1 us, and then by quarters of a power of ten. To be freed; NULL without memory. */
static int64_t *find_waits(const pat_log *log)
{
    int64_t *bins = calloc(((size_t)log->num_sites + 1) * BINS, sizeof(*bins));
    for (int r = 0; r < log->num_ranks && bins; r++)
        for (int64_t i = 0; i < log->ranks[r].num_events; i++) {
            const pat_log_event *e = &log->ranks[r].events[i];
            if (e->wait_ns < 0)
                continue;
            const int bin =
                e->wait_ns < 1000 ? 0 : 1 + (int)(BINS_A_DECADE * (log10((double)e->wait_ns) - 3));
            bins[e->site * BINS + (bin < BINS ? bin : BINS - 1)]++;
        }
    return bins;
}

static json_t *waits_of(const int64_t bins[])
{
    json_t *all = json_array();
    for (int b = 0; b < BINS; b++)
        json_array_append_new(all, json_integer(bins[b]));
    return all;
}

json_t *trace_maps(const pat_log *log, const trace_sums *sums)
{
    int64_t *waits = find_waits(log);
    json_t *all = json_array();
    bool good = waits && all;
    for (int i = 0; i < sums->num_places && sums->places[i].calls > 0 && good; i++) {
        const trace_place *p = &sums->places[i];
        json_t *o = json_pack("{s:o, s:o}", "waits", waits_of(waits + (size_t)p->site * BINS), "map",
                              i < MOST_MAPS ? map_of(log, p) : json_null());
        good = json_array_append_new(all, o) == 0;
    }
    free(waits);
    if (!good)
        json_decref(all);
    return good ? all : NULL;
}

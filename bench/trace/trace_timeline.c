/*
 * trace_timeline.c — what each rank does when (trace_html.h): the calls, or where there are more than a page can hold the longest of them,
 * and below these, of short stretches of time, which part of it ranks wait and move data.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace_html.h"

enum { MOST_EVENTS = 150000, MOST_ROWS = 1024, COLUMNS = 1200, MOST_WHOM = 128 };

static int64_t num_events(const pat_log *log)
{
    int64_t num = 0;
    for (int r = 0; r < log->num_ranks; r++)
        num += log->ranks[r].num_events;
    return num;
}

static int by_length(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* How long a call has to be to be among the longest; negative without memory. */
static int64_t least_length(const pat_log *log, int64_t num)
{
    if (num <= MOST_EVENTS)
        return 0;
    int64_t *lengths = malloc((size_t)num * sizeof(*lengths)), n = 0, least = -1;
    for (int r = 0; r < log->num_ranks && lengths; r++)
        for (int64_t i = 0; i < log->ranks[r].num_events; i++)
            lengths[n++] = log->ranks[r].events[i].time_ns;
    if (lengths) {
        qsort(lengths, (size_t)num, sizeof(*lengths), by_length);
        least = lengths[MOST_EVENTS - 1] + 1;
    }
    free(lengths);
    return least;
}

/* A row of numbers for each thing that is to be known of a call. */
typedef struct event_rows {
    double *start_ms;
    float *time_ms, *wait_ms;
    uint16_t *place;
    int32_t *late, *first; /* first: of each rank, and one more */
    size_t num;
} event_rows;

static bool make_rows(event_rows *r, size_t num, size_t ranks)
{
    r->start_ms = malloc((num + 1) * sizeof(*r->start_ms));
    r->time_ms = malloc((num + 1) * sizeof(*r->time_ms));
    r->wait_ms = malloc((num + 1) * sizeof(*r->wait_ms));
    r->place = malloc((num + 1) * sizeof(*r->place));
    r->late = malloc((num + 1) * sizeof(*r->late));
    r->first = malloc((ranks + 1) * sizeof(*r->first));
    return r->start_ms && r->time_ms && r->wait_ms && r->place && r->late && r->first;
}

static void free_rows(event_rows *r)
{
    free(r->start_ms);
    free(r->time_ms);
    free(r->wait_ms);
    free(r->place);
    free(r->late);
    free(r->first);
}

static int by_start(const void *a, const void *b)
{
    const pat_log_event *const *x = a, *const *y = b;
    return ((*x)->start_ns > (*y)->start_ns) - ((*x)->start_ns < (*y)->start_ns);
}

/* place_of: the number of each site among the places. Returns false without memory. */
static bool fill_rows(const pat_log *log, int64_t least_ns, const uint16_t *place_of, event_rows *to)
{
    for (int r = 0; r < log->num_ranks; r++) {
        const pat_log_rank *rank = &log->ranks[r];
        const pat_log_event **sorted = malloc(((size_t)rank->num_events + 1) * sizeof(*sorted));
        size_t num = 0;
        if (!sorted)
            return false;
        for (int64_t i = 0; i < rank->num_events; i++)
            if (rank->events[i].time_ns >= least_ns)
                sorted[num++] = &rank->events[i];
        qsort(sorted, num, sizeof(*sorted), by_start); /* threads end their calls in another order */
        to->first[r] = (int32_t)to->num;
        for (size_t i = 0; i < num && to->num < MOST_EVENTS; i++, to->num++) {
            to->start_ms[to->num] = 1e-6 * (double)sorted[i]->start_ns;
            to->time_ms[to->num] = 1e-6F * (float)sorted[i]->time_ns;
            to->wait_ms[to->num] = sorted[i]->wait_ns >= 0 ? 1e-6F * (float)sorted[i]->wait_ns : -1;
            to->place[to->num] = place_of[sorted[i]->site];
            to->late[to->num] = sorted[i]->late;
        }
        free(sorted);
    }
    to->first[log->num_ranks] = (int32_t)to->num;
    return true;
}

/* All places beyond the last number that fits are the last one. */
static uint16_t *number_places(const trace_sums *sums)
{
    uint16_t *place_of = malloc(((size_t)sums->num_places + 1) * sizeof(*place_of));
    for (int i = 0; i < sums->num_places && place_of; i++)
        place_of[sums->places[i].site] = (uint16_t)(i < UINT16_MAX ? i : UINT16_MAX);
    return place_of;
}

static json_t *events_of(const pat_log *log, const trace_sums *sums, int64_t num)
{
    event_rows r = {.num = 0};
    uint16_t *place_of = number_places(sums);
    const int64_t least_ns = least_length(log, num);
    json_t *o = NULL;
    if (place_of && least_ns >= 0 &&
        make_rows(&r, (size_t)(num < MOST_EVENTS ? num : MOST_EVENTS), (size_t)log->num_ranks) &&
        fill_rows(log, least_ns, place_of, &r))
        o = json_pack("{s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "least_ms", 1e-6 * (double)least_ns, "first",
                      trace_base64(r.first, (size_t)log->num_ranks + 1, sizeof(*r.first)), "start_ms",
                      trace_base64(r.start_ms, r.num, sizeof(*r.start_ms)), "time_ms",
                      trace_base64(r.time_ms, r.num, sizeof(*r.time_ms)), "wait_ms",
                      trace_base64(r.wait_ms, r.num, sizeof(*r.wait_ms)), "place",
                      trace_base64(r.place, r.num, sizeof(*r.place)), "late",
                      trace_base64(r.late, r.num, sizeof(*r.late)));
    free_rows(&r);
    free(place_of);
    return o;
}

/* Of a stretch of time what part falls into each column. */
static void spread(float *columns, double from, double to)
{
    from = fmin(COLUMNS, fmax(0, from));
    to = fmin(COLUMNS, to);
    for (int c = (int)from; c < COLUMNS && c < to; c++)
        columns[c] += (float)(fmin(to, c + 1) - fmax(from, c));
}

static json_t *shares(const float *part, const int *ranks, int rows)
{
    const size_t fields = (size_t)rows * COLUMNS;
    unsigned char *bytes = malloc(fields);
    for (size_t i = 0; i < fields && bytes; i++)
        bytes[i] = (unsigned char)lroundf(255 * fminf(1, part[i] / (float)ranks[i / COLUMNS]));
    json_t *o = bytes ? trace_base64(bytes, fields, 1) : NULL;
    free(bytes);
    return o;
}

enum { WAITS, MOVES, UNKNOWN, KINDS }; /* unknown: calls of which it is not known how long they waited */

static json_t *density_of(const pat_log *log, double end_ns)
{
    const int rows = log->num_ranks < MOST_ROWS ? log->num_ranks : MOST_ROWS;
    const size_t fields = (size_t)rows * COLUMNS;
    float *all = calloc(KINDS * fields, sizeof(*all));
    int *ranks = calloc((size_t)rows, sizeof(*ranks));
    const double scale = COLUMNS / end_ns;
    for (int r = 0; r < log->num_ranks && all && ranks; r++) {
        const int row = (int)((int64_t)r * rows / log->num_ranks);
        float *of_row = all + (size_t)row * COLUMNS;
        ranks[row]++;
        for (int64_t i = 0; i < log->ranks[r].num_events; i++) {
            const pat_log_event *e = &log->ranks[r].events[i];
            const double start = (double)e->start_ns, end = start + (double)e->time_ns,
                         came = start + (e->wait_ns > 0 ? (double)e->wait_ns : 0);
            spread(of_row + WAITS * fields, scale * start, scale * came);
            spread(of_row + (e->wait_ns < 0 ? UNKNOWN : MOVES) * fields, scale * came, scale * end);
        }
    }
    json_t *o = all && ranks ? json_pack("{s:i, s:i, s:o, s:o, s:o}", "rows", rows, "columns", COLUMNS,
                                         "waits", shares(all + WAITS * fields, ranks, rows), "moves",
                                         shares(all + MOVES * fields, ranks, rows), "unknown",
                                         shares(all + UNKNOWN * fields, ranks, rows))
                             : NULL;
    free(all);
    free(ranks);
    return o;
}

static double end_of(const pat_log_rank *rank)
{
    double end_ns = 0;
    for (int64_t i = 0; i < rank->num_events; i++)
        end_ns = fmax(end_ns, (double)rank->events[i].start_ns + (double)rank->events[i].time_ns);
    return end_ns;
}

/* Up to when it is known what each rank did: of one that was killed, or had no more room, up to its last call. */
static json_t *known_of(const pat_log *log, double end_ns)
{
    float *ms = malloc((size_t)log->num_ranks * sizeof(*ms));
    for (int r = 0; r < log->num_ranks && ms; r++) {
        const pat_log_rank *rank = &log->ranks[r];
        ms[r] = 1e-6F * (float)(rank->is_ended && rank->num_lost == 0 ? end_ns : end_of(rank));
    }
    json_t *o = ms ? trace_base64(ms, (size_t)log->num_ranks, sizeof(*ms)) : NULL;
    free(ms);
    return o;
}

json_t *trace_timeline(const pat_log *log, const trace_sums *sums)
{
    const int64_t num = num_events(log);
    double end_ns = 1;
    for (int r = 0; r < log->num_ranks; r++)
        end_ns = fmax(end_ns, end_of(&log->ranks[r]));
    return json_pack("{s:f, s:o, s:o, s:o}", "end_ms", 1e-6 * end_ns, "events", events_of(log, sums, num),
                     "known_ms", known_of(log, end_ns), "density",
                     num > MOST_EVENTS ? density_of(log, end_ns) : json_null());
}

json_t *trace_whom(const pat_log *log)
{
    const int groups = log->num_ranks < MOST_WHOM ? log->num_ranks : MOST_WHOM;
    const size_t fields = (size_t)groups * (size_t)groups;
    float *ms = calloc(fields + 1, sizeof(*ms));
    for (int r = 0; r < log->num_ranks && ms; r++)
        for (int64_t i = 0; i < log->ranks[r].num_events; i++) {
            const pat_log_event *e = &log->ranks[r].events[i];
            if (e->late >= 0)
                ms[(int64_t)r * groups / log->num_ranks * groups +
                   (int64_t)e->late * groups / log->num_ranks] += 1e-6F * (float)e->wait_ns;
        }
    json_t *o =
        ms ? json_pack("{s:i, s:o}", "groups", groups, "ms", trace_base64(ms, fields, sizeof(*ms))) : NULL;
    free(ms);
    return o;
}

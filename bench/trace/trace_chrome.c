/*
 * trace_chrome.c — see trace_out.h. One event after the other, so that a long trace needs no memory for all at once.
 */
#include "json_text.h"
#include "trace_out.h"

static bool put(FILE *to, json_t *event, bool *first)
{
    bool good = event != NULL;
    if (good && !*first)
        fputs(",\n", to);
    *first = false;
    good = good && json_dumpf(event, to, JSON_COMPACT | JSON_REAL_PRECISION(15)) == 0;
    json_decref(event);
    return good;
}

static bool put_rank(const pat_log *log, int r, FILE *to, bool *first)
{
    const pat_log_rank *rank = &log->ranks[r];
    char name[100];
    snprintf(name, sizeof(name), "rank %d on %s", r, rank->is_there ? rank->host : "?");
    bool good = put(to,
                    json_pack("{s:s, s:s, s:i, s:i, s:{s:o}}", "name", "thread_name", "ph", "M", "pid", 0,
                              "tid", r, "args", "name", pat_json_text(name)),
                    first);
    good = good && put(to,
                       json_pack("{s:s, s:s, s:i, s:i, s:{s:i}}", "name", "thread_sort_index", "ph", "M",
                                 "pid", 0, "tid", r, "args", "sort_index", r),
                       first);
    return good;
}

static bool put_event(const pat_log *log, int r, const pat_log_event *e, FILE *to, bool *first)
{
    const pat_log_site *site = &log->sites[e->site];
    json_t *args = json_pack("{s:o, s:I, s:i, s:I}", "place", pat_json_text(pat_log_name(site)), "bytes",
                             (json_int_t)e->bytes, "communicator", e->comm, "turn", (json_int_t)e->turn);
    if (args && e->root >= 0)
        json_object_set_new(args, "root", json_integer(e->root));
    if (args && e->wait_ns >= 0)
        json_object_set_new(args, "wait_us", json_real(1e-3 * (double)e->wait_ns));
    if (args && e->alg >= 0) {
        json_object_set_new(args, "run_by", pat_json_text(log->algs[e->alg]));
        json_object_set_new(args, "early_bytes", json_integer(e->early_bytes));
    }
    bool good = args && put(to,
                            json_pack("{s:o, s:s, s:s, s:f, s:f, s:i, s:i, s:o}", "name",
                                      pat_json_text(site->call), "cat", e->is_wait ? "wait" : "collective",
                                      "ph", "X", "ts", 1e-3 * (double)e->start_ns, "dur",
                                      1e-3 * (double)e->time_ns, "pid", 0, "tid", r, "args", args),
                            first);
    if (e->late < 0 || !good)
        return good;
    char name[60];
    snprintf(name, sizeof(name), "waits for rank %d", e->late);
    return put(to,
               json_pack("{s:s, s:s, s:s, s:f, s:f, s:i, s:i}", "name", name, "cat", "waiting", "ph", "X",
                         "ts", 1e-3 * (double)e->start_ns, "dur", 1e-3 * (double)e->wait_ns, "pid", 0, "tid",
                         r),
               first);
}

static bool put_told(const pat_log_told *told, int r, FILE *to, bool *first)
{
    char name[60];
    snprintf(name, sizeof(name), "%g %% done", told->percent);
    return put(to,
               json_pack("{s:s, s:s, s:s, s:s, s:f, s:i, s:i}", "name", name, "cat", "milestone", "ph", "i",
                         "s", "t", "ts", 1e-3 * (double)told->start_ns, "pid", 0, "tid", r),
               first);
}

bool pat_trace_chrome(const pat_log *log, const trace_sums *sums, FILE *to)
{
    (void)sums;
    bool first = true, good = true;
    fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n", to);
    good = put(to,
               json_pack("{s:s, s:s, s:i, s:{s:o}}", "name", "process_name", "ph", "M", "pid", 0, "args",
                         "name", pat_json_text(log->command[0] ? log->command : "program")),
               &first);
    for (int r = 0; r < log->num_ranks && good; r++) {
        good = put_rank(log, r, to, &first);
        for (int64_t i = 0; i < log->ranks[r].num_events && good; i++)
            good = put_event(log, r, &log->ranks[r].events[i], to, &first);
        for (int64_t i = 0; i < log->ranks[r].num_told && good; i++)
            good = put_told(&log->ranks[r].told[i], r, to, &first);
    }
    fputs("\n]}\n", to);
    return good && !ferror(to);
}

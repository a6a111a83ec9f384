/*
 * report_json.c — the report as JSON (report_lines.h). Of places all figures are sums over ranks and calls; those of the whole
 * program are means over ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "json_text.h"
#include "report_lines.h"

enum { MOST_LATE = 4 };

/* The ranks that others have waited for longest. */
static json_t *late_of(const pat_report *r, const pat_report_line *l)
{
    json_t *all = json_array();
    for (int i = 0; i < MOST_LATE && l->late[i].calls > 0; i++) {
        const pat_report_late *late = &l->late[i];
        json_array_append_new(all,
                              json_pack("{s:I, s:o, s:I, s:f}", "rank", (json_int_t)late->rank, "host",
                                        pat_json_text(pat_report_host_of(r, late->rank)), "calls",
                                        (json_int_t)late->calls, "waiting_ms", pat_report_ms(late->ns, 1)));
    }
    return all;
}

static json_t *arrivals_of(const pat_imbalance *i)
{
    const double calls = (double)(i->calls ? i->calls : 1);
    int64_t known = 0;
    json_t *classes = json_array();
    for (int k = 0; k < PAT_IMBALANCE_CLASSES; k++) {
        known += i->classes[k];
        json_array_append_new(classes, json_integer(i->classes[k]));
    }
    json_t *o = json_pack("{s:I, s:f, s:f, s:f, s:I}", "calls", (json_int_t)i->calls, "average_ms",
                          1e-6 * i->average_ns / calls, "worst_ms", 1e-6 * i->worst_ns / calls, "alike",
                          pat_imbalance_alike(i), "calls_with_factors", (json_int_t)known);
    if (o && known > 0) {
        json_object_set_new(o, "aif", json_real(i->aif / (double)known));
        json_object_set_new(o, "wif", json_real(i->wif / (double)known));
        json_object_set(o, "wif_below_1_2_8_32_and_above", classes);
        json_object_set_new(o, "right_after_a_collective", json_integer(i->after));
        json_object_set_new(o, "of_these_balanced", json_integer(i->after_balanced));
    }
    json_decref(classes);
    return o;
}

static json_t *json_of(const pat_report *r, const pat_report_line *l)
{
    json_t *algs = json_object();
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (l->sums.alg_calls[a])
            json_object_set_new(algs, pat_algorithm_at(a)->name, json_integer(l->sums.alg_calls[a]));
    for (int i = 0; i < PAT_SITE_MOCKS && pat_mock_at(i); i++)
        if (l->sums.mock_calls[i])
            json_object_set_new(algs, pat_mock_at(i)->name, json_integer(l->sums.mock_calls[i]));
    json_object_set_new(algs, "mpi",
                        json_integer(l->sums.calls - pat_report_by_plan(l) - pat_report_by_mock_up(l)));
    json_t *refused = json_object();
    for (int why = 0; why < PAT_NUM_MOCK_WHYS; why++)
        if (l->sums.refused_calls[why])
            json_object_set_new(refused, pat_mock_why_text((enum pat_mock_why)why),
                                json_integer(l->sums.refused_calls[why]));
    json_t *whys = json_object();
    for (int why = 1; why < PAT_NUM_WHYS; why++)
        if (l->sums.why_calls[why])
            json_object_set_new(whys, pat_why_text((enum pat_why)why), json_integer(l->sums.why_calls[why]));
    json_t *o = json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:f, s:o, s:o}", "call", l->call, "at",
                          pat_json_text(l->name), "ranks", (json_int_t)l->ranks, "calls",
                          (json_int_t)l->sums.calls, "bytes", (json_int_t)l->sums.bytes, "least_bytes",
                          (json_int_t)l->sums.least_bytes, "most_bytes", (json_int_t)l->sums.most_bytes,
                          "time_ms", pat_report_ms(l->sums.time_ns, 1), "run_by", algs, "because", whys);
    if (o && json_object_size(refused) > 0)
        json_object_set(o, "no_mock_up_because", refused);
    json_decref(refused);
    if (o && l->source[0])
        json_object_set_new(o, "source", pat_json_text(l->source));
    if (o && l->sums.num_known) {
        json_object_set_new(o, "known_calls", json_integer(l->sums.num_known));
        json_object_set_new(o, "saved_ms_estimated", json_real(pat_report_ms(pat_report_saved_ns(l), 1)));
    }
    if (o && l->sums.num_ended) {
        json_object_set_new(o, "ended_calls", json_integer(l->sums.num_ended));
        json_object_set_new(o, "under_way_ms", json_real(pat_report_ms(l->sums.under_way_ns, 1)));
        json_object_set_new(o, "hidden_ms", json_real(pat_report_ms(pat_report_hidden_ns(l), 1)));
    }
    for (int i = 0; i < 2 && o; i++)
        if (l->arrivals[i].calls)
            json_object_set_new(o, i ? "arrivals_above_1000_bytes" : "arrivals_up_to_1000_bytes",
                                arrivals_of(&l->arrivals[i]));
    if (o && l->sums.num_met) {
        json_object_set_new(o, "met_calls", json_integer(l->sums.num_met));
        json_object_set_new(o, "waiting_ms", json_real(pat_report_ms(l->sums.late_ns, 1)));
        json_object_set_new(o, "waiting_calls", json_integer(l->late_calls));
        json_object_set_new(o, "waited_for", late_of(r, l));
    }
    return o;
}

static json_t *sum_of(const pat_report *r)
{
    const pat_report_sum sum = pat_report_add_up(r);
    return json_pack(
        "{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:s}", "means_over", "ranks",
        "waiting_ms", pat_report_ms(sum.late_ns, r->ranks), "saved_ms_estimated",
        pat_report_ms(sum.saved_ns, r->ranks), "saved_by_calls_ms_estimated",
        pat_report_ms(sum.by_calls_ns, r->ranks), "start_ms", pat_report_ms(r->costs.start_ns, r->ranks),
        "states_ms", pat_report_ms(r->costs.state_ns, r->ranks), "end_ms",
        pat_report_ms(r->costs.end_ns, r->ranks), "thread_cpu_ms",
        pat_report_ms(r->costs.thread_ns, r->ranks), "under_way_ms",
        pat_report_ms(sum.under_way_ns, r->ranks), "hidden_ms", pat_report_ms(sum.hidden_ns, r->ranks),
        "met_calls_of_all_ranks", (json_int_t)sum.met_calls, "unmet_calls_of_all_ranks",
        (json_int_t)r->unmet_calls, "switched_off_calls_of_all_ranks", (json_int_t)r->off_calls,
        "known_calls_of_all_ranks", (json_int_t)sum.known_calls, "estimated_by",
        r->calibrations_bytes ? "measured calls, calibration" : "measured calls, least time of the link");
}

/* Of the worst rank each. */
static json_t *clocks_of(const pat_report_clocks *c)
{
    return json_pack("{s:f, s:f, s:I}", "error_us", 1e-3 * (double)c->error_ns, "drift_ppm",
                     1e-3 * (double)c->drift_ppb, "measured_again", (json_int_t)c->measured);
}

static json_t *one_way_of(const pat_one_way *t)
{
    json_t *sizes = json_array();
    for (int i = 0; i < t->num; i++)
        json_array_append_new(
            sizes, json_pack("{s:I, s:f}", "bytes", (json_int_t)t->bytes[i], "us", 1e-3 * (double)t->ns[i]));
    return sizes;
}

/* Texts one after the other, each ended by '\0'. */
static json_t *words_of(const char *texts, size_t bytes)
{
    json_t *words = json_array();
    for (size_t at = 0; at < bytes; at += strlen(texts + at) + 1)
        json_array_append_new(words, pat_json_text(texts + at));
    return words;
}

/* Those that are in force on rank 0, and which of them are set. */
static void add_settings(json_t *root)
{
    json_t *all = json_object(), *set = json_array();
    const pat_setting *s;
    for (int i = 0; (s = pat_config_setting(i)) != NULL; i++) {
        const char *text = pat_config_env(s->name);
        json_object_set_new(all, s->name, pat_json_text(text ? text : s->unset));
        if (text)
            json_array_append_new(set, json_string(s->name));
    }
    json_object_set_new(root, "settings", all);
    json_object_set_new(root, "set_in_environment", set);
}

json_t *pat_report_json(const pat_report *r)
{
    json_t *sites = json_array();
    bool whole = true;
    for (int i = 0; i < r->num; i++)
        whole = json_array_append_new(sites, json_of(r, &r->lines[i])) == 0 && whole;
    json_t *root =
        json_pack("{s:i, s:s, s:s, s:s, s:o, s:o, s:o, s:i, s:i, s:f}", "schema_version", PAT_REPORT_SCHEMA,
                  "pat_version", PAT_VERSION_TEXT, "mpi_library", r->mpi, "date", r->date, "host",
                  pat_json_text(r->host), "command", words_of(r->command, r->command_bytes), "calibrations",
                  words_of(r->calibrations, r->calibrations_bytes), "ranks", r->ranks, "nodes", r->nodes,
                  "seconds", 1e-9 * (double)r->time_ns);
    if (root) {
        add_settings(root);
        whole = json_object_set_new(root, "program", sum_of(r)) == 0 && whole;
        whole = json_object_set_new(root, "clocks", clocks_of(&r->clocks)) == 0 && whole;
        whole = json_object_set_new(root, "one_way", one_way_of(&r->one_way)) == 0 && whole;
        whole = json_object_set_new(root, "sums_over", json_string("ranks and calls")) == 0 && whole;
        whole = json_object_set_new(root, "sites", json_incref(sites)) == 0 && whole;
    }
    json_decref(sites);
    if (whole && root)
        return root;
    json_decref(root);
    return NULL;
}

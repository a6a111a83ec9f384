/*
 * report_text.c — the report as text (report_lines.h), in lines of at most 120 columns: what the program as a whole has saved, and
 * a line or two for every place. Figures are means over calls and ranks, to three digits.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "report_lines.h"

enum { WIDTH = PAT_REPORT_WIDTH, PLACE = 37, SHORTEST_PLACE = 24, NUMBER = PAT_REPORT_NUMBER };

const char *pat_report_digits(double value, char text[NUMBER + 1])
{
    const double size = fabs(value);
    int after = size > 0 ? 2 - (int)floor(log10(size)) : 0;
    if (after < 0) {
        const double unit = pow(10, -after);
        value = round(value / unit) * unit;
        after = 0;
    }
    snprintf(text, NUMBER + 1, "%.*f", after > 6 ? 6 : after, value);
    return text;
}

void pat_report_where(const pat_report_line *l, int width, char *text)
{
    if (l->source[0] && (int)strlen(l->source) <= width)
        strcpy(text, l->source);
    else
        pat_sites_shorten(strstr(l->source, " < ") ? l->source : l->name, l->offset, width, text);
}

/* Words on lines of their own that begin with four blanks: what does not fit goes to the next one. */
typedef struct words {
    FILE *to;
    int used;
} words;

static void say(words *w, const char *before, const char *text)
{
    const int length = (int)(strlen(before) + strlen(text));
    if (w->used > 4 && w->used + length > WIDTH) {
        fprintf(w->to, "%s\n   ", before[0] == ' ' ? "" : before[0] == ';' ? ";" : ",");
        w->used = 3;
        before = before[0] == ';' ? before + 1 : " ";
    }
    w->used += fprintf(w->to, "%s%s", before, text);
}

static void say_share(words *w, const char *before, const char *what, int64_t calls, const pat_report_line *l)
{
    char text[80];
    snprintf(text, sizeof(text), "%s %.0f %%", what, 100.0 * (double)calls / (double)l->sums.calls);
    say(w, before, text);
}

static void say_algs(words *w, const pat_report_line *l)
{
    const char *before = "run by ";
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (l->sums.alg_calls[a]) {
            say_share(w, before, pat_algorithm_at(a)->name, l->sums.alg_calls[a], l);
            before = ", ";
        }
    for (int i = 0; i < PAT_SITE_MOCKS && pat_mock_at(i); i++)
        if (l->sums.mock_calls[i]) {
            say_share(w, before, pat_mock_at(i)->name, l->sums.mock_calls[i], l);
            before = ", ";
        }
    const int64_t left = l->sums.calls - pat_report_by_plan(l) - pat_report_by_mock_up(l);
    if (left > 0)
        say_share(w, before, "MPI library", left, l);
}

static bool has_refused(const pat_report_line *l)
{
    bool any = false;
    for (int why = 0; why < PAT_NUM_MOCK_WHYS; why++)
        any = any || l->sums.refused_calls[why];
    return any;
}

/* Why mock-ups that were to run calls did not. */
static void say_refused(words *w, const pat_report_line *l)
{
    const char *before = "; no mock-up because: ";
    for (int why = 0; why < PAT_NUM_MOCK_WHYS; why++)
        if (l->sums.refused_calls[why]) {
            say_share(w, before, pat_mock_why_text((enum pat_mock_why)why), l->sums.refused_calls[why], l);
            before = ", ";
        }
}

static enum pat_why next_why(const pat_report_line *l, const bool named[])
{
    int best = PAT_WHY_NOT_KNOWN;
    for (int why = 1; why < PAT_NUM_WHYS; why++)
        if (!named[why] && l->sums.why_calls[why] > (best ? l->sums.why_calls[best] : 0))
            best = why;
    return (enum pat_why)best;
}

/* What a blocking call would have cost about, and the part of it that the program did not wait for. */
static void say_hidden(words *w, const pat_report_line *l)
{
    char text[96], took[NUMBER + 1];
    snprintf(text, sizeof(text), "%s ms under way, %.0f %% of it hidden",
             pat_report_digits(pat_report_ms(l->sums.under_way_ns, l->sums.num_ended), took),
             l->sums.under_way_ns > 0 ? 100.0 * (double)pat_report_hidden_ns(l) / (double)l->sums.under_way_ns
                                      : 0);
    say(w, "; ", text);
}

/* The second line of a place whose calls may be run by plans: by what, why (the two most frequent reasons), who was late. */
static void write_how(const pat_report_line *l, FILE *to)
{
    bool named[PAT_NUM_WHYS] = {false};
    enum pat_why why = next_why(l, named);
    if (why == PAT_WHY_NOT_KNOWN && !pat_report_by_mock_up(l) && !has_refused(l))
        return; /* passed on, whatever it is */
    words w = {.to = to, .used = fprintf(to, "    ")};
    say_algs(&w, l);
    if (why != PAT_WHY_NOT_KNOWN)
        say_share(&w, "; because: ", pat_why_text(why), l->sums.why_calls[why], l);
    named[why] = true;
    why = next_why(l, named);
    if (why != PAT_WHY_NOT_KNOWN)
        say_share(&w, ", ", pat_why_text(why), l->sums.why_calls[why], l);
    say_refused(&w, l);
    if (l->sums.num_ended > 0)
        say_hidden(&w, l);
    fputc('\n', to);
}

static void write_line(const pat_report_line *l, FILE *to)
{
    char time[NUMBER + 1], waiting[NUMBER + 1] = "-", saved[NUMBER + 1] = "-", last[24] = "-", rest[160],
                                            place[WIDTH + 1];
    if (l->sums.num_met)
        pat_report_digits(pat_report_ms(l->sums.late_ns, l->sums.num_met), waiting);
    if (l->sums.num_known)
        pat_report_digits(pat_report_ms(pat_report_saved_ns(l), l->sums.num_known), saved);
    if (l->late[0].calls)
        snprintf(last, sizeof(last), "%lld", (long long)l->late[0].rank);
    const int length = snprintf(
        rest, sizeof(rest), "  %-25s %8lld %10lld %8s %8s %8s %8s", l->call,
        (long long)(l->sums.calls / l->ranks), (long long)(l->sums.calls ? l->sums.bytes / l->sums.calls : 0),
        pat_report_digits(pat_report_ms(l->sums.time_ns, l->sums.calls), time), waiting, saved, last);
    const int room = WIDTH - length < PLACE ? WIDTH - length : PLACE;
    pat_report_where(l, room > SHORTEST_PLACE ? room : SHORTEST_PLACE, place);
    fprintf(to, "%-*s%s\n", room, place, rest);
    write_how(l, to);
}

static void write_words(const char *begin, const char *what, words *w)
{
    char text[WIDTH - 8];
    const int length = snprintf(text, sizeof(text), "%s%s", begin, what);
    if (length >= (int)sizeof(text))
        strcpy(text + sizeof(text) - 4, "...");
    for (char *c = text; *c; c++)
        *c = iscntrl((unsigned char)*c) ? '?' : *c;
    if (w->used + 1 + (int)strlen(text) > WIDTH)
        w->used = fprintf(w->to, "\n#  ") - 1;
    w->used += fprintf(w->to, " %s", text);
}

/* What ran, where, when and how it was set. */
static void write_about(const pat_report *r, FILE *to)
{
    char text[64];
    words w = {.to = to, .used = fprintf(to, "#")};
    write_words("PAT " PAT_VERSION_TEXT, "", &w);
    write_words("and ", r->mpi, &w);
    snprintf(text, sizeof(text), "on %s, %d rank%s on %d node%s", r->date, r->ranks, r->ranks == 1 ? "" : "s",
             r->nodes, r->nodes == 1 ? "" : "s");
    write_words(text, "", &w);
    write_words("from ", r->host, &w);
    w.used = fprintf(to, "\n#") - 1;
    write_words("command:", "", &w);
    for (size_t at = 0; at < r->command_bytes; at += strlen(r->command + at) + 1)
        write_words(r->command + at, "", &w);
    w.used = fprintf(to, "\n#") - 1;
    write_words("settings:", "", &w);
    const pat_setting *s;
    for (int i = 0; (s = pat_config_setting(i)) != NULL; i++)
        if (pat_config_env(s->name)) {
            char set[40];
            snprintf(set, sizeof(set), "%s=", s->name);
            write_words(set, pat_config_env(s->name), &w);
        }
    write_words("and defaults", "", &w);
    if (r->calibrations_bytes) {
        w.used = fprintf(to, "\n#") - 1;
        write_words("calibration:", "", &w);
        for (size_t at = 0; at < r->calibrations_bytes; at += strlen(r->calibrations + at) + 1)
            write_words(r->calibrations + at, "", &w);
    }
    fputs("\n#\n", to);
}

/* Predictions are no better than that. */
static void write_clocks(const pat_report_clocks *c, FILE *to)
{
    char error[NUMBER + 1], drift[NUMBER + 1];
    fprintf(to,
            "# Clocks: offsets are known to within %s us (worst rank), drift up to %s ppm, measured again "
            "%lld time%s.\n",
            pat_report_digits(1e-3 * (double)c->error_ns, error),
            pat_report_digits(1e-3 * (double)c->drift_ppb, drift), (long long)c->measured,
            c->measured == 1 ? "" : "s");
}

/* Of non-blocking calls that plans ran. */
static void write_hidden(const pat_report_sum *sum, int ranks, FILE *to)
{
    char text[NUMBER + 1];
    fprintf(to, "#   %-50s %10s", "hidden of non-blocking calls",
            pat_report_digits(pat_report_ms(sum->hidden_ns, ranks), text));
    fprintf(to, "   of %s that they were under way\n",
            pat_report_digits(pat_report_ms(sum->under_way_ns, ranks), text));
}

/* What all of it has saved, which may be less than nothing. */
static void write_sum(const pat_report *r, FILE *to)
{
    const pat_report_sum sum = pat_report_add_up(r);
    char text[NUMBER + 1];
    const double in_all = pat_report_ms(sum.saved_ns, r->ranks);
    const struct {
        const char *what;
        int64_t ns;
    } parts[] = {{"saved by calls that relay ran (estimated)", sum.by_calls_ns},
                 {"less: starting the library", r->costs.start_ns},
                 {"less: making and freeing states of communicators", r->costs.state_ns},
                 {"less: ending the library", r->costs.end_ns}};
    fprintf(to, "# The whole program, means over ranks, in ms:\n");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        fprintf(to, "#   %-50s %10s\n", parts[i].what,
                pat_report_digits(pat_report_ms(parts[i].ns, r->ranks), text));
    fprintf(to, "#   %-50s %10s", in_all < 0 ? "LOST in all (estimated)" : "saved in all (estimated)",
            pat_report_digits(fabs(in_all), text));
    fprintf(to, "   of %s from MPI_Init to MPI_Finalize\n",
            pat_report_digits(pat_report_ms(r->time_ns, 1), text));
    fprintf(to, "#   %-50s %10s   beside that\n", "the background thread's processor time",
            pat_report_digits(pat_report_ms(r->costs.thread_ns, r->ranks), text));
    if (sum.under_way_ns > 0)
        write_hidden(&sum, r->ranks, to);
    write_clocks(&r->clocks, to);
    if (sum.known_calls == 0)
        fputs("# No blocking call was run by relay, so none can have saved anything.\n", to);
    else if (r->calibrations_bytes)
        fputs("# Estimated: what the MPI library would have taken is what calls of it were measured to take, "
              "or by "
              "calibration.\n",
              to);
    else
        fputs("# Estimated: what the MPI library would have taken is what calls of it were measured to take. "
              "Where none "
              "was, the\n"
              "# least that the link needs stands for it, and more may have been saved.\n",
              to);
    fputs("#\n", to);
}

void pat_report_text(const pat_report *r, FILE *to)
{
    pat_report_late_text(r, to);
    write_about(r, to);
    write_sum(r, to);
    fputs(
        "# Calls of a rank, bytes of a call, and times of a call in ms, means over calls and ranks: of it "
        "waiting for late ranks,\n"
        "# saved (estimated, known only of calls that relay ran), and the rank that was waited for longest. "
        "Places without a\n"
        "# second line were passed on to the MPI library.\n",
        to);
    fprintf(to, "%-*s  %-25s %8s %10s %8s %8s %8s %8s\n", PLACE, "place", "call", "calls", "bytes", "time/ms",
            "wait/ms", "saved/ms", "last");
    for (int i = 0; i < r->num; i++)
        write_line(&r->lines[i], to);
    pat_report_arrivals_text(r, to);
    pat_report_ranks_text(r, to);
}

/*
 * calibration.c — see calibration.h. The file is JSON, by jansson; every number is judged before it is believed.
 */
#include "calibration.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"
#include "file.h"

enum { FORMAT = 2, MOST_RANKS = 1 << 20 };
static const int64_t most_bytes = INT64_C(1) << 40;

/* ---- Reading ------------------------------------------------------------------------------------------ */

/* What is wrong, for people: the first thing found. */
typedef struct complaint {
    char *text;
    size_t size;
    bool any;
} complaint;

__attribute__((format(printf, 2, 3))) static void complain(complaint *to, const char *format, ...)
{
    va_list args;
    if (to->any)
        return;
    va_start(args, format);
    vsnprintf(to->text, to->size, format, args);
    va_end(args);
    to->any = true;
}

static double number(complaint *wrong, const json_t *in, const char *key, double least, double most)
{
    const json_t *value = json_object_get(in, key);
    const double x = json_number_value(value);
    if (json_is_number(value) && x >= least && x <= most)
        return x;
    complain(wrong, "\"%s\" is %s; accepted: a number from %g to %g", key, value ? "wrong" : "missing", least,
             most);
    return least;
}

static int64_t whole(complaint *wrong, const json_t *in, const char *key, int64_t least, int64_t most)
{
    const json_t *value = json_object_get(in, key);
    const int64_t x = json_integer_value(value);
    if (json_is_integer(value) && x >= least && x <= most)
        return x;
    complain(wrong, "\"%s\" is %s; accepted: a whole number from %lld to %lld", key,
             value ? "wrong" : "missing", (long long)least, (long long)most);
    return least;
}

static void text(complaint *wrong, const json_t *in, const char *key, char *to, size_t size)
{
    const char *value = json_string_value(json_object_get(in, key));
    if (!value || strlen(value) >= size)
        complain(wrong, "\"%s\" is %s; accepted: a text of at most %zu characters", key,
                 value ? "wrong" : "missing", size - 1);
    else
        strcpy(to, value);
}

/* It is missing in files of versions that did not know of it. */
static enum pat_numbering numbering(complaint *wrong, const json_t *in)
{
    const json_t *value = json_object_get(in, "numbering");
    const enum pat_numbering found = pat_numbering_find(json_string_value(value));
    if (value && found == PAT_NUMBERING_NOT_KNOWN)
        complain(wrong, "\"numbering\" is wrong; accepted: \"%s\", \"%s\" and \"%s\"",
                 pat_numbering_text(PAT_NODE_BY_NODE), pat_numbering_text(PAT_ACROSS_NODES),
                 pat_numbering_text(PAT_ANOTHER_ORDER));
    return found;
}

static void read_fits(pat_calibration *c, const json_t *from, complaint *wrong)
{
    const char *name;
    json_t *fit;
    if (!json_is_object(from))
        complain(wrong, "\"algorithms\" is missing");
    json_object_foreach((json_t *)(uintptr_t)from, name, fit)
    {
        const pat_algorithm *alg = pat_algorithm_find(name);
        if (!alg || !alg->formula) {
            complain(wrong, "\"algorithms\": \"%.40s\" is none that can be calibrated", name);
            continue;
        }
        c->fits[alg - pat_algorithm_at(0)] = (pat_fit){.known = true,
                                                       .alpha_us = number(wrong, fit, "alpha_us", 0, 1e9),
                                                       .beta_ns = number(wrong, fit, "beta_ns", 0, 1e9),
                                                       .rank = (int)whole(wrong, fit, "rank", 1, 2),
                                                       .condition = number(wrong, fit, "condition", 0, 1e300),
                                                       .spread = number(wrong, fit, "spread", 0, 1e300)};
    }
}

static void read_points(pat_calibration *c, const json_t *from, complaint *wrong)
{
    size_t i;
    json_t *point;
    if (!json_is_array(from) || json_array_size(from) > PAT_MAX_POINTS)
        complain(wrong, "\"points\" is not a list of at most %d points", PAT_MAX_POINTS);
    json_array_foreach(from, i, point)
    {
        char name[32] = "";
        text(wrong, point, "algorithm", name, sizeof(name));
        const pat_algorithm *alg = pat_algorithm_find(name);
        if (!alg || alg->chooses || (alg->build && !alg->formula))
            complain(wrong, "\"points\": \"%s\" is none that can be calibrated", name);
        if (wrong->any)
            return;
        c->points[c->num_points++] = (pat_point){.alg = (int)(alg - pat_algorithm_at(0)),
                                                 .ranks = (int)whole(wrong, point, "ranks", 2, MOST_RANKS),
                                                 .bytes = whole(wrong, point, "bytes", 1, most_bytes),
                                                 .us = number(wrong, point, "us", 1e-6, 1e15)};
    }
}

static void read_gammas(pat_calibration *c, const json_t *from, complaint *wrong)
{
    size_t i;
    json_t *gamma;
    if (!json_is_array(from) || json_array_size(from) < 1 || json_array_size(from) > PAT_MAX_GAMMAS)
        complain(wrong, "\"gamma\" is not a list of 1 to %d numbers", PAT_MAX_GAMMAS);
    json_array_foreach(from, i, gamma)
    {
        const double x = json_number_value(gamma);
        if (!json_is_number(gamma) || !(x >= 1 && x <= (double)i + 1))
            complain(wrong, "\"gamma\": number %zu is not between 1 and %zu", i + 1, i + 1);
        if (wrong->any)
            return;
        c->gammas[c->num_gammas++] = x;
    }
}

static void read_all(pat_calibration *c, const json_t *from, complaint *wrong)
{
    const json_t *machine = json_object_get(from, "machine");
    if (whole(wrong, from, "format", FORMAT, FORMAT), wrong->any)
        return;
    text(wrong, machine, "cpu", c->machine.cpu, sizeof(c->machine.cpu));
    text(wrong, machine, "mpi", c->machine.mpi, sizeof(c->machine.mpi));
    c->machine.pus = (int)whole(wrong, machine, "pus", 1, 1 << 20);
    c->machine.ranks_per_node = (int)whole(wrong, machine, "ranks_per_node", 1, 1 << 20);
    c->ranks = (int)whole(wrong, from, "ranks", 2, MOST_RANKS);
    c->numbering = numbering(wrong, from);
    const json_t *link = json_object_get(from, "link");
    c->link_us = number(wrong, link, "latency_us", 0, 1e9);
    c->link_mbit = number(wrong, link, "mbit", 1e-3, 1e9);
    whole(wrong, from, "segment_bytes", PAT_SEGMENT_BYTES, PAT_SEGMENT_BYTES);
    read_gammas(c, json_object_get(from, "gamma"), wrong);
    if (json_object_get(from, "network_over_node"))
        c->ratio = number(wrong, from, "network_over_node", 1e-6, 1e6);
    read_fits(c, json_object_get(from, "algorithms"), wrong);
    read_points(c, json_object_get(from, "points"), wrong);
    pat_calibration_sort(c);
}

int pat_calibration_read_open(pat_calibration *c, FILE *file, char *why, size_t why_size)
{
    pat_calibration found = {.ranks = 0};
    complaint wrong = {.text = why, .size = why_size};
    json_error_t error;
    json_t *from = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    if (from)
        read_all(&found, from, &wrong);
    else
        complain(&wrong, "line %d: %s", error.line, error.text);
    json_decref(from);
    if (wrong.any)
        return EINVAL;
    *c = found;
    return 0;
}

int pat_calibration_read(pat_calibration *c, const char *path, char *why, size_t why_size)
{
    char detail[400] = "";
    FILE *file = fopen(path, "r");
    if (!file) {
        const int number_of = errno;
        snprintf(why, why_size, "%s: %s", path, strerror(number_of));
        return number_of;
    }
    const int error = pat_calibration_read_open(c, file, detail, sizeof(detail));
    fclose(file);
    if (error)
        snprintf(why, why_size, "%s: %s", path, detail);
    return error;
}

/* ---- Writing ------------------------------------------------------------------------------------------ */

json_t *pat_calibration_json(const pat_calibration *c)
{
    json_t *gammas = json_array(), *fits = json_object(), *points = json_array();
    for (int i = 0; i < c->num_gammas; i++)
        json_array_append_new(gammas, json_real(c->gammas[i]));
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_fit *f = &c->fits[a];
        if (f->known)
            json_object_set_new(fits, pat_algorithm_at(a)->name,
                                json_pack("{sf sf si sf sf}", "alpha_us", f->alpha_us, "beta_ns", f->beta_ns,
                                          "rank", f->rank, "condition", f->condition, "spread", f->spread));
    }
    for (int i = 0; i < c->num_points; i++) {
        const pat_point *p = &c->points[i];
        json_array_append_new(points,
                              json_pack("{ss si sI sf}", "algorithm", pat_algorithm_at(p->alg)->name, "ranks",
                                        p->ranks, "bytes", (json_int_t)p->bytes, "us", p->us));
    }
    json_t *all = json_pack("{si s{ss ss si si} si s{sf sf} sI so so so}", "format", FORMAT, "machine", "cpu",
                            c->machine.cpu, "mpi", c->machine.mpi, "pus", c->machine.pus, "ranks_per_node",
                            c->machine.ranks_per_node, "ranks", c->ranks, "link", "latency_us", c->link_us,
                            "mbit", c->link_mbit, "segment_bytes", (json_int_t)PAT_SEGMENT_BYTES, "gamma",
                            gammas, "algorithms", fits, "points", points);
    if (pat_numbering_text(c->numbering))
        json_object_set_new(all, "numbering", json_string(pat_numbering_text(c->numbering)));
    if (c->ratio > 0)
        json_object_set_new(all, "network_over_node", json_real(c->ratio));
    return all;
}

int pat_calibration_write(const pat_calibration *c, const char *path, bool own)
{
    return pat_calibration_write_json(pat_calibration_json(c), path, own);
}

int pat_calibration_write_json(json_t *all, const char *path, bool own)
{
    char *text = all ? json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    const int error = !text ? ENOMEM : (own ? pat_file_write_own : pat_file_write)(path, text, strlen(text));
    json_decref(all);
    free(text);
    return error;
}

/* ---- Use ---------------------------------------------------------------------------------------------- */

bool pat_calibration_is_of(const pat_calibration *c, const pat_machine *machine, char *why, size_t why_size)
{
    const pat_machine *m = &c->machine;
    if (strcmp(m->cpu, machine->cpu) != 0)
        snprintf(why, why_size, "it is of a processor \"%s\", this is \"%s\"", m->cpu, machine->cpu);
    else if (strcmp(m->mpi, machine->mpi) != 0)
        snprintf(why, why_size, "it is of \"%s\", this is \"%s\"", m->mpi, machine->mpi);
    else if (m->pus != machine->pus)
        snprintf(why, why_size, "it is of nodes with %d processing units, these have %d", m->pus,
                 machine->pus);
    else if (m->ranks_per_node != machine->ranks_per_node)
        snprintf(why, why_size, "it is of %d ranks a node, here are %d", m->ranks_per_node,
                 machine->ranks_per_node);
    else
        return true;
    return false;
}

bool pat_calibration_is_placed(const pat_calibration *c, const pat_placing *these, char *why, size_t why_size)
{
    const pat_placing measured = pat_calibration_placing(c);
    return pat_placing_is_alike(&measured, these, why, why_size);
}

bool pat_calibration_is_of_link(const pat_calibration *c, double link_mbit, char *why, size_t why_size)
{
    const double times = link_mbit / c->link_mbit;
    snprintf(why, why_size, "it is of a network of %.4g Mbit/s, this one has %.4g", c->link_mbit, link_mbit);
    return times > 1.0 / 3 && times < 3;
}

bool pat_calibration_is_whole(const pat_calibration *c, char *why, size_t why_size)
{
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        const pat_algorithm *native = pat_algorithm_native((enum pat_op)op);
        const pat_collective *collective = pat_collective_of((enum pat_op)op);
        bool known = !collective->yardstick || !collective->all_give;
        for (int i = 0; i < c->num_points && !known; i++)
            known = pat_algorithm_at(c->points[i].alg) == native;
        if (!known) {
            snprintf(why, why_size, "it has no time of %s, so it was not measured to its end", native->name);
            return false;
        }
    }
    return true;
}

/* The line through the two points next to `at`, or the two at that end; x is increasing, n at least 1. */
static double line(const double *x, const double *y, int n, double at)
{
    int i = 0;
    while (i < n - 2 && x[i + 1] < at)
        i++;
    return n < 2 ? y[0] : y[i] + (y[i + 1] - y[i]) * (at - x[i]) / (x[i + 1] - x[i]);
}

/* How many points from the first on are of the same algorithm and as many ranks. */
static int num_alike(const pat_calibration *c, const pat_point *first)
{
    const int most = c->num_points - (int)(first - c->points);
    int n = 1;
    while (n < most && first[n].alg == first->alg && first[n].ranks == first->ranks)
        n++;
    return n;
}

/* The first of the two of these points that `line` is through: a choice takes the logarithms of two points, not of all. */
static const pat_point *next_to(const pat_point *first, int n, int64_t bytes)
{
    int i = 0;
    while (i < n - 2 && first[i + 1].bytes < bytes)
        i++;
    return &first[i];
}

/* Of the MPI library's operation: first along the bytes for every number of ranks that was measured, then along these. */
static double between_points(const pat_calibration *c, int alg, int ranks, int64_t bytes)
{
    double ln_ranks[PAT_MAX_POINTS], ln_us[PAT_MAX_POINTS];
    const double at = log((double)bytes);
    int num = 0;
    for (int i = 0, n; i < c->num_points; i += n) {
        const pat_point *first = &c->points[i];
        n = num_alike(c, first);
        if (first->alg != alg)
            continue;
        const pat_point *p = next_to(first, n, bytes);
        double x[2], y[2];
        const int both = n < 2 ? 1 : 2;
        for (int k = 0; k < both; k++) {
            x[k] = log((double)p[k].bytes);
            y[k] = log(p[k].us);
        }
        /* Longer than what was measured: beyond latency no byte takes more than those before it. */
        const double along = line(x, y, both, at), straight = y[both - 1] + at - x[both - 1];
        ln_ranks[num] = log(first->ranks);
        ln_us[num++] = bytes > first[n - 1].bytes && along > straight ? straight : along;
    }
    return num > 0 ? exp(line(ln_ranks, ln_us, num, log(ranks))) : NAN;
}

pat_form_cost pat_calibration_cost(const pat_calibration *c, const pat_algorithm *alg, int ranks,
                                   int64_t bytes)
{
    const pat_job job = {.num_ranks = ranks, .block_bytes = bytes, .segment_bytes = pat_segment_bytes(bytes)};
    return pat_closed_form(alg, &job, (pat_gamma){c->gammas, c->num_gammas});
}

static double by_formula(const pat_calibration *c, const pat_algorithm *alg, int ranks, int64_t bytes)
{
    const pat_fit *fit = &c->fits[alg - pat_algorithm_at(0)];
    const pat_form_cost cost = pat_calibration_cost(c, alg, ranks, bytes);
    return cost.messages * fit->alpha_us + cost.bytes * fit->beta_ns / 1e3;
}

/*
 * Measured over formula, along the bytes and then along the ranks, both on logarithmic axes. Along the bytes not beyond the
 * points; along the ranks up to twice as many as were measured, because what goes on growing with them is the rule.
 */
static double correction(const pat_calibration *c, const pat_algorithm *algorithm, int ranks, int64_t bytes)
{
    const int alg = (int)(algorithm - pat_algorithm_at(0));
    double ln_ranks[PAT_MAX_POINTS], ln_off[PAT_MAX_POINTS];
    int num = 0;
    for (int i = 0, n; i < c->num_points; i += n) {
        const pat_point *first = &c->points[i];
        n = num_alike(c, first);
        if (first->alg != alg)
            continue;
        const int64_t least = first[0].bytes, most = first[n - 1].bytes,
                      within = bytes < least  ? least
                               : bytes > most ? most
                                              : bytes;
        const pat_point *p = next_to(first, n, within);
        double x[2], y[2];
        int usable = 0;
        for (int k = 0; k < n && k < 2; k++) {
            const double us = by_formula(c, algorithm, p[k].ranks, p[k].bytes);
            if (us <= 0)
                continue;
            x[usable] = log((double)p[k].bytes);
            y[usable++] = log(p[k].us / us);
        }
        if (usable == 0)
            continue;
        ln_ranks[num] = log(first->ranks);
        ln_off[num++] = line(x, y, usable, log((double)within));
    }
    if (num == 0)
        return 1;
    const double least = ln_ranks[0], most = ln_ranks[num - 1] + log(2), there = log(ranks);
    return exp(line(ln_ranks, ln_off, num, there < least ? least : there > most ? most : there));
}

double pat_calibration_us(const pat_calibration *c, const pat_algorithm *alg, int ranks, int64_t bytes)
{
    const int index = (int)(alg - pat_algorithm_at(0));
    if (!alg->build)
        return alg->chooses ? NAN : between_points(c, index, ranks, bytes);
    if (!c->fits[index].known || !alg->formula)
        return NAN;
    return by_formula(c, alg, ranks, bytes) * correction(c, alg, ranks, bytes);
}

bool pat_calibration_knows(const pat_calibration *c, enum pat_op op)
{
    bool knows = false;
    for (int a = 0; c && a < pat_algorithm_count(); a++)
        knows = knows || (pat_algorithm_at(a)->op == op && c->fits[a].known);
    for (int i = 0; c && i < c->num_points; i++)
        knows = knows || pat_algorithm_at(c->points[i].alg)->op == op;
    return knows;
}

int64_t pat_calibration_longest(const pat_calibration *c, enum pat_op op)
{
    int64_t longest = 0;
    for (int i = 0; i < c->num_points; i++)
        if (c->points[i].ranks == c->ranks && pat_algorithm_at(c->points[i].alg)->op == op &&
            c->points[i].bytes > longest)
            longest = c->points[i].bytes;
    return longest > 0 ? longest : INT64_MAX;
}

/* One that needs estimates pays for their exchange, and of who comes when nothing is known here. */
const pat_algorithm *pat_calibration_best(const pat_calibration *c, enum pat_op op, int ranks, int64_t bytes)
{
    const pat_algorithm *best = NULL;
    double least = INFINITY;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        const double us =
            alg->op == op && !alg->uses_arrivals ? pat_calibration_us(c, alg, ranks, bytes) : NAN;
        if (us < least) { /* never with NaN */
            least = us;
            best = alg;
        }
    }
    return best;
}

static int compare(const void *a, const void *b)
{
    const pat_point *p = a, *q = b;
    if (p->alg != q->alg)
        return p->alg < q->alg ? -1 : 1;
    if (p->ranks != q->ranks)
        return p->ranks < q->ranks ? -1 : 1;
    return (p->bytes > q->bytes) - (p->bytes < q->bytes);
}

void pat_calibration_sort(pat_calibration *c)
{
    qsort(c->points, (size_t)c->num_points, sizeof(c->points[0]), compare);
    int kept = 0; /* of points for the same, the first */
    for (int i = 0; i < c->num_points; i++)
        if (kept == 0 || compare(&c->points[i], &c->points[kept - 1]) != 0)
            c->points[kept++] = c->points[i];
    c->num_points = kept;
}

/* ---- Digests ------------------------------------------------------------------------------------------ */

static uint32_t hash_more(uint32_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) /* FNV-1a, 32 bits */
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT32_C(16777619);
    return hash;
}

static const uint32_t hash_of_nothing = UINT32_C(2166136261);

uint32_t pat_machine_digest(const pat_machine *machine)
{
    char text[sizeof(machine->cpu) + sizeof(machine->mpi) + 64];
    const int n = snprintf(text, sizeof(text), "%s;%s;%d;%d", machine->cpu, machine->mpi, machine->pus,
                           machine->ranks_per_node);
    return hash_more(hash_of_nothing, text, (size_t)n);
}

uint32_t pat_calibration_digest(const pat_calibration *c)
{
    uint32_t hash = hash_of_nothing;
    for (int a = 0; a < pat_algorithm_count(); a++)
        for (int ranks = 2; ranks < 3000; ranks += ranks / 2)
            for (int64_t bytes = 1; bytes < INT64_C(1) << 30; bytes = 3 * bytes + 1) {
                const double us = pat_calibration_us(c, pat_algorithm_at(a), ranks, bytes);
                if (us >= 0) /* what is not known has no bits of its own */
                    hash = hash_more(hash, &us, sizeof(us));
            }
    return hash;
}

/*
 * model_judge.c — see model_judge.h. Of each cell one half of the iterations tells which algorithm is the best, and the
 * other half what it takes, and the other way round: the least of many noisy means would flatter itself. A choice sees
 * the arrivals of the two iterations before only, as in the library.
 */
#include "model_judge.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_delay.h"
#include "bench_file.h"
#include "bench_forecast.h"
#include "bench_stats.h"
#include "file.h"
#include "outlook.h"
#include "tool_options.h"

enum { MAX_ITERS = 64, MAX_RANKS = 256, BACK = 2, MAX_CALIBRATIONS = 16 };

/* Of a sample as Open MPI and Ethernet have them: what shapes relay's pieces. */
enum { EAGER_BYTES = 65536 - 256, PACKET_BYTES = 1448 };

/* One file, and what the models say of it. */
typedef struct cell {
    bench_table table;
    const pat_calibration *by;
    enum bench_pattern pattern;
    uint64_t seed;
    int iters;
    int64_t arrival_ns[MAX_ITERS][MAX_RANKS];
    pat_outlook outlook[MAX_ITERS]; /* knowing that iteration's arrivals */
} cell;

/* One kind of choice over all cells. */
typedef struct losses {
    double *loss, raw; /* raw: sum of the differences, intervals or not */
    int num, wrongly_relay, wrongly_native;
} losses;

typedef struct judgement {
    losses chosen, native;
    double *off[PAT_MAX_ALGS], *off_bound;
    int num_off[PAT_MAX_ALGS], num_off_bound;
    FILE *plot;
} judgement;

/* ---- Cells -------------------------------------------------------------------------------------------- */

static double setting(const json_t *from, const char *key)
{
    const char *text = json_string_value(json_object_get(json_object_get(from, "settings"), key));
    return text ? strtod(text, NULL) : NAN;
}

/* The calibration of the nearest link, at most a factor of 1.4: many ranks on one machine slow each other. */
static const pat_calibration *nearest(const pat_calibration *all, int num, double mbit)
{
    const pat_calibration *best = NULL;
    double least = log(1.4);
    for (int i = 0; i < num; i++) {
        const double off = fabs(log(all[i].link_mbit / mbit));
        if (off < least) {
            least = off;
            best = &all[i];
        }
    }
    return best;
}

static bool complain(const char *path, const char *what)
{
    fprintf(stderr, "pat-model: %s: %s\n", path, what);
    return false;
}

static bool open_cell(cell *c, const char *path, const pat_calibration *all, int num)
{
    char why[512];
    json_error_t error;
    json_t *from = json_load_file(path, 0, &error);
    const double seed = setting(from, "seed"), mbit = setting(from, "link_mbit");
    json_decref(from);
    c->table = (bench_table){.rows = NULL};
    if (!from)
        return complain(path, error.text);
    if (bench_results_read(&c->table, path, why, sizeof(why)) != 0)
        return complain(path, why);
    const bench_row *first = c->table.rows;
    if (c->table.num == 0 || isnan(seed) || isnan(mbit) || first->num_iters < 2 ||
        first->num_iters > MAX_ITERS || first->procs > MAX_RANKS || bench_pattern_find(first->pattern) < 0)
        return complain(path, "not one cell of pat-bench with 2 to 64 iterations and at most 256 ranks");
    for (int i = 0; i < c->table.num; i++)
        if (c->table.rows[i].op != PAT_OP_ALLGATHER)
            return complain(path, "not of all-gathers: calibrations say nothing of the others' choices");
    for (int i = 1; i < c->table.num; i++)
        if (c->table.rows[i].segment_bytes != first->segment_bytes ||
            c->table.rows[i].max_delay_ms != first->max_delay_ms ||
            c->table.rows[i].num_iters != first->num_iters)
            return complain(path, "more than one cell");
    c->by = nearest(all, num, mbit);
    if (!c->by)
        return complain(path, "no calibration is of a link like the cell's");
    c->seed = (uint64_t)seed;
    c->iters = first->num_iters;
    c->pattern = (enum bench_pattern)bench_pattern_find(first->pattern);
    return true;
}

/* Who may run it in place of the MPI library under `auto`, where ranks give no milestones. */
static pat_contest contest_of(const cell *c)
{
    pat_contest contest = {.ranks = c->table.rows->procs};
    pat_contest_make(&contest, c->by, PAT_OP_ALLGATHER, c->table.rows->segment_bytes, false);
    return contest;
}

/* The one of them that is held against it. */
static const pat_algorithm *contender_of(const cell *c)
{
    const pat_contest contest = contest_of(c);
    return pat_contest_early(&contest, PAT_OP_ALLGATHER);
}

static bool look(cell *c)
{
    const bench_row *first = c->table.rows;
    const pat_contest contest = contest_of(c);
    for (int i = 0; i < c->iters; i++) {
        for (int r = 0; r < first->procs; r++)
            c->arrival_ns[i][r] =
                bench_delay_ns(c->pattern, c->seed, i, r, first->procs, (int64_t)(first->max_delay_ms * 1e6));
        if (pat_outlook_make(&c->outlook[i], &contest, c->arrival_ns[i], PAT_GOAL_MEAN) != 0)
            return false;
    }
    return true;
}

/* ---- Choices ------------------------------------------------------------------------------------------ */

/*
 * As the library would, but that it sees the last iterations' arrivals even where the MPI library has run them: tries are
 * left out. Before any, all are taken to come at once.
 */
static bool takes_relay(const cell *c, int iteration, bool before)
{
    const int ranks = c->table.rows->procs;
    const pat_contest contest = contest_of(c);
    pat_outlook sum = {0}, together;
    const int from = iteration > BACK ? iteration - BACK : 0, num = iteration - from;
    pat_outlook_make(&together, &contest, NULL, PAT_GOAL_MEAN); /* needs no memory */
    const enum pat_verdict verdict = pat_outlook_verdict(&together);
    if (verdict != PAT_RELAY_BY_ARRIVALS || ranks == 2)
        return verdict == PAT_RELAY_ALWAYS;
    for (int i = from; i < iteration; i++) {
        sum.waiting_us += c->outlook[i].waiting_us / num;
        sum.native_us += c->outlook[i].native_us / num;
        sum.relay_us += c->outlook[i].relay_us / num;
    }
    return num > 0 && pat_outlook_relay_pays(&sum, before);
}

static const bench_row *row_of(const cell *c, const char *alg)
{
    for (int i = 0; i < c->table.num; i++)
        if (!strcmp(c->table.rows[i].alg, alg))
            return &c->table.rows[i];
    return NULL;
}

/* The least mean over every second iteration, from `first` on; a file has one cell. */
static const bench_row *best_in(const cell *c, int first)
{
    bench_cell *cells;
    const bench_row *best = NULL;
    if (bench_table_cells(&c->table, &cells) > 0)
        best = bench_cell_best_half(&c->table, &cells[0], "auto", first);
    free(cells);
    return best;
}

/* In per cent; 0 where the paired difference is within its interval. */
static double add_loss(losses *l, const double *taken, const double *best, int iters)
{
    const bench_paired p = bench_compare(taken, best, iters);
    const double loss = bench_is_above(&p) ? 100 * (p.ratio - 1) : 0;
    l->loss[l->num++] = loss;
    l->raw += 100 * (p.ratio - 1);
    return loss;
}

static bool judge_choice(const cell *c, const char *path, judgement *j)
{
    const bench_row *const native = row_of(c, "native"), *const relay = row_of(c, contender_of(c)->name);
    const bench_row *const bests[2] = {best_in(c, 1), best_in(c, 0)}; /* for even iterations, for odd ones */
    double chosen[MAX_ITERS], best[MAX_ITERS];
    int relays = 0;
    bool with_relay = false;
    if (!native || !relay || !bests[0] || !bests[1])
        return complain(
            path, "native and what auto may take in place of it must be among its algorithms, with times "
                  "of all iterations");
    for (int i = 0; i < c->iters; i++) {
        with_relay = takes_relay(c, i, with_relay);
        relays += with_relay;
        chosen[i] = (with_relay ? relay : native)->iter_elapsed_ms[i];
        best[i] = bests[i % 2]->iter_elapsed_ms[i];
    }
    const double loss = add_loss(&j->chosen, chosen, best, c->iters);
    const double native_loss = add_loss(&j->native, native->iter_elapsed_ms, best, c->iters);
    const bool aware = bench_is_aware(bests[0]->alg) && bench_is_aware(bests[1]->alg);
    const bool regular = !bench_is_aware(bests[0]->alg) && !bench_is_aware(bests[1]->alg);
    j->chosen.wrongly_relay += loss > 0 && regular && 2 * relays > c->iters;
    j->chosen.wrongly_native += loss > 0 && aware && 2 * relays <= c->iters;
    char both[80];
    snprintf(both, sizeof(both), "%s%s%s", bests[0]->alg, bests[0] == bests[1] ? "" : "/",
             bests[0] == bests[1] ? "" : bests[1]->alg);
    printf("%5d %8lld %-10s %8.1f  %-13s %9.3f  relay %2d of %2d %9.3f %6.1f %%  %9.3f %6.1f %%\n",
           native->procs, (long long)native->segment_bytes, native->pattern, native->imbalance_factor, both,
           bench_mean(best, c->iters, NULL), relays, c->iters, bench_mean(chosen, c->iters, NULL), loss,
           bench_mean(native->iter_elapsed_ms, c->iters, NULL), native_loss);
    return true;
}

/* ---- Predicted times ---------------------------------------------------------------------------------- */

static void note(judgement *j, const cell *c, const bench_row *row, double ms, double *off, int *num)
{
    const double measured = bench_mean(row->iter_elapsed_ms, c->iters, NULL);
    if (!(ms >= 0) || !(measured > 0))
        return;
    off[(*num)++] = fabs(ms / measured - 1);
    if (j->plot)
        fprintf(j->plot, "%s\t%d\t%lld\t%g\t%.6f\t%.6f\n", row->alg, row->procs,
                (long long)row->segment_bytes, row->imbalance_factor, measured, ms);
}

/* When all call at once the walk shall take what calibration says: by how many times its steps have to take longer. */
static double correction(const cell *c, const pat_algorithm *alg, bench_forecast *f, const bench_net *net,
                         const pat_fit *fit)
{
    static const int64_t at_once[MAX_RANKS];
    f->alpha_ns = (int64_t)(fit->alpha_us * 1e3);
    f->beta_ps = (int64_t)(fit->beta_ns * 1e3) + 1;
    return 1e3 * pat_calibration_us(c->by, alg, net->num_ranks, c->table.rows->segment_bytes) /
           bench_forecast_walk(f, net, at_once).elapsed_ns;
}

/* By walking the plans of all ranks, each message costing what the calibration has found for this algorithm. */
static double walked_ms(const cell *c, const bench_row *row, const pat_algorithm *alg)
{
    const pat_fit *fit = &c->by->fits[alg - pat_algorithm_at(0)];
    const int64_t beta_ps = (int64_t)(8e6 / c->by->link_mbit), alpha_ns = (int64_t)(c->by->link_us * 1e3);
    pat_job job = {.num_ranks = row->procs,
                   .block_bytes = row->segment_bytes,
                   .alpha_ns = alpha_ns,
                   .beta_ps = beta_ps,
                   .piece_ns = alpha_ns / 4,
                   .eager_bytes = EAGER_BYTES,
                   .packet_bytes = PACKET_BYTES};
    const bench_net net = {.num_ranks = row->procs, .num_nodes = row->procs, .ppn = 1, .beta_ps = beta_ps};
    bench_forecast f;
    double sum = 0;
    job.tau_ns = job.alpha_ns + row->segment_bytes * beta_ps / 1000 + 1;
    if (!fit->known || bench_forecast_make(&f, alg, &job) != 0)
        return NAN;
    const double off = correction(c, alg, &f, &net, fit);
    f.alpha_ns = (int64_t)(fit->alpha_us * off * 1e3);
    f.beta_ps = (int64_t)(fit->beta_ns * off * 1e3) + 1;
    for (int i = 0; i < c->iters; i++)
        sum += bench_forecast_walk(&f, &net, c->arrival_ns[i]).elapsed_ns / 1e6 / c->iters;
    bench_forecast_free(&f);
    return sum;
}

static void judge_times(const cell *c, judgement *j)
{
    double native_ms = 0, relay_ms = 0;
    for (int i = 0; i < c->iters; i++) {
        native_ms += c->outlook[i].native_us / 1e3 / c->iters;
        relay_ms += c->outlook[i].relay_us / 1e3 / c->iters;
    }
    for (int r = 0; r < c->table.num; r++) {
        const bench_row *row = &c->table.rows[r];
        const pat_algorithm *alg = pat_algorithm_find(row->alg);
        if (!alg || alg->chooses)
            continue;
        const int a = (int)(alg - pat_algorithm_at(0));
        note(j, c, row, alg->build ? walked_ms(c, row, alg) : native_ms, j->off[a], &j->num_off[a]);
        if (alg == contender_of(c)) {
            FILE *const plot = j->plot;
            j->plot = NULL;
            note(j, c, row, relay_ms, j->off_bound, &j->num_off_bound);
            j->plot = plot;
        }
    }
}

/* ---- The whole ---------------------------------------------------------------------------------------- */

static void print_losses(const char *who, const losses *l)
{
    double most = 0, sum = 0;
    int within2 = 0, within10 = 0;
    for (int i = 0; i < l->num; i++) {
        sum += l->loss[i];
        most = l->loss[i] > most ? l->loss[i] : most;
        within2 += l->loss[i] <= 2;
        within10 += l->loss[i] <= 10;
    }
    printf("# %s: loss mean %.2f %%, worst %.1f %%, within 2 %% in %d, within 10 %% in %d of %d cells; mean "
           "%.2f %% with what "
           "is within the intervals\n",
           who, sum / l->num, most, within2, within10, l->num, l->raw / l->num);
}

static void print_off(const char *name, double *off, int num)
{
    if (num == 0)
        return;
    printf("# %-22s error median %5.1f %%, 95 %% within %5.1f %%, of %d cells\n", name,
           100 * bench_median(off, num), 100 * bench_quantile(off, num, 0.95), num);
}

static void print_summary(judgement *j)
{
    puts("#");
    print_losses("chosen", &j->chosen);
    print_losses("native", &j->native);
    printf("# relay chosen where a regular algorithm was right: %d cells; native where an arrival-aware one "
           "was: %d\n",
           j->chosen.wrongly_relay, j->chosen.wrongly_native);
    for (int a = 0; a < pat_algorithm_count(); a++)
        print_off(pat_algorithm_at(a)->name, j->off[a], j->num_off[a]);
    print_off("relay, without its plan", j->off_bound, j->num_off_bound);
}

static int read_calibrations(pat_calibration *all, const char *const *paths, int num)
{
    char why[1024];
    for (int i = 0; i < num; i++)
        if (pat_calibration_read(&all[i], paths[i], why, sizeof(why)) != 0) {
            fprintf(stderr, "pat-model: %s\n", why);
            return TOOL_BAD_INPUT;
        }
    return 0;
}

static int judge_all(judgement *j, const pat_calibration *all, int num, const char *const *cells,
                     int num_cells)
{
    cell *c = malloc(sizeof(*c));
    bool good = c != NULL;
    printf("%5s %8s %-10s %8s  %-13s %9s  %14s %9s %8s  %9s %8s\n", "ranks", "bytes", "pattern", "factor",
           "best", "[ms]", "chosen", "[ms]", "loss", "native", "loss");
    for (int i = 0; good && i < num_cells; i++) {
        good = open_cell(c, cells[i], all, num) && look(c) && judge_choice(c, cells[i], j);
        if (good)
            judge_times(c, j);
        bench_table_free(&c->table);
    }
    free(c);
    if (good)
        print_summary(j);
    return good ? 0 : TOOL_BAD_INPUT;
}

int model_judge(const char *const *calibrations, int num_calibrations, const char *const *cells,
                int num_cells, const char *plot)
{
    char *points = NULL;
    size_t length = 0;
    judgement j = {.plot = plot ? open_memstream(&points, &length) : NULL};
    const size_t n = (size_t)num_cells;
    pat_calibration *all = calloc((size_t)num_calibrations, sizeof(*all));
    double *room = calloc((PAT_MAX_ALGS + 3) * n, sizeof(*room));
    int failed = TOOL_FAILED, error;
    if (!all || !room || (plot && !j.plot))
        fprintf(stderr, "pat-model: no memory\n");
    else
        failed = read_calibrations(all, calibrations, num_calibrations);
    if (!failed) {
        j.chosen.loss = room;
        j.native.loss = room + n;
        j.off_bound = room + 2 * n;
        for (size_t a = 0; a < PAT_MAX_ALGS; a++)
            j.off[a] = room + (3 + a) * n;
        failed = judge_all(&j, all, num_calibrations, cells, num_cells);
    }
    if (j.plot && fclose(j.plot) == 0 && !failed && (error = pat_file_write(plot, points, length)) != 0) {
        fprintf(stderr, "pat-model: --points '%s': %s\n", plot, strerror(error));
        failed = TOOL_FAILED;
    }
    free(points);
    free(room);
    free(all);
    return failed;
}

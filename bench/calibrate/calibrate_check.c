/*
 * calibrate_check.c — is the choice by calibration a good one? Every algorithm is run beside the others, in turn, and on
 * every size the chosen one is compared with the fastest.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_clock.h"
#include "bench_must.h"
#include "bench_stats.h"
#include "calibrate_check.h"
#include "calibrate_rule.h"
#include "pat.h"
#include "select.h"

enum { FIRST_BYTES = 1024, MAX_SIZES = 16, MAX_RUNS = 40, QUICK_RUNS = 7 };

/* All runs of one size. */
typedef struct check_cell {
    int64_t bytes;
    int runs;
    double seconds[PAT_MAX_ALGS][MAX_RUNS];
} check_cell;

/* What the choices of one kind have lost, in per cent of the best. */
typedef struct losses {
    int num, exact;
    double loss[MAX_SIZES];
} losses;

static bool takes_part(const pat_calibration *c, const pat_algorithm *alg, enum pat_op op, int ranks)
{
    return alg == pat_algorithm_native(op) ||
           (alg->op == op && pat_calibration_us(c, alg, ranks, FIRST_BYTES) >= 0);
}

static int native_of(enum pat_op op)
{
    return (int)(pat_algorithm_native(op) - pat_algorithm_at(0));
}

static void run_cell(const pat_calibration *c, check_cell *cell, enum pat_op op, int runs,
                     const pat_clock *clock, char *buffer)
{
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    cell->runs = runs;
    for (int i = -1; i < runs; i++) /* the first is for plans and connections */
        for (int k = 0; k < pat_algorithm_count(); k++) {
            const int a = (k + i + 1) % pat_algorithm_count();
            const pat_algorithm *alg = pat_algorithm_at(a);
            if (!takes_part(c, alg, op, ranks))
                continue;
            const calibrate_job job = {alg, cell->bytes, calibrate_needs_closing(alg) ? 0 : -1, clock};
            bench_must(PAT_UseAlg(alg->name),
                       alg->name); /* the MPI library's too: nothing is prepared then */
            const double s = calibrate_once(MPI_COMM_WORLD, &job, buffer);
            if (i >= 0)
                cell->seconds[a][i] = s;
        }
}

static double median_of(const double *seconds, int n)
{
    double sorted[MAX_RUNS];
    for (int i = 0; i < n; i++)
        sorted[i] = seconds[i];
    return bench_median(sorted, n);
}

/* In per cent of the best's median; nothing where the paired difference is within its confidence interval. */
static double loss_of(const check_cell *cell, int alg, int best)
{
    const bench_paired p = bench_compare(cell->seconds[alg], cell->seconds[best], cell->runs);
    const double loss =
        100 * (median_of(cell->seconds[alg], cell->runs) / median_of(cell->seconds[best], cell->runs) - 1);
    return alg == best || !bench_is_above(&p) || loss < 0 ? 0 : loss;
}

static void add(losses *l, double loss, bool exact)
{
    l->exact += exact;
    l->loss[l->num++] = loss;
}

static void print_losses(const char *who, losses *l)
{
    double sum = 0, most = 0;
    int within3 = 0, within10 = 0;
    for (int i = 0; i < l->num; i++) {
        sum += l->loss[i];
        most = fmax(most, l->loss[i]);
        within3 += l->loss[i] <= 3;
        within10 += l->loss[i] <= 10;
    }
    printf("# %s: loss mean %.1f %%, most %.1f %%; the best in %d, within 3 %% in %d, within 10 %% in %d of "
           "%d\n",
           who, sum / l->num, most, l->exact, within3, within10, l->num);
}

/* What the library takes: where an algorithm contends with the MPI library's own, one of these two. */
static const pat_algorithm *choice_of(const pat_calibration *c, enum pat_op op, int ranks, int64_t bytes)
{
    pat_contest contest = {.ranks = ranks};
    pat_contest_make(&contest, c, op, bytes, false);
    const pat_algorithm *const native = pat_algorithm_native(op), *const other =
                                                                      pat_contest_early(&contest, op);
    if (!other)
        return pat_calibration_best(c, op, ranks, bytes);
    return !pat_select_is_small(op, ranks, bytes) &&
                   pat_calibration_us(c, other, ranks, bytes) <= pat_calibration_us(c, native, ranks, bytes)
               ? other
               : native;
}

/* Of one collective. */
typedef struct check_totals {
    losses ours, natives, ruled;
    double *off; /* errors of the predictions */
    int num_off;
} check_totals;

/* The fastest, the chosen one, the MPI library's own, and by the rule of Open MPI 3.1. */
static void print_cell(const pat_calibration *c, const check_cell *cell, enum pat_op op, int ranks,
                       check_totals *totals)
{
    int best = -1;
    const int native = native_of(op);
    const pat_algorithm *rule = calibrate_rule(op, ranks, cell->bytes);
    const pat_algorithm *choice = choice_of(c, op, ranks, cell->bytes);
    const int chosen = (int)(choice - pat_algorithm_at(0));
    for (int a = 0; a < pat_algorithm_count(); a++) {
        if (!takes_part(c, pat_algorithm_at(a), op, ranks))
            continue;
        const double s = median_of(cell->seconds[a], cell->runs);
        if (best < 0 || s < median_of(cell->seconds[best], cell->runs))
            best = a;
        const double us = pat_calibration_us(c, pat_algorithm_at(a), ranks, cell->bytes);
        if (us >= 0)
            totals->off[totals->num_off++] = fabs(us / (1e6 * s) - 1);
    }
    const double loss = loss_of(cell, chosen, best), native_loss = loss_of(cell, native, best);
    add(&totals->ours, loss, chosen == best);
    add(&totals->natives, native_loss, native == best);
    printf("%10lld  %-16s %10.1f  %-16s %7.1f %%  %10.1f %7.1f %%", (long long)cell->bytes,
           pat_algorithm_at(best)->name, 1e6 * median_of(cell->seconds[best], cell->runs), choice->name, loss,
           1e6 * median_of(cell->seconds[native], cell->runs), native_loss);
    if (rule) {
        const int ruled = (int)(rule - pat_algorithm_at(0));
        const double rule_loss = loss_of(cell, ruled, best);
        add(&totals->ruled, rule_loss, ruled == best);
        printf("  %-16s %7.1f %%", rule->name, rule_loss);
    }
    printf("\n");
    fflush(stdout);
}

static void check_op(const pat_calibration *c, enum pat_op op, int runs, double longest_s)
{
    const char *const name = pat_collective_of(op)->title;
    pat_clock clock;
    int same_machine, rank, ranks, go_on = 1;
    check_totals totals = {.num_off = 0};
    check_cell *cell = calloc(1, sizeof(*cell));
    totals.off = calloc((size_t)MAX_SIZES * PAT_MAX_ALGS, sizeof(*totals.off));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!pat_calibration_best(c, op, ranks, FIRST_BYTES)) {
        if (rank == 0)
            printf("\n# %s: nothing is calibrated\n", name);
        free(cell);
        free(totals.off);
        return;
    }
    bench_must(cell && totals.off ? MPI_SUCCESS : MPI_ERR_NO_MEM, "memory");
    if (rank == 0)
        printf("\n# %s, %d ranks (measured with %d), %d runs each\n%10s  %-16s %10s  %-16s %9s  %10s %9s%s\n",
               name, ranks, c->ranks, runs, "bytes", "best", "[us]", "chosen", "loss", "MPI [us]", "loss",
               calibrate_rule(op, ranks, FIRST_BYTES) ? "  by Open MPI 3.1       loss" : "");
    for (int i = 0; i < MAX_SIZES && go_on; i++) {
        cell->bytes = (int64_t)FIRST_BYTES << i;
        bench_must(bench_clock_sync(&clock, MPI_COMM_WORLD, 20, &same_machine), "the clock");
        char *buffer = calloc(
            1, calibrate_bytes(&(calibrate_job){pat_algorithm_native(op), cell->bytes, 0, NULL}, ranks));
        bench_must(buffer ? MPI_SUCCESS : MPI_ERR_NO_MEM, "memory");
        run_cell(c, cell, op, runs, &clock, buffer);
        free(buffer);
        if (rank == 0)
            print_cell(c, cell, op, ranks, &totals);
        go_on = median_of(cell->seconds[native_of(op)], runs) < longest_s / 2;
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0) {
        print_losses("chosen", &totals.ours);
        print_losses("the MPI library's own", &totals.natives);
        if (totals.ruled.num > 0)
            print_losses("as Open MPI 3.1 chooses, in segments of the library", &totals.ruled);
        if (totals.num_off > 0)
            printf("# predictions: error median %.1f %%, 95 %% within %.1f %%, of %d\n",
                   100 * bench_median(totals.off, totals.num_off),
                   100 * bench_quantile(totals.off, totals.num_off, 0.95), totals.num_off);
    }
    free(cell);
    free(totals.off);
}

void calibrate_check(const pat_calibration *c, const calibrate_options *o)
{
    const int runs = o->quick ? QUICK_RUNS : MAX_RUNS;
    for (int op = 0; op < PAT_NUM_OPS; op++)
        if (pat_collective_of((enum pat_op)op)->yardstick && calibrate_options_want(o, (enum pat_op)op))
            check_op(c, (enum pat_op)op, runs, o->longest_s);
}

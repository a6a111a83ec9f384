/*
 * unit_bench_fit.c — parameters that were put into experiments come out again, with noise and a disturbed run; and what
 * experiments do not tell is said.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench_delay.h"
#include "bench_fit.h"
#include "closed_form.h"
#include "model_printed.h"
#include "model_regressors.h"

enum { SIZES = 10, ROWS = 3 * SIZES, RANKS = 90, SEGMENT = 8192 };

static const double alpha = 2e-5, beta = 2.5e-9;

#define assert_within(expected, got, part)                                                                   \
    do {                                                                                                     \
        double e_ = (expected), g_ = (got);                                                                  \
        if (!(fabs(g_ / e_ - 1) <= (part)))                                                                  \
            fail_msg("expected %g within %g %%, got %g", e_, 100 * (part), g_);                              \
    } while (0)

/* -1 .. 1 */
static double noise(uint64_t *random)
{
    *random = bench_mix(*random);
    return (double)(*random >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

/*
 * A broadcast of 8 KiB to 4 MiB and a closing gather of blocks of `gathered(i)` bytes, three for each size, timed within
 * `part`.
 */
static void experiments(bench_fit_row *rows, int64_t (*gathered)(int i), double part, uint64_t *random)
{
    const pat_gamma gamma = printed_at(0)->link.network;
    for (int i = 0; i < ROWS; i++) {
        pat_job job = {.num_ranks = RANKS, .block_bytes = SEGMENT << i % SIZES, .segment_bytes = SEGMENT};
        pat_form_cost c = pat_closed_form(pat_algorithm_find("bcast_binary"), &job, gamma);
        rows[i] = (bench_fit_row){c.messages + RANKS - 1, c.bytes + (RANKS - 1) * (double)gathered(i), 0};
        rows[i].seconds = (rows[i].messages * alpha + rows[i].bytes * beta) * (1 + part * noise(random));
    }
}

static int64_t varied(int i)
{
    return 64 << (3 * (i / SIZES) + i % 3);
}

static int64_t as_segment(int i)
{
    (void)i;
    return SEGMENT;
}

static void exact(void **state)
{
    bench_fit_row rows[ROWS];
    bench_fit fit;
    uint64_t random = 1;
    (void)state;
    experiments(rows, varied, 0, &random);
    assert_int_equal(bench_fit_hockney(&fit, rows, ROWS), 0);
    assert_int_equal(fit.rank, 2);
    assert_within(alpha, fit.alpha_s, 1e-6);
    assert_within(beta, fit.beta_s, 1e-6);
    assert_true(fit.spread < 1e-6);
}

/* All regressors, where nothing is disturbed; and of one column alone, where bytes cannot be told from messages. */
static void every_regressor(void **state)
{
    (void)state;
    for (int k = 0; k < 2 * BENCH_NUM_REGRESSORS; k++) {
        const bench_fit_how how = {(enum bench_regressor)(k / 2), k % 2 == 1};
        bench_fit_row rows[ROWS];
        bench_fit fit;
        uint64_t random = 1;
        experiments(rows, varied, 0, &random);
        assert_int_equal(bench_fit_by(&fit, rows, ROWS, how), 0);
        assert_within(alpha, fit.alpha_s, 1e-6);
        assert_within(beta, fit.beta_s, 1e-6);
        assert_false(fit.clamped);
        experiments(rows, as_segment, 0, &random);
        assert_int_equal(bench_fit_by(&fit, rows, ROWS, how), 0);
        assert_int_equal(fit.rank, 1);
        assert_within(alpha + SEGMENT * beta, fit.alpha_s + SEGMENT * fit.beta_s, 1e-6);
    }
}

/*
 * Nine of thirty runs took ten times as long: Huber's weights leave them nearly out, and least squares, with the same relative errors, does not.
 * That runs which took longer count less must be so: they did not where GSL saw the same on the right side of all equations.
 */
static void disturbed(void **state)
{
    (void)state;
    for (int i = 0; regressor_mix_at(i); i++) {
        const regressor_mix *mix = regressor_mix_at(i);
        regressor_result huber, least;
        assert_int_equal(regressor_try(&huber, mix, (bench_fit_how){BENCH_HUBER, true}, 40, 5), 0);
        assert_int_equal(regressor_try(&least, mix, (bench_fit_how){BENCH_LEAST_SQUARES, true}, 40, 5), 0);
        if (mix->most >= 10 || mix->late == 0)
            assert_true(huber.all_good >= 0.95);
        if (mix->late >= 9 && mix->most >= 10)
            assert_true(least.all_good < 0.6);
        assert_true(huber.all_good >= least.all_good);
    }
}

/* Two per cent of noise, and one run that took ten times as long, wherever it is. */
static void noisy(void **state)
{
    uint64_t random = 2;
    (void)state;
    for (int trial = 0; trial < 600; trial++) {
        bench_fit_row rows[ROWS];
        bench_fit fit;
        experiments(rows, varied, 0.02, &random);
        rows[trial % ROWS].seconds *= 10;
        assert_int_equal(bench_fit_hockney(&fit, rows, ROWS), 0);
        assert_int_equal(fit.rank, 2);
        assert_within(alpha + SEGMENT * beta, fit.alpha_s + SEGMENT * fit.beta_s, 0.03);
        assert_within(alpha, fit.alpha_s, 0.10);
        assert_within(beta, fit.beta_s, 0.10);
        assert_true(fit.spread < 0.03);
    }
}

/* The closing gather's blocks are as long as segments: only the time of a segment can be known. */
static void degenerate(void **state)
{
    uint64_t random = 3;
    (void)state;
    for (int trial = 0; trial < 50; trial++) {
        bench_fit_row rows[ROWS];
        bench_fit fit;
        experiments(rows, as_segment, 0.02, &random);
        assert_int_equal(bench_fit_hockney(&fit, rows, ROWS), 0);
        assert_int_equal(fit.rank, 1);
        assert_true(fit.condition > 1000);
        assert_within(alpha + SEGMENT * beta, fit.alpha_s + SEGMENT * fit.beta_s, 0.03);
        assert_within(fit.alpha_s, SEGMENT * fit.beta_s, 1e-6);
    }
}

/* Times that only a negative latency or rate would fit. */
static void never_negative(void **state)
{
    bench_fit_row rows[4];
    bench_fit fit;
    (void)state;
    for (int i = 0; i < 4; i++) /* growing faster than the bytes */
        rows[i] = (bench_fit_row){1, 1000 * (i + 1), 1e-3 * (i + 1) * (i + 1)};
    assert_int_equal(bench_fit_hockney(&fit, rows, 4), 0);
    assert_true(fit.alpha_s == 0 && fit.beta_s > 0);
    for (int i = 0; i < 4; i++) /* falling with the bytes */
        rows[i] = (bench_fit_row){1, 1000 * (i + 1), 1e-3 * (10 - i)};
    assert_int_equal(bench_fit_hockney(&fit, rows, 4), 0);
    assert_true(fit.alpha_s > 0 && fit.beta_s == 0);
}

static void refused(void **state)
{
    bench_fit_row rows[3] = {{1, 1, 1}, {2, 1, 1}, {3, 1, 1}};
    static const double wrong[] = {0, -1, NAN, INFINITY};
    bench_fit fit;
    (void)state;
    assert_int_equal(bench_fit_hockney(&fit, rows, 2), EINVAL);
    for (int i = 0; i < 12; i++) {
        bench_fit_row bad[3] = {rows[0], rows[1], rows[2]};
        double *field = i % 3 == 0 ? &bad[1].messages : i % 3 == 1 ? &bad[1].bytes : &bad[1].seconds;
        *field = wrong[i / 3];
        assert_int_equal(bench_fit_hockney(&fit, bad, 3), EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_regressor), cmocka_unit_test(disturbed),  cmocka_unit_test(exact),
        cmocka_unit_test(noisy),           cmocka_unit_test(degenerate), cmocka_unit_test(never_negative),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

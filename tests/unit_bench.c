/*
 * unit_bench.c — the mini-benchmark without ranks: who is late, and what follows from measured times. What a
 * command line means is unit_bench_options.c's.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench_data.h"
#include "bench_delay.h"
#include "bench_sample.h"
#include "bench_stats.h"

enum { MS = 1000000 };

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

/* ---- Delays and data
 * -------------------------------------------------------------------------------------------- */

static void test_delays_differ_by_rank_and_iteration(void **state)
{
    (void)state;
    enum { RANKS = 16, ITERS = 50 };
    const int64_t max = 100 * MS;
    for (int p = BENCH_UNIFORM; p <= BENCH_GAUSSIAN; p += BENCH_GAUSSIAN - BENCH_UNIFORM) {
        double sum = 0, squares = 0;
        int equal = 0;
        for (int i = 0; i < ITERS; i++)
            for (int r = 0; r < RANKS; r++) {
                const enum bench_pattern pattern = (enum bench_pattern)p;
                const int64_t d = bench_delay_ns(pattern, 7, i, r, RANKS, max);
                assert_in_range(d, 0, max);
                /* Asked again, in whatever order: the same. That is what makes the comparison a paired one.
                 */
                assert_int_equal(d, bench_delay_ns(pattern, 7, i, r, RANKS, max));
                equal += r > 0 && d == bench_delay_ns(pattern, 7, i, r - 1, RANKS, max);
                equal += i > 0 && d == bench_delay_ns(pattern, 7, i - 1, r, RANKS, max);
                equal += d == bench_delay_ns(pattern, 8, i, r, RANKS, max);
                const double x = (double)d / (double)max;
                sum += x;
                squares += x * x;
            }
        const double mean = sum / (RANKS * ITERS), sd = sqrt(squares / (RANKS * ITERS) - mean * mean);
        assert_true(equal == 0);
        assert_near(mean, 0.5, 0.03);
        assert_near(sd, p == BENCH_UNIFORM ? sqrt(1.0 / 12) : 1.0 / 6, 0.02);
    }
}

static void test_delay_shapes(void **state)
{
    (void)state;
    for (int r = 0; r < 5; r++) {
        assert_int_equal(bench_delay_ns(BENCH_NONE, 1, 3, r, 5, 8 * MS), 0);
        assert_int_equal(bench_delay_ns(BENCH_ONE_LATE, 1, 3, r, 5, 8 * MS), r == 4 ? 8 * MS : 0);
        assert_int_equal(bench_delay_ns(BENCH_ASCENDING, 1, 3, r, 5, 8 * MS), 2 * MS * r);
        assert_int_equal(bench_delay_ns(BENCH_DESCENDING, 1, 3, r, 5, 8 * MS), 2 * MS * (4 - r));
        assert_int_equal(bench_delay_ns(BENCH_ROTATING, 1, 8, r, 5, 8 * MS), r == 3 ? 8 * MS : 0);
        assert_int_equal(bench_delay_ns(BENCH_ALTERNATING, 1, 7, r, 5, 8 * MS), r == 4 ? 8 * MS : 0);
        assert_int_equal(bench_delay_ns(BENCH_ALTERNATING, 1, 8, r, 5, 8 * MS), 0);
        for (int p = 0; p < BENCH_NUM_PATTERNS; p++)
            assert_int_equal(bench_delay_ns((enum bench_pattern)p, 1, 3, r, 5, 0), 0);
    }
    for (int p = 0; p < BENCH_NUM_PATTERNS; p++) {
        assert_int_equal(bench_pattern_find(bench_pattern_name((enum bench_pattern)p)), p);
        assert_non_null(strstr(bench_pattern_names(), bench_pattern_name((enum bench_pattern)p)));
    }
    assert_int_equal(bench_pattern_find(""), -1);
}

static void test_every_byte_is_checked(void **state)
{
    (void)state;
    enum { RANKS = 3, BLOCK = 9001 }; /* more than a piece, and no whole word at the end */
    char *result = malloc(RANKS * BLOCK);
    assert_non_null(result);
    for (int r = 0; r < RANKS; r++)
        bench_data_make(result + r * BLOCK, bench_data_key(5, 17, r), BLOCK);
    assert_int_equal(bench_data_check(result, 5, 17, RANKS, BLOCK), -1);
    for (int at = 0; at < RANKS * BLOCK; at += at % BLOCK == BLOCK - 2 ? 1 : 7) {
        result[at] ^= 1;
        assert_int_equal(bench_data_check(result, 5, 17, RANKS, BLOCK), at);
        result[at] ^= 1;
    }
    result[RANKS * BLOCK - 1] ^= 1;
    assert_int_equal(bench_data_check(result, 5, 17, RANKS, BLOCK), RANKS * BLOCK - 1);
    result[RANKS * BLOCK - 1] ^= 1;
    /* What the call before left behind is wrong, and so is another rank's block. */
    assert_int_not_equal(bench_data_check(result, 5, 18, RANKS, BLOCK), -1);
    memcpy(result, result + BLOCK, BLOCK);
    assert_in_range(bench_data_check(result, 5, 17, RANKS, BLOCK), 0, 7);
    free(result);
}

static void test_sums_are_exact(void **state)
{
    (void)state;
    enum { RANKS = 5, NUM = 1200 }; /* more than two pieces */
    static double up[NUM], down[NUM], terms[NUM];
    for (int r = 0; r < RANKS; r++) {
        bench_data_make_terms(terms, bench_data_key(5, 17, r), NUM);
        for (int i = 0; i < NUM; i++)
            up[i] += terms[i];
        bench_data_make_terms(terms, bench_data_key(5, 17, RANKS - 1 - r), NUM);
        for (int i = 0; i < NUM; i++)
            down[i] += terms[i];
    }
    assert_int_equal(bench_data_check_sum(up, 5, 17, RANKS, NUM), -1);
    assert_int_equal(bench_data_check_sum(down, 5, 17, RANKS, NUM), -1);
    assert_int_not_equal(bench_data_check_sum(up, 5, 18, RANKS, NUM), -1); /* the call before */
    assert_int_not_equal(bench_data_check_sum(up, 5, 17, RANKS - 1, NUM), -1);
    up[NUM - 1] += 1;
    assert_in_range(bench_data_check_sum(up, 5, 17, RANKS, NUM), 8 * (NUM - 1), 8 * NUM - 1);
}

/* ---- Statistics
 * -------------------------------------------------------------------------------------------------- */

/* What confidence intervals take for granted of repetitions. */
static void repetitions(void)
{
    const double ramp[] = {1, 2, 3, 4, 5}, same[] = {7, 7, 7, 7};
    double outlier[20], turns[20];
    for (int i = 0; i < 20; i++) {
        outlier[i] = i == 13 ? 100 : i % 3;
        turns[i] = i % 2;
    }
    /* Products of neighbours' distances from the mean, 4, over squares, 10; excess 34 / 5 / 2.5^2 - 3 */
    assert_near(bench_lag1(ramp, 5), 0.4, 1e-12);
    assert_near(bench_normal_p(ramp, 5), exp(-5 / 48.0 * 1.912 * 1.912), 1e-9);
    assert_false(bench_is_dependent(bench_lag1(ramp, 5), 5));
    assert_true(bench_lag1(turns, 20) < -0.9 && bench_is_dependent(bench_lag1(turns, 20), 20));
    assert_true(bench_normal_p(outlier, 20) < 1e-6);
    assert_false(bench_is_dependent(bench_lag1(outlier, 20), 20));
    assert_true(bench_lag1(same, 4) == 0 && bench_normal_p(same, 4) == 1 && bench_lag1(ramp, 2) == 0);
}

static void test_statistics(void **state)
{
    (void)state;
    const double x[] = {1, NAN, 2, 3, 4, NAN, 5};
    int used;
    assert_near(bench_mean(x, 7, &used), 3, 1e-12);
    assert_int_equal(used, 5);
    /* t(0.975; 4) = 2.776445, s = sqrt(2.5) */
    assert_near(bench_ci95(x, 7), 2.776445 * sqrt(2.5) / sqrt(5), 1e-5);
    assert_true(isnan(bench_ci95(x, 2)));
    repetitions();
    assert_true(isnan(bench_mean(x + 1, 1, NULL)));
    assert_true(isnan(bench_mean(x, 0, NULL)));

    double y[] = {9, 1, 5, 3}, low, middle, high;
    assert_near(bench_median(y, 4), 4, 1e-12);
    assert_near(bench_quantile(y, 4, 0), 1, 1e-12);
    assert_near(bench_quantile(y, 4, 1), 9, 1e-12);
    bench_quartiles(y, 4, &low, &middle, &high);
    assert_near(low, 2.5, 1e-12);
    assert_near(middle, 4, 1e-12);
    assert_near(high, 6, 1e-12);
}

/* Times that vary a lot from iteration to iteration but differ by the same: a paired comparison sees it. */
static void test_paired(void **state)
{
    (void)state;
    const double a[] = {10.5, 90.4, 30.6, NAN, 70.5, 50.5}, b[] = {10, 90, 30, 1000, 70, NAN};
    bench_paired p = bench_compare(a, b, 6);
    assert_int_equal(p.n, 4);
    assert_near(p.diff, 0.5, 1e-9);
    assert_near(p.ratio, 202.0 / 200.0, 1e-9);
    assert_true(bench_is_above(&p));
    p = bench_compare(b, a, 6);
    assert_false(bench_is_above(&p));
    const double c[] = {10, 90, 30, 5}, d[] = {12, 85, 29, 6};
    p = bench_compare(c, d, 4);
    assert_false(bench_is_above(&p));
    p = bench_compare(a, b, 1); /* one pair proves nothing */
    assert_false(bench_is_above(&p));
}

/* ---- From reports to a row
 * ----------------------------------------------------------------------------------------- */

/* The paper's worked example, tau = 1 ms: rank 0 is late by 2 tau. */
static const int64_t example[] = {2 * MS, 0, 0, 0};

static bench_net example_net(const int *node_of, int num_nodes, int ppn)
{
    return (bench_net){
        .num_ranks = 4, .num_nodes = num_nodes, .ppn = ppn, .node_of = node_of, .beta_ps = 1000000};
}

static void test_bound(void **state)
{
    (void)state;
    const int alone[] = {0, 1, 2, 3}, pairs[] = {0, 0, 1, 1}, one[] = {0, 0, 0, 0};
    bench_net net = example_net(alone, 4, 1);
    assert_int_equal(bench_tau_ns(&net, 1000), MS);
    /* All leave at 3 tau: elapsed 1, 3, 3, 3. */
    assert_near(bench_bound_ns(PAT_OP_ALLGATHER, &net, 1000, example, NULL) / MS, 2.5, 1e-6);
    /* A bucket that swallows half a segment: 2.5 tau after all for ranks 1 to 3, rank 0 half a tau after its
     * call. */
    net.burst_bytes = 500;
    assert_near(bench_bound_ns(PAT_OP_ALLGATHER, &net, 1000, example, NULL) / MS, 2.0, 1e-6);
    /* Latency counts once, not per segment. */
    net.burst_bytes = 0;
    net.lambda_ns = MS / 10;
    assert_near(bench_bound_ns(PAT_OP_ALLGATHER, &net, 1000, example, NULL) / MS, 2.6, 1e-6);
    /*
     * Two nodes of two: rank 1 sits beside the late one and needs 2 foreign blocks, there at 2 tau; it leaves
     * with rank 0's arrival. Ranks 2 and 3 need rank 0's block through the link: 3 tau.
     */
    net = example_net(pairs, 2, 2);
    assert_near(bench_bound_ns(PAT_OP_ALLGATHER, &net, 1000, example, NULL) / MS, (0 + 2 + 3 + 3) / 4.0,
                1e-6);
    /* One node: nothing but waiting. */
    net = example_net(one, 1, 4);
    assert_near(bench_bound_ns(PAT_OP_ALLGATHER, &net, 1000, example, NULL) / MS, (0 + 2 + 2 + 2) / 4.0,
                1e-6);
}

static void test_bound_of_all_reduce(void **state)
{
    (void)state;
    const int alone[] = {0, 1, 2, 3}, pairs[] = {0, 0, 1, 1}, one[] = {0, 0, 0, 0};
    const int64_t at_once[] = {0, 0, 0, 0};
    int64_t last;
    bench_net net = example_net(alone, 4, 1);
    /* Ranks 1 to 3 have the vector a tau after the late rank's call at 2; that one takes in nothing that had to wait. */
    assert_near(bench_bound_ns(PAT_OP_ALLREDUCE, &net, 1000, example, &last) / MS, (0 + 3 + 3 + 3) / 4.0,
                1e-6);
    assert_int_equal(last, 3 * MS);
    /* All at once: a tau for each, and 2 (P-1)/P for the last. */
    assert_near(bench_bound_ns(PAT_OP_ALLREDUCE, &net, 1000, at_once, &last) / MS, 1, 1e-6);
    assert_int_equal(last, 3 * MS / 2);
    /* Two nodes: rank 1 only waits for the late one beside it. One node: all wait. */
    net = example_net(pairs, 2, 2);
    assert_near(bench_bound_ns(PAT_OP_ALLREDUCE, &net, 1000, example, &last) / MS, (0 + 2 + 3 + 3) / 4.0,
                1e-6);
    assert_int_equal(last, 3 * MS);
    net = example_net(one, 1, 4);
    assert_near(bench_bound_ns(PAT_OP_ALLREDUCE, &net, 1000, example, &last) / MS, (0 + 2 + 2 + 2) / 4.0,
                1e-6);
    assert_int_equal(last, 2 * MS);
}

static bench_forecast forecast_of(const char *alg)
{
    const pat_job job = {.num_ranks = 4, .block_bytes = 1000, .tau_ns = MS, .beta_ps = MS};
    bench_forecast f;
    assert_int_equal(bench_forecast_make(&f, pat_algorithm_find(alg), &job), 0);
    return f;
}

static double told_ms(const bench_forecast *f, const bench_net *net, const int64_t *arrival_ns)
{
    return bench_forecast_walk(f, net, arrival_ns).elapsed_ns / MS;
}

static void test_forecast(void **state)
{
    (void)state;
    const int alone[] = {0, 1, 2, 3};
    const int64_t balanced[] = {0, 0, 0, 0};
    bench_net net = example_net(alone, 4, 1);
    bench_forecast ring = forecast_of("ring"), bdr = forecast_of("bdr"), native = forecast_of("native");
    assert_near(told_ms(&ring, &net, balanced), 3, 1e-6);
    assert_near(bench_forecast_walk(&ring, &net, balanced).past_last_ns / MS, 3, 1e-6);
    /* Above the bound; the paper's ring, which waits more, has 4.5. */
    assert_true(told_ms(&ring, &net, example) > 2.5 && told_ms(&ring, &net, example) <= 4.5 + 1e-6);
    /* The paper's worked example: BDR knows these arrivals and returns after 1, 4, 5 and 5. */
    assert_near(told_ms(&bdr, &net, example), 3.75, 1e-6);
    assert_near(bench_forecast_walk(&bdr, &net, example).past_last_ns / MS, 3, 1e-6);
    net.burst_bytes = 500; /* half a segment that costs no time */
    assert_near(told_ms(&ring, &net, balanced), 2.5, 1e-6);
    const int pairs[] = {0, 0, 1, 1};
    net = example_net(pairs, 2, 2);
    assert_true(isnan(told_ms(&ring, &net, balanced))); /* two ranks share a link */
    assert_true(isnan(told_ms(&native, &net, balanced)));
    bench_forecast_free(&ring);
    bench_forecast_free(&bdr);
    assert_true(isnan(told_ms(&ring, &net, balanced)));
}

static void test_row(void **state)
{
    (void)state;
    const int alone[] = {0, 1, 2, 3};
    const bench_net net = example_net(alone, 4, 1);
    bench_report reports[4] = {0};
    const int64_t exits[] = {3 * MS, 4 * MS, 5 * MS, 5 * MS};
    for (int r = 0; r < 4; r++) {
        reports[r] = (bench_report){.arrival_ns = example[r],
                                    .exit_ns = exits[r],
                                    .bytes_received = 3000,
                                    .bytes_early = r == 0 ? 3000 : 0,
                                    .thread_cpu_ns = 200000,
                                    .waiting_cpu_ns = r * MS,
                                    .slip_ns = 4000,
                                    .wrong_at = -1,
                                    .ran = r == 0 ? 1 : 2};
    }
    bench_sample samples[3] = {bench_sample_make(PAT_OP_ALLGATHER, reports, &net, 1000, NULL, NULL)};
    assert_near(samples[0].elapsed_ms, 3.75, 1e-9); /* 1, 4, 5, 5 */
    assert_near(samples[0].past_last_ms, 3, 1e-9);
    assert_near(samples[0].run_ms, 5, 1e-9);
    assert_near(samples[0].omega_ms, 2, 1e-9);
    assert_near(samples[0].bound_ms, 2.5, 1e-6);
    samples[1] = samples[0];
    samples[1].valid = false; /* began late: must not count */
    samples[1].elapsed_ms = 1000;
    samples[1].bytes_early = 1000000;
    samples[2] = samples[0];
    samples[2].elapsed_ms = 4.75;
    bench_row row = {.segment_bytes = 1000};
    assert_int_equal(bench_row_fill(&row, samples, 3, &net, 4.5), 0);
    assert_int_equal(row.iters, 2);
    assert_near(row.elapsed_ms, 4.25, 1e-9);
    assert_near(row.elapsed_ci_ms, 12.7062 * sqrt(0.5) / sqrt(2), 1e-3);
    assert_near(row.imbalance_factor, 2, 1e-6);
    assert_near(row.absorption_ms, 4.5 - 5 + 2, 1e-9);
    assert_near(row.early_share, 0.25, 1e-9);
    assert_near(row.thread_cpu_ms, 0.2, 1e-9);
    assert_near(row.waiting_cpu_ms, 1.5, 1e-9);
    assert_near(row.slip_ms, 0.004, 1e-9);
    assert_int_equal(row.num_iters, 3);
    assert_true(isnan(row.iter_elapsed_ms[1]));
    assert_near(row.iter_elapsed_ms[2], 4.75, 1e-9);
    assert_true(row.iter_ran[0] == pat_algorithm_at(1)); /* rank 0 says it */
    assert_null(row.iter_ran[1]);
    free(row.iter_elapsed_ms);
    free(row.iter_ran);

    /* Nothing valid: no figures rather than wrong ones. */
    samples[0].valid = samples[2].valid = false;
    row = (bench_row){.segment_bytes = 1000};
    assert_int_equal(bench_row_fill(&row, samples, 3, &net, 4.5), 0);
    assert_int_equal(row.iters, 0);
    assert_true(isnan(row.elapsed_ms));
    free(row.iter_elapsed_ms);
    free(row.iter_ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delays_differ_by_rank_and_iteration),
        cmocka_unit_test(test_delay_shapes),
        cmocka_unit_test(test_every_byte_is_checked),
        cmocka_unit_test(test_sums_are_exact),
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_paired),
        cmocka_unit_test(test_bound),
        cmocka_unit_test(test_bound_of_all_reduce),
        cmocka_unit_test(test_forecast),
        cmocka_unit_test(test_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * unit_guide_test.c — the tests of pat-guidelines: golden statistics and verdicts, Student's table, ties, unequal samples, Cliff's delta and Holm's correction.
 *
 * With --pairs it is the counterpart of tests/guide_scipy.py: reads "n1 n2 x... y..." a line, and prints what it makes of each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "guide_test.h"

#define SAMPLE(...)                                                                                          \
    (guide_sample)                                                                                           \
    {                                                                                                        \
        (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)                \
    }

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-6 * fmax(1, fabs(wanted))))
        fail_msg("%.12g where %.12g is right", got, wanted);
}

/* The statistics that are printed with a verdict, at 5000 samples each. */
static void golden_verdicts(void **state)
{
    static const struct {
        double z;
        bool violation;
    } golden[] = {{-13.18, true}, {-6.10, true}, {1.05, false}, {16.84, false}};
    (void)state;
    const double critical = guide_critical(9998);
    near(critical, 1.6448536);
    for (int i = 0; i < 4; i++)
        assert_true(guide_is_violation(golden[i].z, critical) == golden[i].violation);
    assert_false(guide_is_violation(-1.64, critical)); /* not significant */
    assert_false(guide_is_violation(NAN, critical));
}

static void critical_values_of_few(void **state)
{
    static const double table[] = {6.313752, 2.919986, 2.353363, 2.131847, 2.015048, 1.943180,
                                   1.894579, 1.859548, 1.833113, 1.812461, 1.795885, 1.782288,
                                   1.770933, 1.761310, 1.753050, 1.745884, 1.739607, 1.734064,
                                   1.729133, 1.724718, 1.720743, 1.717144, 1.713872, 1.710882};
    (void)state;
    for (int df = 1; df <= 24; df++)
        if (fabs(guide_critical(df) - table[df - 1]) > 1.01e-6)
            fail_msg("critical value for %d: %.7f where the table has %.6f", df, guide_critical(df),
                     table[df - 1]);
    near(guide_critical(25), 1.6448536); /* from here on the normal distribution's */
    assert_true(isnan(guide_critical(0)));
}

static void by_hand(void **state)
{
    const guide_sample left = SAMPLE(5, 6, 7, 8), right = SAMPLE(1, 2, 6);
    (void)state;
    near(guide_mean(left), 6.5);
    near(guide_median(left), 6.5); /* an even number */
    near(guide_median(right), 2);
    near(guide_variance(left), 5.0 / 3);
    /* Ranks of the right side: 1, 2 and 4.5 of 7. E = 3 * 8 / 2 = 12, sd = sqrt(4 * 3 * 8 / 12). */
    near(guide_test_rank_sum.statistic(left, right), (7.5 - 12) / sqrt(8));
    near(guide_test_mann_whitney.statistic(left, right), (7.5 - 12) / sqrt(8));
    /* sd with the tie: 12 / 12 * (8 - 6 / 42) */
    near(guide_rank_z(left, right, true), (7.5 - 12) / sqrt(8 - 6.0 / 42));
    /* Pairs: 12; 10 in which the right side is faster, one equal, one in which it is slower. */
    near(guide_cliffs_delta(left, right), 9.0 / 12);
    /* 5 squares on the left, 14 on the right, 5 degrees. */
    near(guide_test_t.statistic(left, right), sqrt(12.0 / 7) * (3 - 6.5) / sqrt(19.0 / 5));
    assert_int_equal(guide_test_t.freedom(left, right), 5);
    assert_int_equal(guide_test_mann_whitney.freedom(left, right), 3);
}

/* n1 != n2: the expectation is that of the mock-up's ranks, so that samples that are alike have 0. */
static void unequal_samples_of_the_same(void **state)
{
    const guide_sample few = SAMPLE(1, 2, 3), many = SAMPLE(1, 1.5, 2, 2, 2.5, 3);
    (void)state;
    for (int i = 0; i < 3; i++) {
        near(guide_test_number(i)->statistic(few, many), 0);
        near(guide_test_number(i)->statistic(many, few), 0);
        near(guide_test_number(i)->p(few, many), 0.5);
    }
    assert_null(guide_test_number(1000));
    assert_null(guide_test_number(-1));
}

static void degenerate_samples(void **state)
{
    const guide_sample one = SAMPLE(1), two = SAMPLE(2), equal = SAMPLE(1, 1, 1);
    (void)state;
    assert_true(isnan(guide_test_t.statistic(one, two)));
    near(guide_test_t.statistic(equal, equal), 0);
    assert_true(guide_is_violation(guide_test_t.statistic(SAMPLE(2, 2), equal), guide_critical(3)));
    near(guide_rank_z(equal, equal, true), 0);
    near(guide_test_rank_sum.statistic(equal, equal), 0);
}

static void holm(void **state)
{
    double p[] = {0.01, NAN, 0.04, 0.03, 0.005};
    (void)state;
    guide_holm(p, 5);
    near(p[4], 0.02); /* 4 * 0.005 */
    near(p[0], 0.03); /* 3 * 0.01 */
    near(p[3], 0.06); /* 2 * 0.03 */
    near(p[2], 0.06); /* not below the one before */
    assert_true(isnan(p[1]));
    guide_holm(p, 0);
}

static int judge_pairs(void)
{
    double x[2][64];
    for (int n[2]; scanf("%d %d", &n[0], &n[1]) == 2;) {
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < n[s]; i++)
                if (n[s] > 64 || scanf("%lf", &x[s][i]) != 1)
                    return 1;
        const guide_sample a = {x[0], n[0]}, b = {x[1], n[1]};
        printf("%.12g %.12g %.12g %.12g %.12g %.12g %.12g %.12g %.12g %.12g\n", guide_mean(a),
               guide_median(a), guide_variance(a), guide_test_t.statistic(a, b), guide_test_t.p(a, b),
               guide_test_rank_sum.statistic(a, b), guide_test_mann_whitney.statistic(a, b),
               guide_rank_z(a, b, true), guide_test_mann_whitney.p(a, b), guide_cliffs_delta(a, b));
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_verdicts),
        cmocka_unit_test(critical_values_of_few),
        cmocka_unit_test(by_hand),
        cmocka_unit_test(unequal_samples_of_the_same),
        cmocka_unit_test(degenerate_samples),
        cmocka_unit_test(holm),
    };
    if (argc == 2 && strcmp(argv[1], "--pairs") == 0)
        return judge_pairs();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

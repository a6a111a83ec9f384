/*
 * unit_milestone.c — a phase's milestones give the arrival that follows from them, whatever the application
 * says.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "milestone.h"

#define MS INT64_C(1000000)

static void test_extrapolation(void **state)
{
    (void)state;
    pat_milestone m = {0};
    pat_milestone_start(&m, 1000 * MS);
    assert_true(m.running);
    assert_false(m.have_estimate);
    assert_int_equal(pat_milestone_edge(&m, 50, 1060 * MS), PAT_MILESTONE_OK);
    assert_true(m.have_estimate);
    assert_int_equal(m.estimate_ns, 1120 * MS);
    assert_true(m.percent == 50.0);
    /* It went slower than expected: the later milestone counts. */
    assert_int_equal(pat_milestone_edge(&m, 75, 1120 * MS), PAT_MILESTONE_OK);
    assert_int_equal(m.estimate_ns, 1160 * MS);
    assert_int_equal(pat_milestone_end(&m, 1161 * MS), PAT_MILESTONE_OK);
    assert_false(m.running);
}

/* A phase whose first quarter took 30 ms, and one like it before. */
static void test_next(void **state)
{
    (void)state;
    pat_milestone m = {0};
    pat_milestone_start(&m, 1000 * MS);
    assert_int_equal(pat_milestone_edge(&m, 25, 1030 * MS), PAT_MILESTONE_OK);
    assert_int_equal(pat_milestone_next_ns(&m), INT64_MAX); /* nothing is known of such phases */
    assert_int_equal(pat_milestone_edge(&m, 75, 1090 * MS), PAT_MILESTONE_OK);
    pat_milestone_start(&m, 2000 * MS);
    assert_int_equal(pat_milestone_edge(&m, 25, 2030 * MS), PAT_MILESTONE_OK);
    assert_int_equal(pat_milestone_next_ns(&m), 2090 * MS);
    assert_int_equal(pat_milestone_edge(&m, 80, 2120 * MS), PAT_MILESTONE_OK);
    assert_int_equal(pat_milestone_next_ns(&m), INT64_MAX);
    pat_milestone_start(&m, 3000 * MS); /* as many as are remembered, and more */
    for (int i = 1; i < 90; i++)
        assert_int_equal(pat_milestone_edge(&m, i, (3000 + i) * MS), PAT_MILESTONE_OK);
    pat_milestone_start(&m, 4000 * MS);
    assert_int_equal(pat_milestone_edge(&m, 2, 4002 * MS), PAT_MILESTONE_OK);
    assert_int_equal(pat_milestone_next_ns(&m), 4003 * MS);
    assert_int_equal(pat_milestone_edge(&m, 60, 4060 * MS), PAT_MILESTONE_OK);
    assert_int_equal(pat_milestone_next_ns(&m), INT64_MAX);
}

static void test_order(void **state)
{
    (void)state;
    pat_milestone m = {0};
    assert_int_equal(pat_milestone_edge(&m, 50, 10), PAT_MILESTONE_NO_START);
    assert_int_equal(pat_milestone_end(&m, 10), PAT_MILESTONE_NO_START);
    pat_milestone_start(&m, 10);
    assert_int_equal(pat_milestone_edge(&m, 50, 20), PAT_MILESTONE_OK);
    assert_int_equal(pat_milestone_edge(&m, 50, 30), PAT_MILESTONE_NOT_INCREASING);
    assert_int_equal(pat_milestone_edge(&m, 49.9, 30), PAT_MILESTONE_NOT_INCREASING);
    assert_int_equal(m.estimate_ns, 30); /* refused ones change nothing */
    assert_true(m.percent == 50.0);
    assert_int_equal(pat_milestone_end(&m, 40), PAT_MILESTONE_OK);
    assert_int_equal(pat_milestone_end(&m, 40), PAT_MILESTONE_NO_START);
    assert_int_equal(pat_milestone_edge(&m, 60, 40), PAT_MILESTONE_NO_START);
}

static void test_start_anew(void **state)
{
    (void)state;
    pat_milestone m = {0};
    pat_milestone_start(&m, 0);
    assert_int_equal(pat_milestone_edge(&m, 80, 800), PAT_MILESTONE_OK);
    pat_milestone_start(&m, 1000);
    assert_false(m.have_estimate);
    assert_int_equal(pat_milestone_edge(&m, 20, 1100), PAT_MILESTONE_OK); /* below the last phase's */
    assert_int_equal(m.estimate_ns, 1500);
}

static void test_range(void **state)
{
    (void)state;
    static const double wrong[] = {0, -0.0, -1, 100, 100.0001, 1e300, -1e300, NAN, INFINITY, -INFINITY};
    pat_milestone m = {0};
    pat_milestone_start(&m, 0);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(pat_milestone_edge(&m, wrong[i], 10), PAT_MILESTONE_RANGE);
        assert_false(m.have_estimate);
    }
    assert_int_equal(pat_milestone_edge(&m, nextafter(100, 0), 10), PAT_MILESTONE_OK);
    assert_int_equal(m.estimate_ns, 10);
}

/* Never before now, never beyond what can still be added to, exact where doubles are not. */
static void test_extremes(void **state)
{
    (void)state;
    static const int64_t times[] = {INT64_MIN,     -5,       0, 1, 12345, 1000000007, INT64_MAX / 2 - 1,
                                    INT64_MAX / 2, INT64_MAX};
    static const double percents[] = {DBL_TRUE_MIN, DBL_MIN, 1e-9, 1, 33.3, 50, 99.999999};
    const size_t n = sizeof(times) / sizeof(times[0]);
    for (size_t s = 0; s < n; s++)
        for (size_t t = 0; t < n; t++)
            for (size_t p = 0; p < sizeof(percents) / sizeof(percents[0]); p++) {
                pat_milestone m = {0};
                pat_milestone_start(&m, times[s]);
                assert_int_equal(pat_milestone_edge(&m, percents[p], times[t]), PAT_MILESTONE_OK);
                int64_t latest = times[t] > times[s] ? times[t] : times[s];
                assert_true(m.estimate_ns >= latest);
                assert_true(m.estimate_ns <= INT64_MAX / 2 || m.estimate_ns == latest);
            }
    pat_milestone m = {0};
    pat_milestone_start(&m, 100);
    assert_int_equal(pat_milestone_edge(&m, 10, 40),
                     PAT_MILESTONE_OK); /* the clock went back: nothing has elapsed */
    assert_int_equal(m.estimate_ns, 100);

    const int64_t year = INT64_C(31536000) * 1000 * MS; /* of uptime */
    pat_milestone_start(&m, 10 * year + 1);
    assert_int_equal(pat_milestone_edge(&m, 50, 10 * year + 4), PAT_MILESTONE_OK);
    assert_int_equal(m.estimate_ns, 10 * year + 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extrapolation), cmocka_unit_test(test_next),  cmocka_unit_test(test_order),
        cmocka_unit_test(test_start_anew),    cmocka_unit_test(test_range), cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

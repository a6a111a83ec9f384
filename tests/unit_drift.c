/*
 * unit_drift.c — the line through samples of a clock's offset: the truth is within its bound, whatever the clock does that it may do, and
 * the bound is not a loose one; and when ranks sample and look.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "drift.h"

#define US  INT64_C(1000)
#define MS  INT64_C(1000000)
#define SEC INT64_C(1000000000)

static const int64_t begin = 123456 * SEC + 789, offset = -5432 * SEC + 1;

static uint32_t seed;

/* Below `most`. */
static int64_t some(int64_t most)
{
    seed = seed * 1664525u + 1013904223u;
    return (int64_t)(seed >> 8) % most;
}

/* A clock whose rate is first_ppm, and then_ppm from change_ns after the beginning. */
typedef struct made_clock {
    double first_ppm, then_ppm;
    int64_t change_ns;
} made_clock;

static int64_t truth(const made_clock *c, int64_t local_ns)
{
    const int64_t since = local_ns - begin, before = since < c->change_ns ? since : c->change_ns;
    return offset +
           (int64_t)(1e-6 * (c->first_ppm * (double)before + c->then_ppm * (double)(since - before)));
}

/* A sample that is wrong by no more than it says. */
static pat_drift_sample measure(const made_clock *c, int64_t local_ns, bool good)
{
    const int64_t error_ns = good ? 3 * US + some(4 * US) : 100 * US + some(3 * MS);
    return (pat_drift_sample){local_ns, truth(c, local_ns) - error_ns + some(2 * error_ns + 1), error_ns};
}

/* 1 ns: both are rounded. */
static int within(const made_clock *c, const pat_line *line, int64_t local_ns)
{
    const int64_t wrong = pat_line_offset_ns(line, local_ns) - truth(c, local_ns);
    return llabs(wrong) <= pat_line_error_ns(line, local_ns) + 1;
}

static void truth_is_within_the_bound(void **state)
{
    static const double rates[] = {0, 1, -3.7, 50, -99};
    (void)state;
    for (int turn = 0; turn < 2000; turn++) {
        const made_clock clock = {.first_ppm = rates[turn % 5], .change_ns = INT64_MAX};
        pat_drift drift = {.num = 0};
        pat_line line;
        int64_t at = begin;
        for (int i = 0; i < 20; i++) {
            const pat_drift_sample s = measure(&clock, at, some(8) > 0);
            const bool agreed = pat_drift_add(&drift, &s, &line);
            assert_true(agreed);
            const int64_t interval = pat_drift_interval_ns(i + 1);
            for (int64_t t = at; t <= at + interval + SEC; t += interval / 4)
                assert_true(within(&clock, &line, t));
            at += interval;
        }
        assert_true(line.rate_error < 2e-6);
    }
}

static void good_samples_give_a_narrow_bound(void **state)
{
    (void)state;
    const made_clock clock = {.first_ppm = 42, .change_ns = INT64_MAX};
    pat_drift drift = {.num = 0};
    pat_line line;
    for (int i = 0; i < 3; i++) {
        const int64_t at = begin + i * 10 * SEC;
        pat_drift_add(&drift, &(pat_drift_sample){at, truth(&clock, at), 2 * US}, &line);
        assert_true(i > 0 || (line.rate == 0 && pat_line_error_ns(&line, at + SEC) > 100 * US));
    }
    assert_true(fabs(line.rate - 42e-6) < 1e-9);
    assert_true(pat_line_error_ns(&line, begin + 20 * SEC) == 2 * US);
    assert_in_range(pat_line_error_ns(&line, begin + 30 * SEC), 7 * US, 20 * US);
}

/* What is assumed before there are two samples gives way to them. */
static void a_clock_worse_than_any(void **state)
{
    (void)state;
    const made_clock clock = {.first_ppm = 700, .change_ns = INT64_MAX};
    pat_drift drift = {.num = 0};
    pat_line line;
    for (int i = 0; i < 12; i++) {
        const int64_t at = begin + i * SEC;
        const pat_drift_sample s = measure(&clock, at, true);
        assert_true(pat_drift_add(&drift, &s, &line));
        assert_true(i == 0 || within(&clock, &line, at + SEC));
    }
    assert_true(fabs(line.rate - 700e-6) < 10e-6);
}

static void a_rate_that_changes(void **state)
{
    (void)state;
    for (int turn = 0; turn < 500; turn++) {
        const made_clock clock = {.first_ppm = 10, .then_ppm = turn % 2 ? 40 : -20, .change_ns = 33 * SEC};
        pat_drift drift = {.num = 0};
        pat_line line;
        int disagreed = 0;
        for (int i = 0; i < 24; i++) {
            const int64_t at = begin + 5 * i * SEC;
            const pat_drift_sample s = measure(&clock, at, true);
            disagreed += !pat_drift_add(&drift, &s, &line);
            assert_true(within(&clock, &line, at));
            /* Not where it has changed and no sample has shown it yet. */
            if (i <= 5 || disagreed > 0)
                assert_true(within(&clock, &line, at + 3 * SEC));
        }
        assert_true(disagreed > 0);
    }
}

/* Nothing is divided by the time between samples of one moment. */
static void samples_of_one_moment(void **state)
{
    (void)state;
    pat_drift drift = {.num = 0};
    pat_line line;
    for (int i = 0; i < 20; i++)
        assert_true(pat_drift_add(&drift, &(pat_drift_sample){begin, offset, 10 - i / 2}, &line));
    assert_int_equal(line.error_ns, 1);
    assert_true(line.rate == 0);
}

static void local_and_common(void **state)
{
    (void)state;
    const pat_line line = {.ref_ns = begin, .offset_ns = offset, .rate = 73e-6};
    for (int64_t t = begin - 100 * SEC; t < begin + 100 * SEC; t += 7 * SEC) {
        const int64_t common = t + pat_line_offset_ns(&line, t);
        assert_in_range(pat_line_local_ns(&line, common) - t + 2, 0, 4);
    }
}

static void intervals(void **state)
{
    (void)state;
    static const int seconds[] = {1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 32};
    for (int i = 0; i < 13; i++)
        assert_int_equal(pat_drift_interval_ns(i + 1), seconds[i] * SEC);
    assert_int_equal(pat_drift_interval_ns(INT64_MAX), 32 * SEC);
}

static void looks(void **state)
{
    (void)state;
    const int64_t met = 1600 * SEC, since = met + 3 * SEC;
    assert_int_equal(pat_drift_look_ns(since, since), since + 100 * US);
    assert_int_equal(pat_drift_look_ns(since + 4 * MS, since), since + 5 * MS);
    assert_int_equal(pat_drift_look_ns(since + 400 * MS, since), since + 450 * MS);
    /* The other rank does not come: both look at the same moments, and then for as long again. */
    assert_int_equal(pat_drift_look_ns(since + SEC, since), met + 16 * SEC);
    assert_int_equal(pat_drift_look_ns(met + 16 * SEC, since), met + 16 * SEC + 100 * US);
    assert_int_equal(pat_drift_look_ns(met + 17 * SEC, since), met + 32 * SEC);
    int looked = 0;
    for (int64_t at = since; at < met + 16 * SEC; at = pat_drift_look_ns(at, since))
        looked++;
    assert_in_range(looked, 40, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_is_within_the_bound),
        cmocka_unit_test(good_samples_give_a_narrow_bound),
        cmocka_unit_test(a_clock_worse_than_any),
        cmocka_unit_test(a_rate_that_changes),
        cmocka_unit_test(samples_of_one_moment),
        cmocka_unit_test(local_and_common),
        cmocka_unit_test(intervals),
        cmocka_unit_test(looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

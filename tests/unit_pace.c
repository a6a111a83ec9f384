/*
 * unit_pace.c — when the background thread, or a caller that waits, looks again: every row of the table in docs/epochs.md,
 * "When the background thread works", and the rules below it. The figures here are those of that page.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pace.h"

#define US INT64_C(1000)
#define MS INT64_C(1000000)

/* Some time of day, and one that is neither in the past nor in the future of anything. */
static const int64_t now = 777 * MS + 7;

/* interval(quiet) is this part of quiet, but at least and at most so long. */
static void is_part(int64_t (*interval)(int64_t quiet_ns), int64_t part, int64_t least_ns, int64_t most_ns)
{
    assert_int_equal(interval(-1), least_ns);
    assert_int_equal(interval(0), least_ns);
    assert_int_equal(interval(part * least_ns), least_ns);
    assert_int_equal(interval(part * (least_ns + 1)), least_ns + 1);
    assert_int_equal(interval(part * (least_ns + 1) - 1), least_ns);
    assert_int_equal(interval(part * (least_ns + most_ns) / 2), (least_ns + most_ns) / 2);
    assert_int_equal(interval(part * most_ns - 1), most_ns - 1);
    assert_int_equal(interval(part * most_ns), most_ns);
    assert_int_equal(interval(part * (most_ns + 1)), most_ns);
    assert_int_equal(interval(part * 1000 * most_ns), most_ns);
}

static int64_t estimates(int64_t quiet_ns)
{
    return pat_pace_estimates(now, now - quiet_ns) - now;
}

static void the_other_ranks_estimates(void **state)
{
    (void)state;
    is_part(estimates, 4, 300 * US, 4 * MS);
}

/* What is left before the first rank calls, so that all have heard by then. */
static int64_t told_before(int64_t left_ns)
{
    return now + left_ns - pat_pace_tell(now, now + left_ns, 0);
}

static void by_when_an_estimate_is_told(void **state)
{
    (void)state;
    assert_int_equal(told_before(4000 * MS), 1000 * MS);
    assert_int_equal(told_before(100 * MS), 25 * MS);
    assert_int_equal(told_before(3 * MS), 1 * MS);
    assert_int_equal(pat_pace_tell(now, now + 100 * MS, 5 * MS), now + 70 * MS);
    assert_int_equal(pat_pace_tell(now, now + 100 * MS, 90 * MS),
                     now + 50 * MS);                            /* however slow the network is said to be */
    assert_int_equal(pat_pace_tell(now, now + 1 * MS, 0), now); /* too late for more than that */
    assert_int_equal(pat_pace_tell(now, now - 70 * MS, 0), now);
}

/* Until now, a first look at early data has found nothing: when is the second? */
static int64_t first_interval(bool predicted, int64_t tau_ns)
{
    pat_pace_early early = pat_pace_early_none(predicted, now - tau_ns);
    int64_t poll_ns = 0;
    pat_pace_early_expect(&early, now - tau_ns, tau_ns);
    return pat_pace_early_look(&early, now, &poll_ns) - now;
}

static int64_t first_predicted(int64_t tau_ns)
{
    return first_interval(true, tau_ns);
}

static int64_t first_not_predicted(int64_t tau_ns)
{
    return first_interval(false, tau_ns);
}

static void early_data_with_estimates(void **state)
{
    int64_t poll_ns = 5 * MS;
    (void)state;
    for (int predicted = 0; predicted < 2; predicted++) {
        /* 15/16 of the message's time after the later of the two: the sender's arrival and what came in last. */
        pat_pace_early early = pat_pace_early_none(predicted, now - 20);
        pat_pace_early_expect(&early, now + 1000, 1600);
        assert_int_equal(pat_pace_early_look(&early, now, &poll_ns), now + 1000 + 1500);
        assert_int_equal(poll_ns, 0); /* intervals begin anew when it can be here */
        early = pat_pace_early_none(predicted, now - 20);
        pat_pace_early_expect(&early, now - 1000, 1600);
        assert_int_equal(pat_pace_early_look(&early, now, &poll_ns), now - 20 + 1500);

        /* Of several messages the first counts, in any order, and its time is the one that intervals follow. */
        for (int order = 0; order < 2; order++) {
            early = pat_pace_early_none(predicted, now - 20 * MS);
            pat_pace_early_expect(&early, now - (order ? 10 : 15) * MS, order ? 16 * MS : 8 * MS);
            pat_pace_early_expect(&early, now - (order ? 15 : 10) * MS, order ? 8 * MS : 16 * MS);
            assert_int_equal(pat_pace_early_look(&early, now - 8 * MS, &poll_ns), now - 7500 * US);
            assert_int_equal(poll_ns, 0);
            assert_int_equal(pat_pace_early_look(&early, now - 7500 * US, &poll_ns), now - 7 * MS);
            assert_int_equal(poll_ns, 500 * US);
            poll_ns = 5 * MS;
        }

        /* A prediction is not trusted for longer than 10 ms. */
        early = pat_pace_early_none(predicted, 0);
        pat_pace_early_expect(&early, now + 10 * MS - 1500 - 1, 1600);
        assert_int_equal(pat_pace_early_look(&early, now, &poll_ns), now + 10 * MS - 1);
        early = pat_pace_early_none(predicted, 0);
        pat_pace_early_expect(&early, now + 1000 * MS, 1600);
        assert_int_equal(pat_pace_early_look(&early, now, &poll_ns), now + 10 * MS);
    }
}

/* While nothing moves an interval is an eighth longer than the one before, up to the longest. */
static void grows(bool predicted, int64_t tau_ns, int64_t first_ns, int64_t most_ns)
{
    pat_pace_early early = pat_pace_early_none(predicted, now - tau_ns);
    int64_t poll_ns = 0, expected_ns = first_ns;
    pat_pace_early_expect(&early, now - tau_ns, tau_ns);
    for (int look = 0; look < 100; look++) {
        assert_int_equal(pat_pace_early_look(&early, now, &poll_ns), now + expected_ns);
        assert_int_equal(poll_ns, expected_ns);
        expected_ns += expected_ns / 8;
        expected_ns = expected_ns < most_ns ? expected_ns : most_ns;
    }
    assert_int_equal(poll_ns, most_ns);
}

static void early_data_from_then_on(void **state)
{
    (void)state;
    is_part(first_predicted, 16, 100 * US, 1 * MS);
    grows(true, 3, 100 * US, 4 * MS);
    grows(true, 8 * MS, 500 * US, 4 * MS);
    grows(true, 160 * MS, 1 * MS, 4 * MS);
}

static void early_data_that_nobody_has_predicted(void **state)
{
    (void)state;
    is_part(first_not_predicted, 16, 100 * US, 1 * MS);
    grows(false, 3, 100 * US, 10 * MS);
    grows(false, 8 * MS, 500 * US, 10 * MS);
    grows(false, 160 * MS, 1 * MS, 10 * MS);

    /* No receive of a message is posted: the shortest intervals, growing. */
    pat_pace_early early = pat_pace_early_none(false, now);
    int64_t poll_ns = 0;
    assert_int_equal(pat_pace_early_look(&early, now, &poll_ns), now + 100 * US);
    assert_int_equal(pat_pace_early_look(&early, now, &poll_ns), now + 112500);
}

static void a_persistent_request(void **state)
{
    (void)state;
    assert_int_equal(pat_pace_started(now, false), now + 500 * US);
    assert_true(pat_pace_is_in_mpi(now, now - 499 * US, false));
    assert_false(pat_pace_is_in_mpi(now, now - 500 * US, false));
    assert_true(pat_pace_is_in_mpi(now, now - 3999 * US, true));
    assert_false(pat_pace_is_in_mpi(now, now - 4 * MS, true));
    assert_int_equal(pat_pace_in_mpi(now, now), now + 500 * US);
    assert_int_equal(pat_pace_in_mpi(now, now - 4 * MS), now + 2 * MS);
    assert_int_equal(pat_pace_in_mpi(now, now - 99 * MS), now + 4 * MS);
    assert_int_equal(pat_pace_call_started_ns(false), 100 * US);
    assert_int_equal(pat_pace_call_started_ns(true), 1 * MS);
    assert_int_equal(pat_pace_call_settled_ns(), 2 * MS);
    assert_true(pat_pace_waits_in_mpi(now, now - 99 * US));
    assert_false(pat_pace_waits_in_mpi(now, now - 100 * US));
    assert_int_equal(pat_pace_started(now, true), now + 2 * MS); /* where sockets announce messages */
    assert_int_equal(pat_pace_open(now, false), now + 200 * MS);
    assert_int_equal(pat_pace_open(now, true), now + 20 * MS); /* after PAT_Wait */
}

static int64_t measured(int64_t quiet_ns)
{
    return pat_pace_measured(now, now - quiet_ns) - now;
}

static void what_ranks_tell_of_a_measured_call(void **state)
{
    (void)state;
    is_part(measured, 4, 300 * US, 10 * MS);
}

static int64_t credits(int64_t quiet_ns)
{
    return pat_pace_credits(now, now - quiet_ns, true, quiet_ns % 2) - now;
}

static void credits_to_pass_on(void **state)
{
    (void)state;
    is_part(credits, 4, 500 * US, 10 * MS);
    for (int64_t quiet_ns = 0; quiet_ns < 100 * MS; quiet_ns += 7 * MS) {
        assert_int_equal(pat_pace_credits(now, now - quiet_ns, false, true), now + 4 * MS);
        assert_int_equal(pat_pace_credits(now, now - quiet_ns, false, false), INT64_MAX); /* when woken */
    }
}

static int64_t spare(int64_t quiet_ns)
{
    return pat_pace_early_spare(now, now - quiet_ns) - now;
}

static void early_data_where_sockets_announce_it(void **state)
{
    (void)state;
    is_part(spare, 2, 10 * MS, 50 * MS);
}

/* What is so in this process brings a look forward, and never puts it off. */
static void sooner(void **state)
{
    static const int64_t times[] = {-1, 0, 1, 200 * US - 1, 200 * US, MS - 1, MS, MS + 1, 50 * MS};
    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        for (int bits = 0; bits < 8; bits++) {
            const pat_pace_facts facts = {.came = bits & 1, .sending = bits & 2, .calling = bits & 4};
            const int64_t latest_ns = bits & 1 ? 200 * US : bits ? MS : times[i];
            assert_int_equal(pat_pace_come_again(&facts, now, now + times[i]),
                             now + (times[i] < latest_ns ? times[i] : latest_ns));
        }
    assert_int_equal(pat_pace_come_again(&(pat_pace_facts){false, false, false}, now, INT64_MAX), INT64_MAX);
    assert_int_equal(pat_pace_soon(now), now + 200 * US);
}

/* What MPI took in last shows only at one of the next looks. */
static void looks_that_follow_at_once(void **state)
{
    (void)state;
    for (int idle = 0; idle < 8; idle++)
        for (int looks = 2; looks <= 4; looks++)
            assert_int_equal(pat_pace_at_once(idle, looks), idle < looks);
}

static int64_t nap_announced(int64_t quiet_ns)
{
    return pat_pace_nap_ns(true, quiet_ns);
}

/* Not before 50 us, as the next test has it. */
static int64_t nap(int64_t quiet_ns)
{
    return pat_pace_nap_ns(false, quiet_ns < 50 * US ? 50 * US : quiet_ns);
}

static void a_callers_naps(void **state)
{
    (void)state;
    is_part(nap_announced, 4, 100 * US, 1 * MS);
    is_part(nap, 20, 50 * US, 1 * MS);
    assert_int_equal(pat_pace_nap_ns(false, 0), 0); /* it only lets others run */
    assert_int_equal(pat_pace_nap_ns(false, 50 * US - 1), 0);
    assert_int_equal(pat_pace_nap_ns(false, 50 * US), 50 * US);
}

static void a_caller_stays_awake(void **state)
{
    (void)state;
    /* In a round of less than 5 ms, until nothing has moved for four blocks' times. */
    assert_true(pat_pace_stays_awake(true, 6, MS - 1, 0));
    assert_false(pat_pace_stays_awake(true, 6, MS, 0));
    assert_true(pat_pace_stays_awake(true, 2, 5 * MS - 1, 0));
    assert_false(pat_pace_stays_awake(true, 2, 5 * MS, 0));
    assert_true(pat_pace_stays_awake(true, 6, 100 * US, 400 * US - 1));
    assert_false(pat_pace_stays_awake(true, 6, 100 * US, 400 * US));
    assert_false(pat_pace_stays_awake(true, 6, 0, 0)); /* nothing is known of the blocks */
    /* Where ranks are not taken to come together it sleeps. */
    assert_false(pat_pace_stays_awake(false, 6, 100 * US, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_other_ranks_estimates),
        cmocka_unit_test(by_when_an_estimate_is_told),
        cmocka_unit_test(early_data_with_estimates),
        cmocka_unit_test(early_data_from_then_on),
        cmocka_unit_test(early_data_that_nobody_has_predicted),
        cmocka_unit_test(a_persistent_request),
        cmocka_unit_test(what_ranks_tell_of_a_measured_call),
        cmocka_unit_test(credits_to_pass_on),
        cmocka_unit_test(early_data_where_sockets_announce_it),
        cmocka_unit_test(sooner),
        cmocka_unit_test(looks_that_follow_at_once),
        cmocka_unit_test(a_callers_naps),
        cmocka_unit_test(a_caller_stays_awake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

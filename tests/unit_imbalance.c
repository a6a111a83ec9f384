/*
 * unit_imbalance.c — a log made by hand, and what the study of arrivals says of it: imbalance times and factors, balanced calls, calls right after another, patterns
 * that stay; and the time of a message between the sizes that were measured.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "imbalance.h"
#include "one_way.h"

/* Four ranks; T = 10. */
static const struct {
    double came[4];
    double after_ns;
} log_by_hand[] = {
    {{0, 0, 0, 20}, 100}, /* mean 5, deviations 5 5 5 15: average 7.5, worst 20, WIF 2 */
    {{0, 0, 0, 40}, 100}, /* average 15, worst 40, WIF 4 */
    {{0, 4, 2, 2},
     5}, /* mean 2, deviations 2 2 0 0: average 1, worst 4, WIF 0.4; right after the one before */
    {{0, 320, 320, 320},
     8} /* mean 240, deviations 240 80 80 80: average 120, worst 320, WIF 32; right after, and not balanced */
};

enum { CALLS = sizeof(log_by_hand) / sizeof(log_by_hand[0]) };

/* What a rank adds. */
static pat_imbalance seen_by(int rank)
{
    pat_imbalance sums = {0};
    double before = 0;
    for (int k = 0; k < CALLS; k++) {
        const double *a = log_by_hand[k].came, mean = (a[0] + a[1] + a[2] + a[3]) / 4;
        double average = 0, most = a[0], least = a[0];
        for (int r = 0; r < 4; r++) {
            average += (a[r] > mean ? a[r] - mean : mean - a[r]) / 4;
            most = a[r] > most ? a[r] : most;
            least = a[r] < least ? a[r] : least;
        }
        pat_imbalance_add(&sums, &(pat_coming){average, most - least, 10, log_by_hand[k].after_ns,
                                               a[rank] - mean, before, k > 0});
        before = a[rank] - mean;
    }
    return sums;
}

static void near(double got, double wanted)
{
    const double apart = got > wanted ? got - wanted : wanted - got;
    if (apart > 1e-9 * (wanted > 1 ? wanted : 1))
        fail_msg("%.12g where %.12g is right", got, wanted);
}

static void figures_of_a_log(void **state)
{
    (void)state;
    const pat_imbalance sums = seen_by(3);
    assert_int_equal(sums.calls, 4);
    near(sums.average_ns, 7.5 + 15 + 1 + 120);
    near(sums.worst_ns, 20 + 40 + 4 + 320);
    near(sums.aif, 0.75 + 1.5 + 0.1 + 12);
    near(sums.wif, 2 + 4 + 0.4 + 32);
    const int64_t wanted[PAT_IMBALANCE_CLASSES] = {1, 0, 2, 0, 1}; /* a bound belongs to what is above it */
    for (int i = 0; i < PAT_IMBALANCE_CLASSES; i++)
        assert_int_equal(sums.classes[i], wanted[i]);
    assert_int_equal(sums.after, 2);
    assert_int_equal(sums.after_balanced, 1);
}

static void patterns_that_stay(void **state)
{
    (void)state;
    pat_imbalance all = {0}, other = {0}, none = {0};
    for (int k = 0; k < 10; k++) {
        pat_imbalance_add(&all, &(pat_coming){.own_ns = 7, .before_ns = 7, .has_before = k > 0});
        pat_imbalance_add(
            &other,
            &(pat_coming){.own_ns = k % 2 ? -3 : 3, .before_ns = k % 2 ? 3 : -3, .has_before = k > 0});
        pat_imbalance_add(&none, &(pat_coming){.has_before = k > 0});
    }
    near(pat_imbalance_alike(&all), 1);
    near(pat_imbalance_alike(&other), -1);
    near(pat_imbalance_alike(&none), 0);
    assert_int_equal(all.classes[0], 0); /* T is not known */
}

static void ranks_are_joined(void **state)
{
    (void)state;
    pat_imbalance sum = {0};
    for (int r = 0; r < 4; r++) {
        const pat_imbalance one = seen_by(r);
        pat_imbalance_join(&sum, &one);
    }
    assert_int_equal(sum.calls, 16);
    near(sum.wif / (double)sum.calls, (2 + 4 + 0.4 + 32) / 4);
    near(sum.aif / (double)sum.calls, (0.75 + 1.5 + 0.1 + 12) / 4);
    assert_int_equal(sum.classes[0], 4);
    assert_int_equal(sum.after_balanced, 4);
    /* Deviations, call by call: -5 -5 -5 15 | -10 -10 -10 30 | -2 2 0 0 | -240 80 80 80. */
    const double products = (3 * 50 + 450) + (20 - 20) + (480 + 160);
    const double squares = ((300 + 1200) + (1200 + 8) + (8 + 57600 + 3 * 6400)) / 2.0;
    near(pat_imbalance_alike(&sum), products / squares);
}

static void messages_between_sizes(void **state)
{
    (void)state;
    const pat_one_way none = {0}, one = {1, {4}, {50}}, some = {3, {4, 1024, 4096}, {50, 100, 400}};
    near(pat_one_way_ns(&none, 100), 0);
    near(pat_one_way_ns(&one, 0), 50);
    near(pat_one_way_ns(&one, 1e6), 50);
    near(pat_one_way_ns(&some, 0), 50);
    near(pat_one_way_ns(&some, 4), 50);
    near(pat_one_way_ns(&some, 514), 75);
    near(pat_one_way_ns(&some, 1024), 100);
    near(pat_one_way_ns(&some, 2560), 250);
    near(pat_one_way_ns(&some, 4096), 400);
    near(pat_one_way_ns(&some, 7168), 700); /* on along the last line */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_a_log), cmocka_unit_test(patterns_that_stay),
        cmocka_unit_test(ranks_are_joined), cmocka_unit_test(messages_between_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

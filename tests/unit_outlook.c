/*
 * unit_outlook.c — what a call is expected to take, from arrivals and a calibration: the MPI library's all-gather begins with
 * the last rank, relay is never later than it would be if it did too, and neither knows what was not measured.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "outlook.h"

static int index_of(const char *name)
{
    return (int)(pat_algorithm_find(name) - pat_algorithm_at(0));
}

/* Of blocks of 90000 bytes. */
static pat_contest contest_of(const pat_calibration *c, int ranks, bool announced)
{
    pat_contest contest = {.ranks = ranks};
    pat_contest_make(&contest, c, PAT_OP_ALLGATHER, 90000, announced);
    return contest;
}

/* relay: a block takes 10 us and a ns a byte; the MPI library's own: 300 us. */
static pat_calibration some(void)
{
    pat_calibration c = {.ranks = 4, .num_points = 1};
    c.fits[index_of("relay")] = (pat_fit){.known = true, .alpha_us = 10, .beta_ns = 1, .rank = 2};
    c.points[0] = (pat_point){index_of("native"), 4, 90000, 300};
    return c;
}

static void near(double expected, double got)
{
    if (!(fabs(expected - got) < 1e-6 * expected + 1e-6))
        fail_msg("expected %g, got %g", expected, got);
}

static void at_once(void **state)
{
    const pat_calibration c = some();
    const pat_contest contest = contest_of(&c, 4, false);
    const int64_t same[4] = {5000, 5000, 5000, 5000};
    pat_outlook o;
    (void)state;
    for (int given = 0; given < 2; given++) {
        assert_int_equal(pat_outlook_make(&o, &contest, given ? same : NULL, PAT_GOAL_MEAN), 0);
        near(0, o.waiting_us);
        near(300, o.native_us);
        near(3 * 100, o.relay_us);
    }
}

/* Three come at once, the last a millisecond later: their blocks are there by then, and one is still to come. */
static void one_late(void **state)
{
    const pat_calibration c = some();
    const pat_contest contest = contest_of(&c, 4, false);
    const int64_t late[4] = {0, 0, 1000000, 0};
    pat_outlook o;
    (void)state;
    assert_int_equal(pat_outlook_make(&o, &contest, late, PAT_GOAL_MEAN), 0);
    near(750, o.waiting_us);
    near(1050, o.native_us);
    near(3 * 1100 / 4.0, o.relay_us); /* the late one has all it needs */
    assert_int_equal(pat_outlook_make(&o, &contest, late, PAT_GOAL_LAST), 0);
    near(0, o.waiting_us);
    near(300, o.native_us);
    near(100, o.relay_us);
}

/*
 * Of an all-reduce of four ranks that takes 300 us when all call at once, a vector takes 200: where one rank is late alone that much is left
 * after its call, and all wait for it; where two are, no more than that either (the bound knows no more), and 5/4 where three are.
 */
static void reduced(void **state)
{
    pat_calibration c = {.ranks = 4, .num_points = 1};
    pat_contest contest = {.ranks = 4};
    pat_outlook o;
    (void)state;
    c.fits[index_of("allreduce_converge")] = (pat_fit){.known = true, .alpha_us = 1, .beta_ns = 1, .rank = 2};
    c.points[0] = (pat_point){index_of("allreduce_native"), 4, 90000, 400};
    pat_contest_make(&contest, &c, PAT_OP_ALLREDUCE, 90000, false);
    assert_int_equal(contest.num, 1); /* it contends where nobody gives estimates, too */
    assert_string_equal(pat_contest_early(&contest, PAT_OP_ALLREDUCE)->name, "allreduce_converge");
    contest.of[0].us = 300;
    const int64_t arrivals[4][4] = {
        {0, 0, 0, 0}, {0, 0, 1000000, 0}, {1000000, 0, 1000000, 0}, {1000000, 0, 1000000, 1000000}};
    const double left[4] = {300, 200, 200, 250};
    for (int late = 0; late < 4; late++) {
        assert_int_equal(pat_outlook_make(&o, &contest, arrivals[late], PAT_GOAL_LAST), 0);
        near(left[late], o.relay_us);
        near(400, o.native_us);
        assert_int_equal(pat_outlook_make(&o, &contest, arrivals[late], PAT_GOAL_MEAN), 0);
        near(left[late] + (late > 0 ? (4 - late) * 250 : 0), o.relay_us);
    }
}

static void never_later(void **state)
{
    const pat_calibration c = some();
    (void)state;
    srand(1);
    for (int trial = 0; trial < 3000; trial++) {
        const int ranks = 2 + rand() % 63;
        int64_t arrival_ns[64], last = 0;
        double mean_us = 0;
        for (int r = 0; r < ranks; r++) {
            arrival_ns[r] = rand() % (trial % 7 + 1) * INT64_C(1000) * (rand() % 1000);
            last = arrival_ns[r] > last ? arrival_ns[r] : last;
        }
        for (int r = 0; r < ranks; r++)
            mean_us += (double)(last - arrival_ns[r]) / 1e3 / ranks;
        const pat_contest contest = contest_of(&c, ranks, false);
        for (enum pat_goal goal = PAT_GOAL_MEAN; goal <= PAT_GOAL_LAST; goal++) {
            pat_outlook o, together;
            assert_int_equal(pat_outlook_make(&o, &contest, arrival_ns, goal), 0);
            assert_int_equal(pat_outlook_make(&together, &contest, NULL, goal), 0);
            near(goal == PAT_GOAL_MEAN ? mean_us : 0, o.waiting_us);
            near(together.native_us + o.waiting_us, o.native_us);
            assert_true(o.relay_us <= together.relay_us + o.waiting_us + 1e-2);
            assert_true(o.relay_us >= 0);
        }
    }
}

static void not_known(void **state)
{
    pat_calibration c = some();
    const int64_t late[4] = {0, 0, 1000000, 0};
    pat_outlook o;
    (void)state;
    c.num_points = 0;
    pat_contest contest = contest_of(&c, 4, false);
    assert_int_equal(pat_outlook_make(&o, &contest, late, PAT_GOAL_MEAN), 0);
    assert_true(isnan(o.native_us));
    c = some();
    c.fits[index_of("relay")].known = false;
    contest = contest_of(&c, 4, false);
    assert_int_equal(pat_outlook_make(&o, &contest, late, PAT_GOAL_MEAN), 0);
    assert_true(isnan(o.relay_us));
    assert_null(o.contender);
    contest = contest_of(NULL, 4, true);
    assert_int_equal(pat_outlook_make(&o, &contest, late, PAT_GOAL_MEAN), 0);
    assert_false(pat_outlook_is_known(&o));
}

static void knows(pat_calibration *c, const char *name, double alpha_us)
{
    c->fits[index_of(name)] = (pat_fit){.known = true, .alpha_us = alpha_us, .beta_ns = 0, .rank = 2};
}

static const char *least_of(const pat_calibration *c, bool announced, const int64_t *arrival_ns)
{
    const pat_contest contest = contest_of(c, 4, announced);
    pat_outlook o;
    assert_int_equal(pat_outlook_make(&o, &contest, arrival_ns, PAT_GOAL_MEAN), 0);
    return o.contender->name;
}

/*
 * Of all algorithms the one that takes least when ranks come as they say: what moves data early where some rank is late, and another one
 * where none is, if it is ahead clearly. Where nobody says anything only what needs no estimates contends.
 */
static void who_contends(void **state)
{
    const int64_t late[4] = {0, 0, 1000000, 0};
    pat_calibration c = some();
    (void)state;
    assert_ptr_equal(pat_contest_early(&(pat_contest){.num = 0}, PAT_OP_ALLGATHER),
                     pat_algorithm_contender(PAT_OP_ALLGATHER));
    assert_null(pat_contest_early(&(pat_contest){.num = 0}, PAT_OP_BCAST));
    knows(&c, "ring", 98); /* relay takes 100 us for each of three blocks */
    assert_string_equal(least_of(&c, true, NULL), "relay");
    knows(&c, "ring", 90);
    assert_string_equal(least_of(&c, true, NULL), "ring");
    assert_string_equal(least_of(&c, false, NULL), "relay");
    assert_string_equal(least_of(&c, true, late), "relay");
    const pat_contest contest = contest_of(&c, 4, true);
    assert_string_equal(pat_contest_early(&contest, PAT_OP_ALLGATHER)->name, "relay");
    /* The late block comes to relay's ranks after 100 us, and goes from rank to rank with bdr, in 80, 160 and 240 us. */
    knows(&c, "bdr", 80);
    assert_string_equal(least_of(&c, true, late), "relay");
    knows(&c, "bdr", 30);
    assert_string_equal(least_of(&c, true, late), "bdr");
    assert_string_equal(least_of(&c, false, late), "relay");
}

/* bdr in steps of 80 us: what early ranks can send before the last one is saved, but not more than half of all steps or so. */
static void in_steps(void **state)
{
    static const struct {
        int64_t late_ns;
        double past_us;
    } cases[] = {{0, 240}, {80000, 180}, {100000, 165}, {1000000, 160}};
    pat_calibration c = {.ranks = 4, .num_points = 1};
    (void)state;
    c.points[0] = (pat_point){index_of("native"), 4, 90000, 300};
    knows(&c, "bdr", 80);
    const pat_contest contest = contest_of(&c, 4, true);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int64_t arrival_ns[4] = {0, 0, cases[i].late_ns, 0};
        pat_outlook o;
        assert_int_equal(pat_outlook_make(&o, &contest, arrival_ns, PAT_GOAL_MEAN), 0);
        near(o.waiting_us + cases[i].past_us, o.relay_us);
        assert_int_equal(pat_outlook_make(&o, &contest, arrival_ns, PAT_GOAL_LAST), 0);
        near(240, o.relay_us); /* the last rank's block is with the last one after three steps */
    }
}

/* All that a collective has find room in a contest. */
static void all_find_room(void **state)
{
    pat_calibration c = some();
    (void)state;
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (pat_algorithm_at(a)->formula)
            c.fits[a] = (pat_fit){.known = true, .alpha_us = 1, .beta_ns = 1, .rank = 2};
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        pat_contest contest = {.ranks = 4};
        int num = 0;
        for (int a = 0; a < pat_algorithm_count(); a++)
            num += pat_algorithm_at(a)->op == (enum pat_op)op && pat_algorithm_at(a)->formula;
        pat_contest_make(&contest, &c, (enum pat_op)op, 90000, true);
        assert_int_equal(contest.num, num);
    }
}

/* Relay runs always where it is clearly the faster one together, never where it takes over three times as long. */
static void verdicts(void **state)
{
    static const struct {
        double relay_us;
        enum pat_verdict verdict;
    } cases[] = {{270, PAT_RELAY_ALWAYS},
                 {271, PAT_RELAY_BY_ARRIVALS},
                 {300, PAT_RELAY_BY_ARRIVALS},
                 {900, PAT_RELAY_BY_ARRIVALS},
                 {901, PAT_RELAY_NEVER}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(pat_outlook_verdict(&(pat_outlook){.native_us = 300,
                                                            .relay_us = cases[i].relay_us,
                                                            .contender = pat_algorithm_find("relay")}),
                         cases[i].verdict);
    /* What moves nothing early is not the fastest one whenever ranks come. */
    assert_int_equal(pat_outlook_verdict(&(pat_outlook){
                         .native_us = 300, .relay_us = 200, .contender = pat_algorithm_find("ring")}),
                     PAT_RELAY_BY_ARRIVALS);
}

/* What calls have shown of algorithms that move data early holds for all of them that move it alike, and for no other. */
static void mended(void **state)
{
    (void)state;
    pat_contest c = {.ranks = 4, .native_us = 1000, .num = 3};
    c.of[0].alg = pat_algorithm_find("ring");
    c.of[1].alg = pat_algorithm_find("bdr");
    c.of[2].alg = pat_algorithm_find("relay");
    for (int i = 0; i < 3; i++)
        c.of[i].us = 900 + 100 * i;
    pat_contest_mend(&c, 250000, 50000, 0);
    assert_true(c.native_us == 1000);
    assert_true(pat_contest_us(&c, c.of[0].alg) == 900);
    assert_true(pat_contest_us(&c, c.of[1].alg) == 1050); /* it moves only whole blocks early */
    assert_true(pat_contest_us(&c, c.of[2].alg) == 1350);
    pat_contest_mend(&c, -9000000, -9000000, 0); /* half of the time, at least */
    assert_true(pat_contest_us(&c, c.of[1].alg) == 525);
    pat_contest_mend(&c, -9000000, 0, 600000); /* or what the link needs */
    assert_true(pat_contest_us(&c, c.of[0].alg) == 900);
    assert_true(pat_contest_us(&c, c.of[1].alg) == 600);
    assert_true(pat_contest_us(&c, c.of[2].alg) == 600);
    assert_true(isnan(pat_contest_us(&c, pat_algorithm_find("nex"))));
}

/* What the one that ran was to take is told beside the least, whoever takes that. */
static void who_ran(void **state)
{
    (void)state;
    pat_contest c = {.ranks = 4, .native_us = 1000, .num = 2};
    const int64_t arrival_ns[] = {0, 0, 0, 0};
    pat_outlook o;
    c.of[0].alg = pat_algorithm_find("relay");
    c.of[0].us = 900;
    c.of[1].alg = pat_algorithm_find("bdr");
    c.of[1].us = 1100;
    for (int i = 0; i < 2; i++) {
        c.ran = c.of[i].alg;
        assert_int_equal(pat_outlook_make(&o, &c, arrival_ns, PAT_GOAL_MEAN), 0);
        assert_ptr_equal(o.contender, c.of[0].alg);
        assert_in_range((int64_t)o.ran_us, c.of[i].us - 1, c.of[i].us + 1);
    }
    c.ran = pat_algorithm_find("nex"); /* it is no contender */
    assert_int_equal(pat_outlook_make(&o, &c, arrival_ns, PAT_GOAL_MEAN), 0);
    assert_true(o.ran_us == 0);
}

/* An estimate may be as late as can be told at all. */
static void very_late(void **state)
{
    (void)state;
    pat_contest c = {.ranks = 5, .native_us = 1000, .num = 1};
    const int64_t arrival_ns[] = {100, INT64_MAX / 2, 200, 300, 400};
    pat_outlook o;
    c.of[0].alg = pat_algorithm_find("relay");
    c.of[0].us = 1100;
    assert_int_equal(pat_outlook_make(&o, &c, arrival_ns, PAT_GOAL_MEAN), 0);
    assert_true(fabs(o.waiting_us / (0.8e-3 * (double)(INT64_MAX / 2)) - 1) < 1e-6);
    assert_true(o.native_us >= o.waiting_us && o.relay_us >= o.waiting_us);
}

/*
 * Without a calibration: relay with what it is given, and where ranks give estimates bdr with what its formula says, 7 messages of 50 us and 0.5 ms. Its
 * blocks need not be passed on by a thread, so that it is ahead of the MPI library where relay is not, unless ranks come together.
 */
static void contest_by_link(void **state)
{
    (void)state;
    const pat_algorithm *bdr = pat_algorithm_find("bdr"), *relay = pat_algorithm_find("relay");
    const pat_cost link = {.alpha_ns = 50000, .beta_ps = 125000};
    const int64_t together_ns[8] = {0},
                  apart_ns[8] = {0, 300000, 600000, 900000, 1200000, 1500000, 1800000, 2100000};
    pat_outlook o;
    pat_contest c = {.ranks = 8};
    pat_contest_by_link(&c, relay, 5250000, 4000, NULL);
    assert_int_equal(c.num, 1);
    assert_true(isnan(c.native_us));
    assert_true(pat_contest_us(&c, relay) == 5250);
    assert_true(isnan(pat_contest_us(&c, bdr)));
    pat_contest_by_link(&c, relay, 5250000, 4000, &link);
    assert_true(pat_contest_us(&c, relay) == 5250);
    assert_true(fabs(pat_contest_us(&c, bdr) - 3850) < 1e-6);
    assert_true(pat_contest_us(&c, pat_algorithm_find("bslb")) > 3850);
    assert_true(
        isnan(pat_contest_us(&c, pat_algorithm_find("ring")))); /* what calls show of it is not mended */
    c.native_us = 3900;
    assert_int_equal(pat_outlook_make(&o, &c, apart_ns, PAT_GOAL_MEAN), 0);
    assert_ptr_equal(o.contender, bdr);
    assert_true(pat_outlook_relay_pays(&o, false));
    assert_int_equal(pat_outlook_make(&o, &c, together_ns, PAT_GOAL_MEAN), 0);
    assert_false(pat_outlook_relay_pays(&o, false));
    pat_contest less = c;
    pat_contest_hope(&c, 1000000); /* seven messages without their latency, whatever one call took longer */
    assert_true(pat_contest_us(&c, relay) == 5250);
    assert_true(fabs(pat_contest_us(&c, bdr) - 3500) < 1e-6);
    pat_contest_hope(&less, -400000); /* it was measured to take less than that */
    assert_true(fabs(pat_contest_us(&less, bdr) - 3450) < 1e-6);
    pat_contest calibrated = {.ranks = 8, .num = 1, .of = {{bdr, 3850, 0}}};
    pat_contest_hope(&calibrated, 1000000);
    assert_true(pat_contest_us(&calibrated, bdr) == 3850);
}

/* By the link: six times what passing a block on takes; and a block is not passed on that takes less than that. */
static void verdicts_by_link(void **state)
{
    (void)state;
    assert_int_equal(pat_outlook_verdict_by_link(1320, 20, 200), PAT_RELAY_ALWAYS);
    assert_int_equal(pat_outlook_verdict_by_link(1320, 21, 200), PAT_RELAY_BY_ARRIVALS);
    assert_int_equal(pat_outlook_verdict_by_link(200, 200, 200), PAT_RELAY_BY_ARRIVALS);
    assert_int_equal(pat_outlook_verdict_by_link(200, 201, 100), PAT_RELAY_NEVER);
    assert_int_equal(pat_outlook_verdict_by_link(199, 10, 200), PAT_RELAY_NEVER);
}

/*
 * The one that does not run must gain 3 % of what the MPI library takes once the last rank is there: of 100 us here; in one call, by a
 * calibration, 10 %.
 */
static void not_tossed_about(void **state)
{
    static const struct {
        double relay_us;
        bool stays, comes, surely;
    } cases[] = {{989, true, true, true},   {991, true, true, false},   {996, true, true, false},
                 {998, true, false, false}, {1002, true, false, false}, {1004, false, false, false}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const pat_outlook o = {.waiting_us = 900, .native_us = 1000, .relay_us = cases[i].relay_us};
        assert_int_equal(pat_outlook_relay_pays(&o, true), cases[i].stays);
        assert_int_equal(pat_outlook_relay_pays(&o, false), cases[i].comes);
        assert_int_equal(pat_outlook_surely_pays(&o), cases[i].surely);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_once),          cmocka_unit_test(one_late),
                                       cmocka_unit_test(reduced),          cmocka_unit_test(never_later),
                                       cmocka_unit_test(not_known),        cmocka_unit_test(who_contends),
                                       cmocka_unit_test(in_steps),         cmocka_unit_test(all_find_room),
                                       cmocka_unit_test(verdicts),         cmocka_unit_test(mended),
                                       cmocka_unit_test(who_ran),          cmocka_unit_test(very_late),
                                       cmocka_unit_test(verdicts_by_link), cmocka_unit_test(contest_by_link),
                                       cmocka_unit_test(not_tossed_about)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * unit_profile.c — who runs an all-gather, by what the ranks have told each other: a program is played against the history,
 * call by call. What is measured to be slower gives way after a few calls and comes back when it is not; the other one is tried
 * ever more seldom; call sites that differ in when ranks come are kept apart; asking changes nothing; ranks that know different
 * times of their own decide alike.
 */
#include "profile_program.h"

static void what_is_told(void **state)
{
    (void)state;
    const int64_t arrival_ns[] = {1000, 400, 1600};
    const pat_carried rank_0 = {.arrival_ns = 1000, .site = 7, .last_site = 9};
    pat_told told = pat_told_make(arrival_ns, 3, &rank_0, 64, PAT_BY_RELAY);
    assert_int_equal(told.spread_ns, 1200);
    assert_int_equal(told.last_rank, 2);
    assert_int_equal(told.waited_ns, 200 + 400);
    assert_true(told.past_ns < 0);
    assert_int_equal(told.site, 7);
    assert_int_equal(told.last_site, 9);
    assert_true(pat_told_make(NULL, 2, NULL, 64, PAT_BY_MPI).spread_ns < 0);
    assert_true(pat_history_site(what_is_told) != 0);
}

/* Whatever relay takes, whether it begins or not, and however many times slower: calls beyond what the MPI library takes. */
static void never_much_slower(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++)
        for (int percent = 106; percent <= 160; percent += 6) {
            program p = {0};
            const place at = at_site(11, PAT_RELAY_ALWAYS, first, 0, LEAST_NS * percent / 100, LEAST_NS);
            const int early = relay_calls(&p, &at, 10), all = early + relay_calls(&p, &at, 30);
            /* The MPI library takes no longer than the link needs: then relay is not even tried, or it is left soon. */
            assert_in_range(early, 0, first ? 9 : 0);
            assert_in_range(all, 0, first ? 12 : 0);
            program q = {0};
            place slower = at;
            slower.mpi_ns = LEAST_NS * 104 / 100;
            slower.relay_ns = slower.mpi_ns * percent / 100;
            assert_in_range(relay_calls(&q, &slower, 10), 0, first ? 9 : 1);
            assert_in_range(relay_calls(&q, &slower, 30), 0, first ? 3 : 2);
            if (!first) /* one try in ten calls, two in the next thirty */
                assert_true(q.took_ns <= (37 + 3 * percent / 100.0 + 0.01) * (double)slower.mpi_ns);
        }
}

static void faster_is_found(void **state)
{
    (void)state;
    program p = {0};
    const place at = at_site(12, PAT_RELAY_ALWAYS, false, 0, LEAST_NS, 2 * LEAST_NS);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(call(&p, &at), PAT_BY_MPI);
        assert_true(p.next.measured);
    }
    assert_int_equal(relay_calls(&p, &at, 8), 8);
    assert_true(relay_calls(&p, &at, 1000) >= 990);
    assert_int_equal(p.next.why, PAT_WHY_FASTER);
}

/*
 * A calibration has the MPI library take clearly longer, and relay takes what it says of relay: no try for 64 calls. Where relay takes another time,
 * the MPI library is tried within ten calls, whatever the calibration says of it.
 */
static void calibration_that_fits(void **state)
{
    (void)state;
    for (int percent = 80; percent <= 130; percent += 10) {
        program p = {0};
        place at = at_site(13, PAT_RELAY_ALWAYS, true, 0, 3 * LEAST_NS / 2 * percent / 100, 2 * LEAST_NS);
        at.terms.early_ns = 3 * LEAST_NS / 2;
        at.terms.native_ns = 2 * LEAST_NS;
        const bool fits = percent >= 90 && percent <= 110;
        const int early = relay_calls(&p, &at, 10);
        assert_in_range(early, fits ? 10 : 1, fits ? 10 : 9);
        assert_in_range(early + relay_calls(&p, &at, 60), 60, 69); /* but it is */
    }
    program p = {0}; /* one that has the MPI library take no longer is no reason to wait */
    place at = at_site(13, PAT_RELAY_ALWAYS, true, 0, 3 * LEAST_NS / 2, 2 * LEAST_NS);
    at.terms.early_ns = at.terms.native_ns = 3 * LEAST_NS / 2;
    assert_in_range(relay_calls(&p, &at, 10), 1, 9);
}

static place on_shared_nodes(enum pat_verdict verdict, int64_t spread_ns, int64_t relay_ns, int64_t mpi_ns)
{
    place at = at_site(81, verdict, false, spread_ns, relay_ns, mpi_ns);
    at.terms.many_a_node = true;
    return at;
}

/* Several ranks a node: relay is tried at once only where the MPI library leaves room, else after some 130 calls. */
static void held_back_with_many_a_node(void **state)
{
    (void)state;
    static const struct {
        int64_t spread_ns;
        int percent; /* the MPI library's time, of what the link needs */
        bool at_once;
    } cases[] = {{0, 102, false},
                 {0, 149, false},
                 {0, 151, true},
                 {20 * BLOCK_NS, 30, false},
                 {20 * BLOCK_NS, 89, false},
                 {20 * BLOCK_NS, 91, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int by_arrivals = 0; by_arrivals < 2; by_arrivals++) {
            program p = {0};
            const place at =
                on_shared_nodes(by_arrivals ? PAT_RELAY_BY_ARRIVALS : PAT_RELAY_ALWAYS, cases[i].spread_ns,
                                LEAST_NS / 9, LEAST_NS * cases[i].percent / 100);
            const int first = first_by_relay(&p, &at, 1000);
            if (by_arrivals && cases[i].spread_ns == 0)
                assert_int_equal(first, 0);
            else
                assert_in_range(first, cases[i].at_once ? 3 : 130, cases[i].at_once ? 3 : 140);
            assert_true(first == 0 || relay_calls(&p, &at, 1000) >= 980);
        }
}

/* Why it is not tried is said; and a try that was lost puts the next one off, a second one further. */
static void tries_are_put_off(void **state)
{
    (void)state;
    program p = {0};
    const place at = on_shared_nodes(PAT_RELAY_ALWAYS, 0, 5 * LEAST_NS, LEAST_NS * 14 / 10);
    relay_calls(&p, &at, 20);
    assert_int_equal(p.next.why, PAT_WHY_LATER);
    int last = 0, apart = 0;
    for (int i = 21, tries = 0; tries < 6; i++)
        if (call(&p, &at) == PAT_BY_RELAY) {
            assert_true(tries < 2 || i - last >= apart);
            apart = i - last;
            last = i;
            tries++;
        }
    assert_in_range(apart, 1000, 1200);
    /* Where there is room, one try that stood still does not put relay off for long. */
    program q = {0};
    place room = on_shared_nodes(PAT_RELAY_ALWAYS, 0, 9 * LEAST_NS, 2 * LEAST_NS);
    assert_int_equal(first_by_relay(&q, &room, 10), 3);
    room.relay_ns = LEAST_NS;
    assert_in_range(first_by_relay(&q, &room, 100), 8, 10);
    assert_int_equal(relay_calls(&q, &room, 8), 8);
}

/* Relay that has run there before comes back soon, when it stood still once, or when ranks come apart again. */
static void who_has_won_comes_back(void **state)
{
    (void)state;
    for (int by_arrivals = 0; by_arrivals < 2; by_arrivals++) {
        program p = {0};
        place at = on_shared_nodes(by_arrivals ? PAT_RELAY_BY_ARRIVALS : PAT_RELAY_ALWAYS, 20 * BLOCK_NS,
                                   LEAST_NS / 4, LEAST_NS * 8 / 10);
        at.mpi_ns = LEAST_NS; /* there is room at first */
        assert_int_equal(first_by_relay(&p, &at, 10), 3);
        at.mpi_ns = LEAST_NS * 8 / 10;
        relay_calls(&p, &at, 10);
        for (int turn = 0; turn < 20; turn++) {
            at.spread_ns = 0;
            at.relay_ns = 5 * LEAST_NS;
            relay_calls(&p, &at, turn < 10 ? 1 : 9);
            at.spread_ns = 20 * BLOCK_NS;
            at.relay_ns = LEAST_NS / 4;
            relay_calls(&p, &at, 70);
            assert_true(relay_calls(&p, &at, 100) >= 98);
        }
    }
}

/* Lengths that each come a few times only, and places in any order: nothing is tried there where it is held back. */
static void held_back_for_each_by_itself(void **state)
{
    (void)state;
    program p = {0};
    int by_relay = 0;
    for (int i = 0; i < 20000; i++) {
        place at = on_shared_nodes(PAT_RELAY_ALWAYS, 0, 2 * LEAST_NS, LEAST_NS * 14 / 10);
        at.bytes = 65536 + 64 * (i / 40);
        by_relay += call(&p, &at) == PAT_BY_RELAY;
    }
    assert_int_equal(by_relay, 0);
    program q = {0};
    unsigned dice = 7;
    for (int i = 0; i < 400; i++) {
        place at = on_shared_nodes(PAT_RELAY_ALWAYS, 0, 2 * LEAST_NS, LEAST_NS * 14 / 10);
        dice = dice * 1103515245u + 12345u;
        at.site = 1 + (dice >> 16) % 6;
        by_relay += call(&q, &at) == PAT_BY_RELAY;
    }
    assert_in_range(by_relay, 0, 3);
}

/* Where relay begins, the MPI library is tried after 8, 16, 32 calls; relay is as fast, so it stays. */
static void as_fast_stays(void **state)
{
    (void)state;
    program p = {0};
    const place at = at_site(41, PAT_RELAY_ALWAYS, true, 0, 2 * LEAST_NS, 2 * LEAST_NS);
    assert_int_equal(relay_calls(&p, &at, 8), 8);
    int tries = 0;
    for (int i = 0; i < 4000; i++)
        tries += call(&p, &at) == PAT_BY_MPI;
    assert_in_range(tries, 8, 12);
    /* Where the MPI library takes three times as long its tries are not felt: 64 calls apart, 64 times, as soon as that is sure. */
    program slow = {0};
    const place far_behind = at_site(45, PAT_RELAY_ALWAYS, true, 0, 2 * LEAST_NS, 6 * LEAST_NS);
    assert_in_range(relay_calls(&slow, &far_behind, 70), 69, 69);
    assert_in_range(relay_calls(&slow, &far_behind, 128), 126, 127);
    assert_in_range(relay_calls(&slow, &far_behind, 4000), 3990, 3996);
    /* Where relay takes what the link needs, seldom from the beginning. */
    program least = {0};
    const place as_link = at_site(43, PAT_RELAY_ALWAYS, true, 0, LEAST_NS * 104 / 100, LEAST_NS * 104 / 100);
    assert_int_equal(relay_calls(&least, &as_link, 64), 64);
    assert_in_range(relay_calls(&least, &as_link, 4000), 3990, 3998);
    /* And where the MPI library begins, it is not left for what is no faster. */
    program q = {0};
    const place other = at_site(42, PAT_RELAY_ALWAYS, false, 0, LEAST_NS + 100000, LEAST_NS + 100000);
    assert_in_range(relay_calls(&q, &other, 4000), 8, 80);
}

static void slower_gives_way_and_comes_back(void **state)
{
    (void)state;
    program p = {0};
    place at = at_site(51, PAT_RELAY_ALWAYS, true, 0, LEAST_NS * 14 / 10, LEAST_NS * 12 / 10);
    relay_calls(&p, &at, 12);
    assert_in_range(relay_calls(&p, &at, 1000), 4, 30);
    while (call(&p, &at) == PAT_BY_RELAY)
        ;
    assert_int_equal(p.next.why, PAT_WHY_SLOWER);
    at.relay_ns = LEAST_NS * 11 / 10;
    relay_calls(&p, &at, 200);
    assert_true(relay_calls(&p, &at, 100) >= 97);
    /* A slow call now and then changes little. */
    for (int i = 0; i < 400; i++) {
        at.relay_ns = i % 9 ? LEAST_NS * 11 / 10 : 4 * LEAST_NS;
        call(&p, &at);
    }
    at.relay_ns = LEAST_NS * 11 / 10;
    relay_calls(&p, &at, 64);
    assert_true(relay_calls(&p, &at, 100) >= 97);
}

/* Calls that show when ranks come, after 1, 2, 4 ... 64 others; none of them is relay's while they come together. */
static void looks_ever_more_seldom(void **state)
{
    (void)state;
    program p = {0};
    const place at = at_site(13, PAT_RELAY_BY_ARRIVALS, true, 0, 900, 1000);
    int apart[9], num = 0;
    for (int i = 0, since = 0; num < 9; i++, since++) {
        assert_int_equal(call(&p, &at), PAT_BY_MPI);
        if (p.next.measured) {
            apart[num++] = since;
            since = -1;
        }
    }
    static const int expected[] = {0, 2, 4, 8, 16, 32, 64, 64, 64};
    for (int i = 1; i < 9; i++) /* the place is only known after the first */
        assert_in_range(apart[i], expected[i - 1] / 2, expected[i]);
    assert_int_equal(relay_calls(&p, &at, 650), 0);
    assert_int_equal(p.next.why, PAT_WHY_TOGETHER);
}

/* Calls that are measured, out of so many. */
static int measured_calls(program *p, const place *at, int calls)
{
    int num = 0;
    for (int i = 0; i < calls; i++) {
        call(p, at);
        num += p->next.measured;
    }
    return num;
}

/* Calls are measured as often as takes a hundredth of their time, so that it is soon seen when ranks come apart. */
static void looks_as_often_as_is_not_felt(void **state)
{
    static const int parts[] = {10000, 100, 20, 10, 2}; /* what measuring costs, as a part of a call's time */
    (void)state;
    for (int i = 0; i < 5; i++) {
        program p = {0};
        place at = at_site(15, PAT_RELAY_BY_ARRIVALS, true, 0, LEAST_NS, LEAST_NS);
        at.cost_ns = at.mpi_ns / parts[i];
        at.between_ns = 200 * at.cost_ns;
        measured_calls(&p, &at, 200);
        const int gap = 100 / parts[i] < 64 ? 100 / parts[i] : 64;
        assert_in_range(measured_calls(&p, &at, 1000), 1000 / (gap + 2), 1000 / (gap + 1) + 1);
        pat_profile fresh;
        assert_true(pat_history_look(&p.history, at.bytes, &fresh)->seldom);
        at.spread_ns = 20 * BLOCK_NS; /* and relay, which is faster then, runs after a few calls more */
        at.relay_ns = LEAST_NS / 4;
        assert_in_range(first_by_relay(&p, &at, 100), 1, gap + 3);
        at.between_ns = 190 * at.cost_ns;
        at.spread_ns = 0;
        measured_calls(&p, &at, 1000);
        assert_false(pat_history_look(&p.history, at.bytes, &fresh)->seldom);
    }
}

/* How far apart ranks must come for relay to gain is found by tries. */
static void how_far_is_far(void **state)
{
    (void)state;
    for (int gains = 0; gains < 2; gains++) {
        program p = {0};
        place at = at_site(16, PAT_RELAY_BY_ARRIVALS, true, 3 * BLOCK_NS, LEAST_NS * (gains ? 9 : 11) / 10,
                           LEAST_NS);
        const int first = first_by_relay(&p, &at, 20);
        assert_in_range(first, 1, 5);
        assert_in_range(relay_calls(&p, &at, 1000), gains ? 980 : 0, gains ? 1000 : 1);
        at.spread_ns = BLOCK_NS / 2; /* not worth a try, once it is known */
        at.relay_ns = 2 * LEAST_NS;
        relay_calls(&p, &at, 130);
        assert_int_equal(relay_calls(&p, &at, 1000), 0);
        at.spread_ns = 20 * BLOCK_NS;
        at.relay_ns = LEAST_NS / 4;
        assert_in_range(first_by_relay(&p, &at, 200), 1, 66);
        assert_true(relay_calls(&p, &at, 100) >= 98);
        at.spread_ns =
            3 * BLOCK_NS; /* as before, but now it is the other way round, which is found out too */
        at.relay_ns = LEAST_NS * (gains ? 11 : 9) / 10;
        relay_calls(&p, &at, 1200);
        const int relay = relay_calls(&p, &at, 1000);
        assert_in_range(relay, gains ? 0 : 980, gains ? 20 : 1000);
    }
}

/* By when ranks come relay is tried, and stays only if it is faster. */
static void arrivals_propose_measurement_disposes(void **state)
{
    (void)state;
    program p = {0};
    place at = at_site(14, PAT_RELAY_BY_ARRIVALS, true, 20 * BLOCK_NS, LEAST_NS / 4, LEAST_NS);
    relay_calls(&p, &at, 4);
    assert_int_equal(relay_calls(&p, &at, 500), 500); /* not even to compare */
    assert_int_equal(p.next.why, PAT_WHY_APART);
    at.spread_ns = 0;
    relay_calls(&p, &at, 3);
    assert_in_range(relay_calls(&p, &at, 200), 0, 2);
    at.spread_ns = 20 * BLOCK_NS; /* again, but now the MPI library is faster all the same */
    at.relay_ns = 2 * LEAST_NS;
    relay_calls(&p, &at, 100);
    assert_in_range(relay_calls(&p, &at, 400), 0, 40);
}

/*
 * Relay runs, and ranks come far apart now and then: the MPI library, which would wait for the last one, is not tried between such
 * calls; but it is once they are over.
 */
static void apart_now_and_then(void **state)
{
    const int calls = 200;
    uint32_t random = 1;
    (void)state;
    for (int of = 1; of <= 3; of++) { /* one call of so many, drawn at random */
        program p = {0};
        const place together = at_site(31, PAT_RELAY_ALWAYS, true, 0, 4 * BLOCK_NS, 5 * BLOCK_NS);
        place apart = together;
        int late = 0, tried_late = 0;
        apart.spread_ns = 2 * 5 * BLOCK_NS;
        for (int i = 0; i < calls; i++) {
            random = random * 1664525 + 1013904223;
            const bool is_late = (random >> 16) % (uint32_t)of == 0;
            const bool by_mpi = call(&p, is_late ? &apart : &together) == PAT_BY_MPI;
            late += is_late;
            tried_late += is_late && by_mpi;
        }
        assert_true(late >= calls / 4);
        assert_in_range(tried_late, 0, of - 1);
        assert_true(relay_calls(&p, &together, 100) < 100);
    }
}

/* What was measured while ranks came together says nothing of when they come far apart. */
static void far_apart_relay_runs(void **state)
{
    (void)state;
    program p = {0};
    place at = at_site(61, PAT_RELAY_ALWAYS, true, 0, LEAST_NS * 14 / 10, LEAST_NS * 12 / 10);
    relay_calls(&p, &at, 300);
    at.spread_ns = 20 * BLOCK_NS;
    at.relay_ns = BLOCK_NS;
    relay_calls(&p, &at, 70);
    assert_int_equal(relay_calls(&p, &at, 500), 500);
}

static void two_places_of_one_length(void **state)
{
    (void)state;
    program p = {0};
    const place late = at_site(21, PAT_RELAY_BY_ARRIVALS, true, 40 * BLOCK_NS, LEAST_NS / 4, LEAST_NS);
    const place together = at_site(33, PAT_RELAY_BY_ARRIVALS, true, 0, 2 * LEAST_NS, LEAST_NS);
    for (int i = 0; i < 200; i++) {
        call(&p, &late);
        call(&p, &together);
    }
    int by_relay[2] = {0, 0};
    for (int i = 0; i < 100; i++) {
        by_relay[0] += call(&p, &late) == PAT_BY_RELAY;
        by_relay[1] += call(&p, &together) == PAT_BY_RELAY;
    }
    assert_in_range(by_relay[0], 98, 100);
    assert_in_range(by_relay[1], 0, 4);
}

static void lengths_that_put_each_other_out(void **state)
{
    (void)state;
    program p = {0};
    int by_relay = 0;
    for (int i = 0; i < 20000; i++) {
        place at = at_site(71, PAT_RELAY_ALWAYS, false, 0, 2 * LEAST_NS, 3 * LEAST_NS / 2);
        at.bytes = 4096 + 64 * (i * 7919 % 40);
        by_relay += call(&p, &at) == PAT_BY_RELAY;
    }
    assert_in_range(by_relay, 0, 2000);
}

/* Lengths that relay never runs leave the others alone, whichever slots they share. */
static void lengths_of_the_mpi_library(void **state)
{
    (void)state;
    for (int turn = 0; turn < 50; turn++) {
        program p = {0};
        const place late =
            at_site(91 + (uint32_t)turn, PAT_RELAY_BY_ARRIVALS, true, 40 * BLOCK_NS, LEAST_NS / 4, LEAST_NS);
        int by_relay = 0;
        for (int i = 0; i < 300; i++) {
            for (int k = 0; k < 8; k++) {
                place never = at_site(91 + (uint32_t)turn, PAT_RELAY_NEVER, true, 0, 1, 1);
                never.bytes = 256 * (k + 1 + turn);
                call(&p, &never);
            }
            by_relay += call(&p, &late) == PAT_BY_RELAY;
        }
        assert_true(by_relay >= 200);
    }
}

/* Started requests cannot be measured: what is in use stays, and nothing is tried. */
static void nothing_measured(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        pat_history h = {0};
        const place at = at_site(0, PAT_RELAY_ALWAYS, first, 0, 0, 0);
        for (int i = 0; i < 100; i++) {
            pat_profile fresh;
            const pat_next next = pat_profile_plain(pat_history_look(&h, at.bytes, &fresh), &at.terms);
            assert_int_equal(next.runner, first ? PAT_BY_RELAY : PAT_BY_MPI);
            assert_false(next.measured);
            const pat_told told = pat_told_make(NULL, RANKS, NULL, at.bytes, next.runner);
            assert_null(pat_history_note(&h, &at.terms, &told));
        }
    }
}

static void every_reason_has_words(void **state)
{
    (void)state;
    for (int why = 0; why < PAT_NUM_WHYS; why++)
        assert_non_null(pat_why_text((enum pat_why)why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_told),
        cmocka_unit_test(never_much_slower),
        cmocka_unit_test(faster_is_found),
        cmocka_unit_test(calibration_that_fits),
        cmocka_unit_test(held_back_with_many_a_node),
        cmocka_unit_test(tries_are_put_off),
        cmocka_unit_test(who_has_won_comes_back),
        cmocka_unit_test(held_back_for_each_by_itself),
        cmocka_unit_test(as_fast_stays),
        cmocka_unit_test(slower_gives_way_and_comes_back),
        cmocka_unit_test(looks_ever_more_seldom),
        cmocka_unit_test(looks_as_often_as_is_not_felt),
        cmocka_unit_test(how_far_is_far),
        cmocka_unit_test(arrivals_propose_measurement_disposes),
        cmocka_unit_test(apart_now_and_then),
        cmocka_unit_test(far_apart_relay_runs),
        cmocka_unit_test(two_places_of_one_length),
        cmocka_unit_test(lengths_that_put_each_other_out),
        cmocka_unit_test(lengths_of_the_mpi_library),
        cmocka_unit_test(nothing_measured),
        cmocka_unit_test(every_reason_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

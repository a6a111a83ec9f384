/*
 * unit_history.c — who runs an all-gather, by what the ranks have told each other: a program is played against the history,
 * call by call. Places that differ in when ranks come are kept apart; relay gives way where it is measured to be slower, and
 * comes back; the other one is tried ever more seldom; asking changes nothing; ranks that know different times of their own
 * decide alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"

enum { BLOCK_NS = 1000000, RANKS = 4 };

/* A place in a program, and what calls from there are like. */
typedef struct place {
    uint16_t site;
    int64_t bytes;
    enum pat_verdict verdict;
    int64_t spread_ns, relay_ns, mpi_ns; /* from the last arrival on */
} place;

typedef struct program {
    pat_history history;
    uint16_t last_site;
    enum pat_why why; /* of the last call */
} program;

/* One call. Rank 0 waits for the last one, which is `spread` later than the others. */
static enum pat_runner call(program *p, const place *at)
{
    pat_habit fresh;
    const pat_habit *habit = pat_history_look(&p->history, at->bytes, &fresh);
    const enum pat_runner runner = pat_habit_runner(habit, at->verdict, RANKS, BLOCK_NS, &p->why);
    const uint32_t carried_took = habit->my_took;
    const int64_t waited = at->spread_ns * (RANKS - 1) / RANKS;
    const uint32_t took = pat_history_took((runner == PAT_BY_RELAY ? at->relay_ns : at->mpi_ns) + waited);
    if (runner == PAT_BY_RELAY) {
        pat_carried carried[RANKS];
        for (int r = 0; r < RANKS; r++)
            carried[r] = (pat_carried){.arrival_ns = 5000 + (r == 2 ? at->spread_ns : 0),
                                       .took = carried_took,
                                       .site = (uint16_t)(at->site + r), /* ranks call from elsewhere */
                                       .last_site = (uint16_t)(p->last_site + 3 * r)};
        const pat_told told = pat_told_make(carried, RANKS, at->bytes);
        pat_history_relay_ran(&p->history, &told, at->verdict, BLOCK_NS, took);
    } else {
        pat_history_mpi_ran(&p->history, at->bytes, at->verdict, took);
    }
    p->last_site = at->site;
    return runner;
}

static int relay_calls(program *p, const place *at, int calls)
{
    int num = 0;
    for (int i = 0; i < calls; i++)
        num += call(p, at) == PAT_BY_RELAY;
    return num;
}

static void what_is_told(void **state)
{
    (void)state;
    const pat_carried carried[] = {{1000, 10, 7, 9}, {400, 20, 8, 9}, {1600, 30, 0, 0}};
    pat_told told = pat_told_make(carried, 3, 64);
    assert_int_equal(told.spread_ns, 1200);
    assert_int_equal(told.last_rank, 2);
    assert_int_equal(told.waited_ns, 200 + 400);
    assert_int_equal(told.took_ns, 20 * PAT_TOOK_NS);
    assert_int_equal(told.site, 7);
    assert_int_equal(told.last_site, 9);
    const pat_carried unknown[] = {{0, 10, 1, 1}, {0, 0, 1, 1}};
    assert_int_equal(pat_told_make(unknown, 2, 64).took_ns, 0); /* one rank does not know */
    assert_true(pat_told_make(NULL, 2, 64).spread_ns < 0);
    assert_int_equal(pat_history_took(-5), 0);
    assert_int_equal(pat_history_took(1), 1);
    assert_int_equal(pat_history_took(INT64_C(1) << 50), 0); /* too long to carry */
    assert_true(pat_history_site(what_is_told) != 0);
}

/* Calls by relay, to see when ranks come, after 1, 2, 4 ... 64 by the MPI library. */
static void tries_ever_more_seldom(void **state)
{
    (void)state;
    program p = {0};
    const place at = {11, 4096, PAT_RELAY_BY_ARRIVALS, 0, 900, 1000};
    int apart[8], num = 0;
    for (int i = 0, since = 0; num < 8; i++, since++)
        if (call(&p, &at) == PAT_BY_RELAY) {
            apart[num++] = since;
            since = -1;
        }
    static const int expected[] = {0, 0, 1, 2, 4, 8, 16, 32}; /* the place is only known after the first */
    assert_memory_equal(apart, expected, sizeof(apart));
    assert_int_equal(relay_calls(&p, &at, 650), 10); /* one in 65 */
}

static void two_places_of_one_length(void **state)
{
    (void)state;
    program p = {0};
    const place late = {21, 4096, PAT_RELAY_BY_ARRIVALS, 40 * BLOCK_NS, 900, 1000};
    const place together = {33, 4096, PAT_RELAY_BY_ARRIVALS, 0, 1500, 1000};
    for (int i = 0; i < 40; i++) {
        call(&p, &late);
        call(&p, &together);
    }
    int by_relay[2] = {0, 0};
    for (int i = 0; i < 100; i++) {
        by_relay[0] += call(&p, &late) == PAT_BY_RELAY;
        by_relay[1] += call(&p, &together) == PAT_BY_RELAY;
    }
    assert_int_equal(by_relay[0], 100);
    assert_true(by_relay[1] <= 4);
}

/* The MPI library is tried after 8, 16, 32 calls; relay is as fast, so it stays. */
static void as_fast_stays(void **state)
{
    (void)state;
    program p = {0};
    const place at = {41, 65536, PAT_RELAY_ALWAYS, 0, 1000000, 1000000};
    assert_int_equal(RANKS, 4);
    int tries = 0;
    for (int i = 0; i < 4000; i++)
        tries += call(&p, &at) == PAT_BY_MPI;
    assert_in_range(tries, 8, 12);
    call(&p, &at);
    assert_int_equal(p.why, PAT_WHY_LONG);
}

static void slower_gives_way_and_comes_back(void **state)
{
    (void)state;
    program p = {0};
    place at = {51, 65536, PAT_RELAY_ALWAYS, 0, 1200000, 1000000};
    relay_calls(&p, &at, 60);
    int by_relay = relay_calls(&p, &at, 1000);
    assert_in_range(by_relay, 4, 80); /* in twos, to see */
    while (call(&p, &at) == PAT_BY_RELAY)
        ;
    assert_int_equal(p.why, PAT_WHY_SLOWER);
    at.relay_ns = 900000;
    relay_calls(&p, &at, 600);
    assert_true(relay_calls(&p, &at, 100) >= 97);
    /* A slow call now and then changes nothing. */
    for (int i = 0; i < 400; i++) {
        at.relay_ns = i % 9 ? 900000 : 9000000;
        call(&p, &at);
    }
    at.relay_ns = 900000;
    assert_true(relay_calls(&p, &at, 100) >= 97);
}

/* What was measured while ranks came together says nothing of when they come far apart. */
static void far_apart_relay_runs(void **state)
{
    (void)state;
    program p = {0};
    place at = {61, 65536, PAT_RELAY_ALWAYS, 0, 1200000, 1000000};
    relay_calls(&p, &at, 300);
    at.spread_ns = 20 * BLOCK_NS;
    relay_calls(&p, &at, 70);
    assert_int_equal(relay_calls(&p, &at, 500), 500); /* not even to compare */
    /* Waiting is counted against neither: of the MPI library's calls it is taken to be as lately. */
    program q = {0};
    at.spread_ns = 3 * BLOCK_NS;
    at.relay_ns = at.mpi_ns = 1000000;
    assert_true(relay_calls(&q, &at, 2000) >= 1980);
    at.relay_ns = 1100000;
    relay_calls(&q, &at, 2200);
    assert_true(relay_calls(&q, &at, 1000) < 100);
}

static void lengths_that_put_each_other_out(void **state)
{
    (void)state;
    program p = {0};
    int by_relay = 0;
    for (int i = 0; i < 20000; i++) {
        const place at = {71, 4096 + 64 * (i * 7919 % 40), PAT_RELAY_BY_ARRIVALS, 0, 1000, 1000};
        by_relay += call(&p, &at) == PAT_BY_RELAY;
    }
    assert_true(by_relay < 2000);
}

/* Lengths that relay never runs leave the others alone, whichever slots they share. */
static void lengths_of_the_mpi_library(void **state)
{
    (void)state;
    for (int turn = 0; turn < 50; turn++) {
        program p = {0};
        const place late = {(uint16_t)(91 + turn), 4096, PAT_RELAY_BY_ARRIVALS, 40 * BLOCK_NS, 900, 1000};
        int by_relay = 0;
        for (int i = 0; i < 300; i++) {
            for (int k = 0; k < 8; k++) {
                const place never = {(uint16_t)(91 + turn), 256 * (k + 1 + turn), PAT_RELAY_NEVER, 0, 1, 1};
                call(&p, &never);
            }
            by_relay += call(&p, &late) == PAT_BY_RELAY;
        }
        assert_true(by_relay >= 200);
    }
}

/* Started requests never say how long they took: nothing to compare, so the MPI library is not tried either. */
static void nothing_to_compare(void **state)
{
    (void)state;
    pat_history h = {0};
    enum pat_why why;
    pat_habit fresh;
    const pat_carried carried[2] = {{1000, 0, 0, 0}, {1000, 0, 0, 0}};
    for (int i = 0; i < 100; i++) {
        const pat_told told = pat_told_make(carried, 2, 65536);
        assert_int_equal(
            pat_habit_runner(pat_history_look(&h, 65536, &fresh), PAT_RELAY_ALWAYS, RANKS, BLOCK_NS, &why),
            PAT_BY_RELAY);
        pat_history_relay_ran(&h, &told, PAT_RELAY_ALWAYS, BLOCK_NS, 0);
    }
}

/* Never tells, as with two ranks, or where a block is empty. */
static void nothing_carried(void **state)
{
    (void)state;
    pat_history h = {0};
    enum pat_why why;
    pat_habit fresh;
    for (int i = 0; i < 100; i++) {
        const pat_told told = pat_told_make(NULL, RANKS, 65536);
        assert_int_equal(
            pat_habit_runner(pat_history_look(&h, 65536, &fresh), PAT_RELAY_ALWAYS, RANKS, BLOCK_NS, &why),
            PAT_BY_RELAY);
        assert_null(pat_history_relay_ran(&h, &told, PAT_RELAY_ALWAYS, BLOCK_NS, 100));
    }
    assert_int_equal(
        pat_habit_runner(pat_history_look(&h, 1, &fresh), PAT_RELAY_BY_ARRIVALS, 2, BLOCK_NS, &why),
        PAT_BY_MPI);
}

static uint32_t drawn(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

/*
 * Two ranks of a random program. They are told the same, but have their own times and places, and one of them is asked at
 * odd moments by another thread. Both must choose alike, always.
 */
static void ranks_decide_alike(void **state)
{
    (void)state;
    static const enum pat_verdict verdicts[] = {PAT_RELAY_NEVER, PAT_RELAY_ALWAYS, PAT_RELAY_BY_ARRIVALS};
    uint64_t seed = 3;
    pat_history ranks[2];
    memset(ranks, 0, sizeof(ranks));
    for (int i = 0; i < 200000; i++) {
        const int64_t dice = drawn(&seed);
        const int64_t bytes = 1000 + 100 * (dice % 37);
        const enum pat_verdict verdict = verdicts[bytes / 100 % 3];
        enum pat_runner runner[2];
        pat_habit fresh;
        for (int r = 0; r < 2; r++) {
            enum pat_why why;
            for (int k = 0; k < (r ? (int)(dice >> 8 & 3) : 0); k++)
                pat_history_look(&ranks[r], 1000 + 100 * (drawn(&seed) % 37), &fresh);
            runner[r] =
                pat_habit_runner(pat_history_look(&ranks[r], bytes, &fresh), verdict, 8, BLOCK_NS, &why);
        }
        assert_int_equal(runner[0], runner[1]);
        pat_told told = {.bytes = bytes,
                         .spread_ns = dice % 5 ? (int64_t)drawn(&seed) % (9 * BLOCK_NS) : -1,
                         .took_ns = dice % 7 ? drawn(&seed) % 1000000 : 0,
                         .site = (uint16_t)(drawn(&seed) % 9),
                         .last_site = (uint16_t)(drawn(&seed) % 9)};
        for (int r = 0; r < 2; r++)
            if (runner[r] == PAT_BY_RELAY)
                pat_history_relay_ran(&ranks[r], &told, verdict, BLOCK_NS, (uint32_t)(dice % 1000 + r));
            else
                pat_history_mpi_ran(&ranks[r], bytes, verdict, (uint32_t)(dice % 1000 + r));
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
        cmocka_unit_test(tries_ever_more_seldom),
        cmocka_unit_test(two_places_of_one_length),
        cmocka_unit_test(as_fast_stays),
        cmocka_unit_test(slower_gives_way_and_comes_back),
        cmocka_unit_test(far_apart_relay_runs),
        cmocka_unit_test(lengths_that_put_each_other_out),
        cmocka_unit_test(lengths_of_the_mpi_library),
        cmocka_unit_test(nothing_to_compare),
        cmocka_unit_test(nothing_carried),
        cmocka_unit_test(ranks_decide_alike),
        cmocka_unit_test(every_reason_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

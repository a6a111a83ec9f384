/*
 * unit_predict.c — when ranks will come, by when they came: a rank that is late again and again is expected late, one call in which another one
 * was disturbed changes nothing, a new regime is followed after three calls, a pattern that comes again is found, and random arrivals are not
 * taken for one. And how often it
 * has to be known when they came.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "predict.h"

enum { RANKS = 8, BYTES = 4096, CALL_NS = 16000 };

typedef struct fixture {
    pat_predict predicts[PAT_PREDICTS];
    int64_t arrival_ns[RANKS];
} fixture;

static int draw(int below)
{
    static uint64_t seed = 5;
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((seed >> 33) % (uint64_t)below);
}

/* A call of blocks of so many bytes, to which `late` comes so much later than all others. */
static void call_of(fixture *f, int64_t bytes, int late, int64_t late_ns)
{
    static int64_t now_ns = 1000000; /* the clock goes on: only differences count */
    int64_t came_ns[RANKS];
    for (int r = 0; r < RANKS; r++)
        came_ns[r] = now_ns + (r == late ? late_ns : 0);
    now_ns += 10 * CALL_NS + late_ns;
    assert_int_equal(0, pat_predict_note(f->predicts, bytes, RANKS, CALL_NS, came_ns));
}

static void call(fixture *f, int late, int64_t late_ns)
{
    call_of(f, BYTES, late, late_ns);
}

/* `late` alone is expected so much later than all others. */
static void expect_late_of(fixture *f, int64_t bytes, int late, int64_t late_ns)
{
    assert_true(pat_predict_arrivals(f->predicts, bytes, RANKS, CALL_NS, f->arrival_ns));
    for (int r = 0; r < RANKS; r++)
        assert_int_equal(r == late ? 0 : -late_ns, f->arrival_ns[r]);
}

static void expect_late(fixture *f, int late, int64_t late_ns)
{
    expect_late_of(f, BYTES, late, late_ns);
}

static void nothing_is_known(void **state)
{
    fixture f = {.arrival_ns = {7}};
    (void)state;
    assert_false(pat_predict_arrivals(f.predicts, BYTES, RANKS, CALL_NS, f.arrival_ns));
    assert_int_equal(7, f.arrival_ns[0]);
    assert_true(pat_predict_wants(f.predicts, BYTES));
}

static void late_again_and_again(void **state)
{
    fixture f = {0};
    (void)state;
    call(&f, 3, 5 * CALL_NS);
    expect_late(&f, 3, CALL_NS); /* what the others have brought before makes no difference */
    call(&f, 3, 3 * CALL_NS);
    expect_late(&f, 3, CALL_NS);
    pat_predict_free(f.predicts);
}

static void one_disturbed_call(void **state)
{
    fixture f = {0};
    (void)state;
    for (int i = 0; i < 6; i++)
        call(&f, 3, 2 * CALL_NS);
    call(&f, 5, 100 * CALL_NS);
    expect_late(&f, 3, CALL_NS);
    call(&f, 3, 2 * CALL_NS);
    expect_late(&f, 3, CALL_NS);
    pat_predict_free(f.predicts);
}

static void new_regime(void **state)
{
    fixture f = {0};
    (void)state;
    for (int i = 0; i < 20; i++)
        call(&f, 3, 2 * CALL_NS);
    for (int i = 0; i < 3; i++)
        call(&f, 6, 2 * CALL_NS);
    expect_late(&f, 6, CALL_NS);
    pat_predict_free(f.predicts);
}

/* Now one rank, now another one, in turns: what comes again is known after it has come twice or so, and each call is looked at. */
static void in_turns(void **state)
{
    fixture f = {0};
    (void)state;
    for (int turns = 2; turns <= RANKS; turns *= 2) {
        for (int i = 0; i < 64; i++) {
            if (i >= 40)
                expect_late(&f, i % turns, CALL_NS);
            call(&f, i % turns, 3 * CALL_NS);
            assert_true(i < 40 || pat_predict_wants(f.predicts, BYTES));
        }
        assert_int_equal(PAT_PREDICT_AGO + turns - 1, pat_predict_best(f.predicts, BYTES));
    }
    pat_predict_free(f.predicts);
}

/* Each rank at random within sixteen times what a call takes. Most often no rank is singled out, and seldom more than two. */
static void random_arrivals(void **state)
{
    enum { CALLS = 2000 };
    fixture f = {0};
    int together = 0, many = 0;
    (void)state;
    for (int i = 0; i < CALLS; i++) {
        int64_t came_ns[RANKS];
        int apart = 0;
        for (int r = 0; r < RANKS; r++) {
            came_ns[r] = draw(16 * CALL_NS);
        }
        assert_int_equal(0, pat_predict_note(f.predicts, BYTES, RANKS, CALL_NS, came_ns));
        assert_true(pat_predict_arrivals(f.predicts, BYTES, RANKS, CALL_NS, f.arrival_ns));
        for (int r = 0; r < RANKS; r++)
            apart += f.arrival_ns[r] != -CALL_NS;
        together += i >= PAT_PREDICT_CALLS && apart == 0;
        many += i >= PAT_PREDICT_CALLS && apart > 2;
    }
    assert_true(together > CALLS / 2);
    assert_true(many < CALLS / 50);
    pat_predict_free(f.predicts);
}

/* Any two lengths in turn: neither disturbs what is known of the other, and soon not every call has to be known. */
static void two_lengths(void **state)
{
    (void)state;
    for (int64_t one = 1; one <= INT64_C(1) << 22; one *= 2)
        for (int64_t other = 2 * one; other <= INT64_C(1) << 22; other *= 2) {
            fixture f = {0};
            int known = 0;
            for (int i = 0; i < 32; i++) {
                const int64_t bytes = i % 2 ? other : one;
                if (i >= 2)
                    expect_late_of(&f, bytes, i % 2, CALL_NS);
                if (pat_predict_wants(f.predicts, bytes)) {
                    call_of(&f, bytes, i % 2, CALL_NS);
                    known++;
                } else {
                    pat_predict_pass(f.predicts, bytes);
                }
            }
            assert_in_range(known, 2, 20);
            pat_predict_free(f.predicts);
        }
}

/* So many lengths are kept as there are places; of more, the one whose last call is longest ago gives way, known or not. */
static void more_lengths(void **state)
{
    fixture f = {0};
    (void)state;
    for (int64_t length = 1; length <= PAT_PREDICTS; length++)
        call_of(&f, 4096 * length, (int)length % RANKS, CALL_NS);
    for (int64_t length = 1; length <= PAT_PREDICTS; length++)
        expect_late_of(&f, 4096 * length, (int)length % RANKS, CALL_NS);
    call_of(&f, 4096, 1, CALL_NS);          /* now the second is the oldest */
    pat_predict_pass(f.predicts, 2 * 4096); /* and now the third */
    call_of(&f, 100, 5, CALL_NS);
    expect_late_of(&f, 100, 5, CALL_NS);
    assert_null(pat_predict_find(f.predicts, 3 * 4096));
    for (int64_t length = 1; length <= PAT_PREDICTS; length++)
        if (length != 3)
            expect_late_of(&f, 4096 * length, (int)length % RANKS, CALL_NS);
    for (int64_t bytes = 200; bytes < 300; bytes++) { /* no place is lost */
        call_of(&f, bytes, 3, CALL_NS);
        for (int64_t kept = bytes; kept >= 200 && kept > bytes - PAT_PREDICTS; kept--)
            expect_late_of(&f, kept, 3, CALL_NS);
    }
    pat_predict_free(f.predicts);
}

/* Calls until one is wanted. */
static int calls_between(fixture *f)
{
    int passed = 0;
    for (; !pat_predict_wants(f->predicts, BYTES); passed++)
        pat_predict_pass(f->predicts, BYTES);
    return passed;
}

static void how_often(void **state)
{
    fixture f = {0};
    int passed = 0;
    (void)state;
    for (int i = 0; i < 5; i++) {
        call(&f, 3, 2 * CALL_NS);
        assert_int_equal(i < 3 ? 0 : 1, passed = calls_between(&f));
    }
    for (int i = 0; i < 12; i++) {
        call(&f, 3, 2 * CALL_NS);
        assert_true(calls_between(&f) >= passed);
        passed = calls_between(&f) + passed;
    }
    call(&f, 3, 2 * CALL_NS);
    assert_int_equal(7, calls_between(&f));
    call(&f, 6, 2 * CALL_NS); /* a change: each call is worth knowing again */
    assert_int_equal(0, calls_between(&f));
    call(&f, 6, 2 * CALL_NS);
    assert_int_equal(0, calls_between(&f));
    for (int i = 0; i < 60; i++) /* what cannot be predicted is not asked for in each call either */
        call(&f, draw(RANKS), 2 * CALL_NS);
    assert_int_equal(7, calls_between(&f));
    pat_predict_pass(f.predicts, BYTES + 1); /* of which nothing is known */
    assert_true(pat_predict_wants(f.predicts, BYTES + 1));
    pat_predict_free(f.predicts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known),   cmocka_unit_test(late_again_and_again),
        cmocka_unit_test(one_disturbed_call), cmocka_unit_test(new_regime),
        cmocka_unit_test(in_turns),           cmocka_unit_test(random_arrivals),
        cmocka_unit_test(two_lengths),        cmocka_unit_test(more_lengths),
        cmocka_unit_test(how_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * unit_sequence.c — which call comes next: after two turns of a pattern of up to 16 calls every guess is right; no longer runs and no random
 * ones are guessed worse than by "the last call again", or hardly; a call that comes once is forgotten; what is new is expected to go on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sequence.h"

/* Who guesses: the library, or whoever says "the last call again". */
typedef int64_t guesser(const pat_sequence *s);

static int64_t again(const pat_sequence *s)
{
    return s->kinds[s->num - 1];
}

/* Calls whose kinds are the letters of `pattern`, over and over. Returns the number of wrong guesses after the first `learning` calls. */
static int wrong_by(guesser *guess, const char *pattern, int calls, int learning)
{
    const int length = (int)strlen(pattern);
    pat_sequence s = {0};
    int num = 0;
    for (int i = 0; i < calls; i++) {
        pat_sequence_note(&s, pattern[i % length]);
        num += i >= learning && guess(&s) != pattern[(i + 1) % length];
    }
    return num;
}

static int wrong(const char *pattern, int calls, int learning)
{
    return wrong_by(pat_sequence_next, pattern, calls, learning);
}

static void patterns(void **state)
{
    (void)state;
    static const char *const patterns[] = {"A", "AB", "ABC", "AAB", "AABB", "AAAAAAAB", "ABACABAD", "AABAAC"};
    for (int i = 0; i < (int)(sizeof(patterns) / sizeof(patterns[0])); i++)
        assert_int_equal(wrong(patterns[i], 300, 2 * (int)strlen(patterns[i])), 0);
    assert_int_equal(wrong("AB", 300, 2), 0);
}

/* All patterns of two kinds, up to 12 calls: right from the third turn on. */
static void all_patterns(void **state)
{
    (void)state;
    for (int length = 1; length <= 12; length++)
        for (unsigned bits = 0; bits < 1U << length; bits++) {
            char pattern[13] = "";
            for (int i = 0; i < length; i++)
                pattern[i] = (char)('A' + (bits >> i & 1));
            assert_int_equal(wrong(pattern, 6 * length, 2 * length - 1), 0);
        }
}

/* Two runs in turn, of so many calls: right from the third turn on where they are 16 calls together, else no worse than "the last call again". */
static void expect_runs(int first, int second)
{
    enum { TURNS = 6, LEARNING = 3 };
    const int length = first + second;
    char pattern[64] = "";
    memset(pattern, 'A', (size_t)first);
    memset(pattern + first, 'B', (size_t)second);
    if (length <= 16)
        assert_int_equal(wrong(pattern, TURNS * length, 2 * length - 1), 0);
    assert_int_equal(wrong_by(again, pattern, TURNS * length, LEARNING * length), 2 * (TURNS - LEARNING));
    assert_in_range(wrong(pattern, TURNS * length, LEARNING * length), 0, 2 * (TURNS - LEARNING));
}

static void runs(void **state)
{
    (void)state;
    for (int n = 1; n <= 40; n++)
        expect_runs(n, 1);
    for (int n = 1; n <= 20; n++)
        expect_runs(n, n);
}

static int draw(int below)
{
    static uint64_t seed = 5;
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((seed >> 33) % (uint64_t)below);
}

/* The kind is drawn anew in so many of a hundred calls: at most 4 % more guesses are wrong than by "the last call again". */
static void random_runs(void **state)
{
    (void)state;
    static const int percents[] = {2, 10, 30};
    for (int i = 0; i < 3; i++) {
        pat_sequence s = {0};
        int guessed_wrong = 0, again_wrong = 0;
        int64_t kind = 1;
        for (int calls = 0; calls < 100000; calls++) {
            pat_sequence_note(&s, kind);
            kind = draw(100) < percents[i] ? 1 + draw(4) : kind;
            guessed_wrong += pat_sequence_next(&s) != kind;
            again_wrong += again(&s) != kind;
        }
        assert_in_range(guessed_wrong, 0, again_wrong + again_wrong / 25);
    }
}

/* 24 calls that differ, which is a period that is remembered; and one that is not. */
static void long_patterns(void **state)
{
    (void)state;
    char pattern[41] = "";
    for (int i = 0; i < 24; i++)
        pattern[i] = (char)('A' + i);
    assert_int_equal(wrong(pattern, 300, 24), 0);
    for (int i = 24; i < 40; i++)
        pattern[i] = (char)('A' + i);
    assert_int_equal(wrong(pattern, 400, 0), 400);
}

static int64_t after(const char *calls)
{
    pat_sequence s = {0};
    for (; *calls; calls++)
        pat_sequence_note(&s, *calls);
    return pat_sequence_next(&s);
}

static void once(void **state)
{
    (void)state;
    assert_int_equal(after("A"), 'A');
    assert_int_equal(after("AB"), 'B');     /* new: it goes on */
    assert_int_equal(after("AAAAB"), 'B');  /* the same */
    assert_int_equal(after("AAAABA"), 'A'); /* it came once */
    assert_int_equal(after("AAAAAAABAAA"), 'A');
    assert_int_equal(after("AAAABAAAAAB"), 'B');    /* mostly it goes on, and there is no pattern */
    assert_int_equal(after("XABCYABCZABDAB"), 'C'); /* came most often after the same */
    assert_int_equal(after("ABCABDABEAB"), 'E');    /* each came once: the newest */
    assert_int_equal(after("ABABAACCC"), 'C');      /* a new phase of the program */
    assert_int_equal(after("ABABCDCD"), 'C');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns),    cmocka_unit_test(all_patterns),  cmocka_unit_test(runs),
        cmocka_unit_test(random_runs), cmocka_unit_test(long_patterns), cmocka_unit_test(once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

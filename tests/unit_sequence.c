/*
 * unit_sequence.c — which call comes next: after two rounds of a pattern every guess is right; a call that comes once is forgotten; what is new
 * is expected to go on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sequence.h"

/* Calls whose kinds are the letters of `pattern`, over and over. Returns the number of wrong guesses after the first `learning` calls. */
static int wrong(const char *pattern, int calls, int learning)
{
    pat_sequence s = {0};
    int num = 0;
    for (int i = 0; i < calls; i++) {
        pat_sequence_note(&s, pattern[i % (int)strlen(pattern)]);
        num += i >= learning && pat_sequence_next(&s) != pattern[(i + 1) % (int)strlen(pattern)];
    }
    return num;
}

static void patterns(void **state)
{
    (void)state;
    static const char *const patterns[] = {"A", "AB", "ABC", "AAB", "AABB", "AAAAAAAB", "ABACABAD", "AABAAC"};
    for (int i = 0; i < (int)(sizeof(patterns) / sizeof(patterns[0])); i++)
        assert_int_equal(wrong(patterns[i], 300, 2 * (int)strlen(patterns[i])), 0);
    assert_int_equal(wrong("AB", 300, 2), 0);
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
    assert_int_equal(after("AAAABAAAAAB"), 'A'); /* what came after it then comes again */
    assert_int_equal(after("ABABAACCC"), 'C');   /* a new phase of the program */
    assert_int_equal(after("ABABCDCD"), 'C');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns),
        cmocka_unit_test(long_patterns),
        cmocka_unit_test(once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

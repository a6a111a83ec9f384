/*
 * unit_together.c — arrivals of a round are called together exactly when passing blocks on in halves would have kept
 * no link waiting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "together.h"

enum { BLOCK = 1000, MOST = 16 };

static bool together(int num_ranks, const int64_t *arrival)
{
    int64_t copy[MOST];
    for (int r = 0; r < num_ranks; r++)
        copy[r] = arrival[r] + INT64_C(1700000000000000000);
    return pat_arrivals_together(copy, num_ranks, BLOCK);
}

static void at_once(void **state)
{
    (void)state;
    for (int P = 2; P <= MOST; P++)
        assert_true(together(P, (int64_t[MOST]){0}));
}

/* Four ranks: links are busy with three blocks. The last one's block takes 1 and is passed on twice, half a block each. */
static void one_late(void **state)
{
    (void)state;
    assert_true(together(4, (int64_t[]){0, 0, 0, 1000}));
    assert_false(together(4, (int64_t[]){0, 0, 0, 1001}));
    assert_true(together(4, (int64_t[]){1000, 0, 0, 0})); /* whoever it is */
    assert_false(together(4, (int64_t[]){1001, 0, 0, 0}));
    assert_true(together(8, (int64_t[]){0, 0, 0, 0, 0, 0, 0, 3000})); /* 7 = 3 + 1 + 6 halves */
    assert_false(together(8, (int64_t[]){0, 0, 0, 0, 0, 0, 0, 3001}));
}

/* It is the last ones that decide: a rank that came long before all others does not keep the rest apart. */
static void one_early(void **state)
{
    (void)state;
    assert_true(together(4, (int64_t[]){0, 5000, 5000, 5000}));
    assert_false(together(4, (int64_t[]){0, 0, 5000, 5000})); /* two blocks left for each, passed on once */
    assert_false(together(4, (int64_t[]){0, 2000, 4000, 6000}));
}

/* Two ranks pass nothing on; three do, once. */
static void few_ranks(void **state)
{
    (void)state;
    assert_true(together(2, (int64_t[]){0, 999999}));
    assert_true(together(3, (int64_t[]){0, 0, 500}));
    assert_false(together(3, (int64_t[]){0, 0, 501}));
}

/* The largest numbers a clock can give do not run over. */
static void long_ago(void **state)
{
    (void)state;
    int64_t arrival[] = {0, INT64_MAX / 4, INT64_MAX / 4, 0};
    assert_false(pat_arrivals_together(arrival, 4, BLOCK));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_once),   cmocka_unit_test(one_late), cmocka_unit_test(one_early),
        cmocka_unit_test(few_ranks), cmocka_unit_test(long_ago),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

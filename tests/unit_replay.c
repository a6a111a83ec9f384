/*
 * unit_replay.c — what a recorded call would have taken by another algorithm, where it can be worked out by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "replay.h"

static double us(const char *alg, int num_ranks, int root, int64_t bytes, const int64_t *arrival_ns)
{
    const pat_algorithm *of = pat_algorithm_find(alg);
    assert_non_null(of);
    const pat_replay call = {.op = of->op,
                             .num_ranks = num_ranks,
                             .root = root,
                             .bytes = bytes,
                             .alpha_ns = 10000, /* 10 us, and 1 us a kilobyte */
                             .beta_ps = 1000,
                             .arrival_ns = arrival_ns};
    return 1e-3 * pat_replay_ns(&call, of);
}

/* Ring: three steps of a block each, 10 + 100 us, begun when the last rank has come. */
static void test_ring(void **state)
{
    (void)state;
    static const int64_t together[4], late[4] = {0, 0, 500000, 0};
    assert_true(fabs(us("ring", 4, 0, 100000, together) - 330) < 1);
    const double mean = us("ring", 4, 0, 100000, late);
    assert_true(mean > 330 + 375 - 220 &&
                mean < 330 + 375 + 1); /* the others have passed on what they could */
}

/* Relay has moved all but the late rank's block by then: 110 us after it for each other rank; and it has its own others at once. */
static void test_relay_is_ahead(void **state)
{
    (void)state;
    static const int64_t late[4] = {0, 0, 5000000, 0};
    const double ring = us("ring", 4, 0, 100000, late), relay = us("relay", 4, 0, 100000, late);
    assert_true(relay < ring - 100);
    assert_true(relay >= 3750 + 0.75 * 110);
}

/* A chain passes segments of 8 KiB on while the next ones come: 1 MiB takes a third of what it would in one piece, 3 x 1058 us. */
static void test_segments(void **state)
{
    (void)state;
    static const int64_t together[4];
    const double chain = us("bcast_chain", 4, 0, 1 << 20, together);
    assert_true(chain > 1048 * 0.7 && chain < 1800);
}

/* The root of a broadcast is the recorded one: nobody waits for another rank that is late. */
static void test_root(void **state)
{
    (void)state;
    static const int64_t late[4] = {0, 0, 0, 900000};
    assert_true(us("bcast_binomial", 4, 3, 1000, late) > 0.75 * 900);
    assert_true(us("bcast_binomial", 4, 0, 1000, late) < 100);
}

static void test_what_cannot(void **state)
{
    (void)state;
    static const int64_t none[PAT_REPLAY_RANKS + 1];
    assert_true(isnan(us("ring", 1, 0, 100, none)));
    assert_true(isnan(us("ring", PAT_REPLAY_RANKS + 1, 0, 100, none)));
    assert_true(isnan(us("ring", 4, 0, 0, none)));
    assert_true(isnan(us("bcast_chain", 4, -1, 100, none)));
    assert_true(isnan(us("bcast_chain", 4, 4, 100, none)));
    assert_int_equal(pat_replay_op("MPI_Allgather"), PAT_OP_ALLGATHER);
    assert_int_equal(pat_replay_op("MPI_Reduce_scatter_block"), PAT_OP_REDUCE_SCATTER);
    assert_int_equal(pat_replay_op("MPI_Reduce_scatter"), PAT_NUM_OPS);
    assert_int_equal(pat_replay_op("MPI_Allgatherv"), PAT_NUM_OPS);
    assert_int_equal(pat_replay_op("MPI_Barrier"), PAT_NUM_OPS);
    assert_true(pat_replay_can(pat_algorithm_find("relay")));
    assert_false(pat_replay_can(pat_algorithm_find("auto")));
    assert_false(pat_replay_can(pat_algorithm_native(PAT_OP_ALLGATHER)));
}

/* Whatever may run by its name can be replayed. */
static void test_all(void **state)
{
    (void)state;
    static const int64_t arrival[6] = {0, 30000, 10000, 0, 200000, 5000};
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (!pat_replay_can(alg))
            continue;
        const double value = us(alg->name, 6, 2, 12000, arrival);
        if (isnan(value))
            fail_msg("%s cannot be replayed", alg->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),     cmocka_unit_test(test_relay_is_ahead), cmocka_unit_test(test_root),
        cmocka_unit_test(test_segments), cmocka_unit_test(test_what_cannot),    cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * unit_taulop.c — tau-Lop's sums on made-up transfers, worked out by hand; its order against models that ignore what runs
 * beside a message.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "taulop.h"

/* L(m, tau) = 1 + m/1000 alone, half as much again for every further one. */
static const pat_transfers even = {.num_sizes = 3,
                                   .num_taus = 3,
                                   .bytes = {1000, 2000, 8000},
                                   .tau = {1, 2, 4},
                                   .us = {{2, 3, 9}, {3, 4.5, 13.5}, {5, 7.5, 22.5}},
                                   .overhead_us = 0.5};

static void near(double expected, double got)
{
    if (!(fabs(expected - got) < 1e-9))
        fail_msg("expected %g, got %g", expected, got);
}

static void transfers(void **state)
{
    (void)state;
    near(2, pat_transfer_us(&even, 1000, 1));
    near(5, pat_transfer_us(&even, 4000, 1));
    near(7.5, pat_transfer_us(&even, 4000, 2));
    near(10, pat_transfer_us(&even, 4000, 3)); /* half-way to 12.5 */
    near(17.5, pat_transfer_us(&even, 4000, 6));
    near(17, pat_transfer_us(&even, 16000, 1));
    near(1.5, pat_transfer_us(&even, 500, 1));
    near(1, pat_transfer_us(&even, 0, 1));
    const pat_transfers falling = {
        .num_sizes = 2, .num_taus = 1, .bytes = {1000, 2000}, .tau = {1}, .us = {{1, 5}}};
    near(0, pat_transfer_us(&falling, 0, 1)); /* not less than nothing */
    near(1, pat_transfer_us(&falling, 1000, 7));
    const pat_transfers one = {.num_sizes = 1, .num_taus = 1, .bytes = {1000}, .tau = {1}, .us = {{3}}};
    near(3, pat_transfer_us(&one, 9, 9));
}

static void sums(void **state)
{
    (void)state;
    near(0.5 + 2 * 2, pat_node_us(&even, PAT_TAULOP, PAT_NODE_MESSAGE, 2, 1000));
    /* 8 ranks: 1, 2, 4 messages at once; 5: 1, 2, 1; 2: one. */
    near(1.5 + 2 * (2 + 3 + 5), pat_node_us(&even, PAT_TAULOP, PAT_NODE_BINOMIAL, 8, 1000));
    near(1.5 + 2 * (2 + 3 + 2), pat_node_us(&even, PAT_TAULOP, PAT_NODE_BINOMIAL, 5, 1000));
    near(0.5 + 2 * 2, pat_node_us(&even, PAT_TAULOP, PAT_NODE_BINOMIAL, 2, 1000));
    near(3 * (0.5 + 2 * 5), pat_node_us(&even, PAT_TAULOP, PAT_NODE_RING, 4, 1000));
    near(1 + 2 * (5 + 7.5), pat_node_us(&even, PAT_TAULOP, PAT_NODE_DOUBLING, 4, 1000));
    near(1 + 2 * (3 + 3),
         pat_node_us(&even, PAT_TAULOP, PAT_NODE_SCATTER, 4, 1000)); /* 2000 alone, twice 1000 */
    near(3 * (0.5 + 2 * 2), pat_node_us(&even, PAT_LOGNP, PAT_NODE_RING, 4, 1000));
    near(3 * (0.5 + 2 * 2),
         pat_node_us(&even, PAT_LOGGP, PAT_NODE_RING, 4, 1000)); /* the points are on a line */
    near(1.5 + 6 * 2, pat_node_us(&even, PAT_LOGGP, PAT_NODE_BINOMIAL, 8, 1000));
    near(0, pat_node_us(&even, PAT_TAULOP, PAT_NODE_RING, 1, 1000));
}

/* Recursive doubling costs more than a scatter of as much, the more the more ranks. */
static void order(void **state)
{
    (void)state;
    for (int ranks = 2; ranks <= 64; ranks *= 2)
        for (int64_t bytes = 100; bytes < 1 << 20; bytes *= 3) {
            const double scatter = pat_node_us(&even, PAT_TAULOP, PAT_NODE_SCATTER, ranks, bytes);
            const double doubling = pat_node_us(&even, PAT_TAULOP, PAT_NODE_DOUBLING, ranks, bytes);
            assert_true(doubling > scatter);
            assert_true(doubling >= pat_node_us(&even, PAT_LOGNP, PAT_NODE_DOUBLING, ranks, bytes));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(transfers), cmocka_unit_test(sums),
                                       cmocka_unit_test(order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

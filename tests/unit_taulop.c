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

/* L(m, tau) = 1 + m/1000 alone, half as much again for every further one; whole messages, in two copies. */
static const pat_transfers even = {.copies = 2,
                                   .tree_degree = 2,
                                   .overhead_us = {0.5, 0.5, 0.5},
                                   .num_sizes = 3,
                                   .num_taus = 3,
                                   .bytes = {1000, 2000, 8000},
                                   .tau = {1, 2, 4},
                                   .us = {{2, 3, 9}, {3, 4.5, 13.5}, {5, 7.5, 22.5}},
                                   .num_alone = 3,
                                   .alone_bytes = {1000, 2000, 8000},
                                   .alone_us = {4.5, 6.5, 18.5}};

static void near(double expected, double got)
{
    if (!(fabs(expected - got) < 1e-9 * (1 + fabs(expected))))
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
    near(0, pat_node_us(&even, PAT_TAULOP, PAT_NODE_RING, 1, 1000));
}

/* The two models that know only of messages measured alone; the points are on a line. */
static void others(void **state)
{
    (void)state;
    for (int model = PAT_LOGGP; model <= PAT_LOGNP; model++) {
        near(3 * 4.5, pat_node_us(&even, (enum pat_node_model)model, PAT_NODE_RING, 4, 1000));
        near(4.5 + 6.5, pat_node_us(&even, (enum pat_node_model)model, PAT_NODE_SCATTER, 4, 1000));
        near(3 * 10.5, pat_node_us(&even, (enum pat_node_model)model, PAT_NODE_BINOMIAL, 8, 4000));
        near(4 * 4.5,
             pat_node_us(&even, (enum pat_node_model)model, PAT_NODE_TREE, 8, 1000)); /* four levels */
    }
    /* Segments of 2000: 2.5 + m/500 for one, 3 more for every further one. */
    const pat_transfers s = {.segment_bytes = 2000,
                             .num_alone = 4,
                             .alone_bytes = {1000, 2000, 4000, 8000},
                             .alone_us = {4.5, 6.5, 9.5, 15.5}};
    near(4.5, pat_node_us(&s, PAT_LOGGP, PAT_NODE_MESSAGE, 2, 1000));
    near(12.5, pat_node_us(&s, PAT_LOGGP, PAT_NODE_MESSAGE, 2, 6000));
    near(3 * 3, pat_node_us(&s, PAT_LOGGP, PAT_NODE_STREAM, 2, 6000)); /* no latency between them */
    near(12.5, pat_node_us(&s, PAT_LOGNP, PAT_NODE_STREAM, 2, 6000));
}

/* The source's equations, with four segments of 1000 bytes: L is 2, 3, 5 with 1, 2, 4 at once. */
static void segments(void **state)
{
    (void)state;
    pat_transfers t = even;
    t.segment_bytes = 1000;
    const double o = 0.5;
    near(o + 2 * 2 + 3 * 3, pat_node_us(&t, PAT_TAULOP, PAT_NODE_MESSAGE, 2, 4000)); /* 10 */
    near(o + 2 * 5, pat_node_us(&t, PAT_TAULOP_WHOLE, PAT_NODE_MESSAGE, 2, 4000));   /* 11 */
    near(2 * o + 2 * 2 + 3 * 3 + 2 * 3 + 3 * 5,
         pat_node_us(&t, PAT_TAULOP, PAT_NODE_BINOMIAL, 4, 4000));                                /* 14 */
    near(3 * (o + 2 * 4 * 5), pat_node_us(&t, PAT_TAULOP, PAT_NODE_RING, 4, 4000));               /* 17, 21 */
    near(2 * o + 2 * (4 + 8) * 5, pat_node_us(&t, PAT_TAULOP, PAT_NODE_DOUBLING, 4, 4000));       /* 18 */
    near(o + 4 * 3, pat_node_us(&t, PAT_TAULOP, PAT_NODE_STREAM, 2, 4000));                       /* 22 */
    near(2 * o + 8 * 3 + 4 * 5, pat_node_us(&t, PAT_TAULOP_AGAIN, PAT_NODE_SCATTER, 4, 4000));    /* 23 */
    near(2 * o + 2 * (4 + 8) * 5, pat_node_us(&t, PAT_TAULOP_AGAIN, PAT_NODE_DOUBLING, 4, 4000)); /* 24 */
    near(o + 2 * 1.75 + 2.625, pat_node_us(&t, PAT_TAULOP, PAT_NODE_MESSAGE, 2, 1500)); /* two of 750 */
    /* Straight from one rank to the other, whole and in segments. */
    pat_transfers straight = even;
    straight.copies = 1;
    near(o + 5, pat_node_us(&straight, PAT_TAULOP, PAT_NODE_MESSAGE, 2, 4000));
    near(3 * (o + 5), pat_node_us(&straight, PAT_TAULOP, PAT_NODE_RING, 4, 1000));
    straight.segment_bytes = 1000;
    near(o + 4 * 2, pat_node_us(&straight, PAT_TAULOP, PAT_NODE_MESSAGE, 2, 4000));
}

/* o(m) steps up where the sender begins to ask the receiver first. */
static void overhead(void **state)
{
    (void)state;
    pat_transfers t = even;
    t.protocol_us = 7;
    t.threshold_bytes = 2000;
    near(0.5, pat_overhead_us(&t, 1999, 1));
    near(7.5, pat_overhead_us(&t, 2000, 4));
    near(7.5 + 2 * 3, pat_node_us(&t, PAT_TAULOP, PAT_NODE_MESSAGE, 2, 2000));
    near(0.5 + 2 * 5 + 7.5 + 2 * 7.5, pat_node_us(&t, PAT_TAULOP, PAT_NODE_DOUBLING, 4, 1000));
    t.threshold_bytes = 0;
    near(0.5, pat_overhead_us(&t, 1 << 30, 1));
    /* Ranks that share cores wait for one, the longer the more there are. */
    t.overhead_us[2] = 4.5;
    near(2.5, pat_overhead_us(&t, 1000, 3));
    near(3 * (4.5 + 2 * 5), pat_node_us(&t, PAT_TAULOP, PAT_NODE_RING, 4, 1000));
    near(0.5 + 2 * 2 + 0.5 + 2 * 3, pat_node_us(&t, PAT_TAULOP, PAT_NODE_BINOMIAL, 4, 1000));
}

/* The tree of figure 14: 8 ranks, degree 2, four segments. Every number of copies at once has a decimal place of its own. */
static void tree(void **state)
{
    (void)state;
    const pat_transfers t = {.segment_bytes = 1000,
                             .tree_degree = 2,
                             .num_sizes = 1,
                             .num_taus = 8,
                             .bytes = {1000},
                             .tau = {1, 2, 3, 4, 5, 6, 7, 8},
                             .us = {{1}, {10}, {100}, {1000}, {10000}, {1e5}, {1e6}, {1e7}}};
    near(3013111, pat_node_us(&t, PAT_TAULOP, PAT_NODE_TREE, 8, 4000)); /* 1, 2, 4, 7, 4, 7, 4, 7, 3, 5 */
    near(1 + 2 * 100 + 10,
         pat_node_us(&t, PAT_TAULOP, PAT_NODE_TREE, 3, 3000)); /* nobody but the root passes on: 1, 3, 3, 2 */
    near(0, pat_node_us(&t, PAT_TAULOP, PAT_NODE_TREE, 1, 4000));
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
    /* Twice as much and more where messages follow one another (equations 23 and 24). */
    pat_transfers t = even;
    t.overhead_us[0] = t.overhead_us[1] = t.overhead_us[2] = 0;
    t.segment_bytes = 1000;
    for (int ranks = 4; ranks <= 64; ranks *= 2)
        assert_true(pat_node_us(&t, PAT_TAULOP_AGAIN, PAT_NODE_DOUBLING, ranks, 8000) >
                    2 * pat_node_us(&t, PAT_TAULOP_AGAIN, PAT_NODE_SCATTER, ranks, 8000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(transfers), cmocka_unit_test(sums),
                                       cmocka_unit_test(others),    cmocka_unit_test(segments),
                                       cmocka_unit_test(overhead),  cmocka_unit_test(tree),
                                       cmocka_unit_test(order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

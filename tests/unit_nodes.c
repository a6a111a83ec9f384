/*
 * unit_nodes.c — the order in which a ring visits ranks: node by node whatever the numbering, by number where that is as good;
 * and plans that bring no block to a node more often than they must.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <mpi.h>

#include "algorithms.h"
#include "nodes.h"

static void expect_order(const int *node_of, int count, bool sorted, const int *expected)
{
    int order[64];
    assert_int_equal(pat_nodes_order(node_of, count, order), sorted);
    for (int i = 0; i < count; i++)
        assert_int_equal(order[i], expected[i]);
}

static void by_number_where_that_is_as_good(void **state)
{
    (void)state;
    static const int number[] = {0, 1, 2, 3, 4, 5};
    expect_order((const int[]){0, 1, 2, 3, 4, 5}, 6, false, number); /* one rank a node */
    expect_order((const int[]){0, 0, 0, 0, 0, 0}, 6, false, number); /* one node */
    expect_order((const int[]){0, 0, 0, 3, 3, 3}, 6, false, number); /* node by node */
    expect_order((const int[]){3, 3, 3, 0, 0, 0}, 6, false, number); /* in another order of nodes */
    expect_order((const int[]){0, 0, 2, 2, 2, 0}, 6, false, number); /* the ring closes inside a node */
    expect_order((const int[]){7}, 1, false, number);
}

static void sorted_where_numbers_go_across(void **state)
{
    (void)state;
    expect_order((const int[]){0, 1, 0, 1, 0, 1}, 6, true, (const int[]){0, 2, 4, 1, 3, 5});
    expect_order((const int[]){2, 0, 0, 2, 1, 2}, 6, true, (const int[]){1, 2, 4, 0, 3, 5});
    expect_order((const int[]){0, 1, 0, 1}, 4, true, (const int[]){0, 2, 1, 3});
}

static void expect_sizes(const int *node_of, int count, int fewest, int most)
{
    int scratch[6];
    const pat_nodes_sizes sizes = pat_nodes_count(node_of, count, scratch);
    assert_int_equal(sizes.fewest, fewest);
    assert_int_equal(sizes.most, most);
}

static void fewest_and_most_of_all_nodes(void **state)
{
    (void)state;
    expect_sizes((const int[]){0, 1, 0, 1, 0, 1}, 6, 3, 3);
    expect_sizes((const int[]){2, 0, 0, 2, 1, 2}, 6, 1, 3);
    expect_sizes((const int[]){4, 4, 0, 0, 0, 4}, 6, 3, 3);
    expect_sizes((const int[]){3, 3, 3, 3}, 4, 4, 4);
    expect_sizes((const int[]){2, 0, 1}, 3, 1, 1);
    expect_sizes((const int[]){0}, 1, 1, 1);
}

static void expect_placing(const int *node_of, int count, int ranks_per_node, enum pat_numbering numbering)
{
    int scratch[6];
    const pat_placing placing = pat_nodes_placing(node_of, count, scratch);
    assert_int_equal(placing.ranks, count);
    assert_int_equal(placing.ranks_per_node, ranks_per_node);
    assert_int_equal(placing.numbering, numbering);
}

static void placed(void **state)
{
    (void)state;
    expect_placing((const int[]){4, 4, 0, 0, 5, 5}, 6, 2, PAT_NODE_BY_NODE);
    expect_placing((const int[]){7, 3, 5, 7, 3, 5}, 6, 2, PAT_ACROSS_NODES);
    expect_placing((const int[]){0, 1, 2, 1, 2, 0}, 6, 2, PAT_ANOTHER_ORDER);
    expect_placing((const int[]){0, 1, 0, 1, 0}, 5, 0, PAT_ACROSS_NODES);
    expect_placing((const int[]){2, 0, 1}, 3, 1, PAT_NODE_BY_NODE);
    expect_placing((const int[]){3, 3, 3, 3}, 4, 4, PAT_NODE_BY_NODE);
}

static void numbers_within_nodes(void **state)
{
    static const int node_of[] = {0, 1, 0, 1, 4, 0}, expected[] = {0, 0, 1, 1, 0, 2};
    int numbers[6];
    (void)state;
    pat_nodes_number(node_of, 6, numbers);
    assert_memory_equal(numbers, expected, sizeof(expected));
}

/* How many bytes of a plan go from one node to another. */
static int64_t bytes_across(const char *name, const int *node_of, int num_ranks, const int *order,
                            const int *node_at)
{
    int64_t bytes = 0;
    const int64_t arrival_ns[64] = {0, 5000, 0, 90000};
    for (int r = 0; r < num_ranks; r++) {
        pat_plan plan;
        pat_job job = {.num_ranks = num_ranks,
                       .block_bytes = 1000,
                       .element_bytes = 1,
                       .order = order,
                       .node_of = node_at,
                       .arrival_ns = arrival_ns,
                       .tau_ns = 1000,
                       .alpha_ns = 100,
                       .beta_ps = 900};
        assert_int_equal(pat_algorithm_plan(pat_algorithm_find(name), &job, r, &plan), 0);
        for (int i = 0; i < plan.num_nodes; i++)
            if (plan.nodes[i].kind == PAT_NODE_SEND && node_of[r] != node_of[plan.nodes[i].peer])
                bytes += plan.nodes[i].length;
        pat_plan_free(&plan);
    }
    return bytes;
}

static void a_ring_crosses_once_a_node(void **state)
{
    (void)state;
    enum { NODES = 4, PER_NODE = 4, RANKS = NODES * PER_NODE };
    int node_of[RANKS], order[RANKS];
    for (int r = 0; r < RANKS; r++)
        node_of[r] = r % NODES;
    assert_true(pat_nodes_order(node_of, RANKS, order));
    assert_int_equal(bytes_across("ring", node_of, RANKS, NULL, NULL), RANKS * (RANKS - 1) * 1000);
    assert_int_equal(bytes_across("ring", node_of, RANKS, order, NULL), NODES * (RANKS - 1) * 1000);
    assert_true(bytes_across("bdr", node_of, RANKS, order, NULL) <
                bytes_across("bdr", node_of, RANKS, NULL, NULL));
}

/* Whatever the numbering, each node sends the others a sum of every part, and gets one of each of its own: the ranks of a node have joined theirs before. */
static void halving_joins_inside_nodes_first(void **state)
{
    static const int maps[][9] = {{0, 0, 0, 3, 3, 3, 6, 6, 6},
                                  {0, 1, 2, 0, 1, 2, 0, 1, 2},
                                  {4, 1, 1, 4, 0, 4, 0, 1, 0},
                                  {2, 0, 0, 0, 1, 1, 1, 2, 2}};
    enum { RANKS = 9, NODES = 3 };
    (void)state;
    for (size_t m = 0; m < sizeof(maps) / sizeof(maps[0]); m++) {
        int order[RANKS], node_at[RANKS];
        const bool sorted = pat_nodes_order(maps[m], RANKS, order);
        for (int i = 0; i < RANKS; i++)
            node_at[i] = maps[m][order[i]];
        const int *visits = sorted ? order : NULL;
        assert_int_equal(bytes_across("reduce_scatter_halving", maps[m], RANKS, visits, node_at),
                         RANKS * (NODES - 1) * 1000);
        assert_int_equal(bytes_across("allreduce_halving", maps[m], RANKS, visits, node_at),
                         2 * (NODES - 1) * 1000);
    }
}

/* Whatever the numbering, and with different numbers of ranks: each node takes in every block of the others once. */
static void relay_brings_a_block_to_a_node_once(void **state)
{
    static const int maps[][9] = {{0, 0, 0, 3, 3, 3, 6, 6, 6},
                                  {0, 1, 2, 0, 1, 2, 0, 1, 2},
                                  {0, 1, 1, 1, 0, 5, 5, 1, 1},
                                  {0, 0, 0, 0, 0, 0, 0, 0, 0}};
    (void)state;
    for (size_t m = 0; m < sizeof(maps) / sizeof(maps[0]); m++) {
        int nodes = 0, numbers[9];
        pat_nodes_number(maps[m], 9, numbers);
        for (int r = 0; r < 9; r++)
            nodes += numbers[r] == 0;
        /* Every block goes to all nodes but its own; also where a ring would visit ranks in another order. */
        int order[9], by_place[9];
        pat_nodes_order(maps[m], 9, order);
        for (int i = 0; i < 9; i++)
            by_place[i] = maps[m][order[i]];
        assert_int_equal(bytes_across("relay", maps[m], 9, NULL, maps[m]), 9 * (nodes - 1) * 1000);
        assert_int_equal(bytes_across("relay", maps[m], 9, order, by_place), 9 * (nodes - 1) * 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewest_and_most_of_all_nodes),
        cmocka_unit_test(placed),
        cmocka_unit_test(numbers_within_nodes),
        cmocka_unit_test(by_number_where_that_is_as_good),
        cmocka_unit_test(sorted_where_numbers_go_across),
        cmocka_unit_test(a_ring_crosses_once_a_node),
        cmocka_unit_test(halving_joins_inside_nodes_first),
        cmocka_unit_test(relay_brings_a_block_to_a_node_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * unit_reduce.c — the checker on plans that reduce: all-reduces that are wrong in one place are refused for the right reason.
 * That the right ones are accepted is shown by unit_allreduce.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "hand_made.h"

enum { MOST_RANKS = 70, ELEMENT = 8 };

static const pat_collective reduce = {.all_give = true, .reduces = true};

static pat_plan plans[MOST_RANKS];

/* Plans that can still be added to. */
static void build(const char *name, int num_ranks, int64_t elements)
{
    const pat_job job = {.num_ranks = num_ranks, .block_bytes = elements * ELEMENT, .element_bytes = ELEMENT};
    for (int r = 0; r < num_ranks; r++) {
        pat_plan_init(&plans[r], num_ranks, r, job.block_bytes);
        pat_plan_reduces(&plans[r], ELEMENT);
        pat_algorithm_find(name)->build(&plans[r], &job, r);
    }
}

static void test_more_ranks_than_bits(void **state)
{
    (void)state;
    build("allreduce_doubling", 70, 3);
    finish_plans(plans, 70);
    expect_plans(plans, 70, pat_collective_of(PAT_OP_ALLREDUCE), NULL);
    build("allreduce_doubling", 70, 3);
    finish_plans(plans, 70);
    for (int i = 0; i < plans[69].num_nodes; i++)
        if (plans[69].nodes[i].kind == PAT_NODE_REDUCE)
            plans[69].nodes[i].kind = PAT_NODE_COPY;
    expect_plans(plans, 70, pat_collective_of(PAT_OP_ALLREDUCE), "ends without the contribution of rank");
}

/* ---- Two ranks, in which one thing is wrong ---- */

enum { COPY = 1, SEND, RECV, REDUCE, SETTLE, VECTOR = 3 * ELEMENT };

/* Every rank's node has the number that the names above say. Rank 0 sums in its scratch and copies that. */
static void pair(void)
{
    build("allreduce_doubling", 2, VECTOR / ELEMENT);
    for (int r = 0; r < 2; r++) {
        assert_int_equal(plans[r].nodes[REDUCE].kind, PAT_NODE_REDUCE);
    }
    assert_int_equal(plans[0].nodes[SETTLE].kind, PAT_NODE_COPY);
}

static void remove_edge(pat_plan *plan, int from, int to)
{
    for (int e = 0; e < plan->num_edges; e++)
        if (plan->edges[e].from == from && plan->edges[e].to == to) {
            plan->edges[e] = plan->edges[--plan->num_edges];
            return;
        }
    fail_msg("no edge from %d to %d", from, to);
}

static void test_missing_edges(void **state)
{
    static const struct {
        int rank, from, to;
        const char *reason;
    } edges[] = {
        {1, RECV, REDUCE,
         "rank 1, node 4 (REDUCE of scratch bytes 0 to 23 to bytes 0 to 23, step 2): scratch byte 0 need "
         "not"},
        {1, SEND, REDUCE, "byte 0 is overwritten, but may still be read by node 2"},
        {0, RECV, REDUCE, "scratch byte 0 need not be here by then"},
        {0, REDUCE, SETTLE,
         "node 5 (COPY of scratch bytes 0 to 23 to bytes 0 to 23, step 3): scratch byte 0 need not be here"},
        {0, 0, COPY, "node 1 (COPY of own bytes 0 to 23 to bytes 0 to 23, step 0): does not wait for ARRIVE"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
        pair();
        remove_edge(&plans[edges[i].rank], edges[i].from, edges[i].to);
        finish_plans(plans, 2);
        expect_plans(plans, 2, pat_collective_of(PAT_OP_ALLREDUCE), edges[i].reason);
    }
}

static void swap_operands(pat_node *n)
{
    const pat_address from = n->from;
    n->from = n->to;
    n->to = from;
}

/* What is summed is right, but rank 1 takes its own vector as the left operand: other bits, if rounding says so. */
static void test_wrong_order(void **state)
{
    (void)state;
    pair();
    swap_operands(&plans[1].nodes[REDUCE]);
    const int settle = pat_plan_copy(&plans[1], plans[1].nodes[REDUCE].to, pat_result(0), VECTOR);
    pat_plan_after(&plans[1], settle, REDUCE);
    finish_plans(plans, 2);
    expect_plans(plans, 2, pat_collective_of(PAT_OP_ALLREDUCE),
                 "rank 1 joins byte 0 in another order than rank 0");
    /* Where only rank 0 gets the result, its order is right whatever it is. */
    pair();
    finish_plans(plans, 2);
    plans[1].nodes[REDUCE].length = ELEMENT;
    expect_plans(plans, 2, &reduce, NULL);
}

static void test_wrong_operands(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 11; wrong++) {
        const char *reason = NULL;
        pair();
        pat_node *nodes = plans[1].nodes;
        switch (wrong) {
        case 0:
            nodes[REDUCE].kind = PAT_NODE_COPY;
            reason = "rank 1 ends without the contribution of rank 1 in byte 0";
            break;
        case 1:
            nodes[REDUCE].length = 2 * ELEMENT;
            reason = "rank 1 ends without the contribution of rank 0 in byte 16";
            break;
        case 2: /* rank 1's own vector a second time */
            nodes[REDUCE].from = pat_own(0);
            reason = "byte 0 has the contribution of rank 1 already";
            break;
        case 3:
            nodes[REDUCE].from.offset = ELEMENT;
            nodes[REDUCE].length = 2 * ELEMENT;
            reason = "byte 0 is joined with another byte, 8 and not 0";
            break;
        case 4:
            nodes[REDUCE].to = pat_own(0);
            reason = "rank 1, node 4: writes what the rank contributes";
            break;
        case 5:
            nodes[REDUCE].length = ELEMENT + 1;
            reason = "rank 1, node 4: offset 0, length 9 cuts an element of 8 bytes";
            break;
        case 6:
            nodes[REDUCE].to = (pat_address){PAT_SPACE_SCRATCH, ELEMENT};
            reason = "rank 1, node 4: offset 8, length 24 is outside the scratch's 24 bytes";
            break;
        case 7:
            nodes[REDUCE].to = nodes[REDUCE].from;
            reason = "rank 1, node 4: writes bytes that it reads";
            break;
        case 8:
            nodes[RECV].to = pat_result(0);
            reason =
                "rank 1, node 3 (RECV bytes 0 to 23 from 0, step 1): byte 0 is overwritten, but may still be "
                "read by node 2";
            break;
        case 9:
            plans[1].element_bytes = 2 * ELEMENT;
            reason = "rank 1: its elements have 16 bytes, those of rank 0 8";
            break;
        case 10:
            nodes[COPY].to = (pat_address){PAT_SPACE_SCRATCH, 0};
            reason = "byte 0 need not be here by then";
            break;
        }
        finish_plans(plans, 2);
        expect_plans(plans, 2, pat_collective_of(PAT_OP_ALLREDUCE), reason);
    }
}

/* Scratch that is used again must have been read: in the ring it is, every second step. */
static void test_scratch_used_too_soon(void **state)
{
    (void)state;
    build("allreduce_ring", 4, 9);
    int e = 0;
    while (plans[2].nodes[plans[2].edges[e].from].kind != PAT_NODE_REDUCE ||
           plans[2].nodes[plans[2].edges[e].to].kind != PAT_NODE_RECV)
        e++;
    plans[2].edges[e] = plans[2].edges[--plans[2].num_edges];
    finish_plans(plans, 4);
    expect_plans(plans, 4, pat_collective_of(PAT_OP_ALLREDUCE),
                 "scratch byte 0 is written in no fixed order with node");
}

static void test_other_collectives(void **state)
{
    (void)state;
    pair();
    finish_plans(plans, 2);
    expect_plans(plans, 2, pat_collective_of(PAT_OP_ALLGATHER), "REDUCE, but nothing is to be reduced");
    pair();
    finish_plans(plans, 2);
    expect_plans(plans, 2, &reduce, NULL);
    pair();
    pat_plan_carry_arrivals(&plans[0]);
    pat_plan_carry_arrivals(&plans[1]);
    finish_plans(plans, 2);
    expect_plans(plans, 2, pat_collective_of(PAT_OP_ALLREDUCE), "it reduces blocks that carry arrival times");
    /* What all but rank 0 have is nobody's business in a reduction to it. */
    build("allreduce_doubling", 3, 1);
    finish_plans(plans, 3);
    expect_plans(plans, 3, &reduce, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_ranks_than_bits),  cmocka_unit_test(test_missing_edges),
        cmocka_unit_test(test_wrong_order),           cmocka_unit_test(test_wrong_operands),
        cmocka_unit_test(test_scratch_used_too_soon), cmocka_unit_test(test_other_collectives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

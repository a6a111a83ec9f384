/*
 * unit_plan.c — the plan API: numbering, steps, early nodes, errors that stick.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plan.h"

static bool has_edge(const pat_plan *plan, int from, int to)
{
    for (int e = 0; e < plan->num_edges; e++)
        if (plan->edges[e].from == from && plan->edges[e].to == to)
            return true;
    return false;
}

static void one_rank(void **state)
{
    (void)state;
    pat_plan plan;
    pat_plan_init(&plan, 1, 0, 100);
    int arrive = pat_plan_arrive(&plan);
    int copy = pat_plan_copy(&plan, pat_own(0), pat_result(0), 100);
    pat_plan_after(&plan, copy, arrive);
    assert_int_equal(pat_plan_finish(&plan), 0);
    assert_int_equal(plan.num_nodes, 2);
    assert_int_equal(plan.num_early, 0);
    assert_int_equal(plan.num_preds[arrive], 0);
    assert_int_equal(plan.num_preds[copy], 1);
    assert_int_equal(plan.succ_at[arrive], 0);
    assert_int_equal(plan.succ_at[copy], 1);
    assert_int_equal(plan.succ_at[2], 1);
    assert_int_equal(plan.succ[0], copy);
    assert_int_equal(pat_plan_recv_bytes(&plan, NULL), 0);
    pat_plan_free(&plan);
    assert_null(plan.nodes);
    pat_plan_free(&plan); /* harmless */
}

static void nodes_and_match_numbers(void **state)
{
    (void)state;
    pat_plan plan;
    pat_plan_init(&plan, 3, 1, 10);
    assert_int_equal(pat_plan_arrive(&plan), 0);
    assert_int_equal(pat_plan_send(&plan, 0, 10, 10), 1);
    assert_int_equal(pat_plan_send(&plan, 2, 10, 10), 2);
    assert_int_equal(pat_plan_signal(&plan, 0), 3);
    assert_int_equal(pat_plan_recv(&plan, 0, 0, 4), 4);
    assert_int_equal(pat_plan_await(&plan, 0), 5);
    assert_int_equal(pat_plan_recv(&plan, 0, 4, 6), 6);
    assert_int_equal(pat_plan_finish(&plan), 0);
    static const int match[] = {-1, 0, 0, 1, 0, 1, 2};
    static const int peer[] = {-1, 0, 2, 0, 0, 0, 0};
    for (int i = 0; i < plan.num_nodes; i++) {
        assert_int_equal(plan.nodes[i].match, match[i]);
        assert_int_equal(plan.nodes[i].peer, peer[i]);
        assert_int_equal(plan.nodes[i].step, PAT_STEP_FREE);
    }
    assert_true(plan.has_control);
    assert_int_equal(plan.nodes[3].kind, PAT_NODE_SEND);
    assert_int_equal(plan.nodes[3].length, 0);
    assert_int_equal(plan.nodes[5].kind, PAT_NODE_RECV);
    assert_int_equal(pat_node_address(&plan.nodes[6]).offset, 4);
    assert_int_equal(plan.nodes[6].length, 6);
    pat_plan_free(&plan);
}

/* Scratch grows as it is asked for; both ends of a message are named, each on its own rank. */
static void addresses(void **state)
{
    (void)state;
    pat_plan plan;
    pat_plan_init(&plan, 2, 0, 10);
    pat_plan_arrive(&plan);
    pat_address first = pat_plan_scratch(&plan, 10), second = pat_plan_scratch(&plan, 6);
    assert_int_equal(first.offset, 0);
    assert_int_equal(second.offset, 10);
    assert_int_equal(plan.scratch_bytes, 16);
    const pat_node *send = &plan.nodes[pat_plan_send_from(&plan, 1, pat_own(4), 6)];
    assert_int_equal(pat_node_address(send).space, PAT_SPACE_OWN);
    assert_int_equal(pat_node_address(send).offset, 4);
    const pat_node *recv = &plan.nodes[pat_plan_recv_to(&plan, 1, second, 6)];
    assert_int_equal(pat_node_address(recv).space, PAT_SPACE_SCRATCH);
    assert_int_equal(pat_node_address(recv).offset, 10);
    const pat_node *copy = &plan.nodes[pat_plan_copy(&plan, second, pat_result(14), 6)];
    assert_int_equal(copy->from.space, PAT_SPACE_SCRATCH);
    assert_int_equal(copy->to.space, PAT_SPACE_RESULT);
    assert_int_equal(copy->to.offset, 14);
    assert_int_equal(pat_plan_finish(&plan), 0);
    pat_plan_free(&plan);
}

/* The vector of 24 bytes is cut between its elements only; 0 accepts, and the others are wrong in one place. */
static void whole_elements_only(void **state)
{
    (void)state;
    for (int wrong = 0; wrong < 9; wrong++) {
        pat_plan plan;
        pat_plan_init(&plan, 2, 0, 24);
        pat_plan_reduces(&plan, wrong == 1 ? 0 : wrong == 2 ? 7 : 8);
        pat_plan_arrive(&plan);
        const pat_address in = pat_plan_scratch(&plan, wrong == 3 ? 9 : 16);
        pat_plan_recv_to(&plan, 1, in, wrong == 4 ? 4 : 16);
        pat_plan_reduce(&plan, in, pat_result(wrong == 5 ? 4 : 8), wrong == 6 ? 12 : 16);
        if (wrong == 7)
            pat_plan_fit(&plan, (int64_t[]){0, 24, 48}, NULL);
        if (wrong == 8)
            pat_plan_reorder(&plan, (int[]){1, 0});
        assert_int_equal(pat_plan_finish(&plan), wrong ? EINVAL : 0);
        if (!wrong) {
            assert_int_equal(plan.nodes[2].kind, PAT_NODE_REDUCE);
            assert_int_equal(plan.nodes[2].from.space, PAT_SPACE_SCRATCH);
            assert_int_equal(plan.nodes[2].to.offset, 8);
        }
        pat_plan_free(&plan);
    }
    for (int i = 0; i <= 4; i++) /* seven elements in four parts: 2, 2, 2, 1 */
        assert_int_equal(pat_cut(56, 8, 4, i), i < 4 ? 16 * i : 56);
    assert_int_equal(pat_cut(8, 8, 4, 1), 8);
    assert_int_equal(pat_cut(8, 8, 4, 4), 8);
}

/* Early is what ARRIVE does not lead to, over any number of edges. */
static void early_nodes(void **state)
{
    (void)state;
    pat_plan plan;
    pat_plan_init(&plan, 3, 0, 8);
    int first = pat_plan_recv(&plan, 1, 8, 8);
    int arrive = pat_plan_arrive(&plan);
    int copy = pat_plan_copy(&plan, pat_own(0), pat_result(0), 8);
    int forward = pat_plan_send(&plan, 2, 8, 8);
    int own = pat_plan_send(&plan, 2, 0, 8);
    int late = pat_plan_recv(&plan, 2, 16, 8);
    pat_plan_after(&plan, copy, arrive);
    pat_plan_after(&plan, forward, first);
    pat_plan_after(&plan, own, copy);
    pat_plan_after(&plan, late, own);
    pat_plan_after(&plan, late, -1); /* nothing to wait for */
    assert_int_equal(pat_plan_finish(&plan), 0);
    assert_true(plan.nodes[first].early);
    assert_true(plan.nodes[forward].early);
    assert_false(plan.nodes[arrive].early);
    assert_false(plan.nodes[copy].early);
    assert_false(plan.nodes[own].early);
    assert_false(plan.nodes[late].early);
    assert_int_equal(plan.num_early, 2);
    assert_false(plan.has_control);
    int64_t early_bytes = -1;
    assert_int_equal(pat_plan_recv_bytes(&plan, &early_bytes), 16);
    assert_int_equal(early_bytes, 8);

    /* Finishing again after a change of the edges sorts it all out anew. */
    plan.edges[3] = plan.edges[--plan.num_edges];
    assert_int_equal(pat_plan_finish(&plan), 0);
    assert_true(plan.nodes[late].early);
    assert_int_equal(plan.num_early, 3);
    assert_int_equal(plan.num_preds[late], 0);
    pat_plan_free(&plan);
}

static void steps(void **state)
{
    (void)state;
    pat_plan plan;
    pat_plan_init(&plan, 4, 0, 8);
    pat_plan_next_step(&plan);
    pat_plan_next_step(&plan); /* empty ones leave no trace, before, between and after */
    int early = pat_plan_recv(&plan, 1, 8, 8);
    pat_plan_in_step(&plan, early);
    pat_plan_next_step(&plan);
    int second = pat_plan_recv(&plan, 2, 16, 8);
    pat_plan_in_step(&plan, second);
    int arrive = pat_plan_arrive(&plan);
    int copy = pat_plan_copy(&plan, pat_own(0), pat_result(0), 8);
    pat_plan_in_step(&plan, arrive);
    pat_plan_in_step(&plan, copy);
    pat_plan_after(&plan, copy, arrive);
    pat_plan_next_step(&plan);
    pat_plan_next_step(&plan);
    int send = pat_plan_send(&plan, 1, 0, 8);
    int recv = pat_plan_recv(&plan, 3, 24, 8);
    pat_plan_in_step(&plan, send);
    pat_plan_in_step(&plan, recv);
    int loose = pat_plan_send(&plan, 3, 8, 8);
    pat_plan_after(&plan, loose, early);
    pat_plan_next_step(&plan);
    assert_int_equal(pat_plan_finish(&plan), 0);

    assert_int_equal(plan.nodes[early].step, 0);
    assert_int_equal(plan.nodes[second].step, 1);
    assert_int_equal(plan.nodes[arrive].step, 1);
    assert_int_equal(plan.nodes[copy].step, 1);
    assert_int_equal(plan.nodes[send].step, 2);
    assert_int_equal(plan.nodes[recv].step, 2);
    assert_int_equal(plan.nodes[loose].step, PAT_STEP_FREE);
    /* ARRIVE and its COPY wait for no message; who waits for the COPY does not wait for ARRIVE a second time.
     */
    assert_true(has_edge(&plan, early, second));
    assert_true(has_edge(&plan, arrive, copy));
    assert_true(has_edge(&plan, second, send) && has_edge(&plan, copy, send));
    assert_true(has_edge(&plan, second, recv) && has_edge(&plan, copy, recv));
    assert_true(has_edge(&plan, early, loose));
    assert_int_equal(plan.num_edges, 7);
    assert_true(plan.nodes[early].early && plan.nodes[second].early && plan.nodes[loose].early);
    assert_false(plan.nodes[recv].early);
    pat_plan_free(&plan);
}

/* Without ARRIVE in its group a COPY is a node like any other: it waits for the step before. */
static void copy_in_a_step_of_its_own(void **state)
{
    (void)state;
    pat_plan plan;
    pat_plan_init(&plan, 2, 0, 8);
    pat_plan_next_step(&plan);
    int arrive = pat_plan_arrive(&plan);
    pat_plan_in_step(&plan, arrive);
    pat_plan_next_step(&plan);
    int recv = pat_plan_recv(&plan, 1, 8, 8);
    pat_plan_in_step(&plan, recv);
    pat_plan_next_step(&plan);
    int copy = pat_plan_copy(&plan, pat_own(0), pat_result(0), 8);
    pat_plan_in_step(&plan, copy);
    assert_int_equal(pat_plan_finish(&plan), 0);
    assert_true(has_edge(&plan, arrive, recv) && has_edge(&plan, recv, copy));
    assert_int_equal(plan.num_edges, 2);
    assert_int_equal(plan.num_early, 0);
    pat_plan_free(&plan);
}

/* What a builder may get wrong, each in a plan that is otherwise good. */
static void wrong_send_to_self(pat_plan *plan)
{
    pat_plan_send(plan, 1, 8, 8);
}
static void wrong_peer(pat_plan *plan)
{
    pat_plan_recv(plan, 3, 0, 8);
}
static void wrong_negative_peer(pat_plan *plan)
{
    pat_plan_signal(plan, -1);
}
static void wrong_empty_message(pat_plan *plan)
{
    pat_plan_send(plan, 0, 8, 0);
}
static void wrong_negative_length(pat_plan *plan)
{
    pat_plan_recv(plan, 0, 0, -8);
}
static void wrong_offset(pat_plan *plan)
{
    pat_plan_send(plan, 0, -1, 8);
}
static void wrong_range(pat_plan *plan)
{
    pat_plan_recv(plan, 0, 20, 5);
}
static void wrong_huge_range(pat_plan *plan)
{
    pat_plan_recv(plan, 0, 20, INT64_MAX);
}
static void wrong_copy(pat_plan *plan)
{
    pat_plan_copy(plan, pat_own(0), pat_result(24), 1);
}
static void wrong_copy_of_too_much(pat_plan *plan)
{
    pat_plan_copy(plan, pat_own(1), pat_result(8), 8);
}
static void wrong_copy_to_own(pat_plan *plan)
{
    pat_plan_copy(plan, pat_result(8), pat_own(0), 8);
}
static void wrong_recv_to_own(pat_plan *plan)
{
    pat_plan_recv_to(plan, 0, pat_own(0), 8);
}
static void wrong_scratch_not_stated(pat_plan *plan)
{
    pat_address begin = pat_plan_scratch(plan, 8);
    begin.offset++;
    pat_plan_send_from(plan, 0, begin, 8);
}
static void wrong_scratch_size(pat_plan *plan)
{
    pat_plan_scratch(plan, -1);
}
static void wrong_reduce_without_elements(pat_plan *plan)
{
    pat_plan_reduce(plan, pat_own(0), pat_result(8), 8);
}
static void wrong_elements_too_late(pat_plan *plan)
{
    pat_plan_reduces(plan, 4);
}
static void wrong_copy_over_itself(pat_plan *plan)
{
    pat_plan_copy(plan, pat_result(0), pat_result(7), 8);
}
static void wrong_second_arrive(pat_plan *plan)
{
    pat_plan_arrive(plan);
}
static void wrong_edge_down(pat_plan *plan)
{
    int send = pat_plan_send(plan, 0, 8, 8);
    pat_plan_after(plan, send - 1, send);
}
static void wrong_edge_to_self(pat_plan *plan)
{
    int send = pat_plan_send(plan, 0, 8, 8);
    pat_plan_after(plan, send, send);
}
static void wrong_edge_to_nowhere(pat_plan *plan)
{
    pat_plan_after(plan, 99, 0);
}
static void wrong_arrive_waits(pat_plan *plan)
{
    plan->num_nodes = 0;
    int recv = pat_plan_recv(plan, 0, 0, 8);
    int arrive = pat_plan_arrive(plan);
    pat_plan_after(plan, arrive, recv);
}
static void wrong_no_arrive(pat_plan *plan)
{
    plan->num_nodes = 0;
    pat_plan_recv(plan, 0, 0, 8);
}
static void wrong_no_step_open(pat_plan *plan)
{
    pat_plan_in_step(plan, 0);
}
static void wrong_two_steps(pat_plan *plan)
{
    int send = pat_plan_send(plan, 0, 8, 8);
    pat_plan_next_step(plan);
    pat_plan_in_step(plan, send);
    pat_plan_next_step(plan);
    pat_plan_in_step(plan, send);
}

static void errors_stick(void **state)
{
    (void)state;
    static void (*const wrong[])(pat_plan *) = {
        wrong_send_to_self,
        wrong_peer,
        wrong_negative_peer,
        wrong_empty_message,
        wrong_negative_length,
        wrong_offset,
        wrong_range,
        wrong_huge_range,
        wrong_copy,
        wrong_copy_of_too_much,
        wrong_copy_to_own,
        wrong_recv_to_own,
        wrong_scratch_not_stated,
        wrong_scratch_size,
        wrong_reduce_without_elements,
        wrong_elements_too_late,
        wrong_copy_over_itself,
        wrong_second_arrive,
        wrong_edge_down,
        wrong_edge_to_self,
        wrong_no_arrive,
        wrong_edge_to_nowhere,
        wrong_arrive_waits,
        wrong_no_step_open,
        wrong_two_steps,
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        pat_plan plan;
        pat_plan_init(&plan, 3, 1, 8);
        pat_plan_arrive(&plan);
        wrong[i](&plan);
        bool noticed_at_once = plan.error != 0;
        int more = pat_plan_recv(&plan, 2, 16, 8);
        assert_true(noticed_at_once ? more == -1 : more >= 0);
        if (pat_plan_finish(&plan) != EINVAL)
            fail_msg("wrong use %zu was accepted", i);
        assert_int_equal(pat_plan_finish(&plan), EINVAL);
        pat_plan_free(&plan);
    }
}

static void impossible_plans(void **state)
{
    (void)state;
    static const struct {
        int num_ranks, rank;
        int64_t block_bytes;
    } bad[] = {{0, 0, 8}, {-1, 0, 8}, {4, 4, 8}, {4, -1, 8}, {4, 0, -1}, {4, 0, INT64_MAX / 2}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pat_plan plan;
        pat_plan_init(&plan, bad[i].num_ranks, bad[i].rank, bad[i].block_bytes);
        assert_int_equal(pat_plan_arrive(&plan), -1);
        assert_int_equal(pat_plan_send(&plan, 0, 0, 1), -1);
        pat_plan_next_step(&plan);
        assert_int_equal(pat_plan_finish(&plan), EINVAL);
        pat_plan_free(&plan);
    }
}

static void nothing_after_finish(void **state)
{
    (void)state;
    pat_plan plan;
    pat_plan_init(&plan, 2, 0, 8);
    pat_plan_arrive(&plan);
    assert_int_equal(pat_plan_finish(&plan), 0);
    assert_int_equal(pat_plan_send(&plan, 1, 0, 8), -1);
    assert_int_equal(pat_plan_finish(&plan), EINVAL);
    pat_plan_free(&plan);
}

/* Rank 1 of four: what is named of each block is cut to what the block has, and a message of nothing is gone on both sides. */
static void blocks_of_different_lengths(void **state)
{
    (void)state;
    const int64_t starts[] = {0, 10, 10, 14, 17};
    pat_plan plan;
    pat_plan_init(&plan, 4, 1, 10);
    int arrive = pat_plan_arrive(&plan);
    int copy = pat_plan_copy(&plan, pat_own(0), pat_result(10), 10);
    int own = pat_plan_send(&plan, 2, 10, 10);
    int whole = pat_plan_send(&plan, 2, 0, 40);
    int front = pat_plan_recv(&plan, 0, 20, 6), rest = pat_plan_recv(&plan, 0, 26, 4);
    int over_an_edge = pat_plan_recv(&plan, 0, 25, 7);
    int signal = pat_plan_signal(&plan, 2);
    pat_plan_carry_arrivals(&plan);
    pat_plan_after(&plan, copy, arrive);
    pat_plan_after(&plan, own, copy);
    pat_plan_after(&plan, signal, own);
    pat_plan_fit(&plan, starts, NULL);
    assert_int_equal(pat_plan_finish(&plan), 0);
    assert_int_equal(plan.nodes[copy].length, 0);
    assert_int_equal(plan.nodes[own].kind, PAT_NODE_NONE);
    assert_int_equal(plan.num_preds[signal], 1); /* what waited for it waits on */
    assert_int_equal(plan.nodes[whole].match, 0);
    assert_int_equal(pat_node_address(&plan.nodes[whole]).offset, 0);
    assert_int_equal(plan.nodes[whole].length, 17);
    assert_int_equal(pat_node_address(&plan.nodes[front]).offset, 10);
    assert_int_equal(plan.nodes[front].length, 4);
    assert_int_equal(plan.nodes[rest].kind, PAT_NODE_NONE);
    assert_int_equal(pat_node_address(&plan.nodes[over_an_edge]).offset, 14);
    assert_int_equal(plan.nodes[over_an_edge].length, 2);
    assert_int_equal(plan.nodes[over_an_edge].match, 1);
    assert_int_equal(plan.nodes[signal].kind, PAT_NODE_SEND);
    assert_int_equal(plan.nodes[signal].match, 1);
    assert_false(plan.carries); /* rank 1's has no last byte to go with */
    static const int of[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 3};
    for (int i = 0; i < 17; i++)
        assert_int_equal(pat_plan_block_of(&plan, i), of[i]);
    pat_plan_fit(&plan, starts, NULL);
    assert_int_equal(pat_plan_finish(&plan), EINVAL);
    pat_plan_free(&plan);
}

static void impossible_lengths(void **state)
{
    (void)state;
    static const int64_t bad[][3] = {{1, 5, 9}, {0, 9, 10}, {0, 5, 4}, {-5, 0, 5}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pat_plan plan;
        pat_plan_init(&plan, 2, 0, 8);
        pat_plan_arrive(&plan);
        pat_plan_fit(&plan, bad[i], NULL);
        assert_int_equal(pat_plan_finish(&plan), EINVAL);
        pat_plan_free(&plan);
    }
}

/* Rank 1 of three, of which rank 0 gets four bytes, and rank 2 none; what it keeps, and what rank 2 sends, is longer than for others. */
static void blocks_for_each_rank_of_different_lengths(void **state)
{
    (void)state;
    const int64_t sent[] = {0, 4, 11, 11}, got[] = {0, 0, 7, 19};
    for (int wrong = 0; wrong < 3; wrong++) {
        pat_plan plan;
        pat_plan_init(&plan, 3, 1, 12);
        if (wrong != 1)
            pat_plan_personal(&plan);
        const int arrive = pat_plan_arrive(&plan);
        const int copy = pat_plan_copy(&plan, pat_own(wrong == 1 ? 0 : 12), pat_result(12), 12);
        int sends[2] = {-1, -1};
        if (wrong != 1) {
            sends[0] = pat_plan_send_from(&plan, 0, pat_own(0), 12);
            sends[1] = pat_plan_send_from(&plan, 2, pat_own(24), 12);
        }
        const int none = pat_plan_recv_to(&plan, 0, pat_result(0), 12);
        const int front = pat_plan_recv_to(&plan, 2, pat_result(24), 5),
                  rest = pat_plan_recv_to(&plan, 2, pat_result(29), 7);
        pat_plan_after(&plan, copy, arrive);
        pat_plan_fit(&plan, got, wrong == 2 ? NULL : sent);
        assert_int_equal(pat_plan_finish(&plan), wrong ? EINVAL : 0);
        if (!wrong) {
            assert_int_equal(plan.nodes[copy].from.offset, 4);
            assert_int_equal(plan.nodes[copy].to.offset, 0);
            assert_int_equal(plan.nodes[copy].length, 7);
            assert_int_equal(plan.nodes[sends[0]].length, 4);
            assert_int_equal(plan.nodes[sends[0]].from.offset, 0);
            assert_int_equal(plan.nodes[sends[1]].kind, PAT_NODE_NONE);
            assert_int_equal(plan.nodes[none].kind, PAT_NODE_NONE);
            assert_int_equal(plan.nodes[front].to.offset, 7);
            assert_int_equal(plan.nodes[front].length, 5);
            assert_int_equal(plan.nodes[rest].to.offset, 12);
            assert_int_equal(plan.nodes[rest].length, 7);
            assert_int_equal(plan.nodes[rest].match, 1);
        }
        pat_plan_free(&plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_rank),
        cmocka_unit_test(nodes_and_match_numbers),
        cmocka_unit_test(addresses),
        cmocka_unit_test(whole_elements_only),
        cmocka_unit_test(early_nodes),
        cmocka_unit_test(steps),
        cmocka_unit_test(copy_in_a_step_of_its_own),
        cmocka_unit_test(errors_stick),
        cmocka_unit_test(impossible_plans),
        cmocka_unit_test(nothing_after_finish),
        cmocka_unit_test(blocks_of_different_lengths),
        cmocka_unit_test(blocks_for_each_rank_of_different_lengths),
        cmocka_unit_test(impossible_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

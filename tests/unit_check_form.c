/*
 * unit_check_form.c — the checker refuses hand-made plans that are wrong in their form, in one way each, for the right reason:
 * messages without a partner, steps, the order of pieces, signals, and what a plan says of itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hand_made.h"

static void test_messages_without_partner(void **state)
{
    fixture f;
    (void)state;
    exchange(&f);
    send_block(&f, 0, 1, 0, f.copy[0]);
    expect(&f, "rank 0 sends 2 messages to rank 1, which receives 1");
    exchange(&f);
    pat_plan_await(&f.plans[0], 1);
    expect(&f, "rank 1 sends 1 messages to rank 0, which receives 2");
    exchange(&f);
    f.plans[1].nodes[3].length--;
    expect(&f, "rank 1, node 3 (RECV bytes 0 to 98 from 0): rank 0's node 2 sends 100 bytes instead");
    exchange(&f);
    f.plans[1].nodes[3].match = 1;
    expect(&f, "numbered 1 of its pair, but is number 0");
    exchange(&f);
    f.plans[1].nodes[2].peer = 1;
    expect(&f, "rank 1, node 2: peer 1 is not another rank of 2");
    exchange(&f);
    f.plans[1].nodes[2].peer = 2;
    expect(&f, "rank 1, node 2: peer 2 is not another rank of 2");
    exchange(&f);
    f.plans[1].nodes[3].to.offset = BLOCK + 1;
    expect(&f, "outside the result's 200 bytes");
}

static void test_steps(void **state)
{
    fixture f;
    (void)state;
    exchange(&f); /* the send waits for the COPY, the receive for nothing */
    for (int i = 0; i < 4; i++)
        f.plans[0].nodes[i].step = i > 1;
    expect(
        &f,
        "rank 0, node 3 (RECV bytes 100 to 199 from 1, step 1): does not wait for node 0 of the step before");
    exchange(&f);
    pat_plan_after(&f.plans[0], 3, f.copy[0]);
    for (int i = 0; i < 4; i++)
        f.plans[0].nodes[i].step = i > 1;
    expect(&f, NULL);
    exchange(&f);
    f.plans[0].nodes[3].step = 2;
    f.plans[0].nodes[2].step = 0;
    expect(&f, "rank 0: no node in step 1, but in a later one");
    exchange(&f);
    f.plans[0].nodes[3].step = 4;
    expect(&f, "step 4 cannot be");
    /* A COPY goes with the ARRIVE of its own step; in a later one it waits like everybody else. */
    for (int waits = 0; waits < 2; waits++) {
        begin(&f, 2);
        pat_plan_arrive(&f.plans[0]);
        recv_block(&f, 0, 1, 1, -1);
        f.copy[0] = pat_plan_copy(&f.plans[0], pat_own(0), pat_result(0), BLOCK);
        pat_plan_after(&f.plans[0], f.copy[0], 0);
        pat_plan_after(&f.plans[0], f.copy[0], waits ? 1 : -1);
        send_block(&f, 0, 1, 0, f.copy[0]);
        f.plans[0].nodes[0].step = f.plans[0].nodes[1].step = 0;
        f.plans[0].nodes[2].step = 1;
        arrive(&f, 1);
        send_block(&f, 1, 0, 1, f.copy[1]);
        recv_block(&f, 1, 0, 0, -1);
        expect(&f, waits ? NULL : "step 1): does not wait for node 1 of the step before");
    }
}

static void test_pieces_go_front_first(void **state)
{
    fixture f;
    (void)state;
    for (int first = 0; first < 2; first++) {
        one_way(&f);
        for (int k = 0; k < 2; k++) {
            int64_t at = BLOCK + (k ^ first) * 50;
            pat_plan_after(&f.plans[1], pat_plan_send(&f.plans[1], 0, at, 50), f.copy[1]);
            pat_plan_recv(&f.plans[0], 1, at, 50);
        }
        /* Pieces of one block: also if they are not of one step. */
        f.plans[1].nodes[1].step = f.plans[1].nodes[0].step = 0;
        f.plans[1].nodes[3].step = 1;
        expect(&f, first ? "goes after bytes 150 to 199, which lie behind it" : NULL);
    }
    /* Whole blocks: in one step, but not from one step to the next. */
    for (int same_step = 0; same_step < 2; same_step++) {
        begin_arrived(&f, 3);
        send_block(&f, 0, 1, 0, f.copy[0]);
        int got = recv_block(&f, 1, 0, 0, -1);
        send_block(&f, 2, 1, 2, f.copy[2]);
        recv_block(&f, 1, 2, 2, -1);
        send_block(&f, 2, 0, 2, f.copy[2]);
        recv_block(&f, 0, 2, 2, -1);
        send_block(&f, 1, 0, 1, f.copy[1]);
        recv_block(&f, 0, 1, 1, -1);
        send_block(&f, 1, 2, 1, f.copy[1]);
        recv_block(&f, 2, 1, 1, -1);
        int forward = send_block(&f, 1, 2, 0, got);
        recv_block(&f, 2, 1, 0, -1);
        f.plans[1].nodes[got].step = same_step ? PAT_STEP_FREE : 0;
        f.plans[1].nodes[forward].step = same_step ? PAT_STEP_FREE : 1;
        expect(&f, same_step ? "goes after bytes 100 to 199, which lie behind it" : NULL);
    }
}

/* Rank 0 signals rank 1, which then sends; `asked`: it does wait for that. */
static void signalled(fixture *f, bool asked)
{
    begin_arrived(f, 2);
    pat_plan_signal(&f->plans[0], 1);
    int await = pat_plan_await(&f->plans[1], 0);
    int send = send_block(f, 1, 0, 1, f->copy[1]);
    pat_plan_after(&f->plans[1], send, asked ? await : -1);
    recv_block(f, 0, 1, 1, -1);
}

static void test_signals_and_gather(void **state)
{
    fixture f;
    (void)state;
    signalled(&f, true);
    finish(&f);
    expect_of(&f, pat_collective_of(PAT_OP_GATHER), NULL);
    signalled(&f, false);
    finish(&f);
    expect_of(&f, pat_collective_of(PAT_OP_GATHER),
              "rank 1, node 3 (SEND bytes 100 to 199 to 0): does not wait for that rank's signal");
    begin_arrived(&f, 2);
    pat_plan_signal(&f.plans[1], 0);
    pat_plan_await(&f.plans[0], 1);
    send_block(&f, 1, 0, 1, f.copy[1]);
    recv_block(&f, 0, 1, 1, -1);
    finish(&f);
    expect_of(&f, pat_collective_of(PAT_OP_GATHER),
              "rank 0, node 2 (RECV a signal from 1): no message to that rank waits for it");
    /* What is enough for a gather is not for an all-gather. */
    signalled(&f, true);
    expect(&f, "rank 1 never gets bytes 0 to 99");
    /* And rank 0 of a gather needs everything. */
    begin_arrived(&f, 2);
    finish(&f);
    expect_of(&f, pat_collective_of(PAT_OP_GATHER), "rank 0 never gets bytes 100 to 199");
}

static void test_nothing_a_plan_says_of_itself_is_believed(void **state)
{
    fixture f;
    (void)state;
    for (int damage = 0; damage < 8; damage++) {
        exchange(&f);
        finish(&f);
        pat_plan *p = &f.plans[0];
        const char *reason = NULL;
        switch (damage) {
        case 0:
            p->nodes[2].early = true;
            reason = "marked early, but waits for ARRIVE";
            break;
        case 1:
            p->nodes[3].early = false;
            reason = "early, but not marked so";
            break;
        case 2:
            p->num_early = 0;
            reason = "counts 0 early nodes";
            break;
        case 3:
            p->has_control = true;
            reason = "and has signals";
            break;
        case 4:
            p->num_preds[2] = 0;
            reason = "said to wait for 0 nodes, waits for 1";
            break;
        case 5:
            p->succ[1] = 1;
            reason = "its successor 1 is not a later node";
            break;
        case 6:
            p->rank = 1;
            reason = "plan 0 is for rank 1 of 2";
            break;
        case 7:
            p->error = EINVAL;
            reason = "rank 0: the plan is not finished";
            break;
        }
        expect_of(&f, pat_collective_of(PAT_OP_ALLGATHER), reason);
    }
    exchange(&f); /* never finished */
    expect_of(&f, pat_collective_of(PAT_OP_ALLGATHER), "rank 0: the plan is not finished");
    exchange(&f);
    finish(&f);
    f.plans[1].nodes[3].kind = PAT_NODE_ARRIVE;
    f.plans[1].nodes[3].length = 0;
    expect_of(&f, pat_collective_of(PAT_OP_ALLGATHER), "rank 1: 2 ARRIVE nodes, not one");
}

/* The reason is cut to the room there is, and not asked for at all by some. */
static void test_room_for_the_reason(void **state)
{
    fixture f;
    char why[64];
    (void)state;
    for (size_t room = 0; room < sizeof(why); room++) {
        exchange(&f);
        f.plans[1].nodes[3].length--;
        finish(&f);
        memset(why, '#', sizeof(why));
        assert_int_equal(pat_check(f.plans, 2, pat_collective_of(PAT_OP_ALLGATHER), room ? why : NULL, room),
                         EINVAL);
        if (room)
            assert_true(strlen(why) < room);
        for (size_t i = room; i < sizeof(why); i++)
            assert_int_equal(why[i], '#');
        plan_set_free(f.plans, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_without_partner),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_pieces_go_front_first),
        cmocka_unit_test(test_signals_and_gather),
        cmocka_unit_test(test_nothing_a_plan_says_of_itself_is_believed),
        cmocka_unit_test(test_room_for_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

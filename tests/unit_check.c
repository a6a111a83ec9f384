/*
 * unit_check.c — the checker refuses hand-made plans whose bytes do not come to where they belong, in one way each, for the
 * right reason. What it has to say of their form is unit_check_form.c's. That it accepts all that algorithms build is unit_check_all.c's, and
 * that it also notices random damage unit_mutants.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hand_made.h"

static void test_right_plans_are_accepted(void **state)
{
    fixture f;
    (void)state;
    exchange(&f);
    expect(&f, NULL);
    begin(&f, 1);
    arrive(&f, 0);
    expect(&f, NULL);
}

/* Both ends of a message must know whether more than its bytes comes along. */
static void test_carried_arrivals(void **state)
{
    fixture f;
    (void)state;
    exchange(&f);
    pat_plan_carry_arrivals(&f.plans[0]);
    pat_plan_carry_arrivals(&f.plans[1]);
    expect(&f, NULL);
    exchange(&f);
    pat_plan_carry_arrivals(&f.plans[1]);
    expect(&f, "rank 1: its messages carry arrival times, those of rank 0 do not");
    exchange(&f);
    pat_plan_carry_arrivals(&f.plans[0]);
    expect(&f, "rank 1: its messages carry no arrival times, those of rank 0 do");
}

/* A broadcast is one block, rank 0's, and everybody must have it. */
static void test_broadcast(void **state)
{
    fixture f;
    (void)state;
    for (int forgotten = 0; forgotten < 2; forgotten++) {
        begin(&f, 3);
        arrive(&f, 0);
        pat_plan_arrive(&f.plans[1]);
        pat_plan_arrive(&f.plans[2]);
        send_block(&f, 0, 1, 0, f.copy[0]);
        int recv = recv_block(&f, 1, 0, 0, 0);
        if (!forgotten) {
            send_block(&f, 1, 2, 0, recv);
            recv_block(&f, 2, 1, 0, 0);
        }
        finish(&f);
        expect_of(&f, pat_collective_of(PAT_OP_BCAST), forgotten ? "rank 2 never gets bytes 0 to 99" : NULL);
    }
    begin_arrived(&f, 2); /* a copy of what is not there */
    send_block(&f, 0, 1, 0, f.copy[0]);
    recv_block(&f, 1, 0, 0, 0);
    finish(&f);
    expect_of(&f, pat_collective_of(PAT_OP_BCAST), "offset 0, length 100 is outside its own 0 bytes");
    begin(&f, 2); /* bytes behind the message */
    arrive(&f, 0);
    pat_plan_arrive(&f.plans[1]);
    send_block(&f, 0, 1, 1, f.copy[0]);
    recv_block(&f, 1, 0, 1, 0);
    finish(&f);
    expect_of(&f, pat_collective_of(PAT_OP_BCAST), "outside the result's 100 bytes");
}

static void test_deadlock(void **state)
{
    fixture f;
    (void)state;
    /* Both send before they receive: buffering would hide it. */
    begin(&f, 2);
    for (int r = 0; r < 2; r++) {
        arrive(&f, r);
        int send = send_block(&f, r, 1 - r, r, f.copy[r]);
        recv_block(&f, r, 1 - r, 1 - r, send);
    }
    expect(&f, "deadlock");
    /* One of them may. */
    begin(&f, 2);
    arrive(&f, 0);
    recv_block(&f, 0, 1, 1, send_block(&f, 0, 1, 0, f.copy[0]));
    arrive(&f, 1);
    recv_block(&f, 1, 0, 0, -1);
    send_block(&f, 1, 0, 1, f.copy[1]);
    expect(&f, NULL);
}

/*
 * Rank 0 sends its block to rank 1 in pieces, of which rank 1 takes all but the last only once it has heard
 * from rank 2, which has heard from rank 0 once the last piece is through. So the last piece must go before
 * the first.
 */
static void last_piece_first(fixture *f, int pieces)
{
    const int size = BLOCK / pieces;
    int send = -1;
    begin_arrived(f, 3);
    for (int k = 0; k < pieces; k++) {
        send = pat_plan_send(&f->plans[0], 1, k * size, size);
        pat_plan_after(&f->plans[0], send, f->copy[0]);
    }
    send_block(f, 0, 2, 0, send);
    int heard = recv_block(f, 2, 0, 0, -1);
    pat_plan_after(&f->plans[2], send_block(f, 2, 1, 2, heard), f->copy[2]);
    heard = recv_block(f, 1, 2, 2, -1);
    for (int k = 0; k < pieces; k++)
        pat_plan_after(&f->plans[1], pat_plan_recv(&f->plans[1], 0, k * size, size),
                       k < pieces - 1 ? heard : -1);
    send_block(f, 1, 0, 1, f->copy[1]);
    recv_block(f, 0, 1, 1, -1);
    send_block(f, 1, 2, 1, f->copy[1]);
    recv_block(f, 2, 1, 1, -1);
    send_block(f, 2, 0, 2, f->copy[2]);
    recv_block(f, 0, 2, 2, -1);
}

static void test_deadlock_in_the_send_window(void **state)
{
    fixture f;
    (void)state;
    last_piece_first(&f, PAT_SEND_WINDOW);
    expect(&f, NULL);
    last_piece_first(&f, PAT_SEND_WINDOW + 1);
    expect(&f, "deadlock");
}

static void test_what_arrives_twice_or_never(void **state)
{
    fixture f;
    (void)state;
    exchange(&f);
    send_block(&f, 1, 0, 1, f.copy[1]);
    recv_block(&f, 0, 1, 1, -1);
    expect(
        &f,
        "rank 0, node 4 (RECV bytes 100 to 199 from 1): byte 100 is written in no fixed order with node 3");

    /* One byte too many: two pieces that overlap. */
    one_way(&f);
    for (int k = 0; k < 2; k++) {
        pat_plan_after(&f.plans[1], pat_plan_send(&f.plans[1], 0, BLOCK + k * 50, 51 - k), f.copy[1]);
        pat_plan_recv(&f.plans[0], 1, BLOCK + k * 50, 51 - k);
    }
    expect(&f, "byte 150 is written in no fixed order with node 3");

    /* One byte too few. */
    one_way(&f);
    pat_plan_after(&f.plans[1], pat_plan_send(&f.plans[1], 0, BLOCK, BLOCK - 1), f.copy[1]);
    pat_plan_recv(&f.plans[0], 1, BLOCK, BLOCK - 1);
    expect(&f, "rank 0 never gets bytes 199 to 199");

    /* The own block is part of the result. */
    exchange(&f);
    f.plans[1].nodes[1].length = BLOCK / 2;
    f.plans[1].nodes[2].length = f.plans[0].nodes[3].length = BLOCK / 2;
    expect(&f, "rank 0 never gets bytes 150 to 199");

    /* The own block comes from the application and from nowhere else. */
    exchange(&f);
    send_block(&f, 1, 0, 0, 3);
    recv_block(&f, 0, 1, 0, 2);
    expect(&f, "rank 0, node 4 (RECV bytes 0 to 99 from 1): byte 0 is delivered a second time");
    exchange(&f);
    pat_plan_copy(&f.plans[0], pat_own(0), pat_result(BLOCK), BLOCK);
    pat_plan_after(&f.plans[0], 4, 0);
    expect(&f, "byte 100 is written in no fixed order with node 3");
}

static void test_own_bytes_before_arrive(void **state)
{
    fixture f;
    (void)state;
    /* Before the copy is made. */
    begin_arrived(&f, 2);
    send_block(&f, 0, 1, 0, -1);
    recv_block(&f, 1, 0, 0, -1);
    send_block(&f, 1, 0, 1, f.copy[1]);
    recv_block(&f, 0, 1, 1, -1);
    expect(&f, "rank 0, node 2 (SEND bytes 0 to 99 to 1): byte 0 need not be here by then");
    /* After ARRIVE, but beside the copy. */
    exchange(&f);
    f.plans[0].edges[1].from = 0;
    expect(&f, "rank 0, node 2 (SEND bytes 0 to 99 to 1): byte 0 need not be here by then");
    /* The copy itself. */
    exchange(&f);
    f.plans[1].edges[0] = f.plans[1].edges[1];
    expect(&f, "rank 1, node 1 (COPY of own bytes 0 to 99 to bytes 100 to 199): does not wait for ARRIVE");
}

/* A chain 0 > 1 > 2 for block 0; rank 1 forwards it when `after` of its nodes is complete: 2 is the right
 * one. */
static void chain(fixture *f, int after, int64_t received)
{
    begin_arrived(f, 3);
    pat_plan_after(&f->plans[0], pat_plan_send(&f->plans[0], 1, 0, received), f->copy[0]);
    pat_plan_recv(&f->plans[1], 0, 0, received);
    if (received < BLOCK) {
        pat_plan_after(&f->plans[0], pat_plan_send(&f->plans[0], 1, received, BLOCK - received), f->copy[0]);
        pat_plan_recv(&f->plans[1], 0, received, BLOCK - received);
    }
    int other = recv_block(f, 1, 2, 2, -1);
    send_block(f, 1, 2, 0, after < 0 ? other : after);
    recv_block(f, 2, 1, 0, -1);
    send_block(f, 1, 2, 1, f->copy[1]);
    recv_block(f, 2, 1, 1, -1);
    send_block(f, 1, 0, 1, f->copy[1]);
    recv_block(f, 0, 1, 1, -1);
    send_block(f, 2, 1, 2, f->copy[2]);
    send_block(f, 2, 0, 2, f->copy[2]);
    recv_block(f, 0, 2, 2, -1);
}

static void test_forward_without_having_received(void **state)
{
    fixture f;
    (void)state;
    chain(&f, 2, BLOCK);
    expect(&f, NULL);
    chain(&f, 1, BLOCK);
    expect(&f, "byte 0 need not be here by then");
    chain(&f, -1, BLOCK); /* waits for a receive, but of other bytes */
    expect(&f, "byte 0 need not be here by then");
    chain(&f, 2, BLOCK / 2); /* waits for half of it */
    expect(&f, "rank 1, node 5 (SEND bytes 0 to 99 to 2): byte 50 need not be here by then");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_plans_are_accepted),
        cmocka_unit_test(test_carried_arrivals),
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_deadlock_in_the_send_window),
        cmocka_unit_test(test_what_arrives_twice_or_never),
        cmocka_unit_test(test_own_bytes_before_arrive),
        cmocka_unit_test(test_forward_without_having_received),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

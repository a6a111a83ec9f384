/*
 * unit_check.c — the checker accepts every plan that the algorithms build, and refuses hand-made plans that
 * are wrong in one way each, for the right reason. That it also notices random damage is unit_mutants.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include "check.h"
#include "plan_set.h"

#ifdef SLOW_BUILD /* one pattern of each kind and size finds what it can find */
enum { PATTERNS = 9, SWEEP_RANKS = 32 };
#else
enum { PATTERNS = 200, SWEEP_RANKS = MAX_RANKS };
#endif

enum { BLOCK = 100 };

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Every algorithm, every rank count ---- */

/*
 * A plan that needs no estimates is the same for all patterns: then only sizes and links make a difference. Unequal blocks
 * are cut out of plans that were right, whatever the arrivals.
 */
static int patterns_of(const pat_algorithm *alg, bool unequal)
{
    if (pat_collective_of(alg->op)
            ->reduces) /* plans with many nodes: one of each kind; unit_allreduce.c tries more */
        return 9;
    return (!alg->uses_arrivals || unequal) && PATTERNS > 27 ? 27 : PATTERNS;
}

static int refused_in_sweep(const pat_algorithm *alg, bool unequal)
{
    static pat_plan plans[MAX_RANKS];
    int64_t arrival_ns[MAX_RANKS];
    char why[256];
    uint64_t seed = 1;
    int64_t starts[MAX_RANKS + 1];
    int order[MAX_RANKS], refused = 0;
    for (int P = 1; P <= SWEEP_RANKS; P++)
        for (int k = 0; k < patterns_of(alg, unequal); k++) {
            pat_job job = random_job(&seed, k, P, arrival_ns);
            random_order(&seed, k, &job, order);
            if (unequal)
                random_starts(&seed, k, &job, starts);
            plan_set_build(alg, &job, plans);
            if (pat_check(plans, P, pat_collective_of(alg->op), why, sizeof(why))) {
                refused++;
                print_error("%s, %d ranks, %s%lld bytes, pattern %d: %s\n", alg->name, P,
                            unequal ? "up to " : "", (long long)job.block_bytes, k, why);
            }
            plan_set_free(plans, P);
        }
    return refused;
}

static void test_every_algorithm_is_right(void **state)
{
    int refused = 0;
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    (void)state;
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (pat_algorithm_at(a)->build)
            refused += refused_in_sweep(pat_algorithm_at(a), false);
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (pat_algorithm_at(a)->build && pat_algorithm_at(a)->op == PAT_OP_ALLGATHER)
            refused += refused_in_sweep(pat_algorithm_at(a), true);
    print_message("1 to %d ranks, up to %d arrival patterns each: %.1f s, of which %.1f s on the processor\n",
                  SWEEP_RANKS, PATTERNS, seconds(CLOCK_MONOTONIC) - wall,
                  seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    assert_int_equal(refused, 0);
}

/* ---- Hand-made plans ---- */

typedef struct fixture {
    pat_plan plans[4];
    int num_ranks;
    int copy[4]; /* the COPY of every rank, once made */
} fixture;

static void begin(fixture *f, int num_ranks)
{
    f->num_ranks = num_ranks;
    for (int r = 0; r < num_ranks; r++)
        pat_plan_init(&f->plans[r], num_ranks, r, BLOCK);
}

static void arrive(fixture *f, int r)
{
    int a = pat_plan_arrive(&f->plans[r]);
    f->copy[r] = pat_plan_copy(&f->plans[r], pat_own(0), pat_result(r * BLOCK), BLOCK);
    pat_plan_after(&f->plans[r], f->copy[r], a);
}

static int send_block(fixture *f, int r, int peer, int block, int after)
{
    int node = pat_plan_send(&f->plans[r], peer, block * BLOCK, BLOCK);
    pat_plan_after(&f->plans[r], node, after);
    return node;
}

static int recv_block(fixture *f, int r, int peer, int block, int after)
{
    int node = pat_plan_recv(&f->plans[r], peer, block * BLOCK, BLOCK);
    pat_plan_after(&f->plans[r], node, after);
    return node;
}

static void finish(fixture *f)
{
    for (int r = 0; r < f->num_ranks; r++)
        assert_int_equal(pat_plan_finish(&f->plans[r]), 0);
}

static void expect_of(fixture *f, const pat_collective *collective, const char *reason)
{
    char why[256];
    int error = pat_check(f->plans, f->num_ranks, collective, why, sizeof(why));
    if (reason) {
        assert_int_equal(error, EINVAL);
        if (!strstr(why, reason))
            fail_msg("expected '%s', got '%s'", reason, why);
    } else if (error) {
        fail_msg("refused: %s", why);
    }
    plan_set_free(f->plans, f->num_ranks);
}

/* Finish the plans and check them: refused with a reason that contains `reason`, or accepted when that is
 * NULL. */
static void expect(fixture *f, const char *reason)
{
    finish(f);
    expect_of(f, pat_collective_of(PAT_OP_ALLGATHER), reason);
}

/* Two ranks that exchange their blocks: right. */
static void exchange(fixture *f)
{
    begin(f, 2);
    for (int r = 0; r < 2; r++) {
        arrive(f, r);
        send_block(f, r, 1 - r, r, f->copy[r]);
        recv_block(f, r, 1 - r, 1 - r, -1);
    }
}

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
    begin(&f, 2); /* a copy of what is not there */
    arrive(&f, 0);
    arrive(&f, 1);
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
    begin(f, 3);
    for (int r = 0; r < 3; r++)
        arrive(f, r);
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
    begin(&f, 2);
    arrive(&f, 0);
    arrive(&f, 1);
    send_block(&f, 0, 1, 0, f.copy[0]);
    recv_block(&f, 1, 0, 0, -1);
    for (int k = 0; k < 2; k++) {
        pat_plan_after(&f.plans[1], pat_plan_send(&f.plans[1], 0, BLOCK + k * 50, 51 - k), f.copy[1]);
        pat_plan_recv(&f.plans[0], 1, BLOCK + k * 50, 51 - k);
    }
    expect(&f, "byte 150 is written in no fixed order with node 3");

    /* One byte too few. */
    begin(&f, 2);
    arrive(&f, 0);
    arrive(&f, 1);
    send_block(&f, 0, 1, 0, f.copy[0]);
    recv_block(&f, 1, 0, 0, -1);
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
    begin(&f, 2);
    arrive(&f, 0);
    arrive(&f, 1);
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
    begin(f, 3);
    for (int r = 0; r < 3; r++)
        arrive(f, r);
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
        begin(&f, 2);
        arrive(&f, 0);
        arrive(&f, 1);
        send_block(&f, 0, 1, 0, f.copy[0]);
        recv_block(&f, 1, 0, 0, -1);
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
        begin(&f, 3);
        for (int r = 0; r < 3; r++)
            arrive(&f, r);
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
    begin(f, 2);
    arrive(f, 0);
    arrive(f, 1);
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
    begin(&f, 2);
    arrive(&f, 0);
    arrive(&f, 1);
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
    begin(&f, 2);
    arrive(&f, 0);
    arrive(&f, 1);
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
        cmocka_unit_test(test_right_plans_are_accepted),
        cmocka_unit_test(test_carried_arrivals),
        cmocka_unit_test(test_broadcast),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_deadlock_in_the_send_window),
        cmocka_unit_test(test_what_arrives_twice_or_never),
        cmocka_unit_test(test_own_bytes_before_arrive),
        cmocka_unit_test(test_forward_without_having_received),
        cmocka_unit_test(test_messages_without_partner),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_pieces_go_front_first),
        cmocka_unit_test(test_signals_and_gather),
        cmocka_unit_test(test_nothing_a_plan_says_of_itself_is_believed),
        cmocka_unit_test(test_room_for_the_reason),
        cmocka_unit_test(test_every_algorithm_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

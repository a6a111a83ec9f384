/*
 * unit_schedules.c — what the algorithms plan: the schedules of the worked examples, step by step, and BDR held against its
 * listing. That the plans are right at all is the checker's to prove.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan_build.h"

/* A plan as text: its steps in order, in each its sends "peer!block" and receives "peer?block", A, C, e:
 * early. */
static const char *text_of(const pat_plan *plan)
{
    static char text[4096];
    size_t used = 0;
    int step = 0;
    text[0] = 0;
    for (int i = 0; i < plan->num_nodes; i++) {
        const pat_node *n = &plan->nodes[i];
        assert_true(n->step >= step);
        char what[64];
        const char *early = n->early ? "e" : "";
        if (n->kind == PAT_NODE_ARRIVE)
            snprintf(what, sizeof what, "A");
        else if (n->kind == PAT_NODE_COPY)
            snprintf(what, sizeof what, "C");
        else if (n->length == 0)
            snprintf(what, sizeof what, "%d%csignal%s", n->peer, n->kind == PAT_NODE_SEND ? '!' : '?', early);
        else if (n->length % plan->block_bytes == 0 && n->length > plan->block_bytes)
            snprintf(what, sizeof what, "%d%c%d-%d%s", n->peer, n->kind == PAT_NODE_SEND ? '!' : '?',
                     (int)(pat_node_address(n).offset / plan->block_bytes),
                     (int)((pat_node_address(n).offset + n->length) / plan->block_bytes - 1), early);
        else
            snprintf(what, sizeof what, "%d%c%d%s%s", n->peer, n->kind == PAT_NODE_SEND ? '!' : '?',
                     (int)(pat_node_address(n).offset / plan->block_bytes),
                     n->length == plan->block_bytes                        ? ""
                     : pat_node_address(n).offset % plan->block_bytes == 0 ? "short"
                                                                           : "rest",
                     early);
        const char *between = i == 0 ? "" : n->step == step ? " " : " | ";
        step = n->step;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", between, what);
        assert_true(used < sizeof text);
    }
    return text;
}

static void ring_schedule(void **state)
{
    (void)state;
    pat_job job = make_job(4, 1000, NULL);
    build("ring", &job);
    assert_string_equal(text_of(&plans[0]), "A C | 1!0 3?3 | 1!3 3?2 | 1!2 3?1");
    assert_string_equal(text_of(&plans[3]), "A C | 0!3 2?2 | 0!2 2?1 | 0!1 2?0");
    release(4);
}

static void direct_schedule(void **state)
{
    (void)state;
    pat_job job = make_job(4, 1000, NULL);
    build("direct", &job);
    assert_string_equal(text_of(&plans[0]), "A C | 1!0 1?1 2!0 2?2 3!0 3?3");
    assert_string_equal(text_of(&plans[1]), "A C | 3!1 3?3 0!1 0?0 2!1 2?2");
    release(4);
}

static void bruck_schedule(void **state)
{
    (void)state;
    pat_job job = make_job(5, 1000, NULL);
    build("bruck", &job);
    assert_string_equal(text_of(&plans[0]), "A C | 4!0 1?1 | 3!0-1 2?2-3 | 1!0 4?4");
    assert_string_equal(text_of(&plans[3]), "A C | 2!3 4?4 | 1!3-4 0?0-1 | 4!3 2?2");
    assert_string_equal(text_of(&plans[4]), "A C | 3!4 0?0 | 2!0 2!4 1?1-2 | 0!4 3?3");
    release(5);
}

static void nex_schedule(void **state)
{
    (void)state;
    pat_job job = make_job(6, 1000, NULL);
    build("nex", &job);
    assert_string_equal(text_of(&plans[0]), "A C | 1!0 1?1 | 5!0-1 5?4-5 | 1!4-5 1?2-3");
    assert_string_equal(text_of(&plans[1]), "A C | 0!1 0?0 | 2!0-1 2?2-3 | 0!2-3 0?4-5");
    assert_string_equal(text_of(&plans[4]), "A C | 5!4 5?5 | 3!4-5 3?2-3 | 5!2-3 5?0-1");
    release(6);
    job.num_ranks = 2;
    build("nex", &job);
    assert_string_equal(text_of(&plans[1]), "A C | 0!1 0?0");
    release(2);
}

/* The worked example of the paper's figure 4: rank 0 is two block times late. */
static void bdr_schedule(void **state)
{
    (void)state;
    static const int64_t offset[] = {0, 1000000000, -INT64_MAX + 1};
    for (size_t i = 0; i < sizeof offset / sizeof offset[0]; i++) {
        int64_t arrival[] = {2000 + offset[i], offset[i], offset[i], offset[i]};
        pat_job job = make_job(4, 1000, arrival);
        build("bdr", &job);
        assert_string_equal(text_of(&plans[0]), "1?1e | 2?2e A C | 1!0 3?3");
        assert_string_equal(text_of(&plans[1]), "A C | 0!1 2?2 | 3!1 3?3 | 2!1 0?0 | 2!0");
        assert_string_equal(text_of(&plans[2]), "A C | 1!2 3?3 | 0!2 | 3!2 1?1 | 1?0 | 3!0");
        assert_string_equal(text_of(&plans[3]), "A C | 2!3 | 1!3 1?1 | 0!3 2?2 | 2?0");
        release(4);
    }
}

/* Within a step the slowest sender chooses first: rank 2 loses receiver 0 to rank 1, and the ring serves it.
 */
static void bdr_conflict(void **state)
{
    (void)state;
    /* Two pre-steps; in the second one rank 1 joins, and both it and rank 2 (which has sent to 1) want rank
     * 0. */
    int64_t arrival[] = {2500, 1500, 400, 2500};
    pat_job job = make_job(4, 1000, arrival);
    build("bdr", &job);
    assert_string_equal(text_of(&plans[2]), "A C | 1!2 | 3!2 1?1 | 3!1 1?0 | 3!0 1?3");
    assert_string_equal(text_of(&plans[1]), "2?2e A C | 0!1 | 2!1 0?0 | 2!0 0?3 | 2!3");
    assert_string_equal(text_of(&plans[0]), "1?1e A C | 1!0 3?3 | 1!3 3?2");
    release(4);
}

static void same_nodes(const pat_plan *a, const pat_plan *b)
{
    assert_int_equal(a->num_nodes, b->num_nodes);
    assert_int_equal(a->num_edges, b->num_edges);
    for (int i = 0; i < a->num_nodes; i++) {
        assert_int_equal(a->nodes[i].kind, b->nodes[i].kind);
        assert_int_equal(a->nodes[i].peer, b->nodes[i].peer);
        assert_int_equal(a->nodes[i].step, b->nodes[i].step);
        assert_int_equal(pat_node_address(&a->nodes[i]).offset, pat_node_address(&b->nodes[i]).offset);
        assert_int_equal(a->nodes[i].length, b->nodes[i].length);
    }
    assert_memory_equal(a->edges, b->edges, (size_t)a->num_edges * sizeof *a->edges);
}

static void same_as_ring(const char *name, const pat_job *job)
{
    build(name, job);
    for (int r = 0; r < job->num_ranks; r++) {
        pat_plan ring;
        assert_int_equal(pat_algorithm_plan(pat_algorithm_find("ring"), job, r, &ring), 0);
        same_nodes(&plans[r], &ring);
        pat_plan_free(&ring);
    }
    release(job->num_ranks);
}

static void where_they_are_the_ring(void **state)
{
    (void)state;
    for (int P = 1; P <= 17; P++) {
        int64_t arrival[MAX_RANKS];
        for (int r = 0; r < P; r++)
            arrival[r] = 123456789 + r % 3 * 400; /* all within one tau */
        pat_job job = make_job(P, 1000, arrival);
        same_as_ring("bdr", &job);
        job.arrival_ns = NULL;
        same_as_ring("bdr", &job);
        if (P % 2)
            same_as_ring("nex", &job);
    }
}

/* Listing 2 as it stands, with tables of all steps: what each rank receives, in order, and how much of it
 * early. */
static void listing_2(int P, const int64_t *pre_steps, const int *slowest_first, int *const *received,
                      int *early)
{
    int sent[MAX_RANKS] = {0}, count[MAX_RANKS] = {0};
    bool sending[MAX_RANKS] = {false};
    int64_t most = 0;
    for (int r = 0; r < P; r++)
        most = pre_steps[r] > most ? pre_steps[r] : most;
    for (int64_t s = 0; s < most; s++) {
        int from[MAX_RANKS];
        bool sends[MAX_RANKS] = {false};
        memset(from, -1, sizeof from);
        for (int i = 0; i < P; i++) {
            int r = slowest_first[i], to = (r - 1 - sent[r] + P) % P;
            if (pre_steps[r] >= most - s && sent[r] < P - 1 && from[to] < 0) {
                from[to] = r;
                sends[r] = true;
                sent[r]++;
            }
        }
        for (int r = 0; r < P; r++) {
            sending[r] = sending[r] || sends[r];
            if (from[r] >= 0)
                received[r][count[r]++] = from[r];
            if (from[r] >= 0 && !sending[r])
                early[r]++;
        }
    }
    for (int j = 0; j < P; j++)
        for (int i = 0; i < P; i++)
            if (sent[(i - j + P) % P] + j < P - 1)
                received[(i + 1) % P][count[(i + 1) % P]++] = (i - j + P) % P;
    for (int r = 0; r < P; r++)
        assert_int_equal(count[r], P - 1);
}

static void bdr_against_the_listing(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 300; round++) {
        int P = 2 + (int)(next_random(&random) % 19);
        int spread = 1 + (int)(next_random(&random) % (3 * (uint64_t)P));
        int64_t arrival[MAX_RANKS], pre_steps[MAX_RANKS], last = 0;
        int order[MAX_RANKS], early[MAX_RANKS] = {0};
        int lists[MAX_RANKS][MAX_RANKS], *received[MAX_RANKS];
        for (int r = 0; r < P; r++) {
            arrival[r] = (int64_t)(next_random(&random) % (uint64_t)(spread * 1000));
            last = arrival[r] > last ? arrival[r] : last;
            received[r] = lists[r];
            int at = r;
            for (; at > 0 && arrival[order[at - 1]] <= arrival[r]; at--)
                order[at] = order[at - 1];
            order[at] = r;
        }
        for (int r = 0; r < P; r++)
            pre_steps[r] = (last - arrival[r]) / 1000;
        listing_2(P, pre_steps, order, received, early);
        pat_job job = make_job(P, 8, arrival);
        build("bdr", &job);
        for (int r = 0; r < P; r++) {
            int at = 0;
            for (int i = 0; i < plans[r].num_nodes; i++) {
                const pat_node *n = &plans[r].nodes[i];
                if (n->kind != PAT_NODE_RECV)
                    continue;
                assert_int_equal(n->early, at < early[r]);
                assert_int_equal(pat_node_address(n).offset / 8, received[r][at++]);
            }
            assert_int_equal(at, P - 1);
        }
        release(P);
    }
}

/* Pre-steps without number cost nothing, and far-off arrivals do no harm. */
static void bdr_extreme_arrivals(void **state)
{
    (void)state;
    int64_t arrival[MAX_RANKS] = {INT64_MIN};
    for (int r = 1; r < 15; r++)
        arrival[r] = INT64_MIN / 2 + INT64_MAX / 16 * r;
    arrival[15] = INT64_MAX;
    pat_job job = make_job(16, 1000, arrival);
    job.tau_ns = 1;
    build("bdr", &job);
    /* Everybody is alone when sending: all blocks but the last one's have gone before it arrives. */
    for (int r = 0; r < 16; r++) {
        int64_t early;
        assert_int_equal(pat_plan_recv_bytes(&plans[r], &early), 15000);
        assert_int_equal(early, 1000 * r);
    }
    release(16);
    job.tau_ns = 0;
    assert_int_equal(pat_algorithm_plan(pat_algorithm_find("bdr"), &job, 0, &plans[0]), EINVAL);
    assert_null(plans[0].nodes);
}

static void lnbc_schedule(void **state)
{
    (void)state;
    pat_job job = make_job(4, 4096, NULL);
    job.alpha_ns = 0; /* the smallest segments: one block each */
    build("lnbc", &job);
    assert_string_equal(text_of(&plans[0]), "A | 1?1 2?2 3?3 | C | 1!0 1!2 1!3");
    assert_string_equal(text_of(&plans[3]), "A C | 0!3 | 2?0 2?1 2?2");
    release(4);

    /* Rank 1 passes a block on when that block is there, its own one when the broadcast begins. */
    pat_plan *plan = &plans[1];
    assert_int_equal(pat_algorithm_plan(pat_algorithm_find("lnbc"), &job, 1, plan), 0);
    int gather = 2, waits = 0;
    for (int e = 0; e < plan->num_edges; e++) {
        const pat_node *from = &plan->nodes[plan->edges[e].from], *to = &plan->nodes[plan->edges[e].to];
        if (to->kind != PAT_NODE_SEND || to->peer != 2)
            continue;
        waits++;
        if (pat_node_address(to).offset == 4096)
            assert_int_equal(plan->edges[e].from, gather);
        else
            assert_true(from->kind == PAT_NODE_RECV &&
                        pat_node_address(from).offset == pat_node_address(to).offset);
    }
    assert_int_equal(waits, 3);
    release(2);
}

static int count_sends(const pat_plan *plan, int peer)
{
    int count = 0;
    for (int i = 0; i < plan->num_nodes; i++)
        count += plan->nodes[i].kind == PAT_NODE_SEND && plan->nodes[i].peer == peer;
    return count;
}

static void broadcast_segments(void **state)
{
    (void)state;
    /* 1250 bytes pass in one latency, 16 blocks of 64 KiB, 14 hops behind the first: root of 1250 * 74898 =
     * 9675. */
    pat_job job = make_job(16, 65536, NULL);
    build("lnbc", &job);
    assert_int_equal(count_sends(&plans[0], 1), 15 * 7); /* 7 to a block, block 1 left out */
    assert_int_equal(count_sends(&plans[14], 15), 15 * 7);
    release(16);
    job.block_bytes = 8 << 20; /* would be 2048 */
    build("lnbc", &job);
    assert_int_equal(count_sends(&plans[0], 1), 15 * 16);
    release(16);
    job.block_bytes = 3000; /* with such a latency one segment holds them all: only the hole remains */
    job.alpha_ns = 100000000;
    build("lnbc", &job);
    assert_int_equal(count_sends(&plans[0], 1), 2);
    assert_int_equal(count_sends(&plans[14], 15), 1);
    release(16);
    job = make_job(2, 1 << 20, NULL);
    build("lnbc", &job);
    assert_int_equal(count_sends(&plans[0], 1), 16);
    release(2);
}

/* Of short blocks: as Open MPI broadcasts as many bytes, but what a rank has brought itself. */
static void broadcast_of_short_blocks(void **state)
{
    (void)state;
    pat_job job = make_job(6, 100, NULL);
    build("lnbc", &job); /* binomial: 0 has 1, 2 and 4 below it, 1 has 3 and 5 */
    for (int r = 1; r < 6; r++)
        assert_int_equal(count_sends(&plans[0], r), r == 1 || r == 2 || r == 4 ? 2 : 0);
    assert_int_equal(count_sends(&plans[1], 3), 2);
    assert_int_equal(count_sends(&plans[1], 5), 1); /* whose block is the last */
    release(6);
    job = make_job(16, 1000, NULL);
    build("bslb", &job);                                /* halves of 8000 bytes, in segments of 1024 */
    assert_int_equal(count_sends(&plans[0], 1), 8 + 1); /* and the signal of the gather */
    assert_int_equal(count_sends(&plans[0], 2), 8 + 1);
    assert_int_equal(count_sends(&plans[0], 15), 1 + 1); /* the half that its pair would have */
    assert_int_equal(count_sends(&plans[3], 4), 2);      /* which has a block in the middle of it */
    release(16);
}

static void bsls_order(void **state)
{
    (void)state;
    int64_t arrival[] = {0, 30, 10, 20};
    pat_job job = make_job(4, 1000, arrival);
    build("gather_bsls", &job);
    assert_string_equal(text_of(&plans[0]),
                        "2!signale 2?2shorte | 2?2reste | 3!signale 3?3shorte | 3?3reste | "
                        "1!signale 1?1shorte | 1?1reste A C");
    assert_string_equal(text_of(&plans[3]), "0?signale A C | 0!3short | 0!3rest");
    assert_true(plans[0].has_control);
    release(4);

    /* Equal arrivals: by rank. Small blocks go in one piece. Rank 0's own arrival does not matter. */
    int64_t equal[] = {99, 5, 5, 4};
    job = make_job(4, 64, equal);
    build("gather_bsls", &job);
    assert_string_equal(text_of(&plans[0]), "3!signale 3?3e | 1!signale 1?1e | 2!signale 2?2e A C");
    assert_string_equal(text_of(&plans[2]), "0?signale A C | 0!2");
    release(4);
}

static void bslb_schedule(void **state)
{
    (void)state;
    int64_t arrival[] = {0, 30, 10};
    pat_job job = make_job(3, 4096, arrival);
    job.alpha_ns = 0;
    build("bslb", &job);
    assert_string_equal(text_of(&plans[0]),
                        "2!signale 2?2shorte | 2?2reste | 1!signale 1?1shorte | 1?1reste A C | 1!0 1!2");
    assert_string_equal(text_of(&plans[2]), "0?signale A C | 0!2short | 0!2rest | 1?0 1?1");
    int64_t early;
    pat_plan_recv_bytes(&plans[0], &early);
    assert_int_equal(early, 2 * 4096);
    pat_plan_recv_bytes(&plans[2], &early);
    assert_int_equal(early, 0);
    release(3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_schedule),
        cmocka_unit_test(direct_schedule),
        cmocka_unit_test(bruck_schedule),
        cmocka_unit_test(nex_schedule),
        cmocka_unit_test(bdr_schedule),
        cmocka_unit_test(bdr_conflict),
        cmocka_unit_test(where_they_are_the_ring),
        cmocka_unit_test(bdr_against_the_listing),
        cmocka_unit_test(bdr_extreme_arrivals),
        cmocka_unit_test(lnbc_schedule),
        cmocka_unit_test(broadcast_segments),
        cmocka_unit_test(broadcast_of_short_blocks),
        cmocka_unit_test(bsls_order),
        cmocka_unit_test(bslb_schedule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

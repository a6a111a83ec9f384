/*
 * unit_algorithms.c — what the algorithms plan: the schedules of the worked examples, message counts and
 * bytes, and plans that wait for nothing they need not wait for. That the plans are right at all is the
 * checker's to prove.
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

#include "algorithms.h"

enum { MAX_RANKS = 64 };

static pat_plan plans[MAX_RANKS];

static void build(const char *name, const pat_job *job)
{
    const pat_algorithm *alg = pat_algorithm_find(name);
    assert_non_null(alg);
    for (int r = 0; r < job->num_ranks; r++)
        assert_int_equal(pat_algorithm_plan(alg, job, r, &plans[r]), 0);
}

static void release(int num_ranks)
{
    for (int r = 0; r < num_ranks; r++)
        pat_plan_free(&plans[r]);
}

static pat_job make_job(int num_ranks, int64_t block_bytes, const int64_t *arrival_ns)
{
    return (pat_job){.num_ranks = num_ranks,
                     .block_bytes = block_bytes,
                     .element_bytes = 1,
                     .arrival_ns = arrival_ns,
                     .tau_ns = 1000,
                     .alpha_ns = 100000,
                     .beta_ps = 80000};
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

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
    job.block_bytes = 100; /* the smallest segment holds them all: only the hole remains */
    build("lnbc", &job);
    assert_int_equal(count_sends(&plans[0], 1), 2);
    assert_int_equal(count_sends(&plans[14], 15), 1);
    release(16);
    job = make_job(2, 1 << 20, NULL);
    build("lnbc", &job);
    assert_int_equal(count_sends(&plans[0], 1), 16);
    release(2);
}

static void bsls_order(void **state)
{
    (void)state;
    int64_t arrival[] = {0, 30, 10, 20};
    pat_job job = make_job(4, 1000, arrival);
    build("bsls", &job);
    assert_string_equal(text_of(&plans[0]),
                        "2!signale 2?2shorte | 2?2reste | 3!signale 3?3shorte | 3?3reste | "
                        "1!signale 1?1shorte | 1?1reste A C");
    assert_string_equal(text_of(&plans[3]), "0?signale A C | 0!3short | 0!3rest");
    assert_true(plans[0].has_control);
    release(4);

    /* Equal arrivals: by rank. Small blocks go in one piece. Rank 0's own arrival does not matter. */
    int64_t equal[] = {99, 5, 5, 4};
    job = make_job(4, 64, equal);
    build("bsls", &job);
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

static uint64_t *new_sets(int num_nodes, size_t words)
{
    uint64_t *sets = calloc((size_t)num_nodes * words, sizeof *sets);
    assert_non_null(sets);
    return sets;
}

/* No edge that a longer way round implies: it would be waited for twice, and hide the removal of the other.
 */
static void assert_no_redundant_edge(const pat_plan *plan)
{
    size_t words = (size_t)plan->num_nodes / 64 + 1;
    uint64_t *reach = new_sets(plan->num_nodes, words); /* proper descendants */
    for (int i = plan->num_nodes - 1; i >= 0; i--) {
        uint64_t *mine = reach + (size_t)i * words;
        for (int s = plan->succ_at[i]; s < plan->succ_at[i + 1]; s++)
            for (size_t w = 0; w < words; w++)
                mine[w] |= reach[(size_t)plan->succ[s] * words + w];
        for (int s = plan->succ_at[i]; s < plan->succ_at[i + 1]; s++) {
            int to = plan->succ[s];
            assert_false(mine[to / 64] >> to % 64 & 1);
            mine[to / 64] |= (uint64_t)1 << to % 64;
        }
    }
    free(reach);
}

static int compare_ranges(const void *a, const void *b)
{
    const pat_node *const *x = a, *const *y = b;
    return pat_node_address(*x).offset < pat_node_address(*y).offset
               ? -1
               : pat_node_address(*x).offset > pat_node_address(*y).offset;
}

/* COPY and the receives fill the whole of [0, total) without a gap and without an overlap. */
static void assert_every_byte_once(const pat_plan *plan, int64_t total)
{
    const pat_node **filling = calloc((size_t)plan->num_nodes, sizeof(pat_node *));
    size_t count = 0;
    assert_non_null(filling);
    for (int i = 0; i < plan->num_nodes; i++) {
        const pat_node *n = &plan->nodes[i];
        if (n->kind == PAT_NODE_COPY || (n->kind == PAT_NODE_RECV && n->length > 0))
            filling[count++] = n;
    }
    qsort(filling, count, sizeof filling[0], compare_ranges);
    int64_t at = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(pat_node_address(filling[i]).offset, at);
        at += filling[i]->length;
    }
    assert_int_equal(at, total);
    free(filling);
}

/* Two chunks a block: sqrt(2/3 * time / piece) is 2. */
static void relay_schedule(void **state)
{
    (void)state;
    pat_job job = make_job(4, 2049, NULL);
    job.alpha_ns = 700;
    job.tau_ns = 700 + 650;
    job.piece_ns = 100;
    build("relay", &job);
    static const struct {
        enum pat_node_kind kind;
        int peer;
        int64_t offset, length;
        bool early;
        int waits_for; /* -1: nothing */
    } expected[] = {
        {PAT_NODE_ARRIVE, -1, 0, 0, false, -1},   {PAT_NODE_COPY, -1, 2049, 2049, false, 0},
        {PAT_NODE_SEND, 2, 2049, 1025, false, 1}, {PAT_NODE_SEND, 2, 3074, 1024, false, 1},
        {PAT_NODE_RECV, 0, 0, 1025, true, -1},    {PAT_NODE_SEND, 2, 0, 1025, true, 4},
        {PAT_NODE_RECV, 0, 1025, 1024, true, -1}, {PAT_NODE_SEND, 2, 1025, 1024, true, 6},
        {PAT_NODE_RECV, 0, 6147, 1025, true, -1}, {PAT_NODE_SEND, 2, 6147, 1025, true, 8},
        {PAT_NODE_RECV, 0, 7172, 1024, true, -1}, {PAT_NODE_SEND, 2, 7172, 1024, true, 10},
        {PAT_NODE_RECV, 0, 4098, 1025, true, -1}, {PAT_NODE_RECV, 0, 5123, 1024, true, -1},
    };
    const pat_plan *p = &plans[1];
    assert_int_equal(p->num_nodes, sizeof expected / sizeof expected[0]);
    for (int i = 0; i < p->num_nodes; i++) {
        const pat_node *n = &p->nodes[i];
        assert_int_equal(n->kind, expected[i].kind);
        assert_int_equal(n->peer, expected[i].peer);
        assert_int_equal(pat_node_address(n).offset, expected[i].offset);
        assert_int_equal(n->length, expected[i].length);
        assert_int_equal(n->early, expected[i].early);
        assert_int_equal(n->unordered, n->kind == PAT_NODE_SEND);
        assert_int_equal(p->num_preds[i], expected[i].waits_for >= 0);
    }
    for (int e = 0; e < p->num_edges; e++)
        assert_int_equal(p->edges[e].from, expected[p->edges[e].to].waits_for);
    release(4);

    /* Five chunks: the last is awaited when the first is here. */
    job = make_job(4, 5120, NULL);
    job.tau_ns = job.alpha_ns + 4000;
    job.piece_ns = 100;
    build("relay", &job);
    assert_int_equal(plans[0].nodes[7].kind, PAT_NODE_RECV);
    assert_int_equal(plans[0].nodes[15].kind, PAT_NODE_RECV);
    assert_int_equal(plans[0].nodes[15].to.offset, plans[0].nodes[7].to.offset + 4 * 1024);
    assert_int_equal(plans[0].num_preds[13], 0);
    assert_int_equal(plans[0].num_preds[15], 1);
    assert_true(plans[0].nodes[15].early);
    release(4);
}

static int relay_chunks(int num_ranks, int64_t block_bytes, int64_t piece_ns, int64_t time_ns)
{
    pat_job job = make_job(num_ranks, block_bytes, NULL);
    job.alpha_ns = 12345;
    job.tau_ns = job.alpha_ns + time_ns;
    job.piece_ns = piece_ns;
    job.eager_bytes = 65000;
    build("relay", &job);
    int sends = 0;
    for (int i = 0; i < plans[0].num_nodes; i++)
        sends += plans[0].nodes[i].kind == PAT_NODE_SEND && !plans[0].nodes[i].early;
    release(num_ranks);
    return sends;
}

/* The first chunk's bytes where `root` chunks would be best but for packets. */
static int64_t relay_chunk_bytes(int64_t block_bytes, int root, int64_t packet_bytes, int64_t eager_bytes)
{
    pat_job job = make_job(4, block_bytes, NULL);
    job.alpha_ns = 500;
    job.tau_ns = job.alpha_ns + 1500 * root * root;
    job.piece_ns = 1000;
    job.packet_bytes = packet_bytes;
    job.eager_bytes = eager_bytes;
    build("relay", &job);
    int64_t bytes = plans[0].nodes[2].length;
    release(4);
    return bytes;
}

static void relay_fills_packets(void **state)
{
    (void)state;
    assert_int_equal(relay_chunk_bytes(16384, 10, 0, 0), 1639); /* nobody knows of packets */
    assert_int_equal(relay_chunk_bytes(16384, 10, 1448, 0),
                     1366); /* 1384 in one packet: 12 chunks, all alike */
    assert_int_equal(relay_chunk_bytes(13840, 10, 1448, 0), 1384);    /* full already */
    assert_int_equal(relay_chunk_bytes(13850, 10, 1448, 0), 1260);    /* one byte too many for that */
    assert_int_equal(relay_chunk_bytes(24000, 10, 1448, 0), 2667);    /* 2832 in two packets: 9 chunks */
    assert_int_equal(relay_chunk_bytes(65536, 32, 1448, 0), 2731);    /* one packet each would be 48: two */
    assert_int_equal(relay_chunk_bytes(16384, 10, 3500, 0), 1639);    /* two chunks would go into a packet */
    assert_int_equal(relay_chunk_bytes(16384, 10, 3000, 0), 2731);    /* not quite */
    assert_int_equal(relay_chunk_bytes(24000, 10, 1448, 2500), 2400); /* what MPI asks for first is worse */
    assert_int_equal(relay_chunk_bytes(16384, 10, 10, 0), 1639);      /* no packet at all */
}

/* Fewer when the ranks have arrived together; the rest of the plan is the same. */
static void relay_together(void **state)
{
    (void)state;
    for (int together = 0; together < 2; together++) {
        pat_job job = make_job(8, 65536, NULL);
        job.together = together;
        job.alpha_ns = 0;
        job.tau_ns = 9900000;
        job.piece_ns = 100000;
        build("relay", &job);
        assert_true(plans[0].carries);
        assert_int_equal(plans[0].nodes[2].length, together ? (65536 + 2) / 3 : (65536 + 8) / 9);
        release(8);
        for (int root = 1; root < 6; root++) {
            job.tau_ns = root * root * job.piece_ns * 7 / 6 + 1;
            build("relay", &job);
            assert_int_equal(plans[0].nodes[2].length, together ? 65536 : (65536 + root - 1) / root);
            release(8);
        }
    }
    pat_job two = make_job(2, 65536, NULL);
    build("relay", &two);
    assert_false(plans[0].carries);
    release(2);
}

/* Four ranks that arrive together exchange as neighbours, and still tell each other when they arrived. */
static void relay_exchanges(void **state)
{
    (void)state;
    for (int ranks = 3; ranks < 6; ranks++)
        for (int together = 0; together < 2; together++)
            for (int eager = 0; eager < 2; eager++) {
                pat_job job = make_job(ranks, 16384, NULL);
                job.together = together;
                job.eager_bytes = eager ? 65536 : 32768;
                build("relay", &job);
                assert_true(plans[0].carries);
                assert_int_equal(plans[0].nodes[plans[0].num_nodes - 1].step != PAT_STEP_FREE,
                                 ranks == 4 && together && eager);
                release(ranks);
            }
}

static void relay_chunk_counts(void **state)
{
    (void)state;
    assert_int_equal(relay_chunks(2, 65536, 1000, 10000000), 1);       /* nobody to pass on to */
    assert_int_equal(relay_chunks(8, 65536, 100000, 9900000), 9);      /* sqrt(6/7 * 99) = 9.2 */
    assert_int_equal(relay_chunks(8, 60000, 100000, 0), 1);            /* latency is all there is */
    assert_int_equal(relay_chunks(8, 5000, 1, INT64_MAX / 2), 4);      /* a kilobyte at least */
    assert_int_equal(relay_chunks(64, 1 << 20, 0, INT64_MAX / 2), 32); /* no more than are worth it */
    assert_int_equal(relay_chunks(4, 1 << 22, 1000000, 9000000), 65);  /* none that MPI would ask for first */
    assert_int_equal(relay_chunks(64, 1 << 24, 1, INT64_MAX / 2),
                     64); /* nor more messages than a plan may have */
}

static void all_sizes(void **state)
{
    (void)state;
    static const int64_t sizes[] = {0, 1, 64, 65, 3000, 100001};
    uint64_t random = 7;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        for (int P = 1; alg->build && P <= MAX_RANKS; P += P < 20 ? 1 : 11) {
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                int64_t arrival[MAX_RANKS];
                for (int r = 0; r < P; r++)
                    arrival[r] = (int64_t)(next_random(&random) % (1000 * (uint64_t)P));
                pat_job job = make_job(P, sizes[i], arrival);
                build(alg->name, &job);
                for (int r = 0; r < P; r++) {
                    bool has_all = alg->op == PAT_OP_ALLGATHER || alg->op == PAT_OP_ALLTOALL ||
                                   (alg->op == PAT_OP_GATHER && r == 0);
                    int64_t early, bytes = pat_plan_recv_bytes(&plans[r], &early);
                    if (has_all)
                        assert_int_equal(bytes, (P - 1) * sizes[i]);
                    else if (alg->op == PAT_OP_BCAST)
                        assert_int_equal(bytes, r > 0 ? sizes[i] : 0);
                    else if (alg->op == PAT_OP_ALLREDUCE)
                        assert_true(P == 1 ? bytes == 0 : bytes >= sizes[i]);
                    else if (strcmp(alg->name, "gather_binomial") !=
                             0) /* whose inner ranks hold others' blocks */
                        assert_int_equal(bytes, 0);
                    assert_true(alg->arrival_aware || plans[r].num_early == 0);
                    assert_true(early <= bytes);
                    if (has_all)
                        assert_every_byte_once(&plans[r], P * sizes[i]);
                    else if (alg->op == PAT_OP_BCAST && P > 1)
                        assert_every_byte_once(&plans[r], sizes[i]);
                    assert_no_redundant_edge(&plans[r]);
                }
                release(P);
            }
        }
    }
}

static void message_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int num_ranks, at_root, elsewhere; /* messages received; block of 4096 bytes, one segment each */
    } expected[] = {
        {"ring", 8, 7, 7}, {"nex", 8, 4, 4},   {"nex", 9, 8, 8},   {"bdr", 8, 7, 7},
        {"lnbc", 8, 7, 7}, {"bslb", 8, 14, 8}, {"bsls", 8, 14, 1},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        pat_job job = make_job(expected[i].num_ranks, 4096, NULL);
        job.alpha_ns = 0;
        build(expected[i].name, &job);
        for (int r = 0; r < job.num_ranks; r++) {
            int messages = 0;
            for (int n = 0; n < plans[r].num_nodes; n++)
                messages += plans[r].nodes[n].kind == PAT_NODE_RECV;
            assert_int_equal(messages, r == 0 ? expected[i].at_root : expected[i].elsewhere);
        }
        release(job.num_ranks);
    }
}

static void table(void **state)
{
    (void)state;
    char names[PAT_NUM_OPS][256] = {""};
    for (int i = 0; i < pat_algorithm_count(); i++) {
        const pat_algorithm *alg = pat_algorithm_at(i);
        assert_ptr_equal(pat_algorithm_find(alg->name), alg);
        assert_true(alg->summary && alg->summary[0]);
        if (!strcmp(alg->name, "bsls")) /* half of bslb, and not to be chosen */
            continue;
        if (names[alg->op][0])
            strcat(names[alg->op], ", ");
        strcat(names[alg->op], alg->name);
    }
    for (int op = 0; op < PAT_NUM_OPS; op++)
        assert_string_equal(pat_algorithm_names((enum pat_op)op), names[op]);
    assert_true(pat_algorithm_find("auto")->chooses);
    assert_false(pat_algorithm_is_ahead(pat_algorithm_find("auto")));
    assert_true(pat_algorithm_is_ahead(pat_algorithm_contender(PAT_OP_ALLGATHER)));
    assert_null(pat_algorithm_contender(PAT_OP_BCAST));
    assert_null(pat_algorithm_find(""));
    assert_null(pat_algorithm_find(NULL));
    assert_null(pat_algorithm_at(-1));
    assert_null(pat_algorithm_at(pat_algorithm_count()));
}

static void impossible_jobs(void **state)
{
    (void)state;
    pat_job job = make_job(4, 1000, NULL);
    pat_plan plan;
    assert_int_equal(pat_algorithm_plan(pat_algorithm_find("native"), &job, 0, &plan), EINVAL);
    assert_int_equal(pat_algorithm_plan(pat_algorithm_find("auto"), &job, 0, &plan), EINVAL);
    assert_null(plan.nodes);
    for (int i = 0; i < pat_algorithm_count(); i++) {
        assert_int_equal(pat_algorithm_plan(pat_algorithm_at(i), &job, 4, &plan), EINVAL);
        pat_job none = make_job(0, 1000, NULL);
        assert_int_equal(pat_algorithm_plan(pat_algorithm_at(i), &none, 0, &plan), EINVAL);
        pat_job huge = make_job(4, INT64_MAX / 2, NULL);
        assert_int_equal(pat_algorithm_plan(pat_algorithm_at(i), &huge, 0, &plan), EINVAL);
        assert_null(plan.nodes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_schedule),
        cmocka_unit_test(nex_schedule),
        cmocka_unit_test(bdr_schedule),
        cmocka_unit_test(bdr_conflict),
        cmocka_unit_test(where_they_are_the_ring),
        cmocka_unit_test(bdr_against_the_listing),
        cmocka_unit_test(bdr_extreme_arrivals),
        cmocka_unit_test(lnbc_schedule),
        cmocka_unit_test(broadcast_segments),
        cmocka_unit_test(bsls_order),
        cmocka_unit_test(bslb_schedule),
        cmocka_unit_test(relay_schedule),
        cmocka_unit_test(relay_together),
        cmocka_unit_test(relay_exchanges),
        cmocka_unit_test(relay_chunk_counts),
        cmocka_unit_test(relay_fills_packets),
        cmocka_unit_test(all_sizes),
        cmocka_unit_test(message_counts),
        cmocka_unit_test(table),
        cmocka_unit_test(impossible_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

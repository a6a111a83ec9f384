/*
 * unit_relay.c — what relay plans: its nodes and edges, into how many chunks it cuts a block, and when it exchanges as
 * neighbours.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan_build.h"

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

/* Ranks 0, 1 and 4 on one node, 2 and 3 on another: what some send and receive, in the order of their plans. */
static void relay_between_nodes(void **state)
{
    static const int node_of[] = {7, 7, 3, 3, 7};
    static const struct {
        int rank, peer, owner;
        enum pat_node_kind kind;
    } expected[] = {
        /* its own block to the other node and to its own; the one that it serves; what others hand to it */
        {0, 2, 0, PAT_NODE_SEND},
        {0, 1, 0, PAT_NODE_SEND},
        {0, 4, 0, PAT_NODE_SEND},
        {0, 2, 2, PAT_NODE_RECV},
        {0, 1, 2, PAT_NODE_SEND},
        {0, 4, 2, PAT_NODE_SEND},
        {0, 1, 1, PAT_NODE_RECV},
        {0, 4, 4, PAT_NODE_RECV},
        {0, 1, 3, PAT_NODE_RECV},
        /* of three ranks there it serves the first and the third */
        {2, 0, 2, PAT_NODE_SEND},
        {2, 3, 2, PAT_NODE_SEND},
        {2, 0, 0, PAT_NODE_RECV},
        {2, 3, 0, PAT_NODE_SEND},
        {2, 4, 4, PAT_NODE_RECV},
        {2, 3, 4, PAT_NODE_SEND},
        {2, 3, 3, PAT_NODE_RECV},
        {2, 3, 1, PAT_NODE_RECV},
        /* the third rank there serves nobody, since the other node has two */
        {4, 2, 4, PAT_NODE_SEND},
        {4, 0, 4, PAT_NODE_SEND},
        {4, 1, 4, PAT_NODE_SEND},
        {4, 0, 0, PAT_NODE_RECV},
        {4, 1, 1, PAT_NODE_RECV},
        {4, 0, 2, PAT_NODE_RECV},
        {4, 1, 3, PAT_NODE_RECV},
    };
    int done[5] = {2, 2, 2, 2, 2}; /* ARRIVE and COPY */
    (void)state;
    pat_job job = make_job(5, 1000, NULL);
    job.node_of = node_of;
    build("relay", &job);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const int rank = expected[i].rank;
        const pat_node *n = &plans[rank].nodes[done[rank]++];
        assert_int_equal(n->kind, expected[i].kind);
        assert_int_equal(n->peer, expected[i].peer);
        assert_int_equal(pat_node_address(n).offset, expected[i].owner * 1000);
        assert_int_equal(n->length, 1000);
        /* what is handed to it is received in its call, in place */
        assert_int_equal(n->early, expected[i].owner != rank &&
                                       (n->kind == PAT_NODE_SEND || node_of[n->peer] != node_of[rank]));
    }
    for (int rank = 0; rank < 5; rank += 2)
        assert_int_equal(done[rank], plans[rank].num_nodes);
    release(5);
}

static int relay_chunks_of(int num_ranks, int64_t block_bytes, int64_t piece_ns, int64_t time_ns,
                           int64_t eager_bytes)
{
    pat_job job = make_job(num_ranks, block_bytes, NULL);
    job.alpha_ns = 12345;
    job.tau_ns = job.alpha_ns + time_ns;
    job.piece_ns = piece_ns;
    job.eager_bytes = eager_bytes;
    build("relay", &job);
    int sends = 0;
    for (int i = 0; i < plans[0].num_nodes; i++)
        sends += plans[0].nodes[i].kind == PAT_NODE_SEND && !plans[0].nodes[i].early;
    release(num_ranks);
    return sends;
}

/* A plan has no more messages than it may have, though some must be asked for first then. */
static int relay_chunks_at_most(int64_t most_messages)
{
    pat_job job = make_job(2, 64 << 20, NULL);
    job.tau_ns = INT64_MAX / 2;
    job.most_messages = most_messages;
    build("relay", &job);
    int messages = 0;
    for (int i = 0; i < plans[0].num_nodes; i++)
        messages += plans[0].nodes[i].kind == PAT_NODE_SEND;
    release(2);
    return messages;
}

static int relay_chunks(int num_ranks, int64_t block_bytes, int64_t piece_ns, int64_t time_ns)
{
    return relay_chunks_of(num_ranks, block_bytes, piece_ns, time_ns, 65000);
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
        job.eager_bytes = 1 << 20;
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
    /* Nobody passes anything on between two ranks, but what goes one way must not wait for answers to what goes the other. */
    assert_int_equal(relay_chunks(2, 65000, 1000, 10000000), 1);
    assert_int_equal(relay_chunks(2, 65001, 1000, 10000000), 2);
    assert_int_equal(relay_chunks(2, 1 << 18, 1000, 10000000), 5);
    assert_int_equal(relay_chunks_of(2, 1 << 18, 1000, 10000000, 0), 32);
    assert_in_range(relay_chunks_at_most(1260), 500, 1260);
    assert_in_range(relay_chunks_at_most(0), 1024, 4096);
    /* Not known: 8 KiB, where a message costs little of their time. */
    assert_int_equal(relay_chunks_of(8, 1 << 18, 1000, 320000, 0), 32);
    assert_int_equal(relay_chunks_of(8, 1 << 18, 2000, 320000, 0), 11);
    assert_int_equal(relay_chunks(8, 65536, 100000, 9900000), 9);      /* sqrt(6/7 * 99) = 9.2 */
    assert_int_equal(relay_chunks(8, 60000, 100000, 0), 1);            /* latency is all there is */
    assert_int_equal(relay_chunks(8, 5000, 1, INT64_MAX / 2), 4);      /* a kilobyte at least */
    assert_int_equal(relay_chunks(64, 1 << 20, 0, INT64_MAX / 2), 32); /* no more than are worth it */
    assert_int_equal(relay_chunks(4, 1 << 22, 1000000, 9000000), 65);  /* none that MPI would ask for first */
    assert_int_equal(relay_chunks(64, 1 << 24, 1, INT64_MAX / 2),
                     64); /* nor more messages than a plan may have */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(relay_schedule),      cmocka_unit_test(relay_between_nodes),
        cmocka_unit_test(relay_fills_packets), cmocka_unit_test(relay_together),
        cmocka_unit_test(relay_exchanges),     cmocka_unit_test(relay_chunk_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

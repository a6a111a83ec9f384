/*
 * unit_lists.c — plans of blocks whose lengths only two ranks know, of every algorithm that takes such: what a rank sends another one is what that one
 * expects, byte by byte, with ranks that have nothing to do and blocks that are too long for one message.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collective.h"

enum { MOST_RANKS = 9 };

/* bytes[i][j]: from rank i to rank j. */
typedef struct matrix {
    int ranks;
    int64_t bytes[MOST_RANKS][MOST_RANKS];
} matrix;

/* Of a collective with a root only what the root gives, or gets; everything is drawn from the seed. */
static void draw(matrix *m, const pat_collective *row, int ranks, unsigned seed)
{
    m->ranks = ranks;
    for (int i = 0; i < ranks; i++)
        for (int j = 0; j < ranks; j++) {
            seed = seed * 1664525u + 1013904223u;
            const unsigned kind = seed >> 28;
            const bool is_part = !row->rooted || (row->personal ? i == 0 : j == 0);
            m->bytes[i][j] = !is_part || kind < 4 ? 0
                             : kind == 4          ? 2 * PAT_MAX_MESSAGE + (int64_t)(seed >> 8 & 1) * 77
                                                  : 1 + (int64_t)(seed >> 8) % 5000;
        }
}

/* What rank `rank` knows, as callers describe it. */
static void plan_of(pat_plan *plan, const pat_algorithm *alg, const matrix *m, int rank)
{
    const pat_collective *row = pat_collective_of(alg->op);
    int64_t starts[MOST_RANKS + 1] = {0}, own_starts[MOST_RANKS + 1] = {0};
    pat_job job = {.num_ranks = m->ranks, .block_bytes = 1, .tau_ns = 1, .segment_bytes = 1000};
    for (int r = 0; r < m->ranks; r++) {
        int64_t got = m->bytes[r][rank];
        if (row->rooted && row->personal)
            got = r == 0 ? m->bytes[0][rank] : 0; /* the result is one block */
        else if (row->rooted && rank > 0)
            got = r == rank ? m->bytes[rank][0] : 0; /* what it gives lies where its block would */
        starts[r + 1] = starts[r] + got;
        own_starts[r + 1] = own_starts[r] + m->bytes[rank][r];
        if (got > job.block_bytes)
            job.block_bytes = got;
        if (row->personal && m->bytes[rank][r] > job.block_bytes)
            job.block_bytes = m->bytes[rank][r];
    }
    job.starts = starts;
    job.own_starts = row->personal ? own_starts : NULL;
    assert_int_equal(pat_algorithm_plan(alg, &job, rank, plan), 0);
}

/* The k-th message from `from` to `to` on one side; NULL: there are not so many. */
static const pat_node *message(const pat_plan *plan, enum pat_node_kind kind, int peer, int k)
{
    for (int i = 0; i < plan->num_nodes; i++)
        if (plan->nodes[i].kind == kind && plan->nodes[i].peer == peer && plan->nodes[i].match == k)
            return &plan->nodes[i];
    return NULL;
}

static int64_t sum(const int64_t *bytes, int stride, int count)
{
    int64_t all = 0;
    for (int i = 0; i < count; i++)
        all += bytes[i * stride];
    return all;
}

/* What a rank keeps is copied from its place in what it gives to its place in what it gets. */
static void own_block(const pat_algorithm *alg, const matrix *m, const pat_plan *plan, int rank)
{
    const pat_collective *row = pat_collective_of(alg->op);
    int64_t copied = 0;
    for (int i = 0; i < plan->num_nodes; i++) {
        const pat_node *n = &plan->nodes[i];
        if (n->kind != PAT_NODE_COPY || n->length == 0)
            continue;
        copied += n->length;
        assert_int_equal(n->from.offset, row->personal ? sum(m->bytes[rank], 1, rank) : 0);
        assert_int_equal(n->to.offset, row->rooted ? 0 : sum(&m->bytes[0][rank], MOST_RANKS, rank));
    }
    /* What a rank gives to a root it has in its result too. */
    const bool gives_root = row->rooted && !row->personal && rank > 0;
    assert_int_equal(copied, gives_root ? m->bytes[rank][0] : m->bytes[rank][rank]);
}

static void compare(const pat_algorithm *alg, const matrix *m, const pat_plan *plans, int from, int to)
{
    const pat_collective *row = pat_collective_of(alg->op);
    int64_t done = 0;
    const int64_t sent_at = row->personal ? sum(m->bytes[from], 1, to) : 0,
                  got_at = row->rooted && row->personal ? 0 : sum(&m->bytes[0][to], MOST_RANKS, from);
    for (int k = 0;; k++) {
        const pat_node *send = message(&plans[from], PAT_NODE_SEND, to, k),
                       *recv = message(&plans[to], PAT_NODE_RECV, from, k);
        assert_true(!send == !recv);
        if (!send)
            break;
        assert_int_equal(send->length, recv->length);
        assert_true(send->length <= PAT_MAX_MESSAGE);
        if (send->length == 0)
            continue; /* a control message */
        assert_int_equal(send->from.offset, sent_at + done);
        assert_int_equal(recv->to.offset, got_at + done);
        done += send->length;
    }
    assert_int_equal(done, m->bytes[from][to]);
}

static void messages_are_alike(void **state)
{
    int algs = 0;
    (void)state;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (!alg->direct)
            continue;
        algs++;
        for (int ranks = 1; ranks <= MOST_RANKS; ranks++)
            for (unsigned seed = 0; seed < 40; seed++) {
                matrix m;
                pat_plan plans[MOST_RANKS];
                draw(&m, pat_collective_of(alg->op), ranks, seed * 97 + (unsigned)ranks);
                for (int r = 0; r < ranks; r++)
                    plan_of(&plans[r], alg, &m, r);
                for (int i = 0; i < ranks; i++)
                    for (int j = 0; j < ranks; j++)
                        if (i != j)
                            compare(alg, &m, plans, i, j);
                for (int r = 0; r < ranks; r++) {
                    own_block(alg, &m, &plans[r], r);
                    pat_plan_free(&plans[r]);
                }
            }
    }
    assert_true(algs >= 6);
}

/* Who has no list of what it gives cannot have a list of what it gets. */
static void half_a_description(void **state)
{
    (void)state;
    const int64_t starts[] = {0, 3, 7};
    const pat_job job = {.num_ranks = 2, .block_bytes = 4, .tau_ns = 1, .starts = starts};
    pat_plan plan;
    assert_int_equal(pat_algorithm_plan(pat_algorithm_find("alltoall_linear"), &job, 0, &plan), EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_alike),
        cmocka_unit_test(half_a_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

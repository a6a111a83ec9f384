/*
 * unit_meet.c — the plan by which ranks wait for each other without data: with synchronous sends every rank's part ends when
 * all have called, and no rank's part ends as long as one has not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include "algorithms.h"
#include "plan_set.h"

typedef struct run {
    int num_ranks, absent; /* this rank does not call; -1: all do */
    pat_plan plans[MAX_RANKS];
    bool *done[MAX_RANKS];
} run;

static bool ready(const run *r, int rank, int node)
{
    const pat_plan *p = &r->plans[rank];
    for (int i = 0; i < node; i++)
        for (int s = p->succ_at[i]; s < p->succ_at[i + 1]; s++)
            if (p->succ[s] == node && !r->done[rank][i])
                return false;
    return true;
}

/* The receive that the send meets, if it is open. */
static bool *partner(const run *r, int rank, const pat_node *send)
{
    const pat_plan *p = &r->plans[send->peer];
    for (int i = 0; i < p->num_nodes; i++)
        if (p->nodes[i].kind == PAT_NODE_RECV && p->nodes[i].peer == rank && p->nodes[i].match == send->match)
            return ready(r, send->peer, i) ? &r->done[send->peer][i] : NULL;
    fail_msg("%d ranks: rank %d sends rank %d what it does not await", r->num_ranks, rank, send->peer);
    return NULL;
}

static bool step(run *r, int rank, int node)
{
    const pat_node *n = &r->plans[rank].nodes[node];
    if (r->done[rank][node] || !ready(r, rank, node))
        return false;
    bool *other = n->kind == PAT_NODE_SEND ? partner(r, rank, n) : NULL;
    if (n->kind == PAT_NODE_ARRIVE ? rank == r->absent : n->kind != PAT_NODE_SEND || !other)
        return false;
    r->done[rank][node] = true;
    if (other)
        *other = true;
    return true;
}

static int through(run *r, int absent)
{
    int ranks = 0;
    r->absent = absent;
    for (int rank = 0; rank < r->num_ranks; rank++)
        memset(r->done[rank], 0, (size_t)r->plans[rank].num_nodes);
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < r->num_ranks; rank++)
            for (int node = 0; node < r->plans[rank].num_nodes; node++)
                moved = step(r, rank, node) || moved;
    }
    for (int rank = 0; rank < r->num_ranks; rank++) {
        bool all = true;
        for (int node = 0; node < r->plans[rank].num_nodes; node++)
            all = all && r->done[rank][node];
        ranks += all;
    }
    return ranks;
}

static void test_through_when_all_have_called(void **state)
{
    static run r;
    (void)state;
    for (r.num_ranks = 1; r.num_ranks <= MAX_RANKS; r.num_ranks++) {
        for (int rank = 0; rank < r.num_ranks; rank++) {
            assert_int_equal(pat_meet_plan(r.num_ranks, rank, &r.plans[rank]), 0);
            r.done[rank] = malloc((size_t)r.plans[rank].num_nodes);
            assert_non_null(r.done[rank]);
            assert_true(r.plans[rank].num_nodes <= 1 + 2 * 9); /* what docs/epochs.md says it costs */
        }
        assert_int_equal(through(&r, -1), r.num_ranks);
        for (int absent = 0; absent < r.num_ranks; absent++)
            assert_int_equal(through(&r, absent), 0);
        for (int rank = 0; rank < r.num_ranks; rank++) {
            pat_plan_free(&r.plans[rank]);
            free(r.done[rank]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_through_when_all_have_called)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * unit_model.c — the predictor gives the times that can be worked out by hand, keeps to its ports, knows a
 * deadlock when it meets one, and never predicts what the physical bound rules out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "model.h"
#include "plan_set.h"

enum { TAU = 1000, BLOCK = 1000, BETA = 1000 }; /* a block of 1000 bytes at 1000 ps each: 1000 ns */

static const pat_cost ideal = {.alpha_ns = 0, .beta_ps = BETA, .eager_bytes = 0};

static void expect_times(const int64_t *got, const int64_t *expected, int count)
{
    for (int i = 0; i < count; i++)
        if (got[i] != expected[i])
            fail_msg("rank %d: %lld ns, expected %lld", i, (long long)got[i], (long long)expected[i]);
}

static void walk(const char *alg, const pat_job *job, const pat_cost *cost, int64_t *exit_ns)
{
    pat_plan plans[MAX_RANKS];
    plan_set_build(pat_algorithm_find(alg), job, plans);
    assert_int_equal(pat_model_walk(plans, job->num_ranks, job->arrival_ns, cost, exit_ns, NULL), 0);
    plan_set_free(plans, job->num_ranks);
}

/* ---- Whole algorithms ---- */

static void test_worked_example(void **state)
{
    static const int64_t shifts[] = {0, 5 * TAU, -7 * TAU, INT64_C(1) << 60};
    (void)state;
    for (size_t k = 0; k < sizeof(shifts) / sizeof(shifts[0]); k++) {
        int64_t t = shifts[k], arrival[4] = {t + 2 * TAU, t, t, t}, got[4];
        pat_job job = {
            .num_ranks = 4, .block_bytes = BLOCK, .arrival_ns = arrival, .tau_ns = TAU, .beta_ps = BETA};
        walk("bdr", &job, &ideal, got);
        expect_times(got, (int64_t[]){t + 3 * TAU, t + 4 * TAU, t + 5 * TAU, t + 5 * TAU}, 4);
        walk("ring", &job, &ideal, got);
        expect_times(got, (int64_t[]){t + 5 * TAU, t + 5 * TAU, t + 5 * TAU, t + 5 * TAU}, 4);
        assert_int_equal(pat_model_bound(4, BLOCK, arrival, &(pat_cost){.alpha_ns = 0, .beta_ps = BETA}, got),
                         0);
        expect_times(got, (int64_t[]){t + 3 * TAU, t + 3 * TAU, t + 3 * TAU, t + 3 * TAU}, 4);
    }
}

static void test_balanced_ring(void **state)
{
    (void)state;
    for (int P = 1; P <= 32; P++) {
        int64_t arrival[MAX_RANKS] = {0}, got[MAX_RANKS];
        pat_job job = {
            .num_ranks = P, .block_bytes = BLOCK, .arrival_ns = arrival, .tau_ns = TAU, .beta_ps = BETA};
        pat_cost slow = {.alpha_ns = 70, .beta_ps = BETA};
        walk("ring", &job, &ideal, got);
        for (int r = 0; r < P; r++)
            assert_int_equal(got[r], (P - 1) * TAU);
        walk("ring", &job, &slow, got);
        for (int r = 0; r < P; r++)
            assert_int_equal(got[r], (P - 1) * (TAU + 70));
    }
}

/* The formula of the bound as it is written, rank by rank. */
static int64_t bound_of(const pat_job *job, int i, int64_t lambda_ns)
{
    int64_t bound = job->arrival_ns[i];
    for (int k = 0; k < job->num_ranks; k++) {
        int64_t count = 0;
        for (int j = 0; j < job->num_ranks; j++)
            count += j != i && job->arrival_ns[j] >= job->arrival_ns[k];
        int64_t at = job->arrival_ns[k] + lambda_ns + count * job->block_bytes * job->beta_ps / 1000;
        if (k != i && at > bound)
            bound = at;
    }
    return bound;
}

static void test_nothing_beats_the_bound(void **state)
{
    uint64_t seed = 3;
    int met = 0, walked = 0;
    (void)state;
    for (int number = 0; number < 243; number++) {
        int P = 1 + (int)random_below(&seed, 16);
        int64_t arrival[MAX_RANKS], bound[MAX_RANKS], got[MAX_RANKS];
        pat_job job = random_job(&seed, number, P, arrival);
        assert_int_equal(pat_model_bound(P, job.block_bytes, arrival,
                                         &(pat_cost){.alpha_ns = job.alpha_ns, .beta_ps = job.beta_ps},
                                         bound),
                         0);
        for (int r = 0; r < P; r++)
            assert_int_equal(bound[r], bound_of(&job, r, job.alpha_ns));
        for (int a = 0; a < pat_algorithm_count(); a++) {
            const pat_algorithm *alg = pat_algorithm_at(a);
            if (!alg->build || alg->op != PAT_OP_ALLGATHER)
                continue;
            for (int64_t eager = 0; eager <= 65536; eager += 65536) {
                pat_cost cost = {.alpha_ns = job.alpha_ns, .beta_ps = job.beta_ps, .eager_bytes = eager};
                walk(alg->name, &job, &cost, got);
                for (int r = 0; r < P; r++, walked++) {
                    if (got[r] < bound[r])
                        fail_msg("%s, rank %d of %d: %lld ns, the bound is %lld", alg->name, r, P,
                                 (long long)got[r], (long long)bound[r]);
                    met += got[r] == bound[r];
                }
            }
        }
    }
    assert_true(met > 0 &&
                met < walked); /* else the bound would be no bound, or nothing would have been tested */
}

/* ---- Spans ---- */

typedef struct use {
    pat_span span;
    int rank, port;
} use;

static int compare_uses(const void *a, const void *b)
{
    const use *x = a, *y = b;
    if (x->rank != y->rank || x->port != y->port)
        return x->rank != y->rank ? x->rank - y->rank : x->port - y->port;
    return (x->span.start_ns > y->span.start_ns) - (x->span.start_ns < y->span.start_ns);
}

static const pat_span unset = {INT64_MIN, INT64_MIN};

static void check_spans(const pat_plan *plans, const pat_job *job, const pat_cost *cost,
                        pat_span *const *spans, const int64_t *exit_ns)
{
    int P = job->num_ranks, num_nodes = 0, num_uses = 0;
    for (int r = 0; r < P; r++)
        num_nodes += plans[r].num_nodes;
    use *uses = malloc((size_t)num_nodes * sizeof(*uses));
    for (int r = 0; r < P; r++) {
        int64_t last = job->arrival_ns[r];
        for (int i = 0; i < plans[r].num_nodes; i++) {
            const pat_node *n = &plans[r].nodes[i];
            pat_span s = spans[r][i];
            bool message = n->kind == PAT_NODE_SEND || n->kind == PAT_NODE_RECV;
            int64_t lasts = message ? (n->length * cost->beta_ps + 999) / 1000 : 0;
            assert_true(s.start_ns != unset.start_ns && s.end_ns != unset.end_ns);
            assert_int_equal(s.end_ns - s.start_ns, lasts);
            assert_true(n->early || s.start_ns >= job->arrival_ns[r]);
            for (int e = plans[r].succ_at[i]; e < plans[r].succ_at[i + 1]; e++)
                assert_true(spans[r][plans[r].succ[e]].start_ns >= s.end_ns);
            last = s.end_ns > last ? s.end_ns : last;
            if (message && n->length > 0)
                uses[num_uses++] = (use){s, r, n->kind == PAT_NODE_SEND};
        }
        assert_int_equal(exit_ns[r], last);
    }
    qsort(uses, (size_t)num_uses, sizeof(*uses), compare_uses);
    for (int u = 1; u < num_uses; u++)
        if (uses[u].rank == uses[u - 1].rank && uses[u].port == uses[u - 1].port)
            assert_true(uses[u].span.start_ns >= uses[u - 1].span.end_ns);
    free(uses);
}

static void test_spans_keep_to_the_ports(void **state)
{
    uint64_t seed = 4;
    (void)state;
    for (int number = 0; number < 81; number++) {
        int P = 2 + (int)random_below(&seed, 15);
        int64_t arrival[MAX_RANKS], exit_ns[MAX_RANKS];
        pat_job job = random_job(&seed, number, P, arrival);
        pat_cost cost = {.alpha_ns = job.alpha_ns, .beta_ps = job.beta_ps};
        for (int a = 0; a < pat_algorithm_count(); a++) {
            pat_plan plans[MAX_RANKS];
            pat_span *spans[MAX_RANKS];
            if (!pat_algorithm_at(a)->build)
                continue;
            plan_set_build(pat_algorithm_at(a), &job, plans);
            for (int r = 0; r < P; r++) {
                spans[r] = malloc((size_t)plans[r].num_nodes * sizeof(pat_span));
                for (int i = 0; i < plans[r].num_nodes; i++)
                    spans[r][i] = unset;
            }
            assert_int_equal(pat_model_walk(plans, P, arrival, &cost, exit_ns, spans), 0);
            check_spans(plans, &job, &cost, spans, exit_ns);
            for (int r = 0; r < P; r++)
                free(spans[r]);
            plan_set_free(plans, P);
        }
    }
}

/* ---- Hand-made plans ---- */

static void begin(pat_plan *plans, int num_ranks)
{
    for (int r = 0; r < num_ranks; r++)
        pat_plan_init(&plans[r], num_ranks, r, BLOCK);
}

static int send_after(pat_plan *plan, int peer, int after)
{
    int node = pat_plan_send(plan, peer, plan->rank * BLOCK, BLOCK);
    pat_plan_after(plan, node, after);
    return node;
}

static int recv_after(pat_plan *plan, int peer, int after)
{
    int node = pat_plan_recv(plan, peer, peer * BLOCK, BLOCK);
    pat_plan_after(plan, node, after);
    return node;
}

static void expect_walk(pat_plan *plans, int num_ranks, const int64_t *arrival, pat_cost cost, int error,
                        const int64_t *expected)
{
    int64_t got[6] = {-1, -1, -1, -1, -1, -1};
    for (int r = 0; r < num_ranks; r++)
        assert_int_equal(pat_plan_finish(&plans[r]), 0);
    assert_int_equal(pat_model_walk(plans, num_ranks, arrival, &cost, got, NULL), error);
    if (expected)
        expect_times(got, expected, num_ranks);
    plan_set_free(plans, num_ranks);
}

/* Both ranks receive only once their own send is complete. */
static void both_send_first(pat_plan *plans)
{
    begin(plans, 2);
    for (int r = 0; r < 2; r++)
        recv_after(&plans[r], 1 - r, send_after(&plans[r], 1 - r, pat_plan_arrive(&plans[r])));
}

static void test_eager_and_synchronous(void **state)
{
    const int64_t arrival[2] = {0, 300};
    pat_plan plans[2];
    (void)state;
    both_send_first(plans);
    expect_walk(plans, 2, arrival, (pat_cost){10, BETA, BLOCK - 1, 0}, EDEADLK, NULL);
    /* Eager: rank 1's message is there at 300 + 1000 + 10. */
    both_send_first(plans);
    expect_walk(plans, 2, arrival, (pat_cost){10, BETA, BLOCK, 0}, 0, (int64_t[]){1310, 1300});
    /* Rank 1 receives late: an eager message has come already, a synchronous one starts then. */
    for (int eager = 0; eager <= BLOCK; eager += BLOCK) {
        begin(plans, 2);
        send_after(&plans[0], 1, pat_plan_arrive(&plans[0]));
        recv_after(&plans[1], 0, pat_plan_arrive(&plans[1]));
        expect_walk(plans, 2, (int64_t[]){0, 5000}, (pat_cost){10, BETA, eager, 0}, 0,
                    eager ? (int64_t[]){1000, 5000} : (int64_t[]){6000, 6010});
    }
}

static void test_signals_cost_alpha_and_no_port(void **state)
{
    pat_plan plans[3];
    (void)state;
    /* Rank 0's ports are busy with a block to 1 when it signals 2, which answers with a block. */
    begin(plans, 3);
    int a = pat_plan_arrive(&plans[0]);
    send_after(&plans[0], 1, a);
    pat_plan_after(&plans[0], pat_plan_signal(&plans[0], 2), a);
    recv_after(&plans[0], 2, -1);
    pat_plan_arrive(&plans[1]);
    recv_after(&plans[1], 0, -1);
    pat_plan_arrive(&plans[2]);
    send_after(&plans[2], 0, pat_plan_await(&plans[2], 0));
    expect_walk(plans, 3, (int64_t[]){0, 0, 0}, (pat_cost){10, BETA, 0, 0}, 0, (int64_t[]){1020, 1010, 1010});
}

static void test_who_is_ready_first_goes_first(void **state)
{
    static const struct {
        int64_t arrival[4], expected[4];
    } cases[] = {
        {{0, 300, 200, 100}, {3100, 3100, 2100, 1100}}, /* by time */
        {{0, 200, 200, 200}, {3200, 1200, 2200, 3200}}, /* by rank */
        {{0, 0, 5000, 0}, {6000, 1000, 6000, 2000}},    /* a port does not wait for those who are not there */
    };
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        pat_plan plans[4];
        begin(plans, 4);
        pat_plan_arrive(&plans[0]);
        for (int r = 1; r < 4; r++) {
            recv_after(&plans[0], r, -1);
            send_after(&plans[r], 0, pat_plan_arrive(&plans[r]));
        }
        expect_walk(plans, 4, cases[k].arrival, ideal, 0, cases[k].expected);
    }
}

/* What waits behind a busy port, and who gets it when it is free. */
static void test_queues_at_the_ports(void **state)
{
    pat_plan plans[6];
    (void)state;
    /* Rank 1 sends to 0 first, but 0 is busy: meanwhile its port serves 2, which became ready later. */
    begin(plans, 4);
    pat_plan_arrive(&plans[0]);
    recv_after(&plans[0], 3, -1);
    recv_after(&plans[0], 1, -1);
    int a = pat_plan_arrive(&plans[1]);
    send_after(&plans[1], 0, a);
    send_after(&plans[1], 2, a);
    recv_after(&plans[2], 1, pat_plan_arrive(&plans[2]));
    send_after(&plans[3], 0, pat_plan_arrive(&plans[3]));
    expect_walk(plans, 4, (int64_t[]){0, 100, 200, 0}, ideal, 0, (int64_t[]){2200, 2200, 1200, 1000});

    /* The same, when rank 1's port becomes free (at 1000) while 0 is busy (from 500): 2 has been waiting,
     * too. */
    begin(plans, 5);
    recv_after(&plans[0], 1, pat_plan_arrive(&plans[0]));
    recv_after(&plans[0], 4, -1);
    a = pat_plan_arrive(&plans[1]);
    send_after(&plans[1], 3, a);
    send_after(&plans[1], 0, a);
    send_after(&plans[1], 2, a);
    recv_after(&plans[2], 1, pat_plan_arrive(&plans[2]));
    pat_plan_arrive(&plans[3]);
    recv_after(&plans[3], 1, -1);
    send_after(&plans[4], 0, pat_plan_arrive(&plans[4]));
    expect_walk(plans, 5, (int64_t[]){100, 0, 200, 0, 500}, ideal, 0,
                (int64_t[]){3000, 3000, 2000, 1000, 1500});

    /*
     * At 1000 the ports of 1 and 2 become free, both with a message for 0, which has been free. That of 2 has
     * waited longer and wins; rank 1 does not stand idle for it, but serves 5.
     */
    begin(plans, 6);
    recv_after(&plans[0], 1, pat_plan_arrive(&plans[0]));
    recv_after(&plans[0], 2, -1);
    a = pat_plan_arrive(&plans[1]);
    send_after(&plans[1], 3, a);
    send_after(&plans[1], 0, a);
    send_after(&plans[1], 5, a);
    a = pat_plan_arrive(&plans[2]);
    send_after(&plans[2], 4, a);
    send_after(&plans[2], 0, a);
    for (int r = 3; r < 6; r++)
        pat_plan_arrive(&plans[r]);
    recv_after(&plans[3], 1, -1);
    recv_after(&plans[4], 2, -1);
    recv_after(&plans[5], 1, 0);
    expect_walk(plans, 6, (int64_t[]){200, 0, 0, 0, 0, 300}, ideal, 0,
                (int64_t[]){3000, 3000, 2000, 1000, 1000, 2000});

    /* 1 and 2 become ready at one instant, 2 found out first because of rank 0's receive: still 1 goes first.
     */
    begin(plans, 4);
    recv_after(&plans[0], 2, pat_plan_arrive(&plans[0]));
    recv_after(&plans[0], 1, -1);
    recv_after(&plans[0], 3, -1);
    for (int r = 1; r < 4; r++)
        send_after(&plans[r], 0, pat_plan_arrive(&plans[r]));
    expect_walk(plans, 4, (int64_t[]){500, 500, 0, 0}, ideal, 0, (int64_t[]){3000, 2000, 3000, 1000});
}

/* One more piece than the window holds, the last of which must go before the first can: as in unit_check.c.
 */
static void test_send_window(void **state)
{
    (void)state;
    for (int pieces = PAT_SEND_WINDOW; pieces <= PAT_SEND_WINDOW + 1; pieces++) {
        pat_plan plans[3];
        int send = -1;
        begin(plans, 3);
        int a = pat_plan_arrive(&plans[0]);
        pat_plan_arrive(&plans[1]);
        pat_plan_arrive(&plans[2]);
        for (int k = 0; k < pieces; k++) {
            send = pat_plan_send(&plans[0], 1, k, 1);
            pat_plan_after(&plans[0], send, a);
        }
        send_after(&plans[0], 2, send);
        send_after(&plans[2], 1, recv_after(&plans[2], 0, -1));
        int heard = recv_after(&plans[1], 2, -1);
        for (int k = 0; k < pieces; k++)
            pat_plan_after(&plans[1], pat_plan_recv(&plans[1], 0, k, 1), k < pieces - 1 ? heard : -1);
        expect_walk(plans, 3, (int64_t[]){0, 0, 0}, ideal, pieces > PAT_SEND_WINDOW ? EDEADLK : 0, NULL);
    }
}

static void test_what_cannot_finish(void **state)
{
    const int64_t arrival[2] = {0, 0};
    pat_plan plans[2];
    (void)state;
    begin(plans, 2); /* a receive that nobody sends to */
    pat_plan_arrive(&plans[0]);
    recv_after(&plans[0], 1, -1);
    pat_plan_arrive(&plans[1]);
    expect_walk(plans, 2, arrival, ideal, EDEADLK, (int64_t[]){-1, -1});
    begin(plans, 2); /* a send that nobody receives: eager would hide it */
    send_after(&plans[0], 1, pat_plan_arrive(&plans[0]));
    pat_plan_arrive(&plans[1]);
    expect_walk(plans, 2, arrival, (pat_cost){0, BETA, BLOCK, 0}, EDEADLK, (int64_t[]){-1, -1});
}

/* Times beyond what fits stay at the largest there is: late, never early. */
static void test_times_beyond_all_bounds(void **state)
{
    const int64_t arrival[2] = {INT64_MAX - 10, 0};
    int64_t got[2];
    pat_plan plans[2];
    pat_job job = {.num_ranks = 2, .block_bytes = INT64_C(1) << 59, .arrival_ns = arrival, .tau_ns = TAU};
    pat_cost cost = {.alpha_ns = INT64_MAX / 2, .beta_ps = INT64_C(1) << 40};
    (void)state;
    plan_set_build(pat_algorithm_find("ring"), &job, plans);
    assert_int_equal(pat_model_walk(plans, 2, arrival, &cost, got, NULL), 0);
    plan_set_free(plans, 2);
    expect_times(got, (int64_t[]){INT64_MAX, INT64_MAX}, 2);
    assert_int_equal(pat_model_bound(2, job.block_bytes, arrival,
                                     &(pat_cost){.alpha_ns = cost.alpha_ns, .beta_ps = cost.beta_ps}, got),
                     0);
    expect_times(got, (int64_t[]){INT64_MAX, INT64_MAX}, 2);
}

/* Rank 0 reduces what comes from rank 1, in two nodes that are ready at once: one after the other. */
static void test_reducing_takes_time(void **state)
{
    pat_plan plans[2];
    (void)state;
    for (int gamma = 0; gamma < 3; gamma++) {
        for (int r = 0; r < 2; r++) {
            pat_plan_init(&plans[r], 2, r, BLOCK);
            pat_plan_reduces(&plans[r], BLOCK / 2);
            pat_plan_arrive(&plans[r]);
        }
        const pat_address in = pat_plan_scratch(&plans[0], BLOCK);
        const int copy = pat_plan_copy(&plans[0], pat_own(0), pat_result(0), BLOCK);
        pat_plan_after(&plans[0], copy, 0);
        const int recv = pat_plan_recv_to(&plans[0], 1, in, BLOCK);
        for (int half = 0; half < 2; half++) {
            pat_address from = in;
            from.offset += half * BLOCK / 2;
            const int sum = pat_plan_reduce(&plans[0], from, pat_result(half * BLOCK / 2), BLOCK / 2);
            pat_plan_after(&plans[0], sum, recv);
            pat_plan_after(&plans[0], sum, copy);
        }
        pat_plan_after(&plans[1], pat_plan_send_from(&plans[1], 0, pat_own(0), BLOCK), 0);
        for (int r = 0; r < 2; r++)
            assert_int_equal(pat_plan_finish(&plans[r]), 0);
        const int64_t sent = BLOCK * BETA / 1000;
        expect_walk(plans, 2, (int64_t[]){0, 0}, (pat_cost){10, BETA, 0, gamma * 1000}, 0,
                    (int64_t[]){sent + 10 + gamma * BLOCK, sent});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_example),
        cmocka_unit_test(test_balanced_ring),
        cmocka_unit_test(test_nothing_beats_the_bound),
        cmocka_unit_test(test_spans_keep_to_the_ports),
        cmocka_unit_test(test_eager_and_synchronous),
        cmocka_unit_test(test_signals_cost_alpha_and_no_port),
        cmocka_unit_test(test_who_is_ready_first_goes_first),
        cmocka_unit_test(test_queues_at_the_ports),
        cmocka_unit_test(test_send_window),
        cmocka_unit_test(test_what_cannot_finish),
        cmocka_unit_test(test_times_beyond_all_bounds),
        cmocka_unit_test(test_reducing_takes_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

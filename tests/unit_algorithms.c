/*
 * unit_algorithms.c — of every algorithm: the bytes that its plans bring, plans that wait for nothing they need not wait for,
 * how many messages they have, its row of the table, and jobs that cannot be planned. That the plans are right at all is the
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

#include "plan_build.h"

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
                int64_t received = 0;
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
                    else if (alg->op == PAT_OP_REDUCE_SCATTER)
                        assert_int_equal(bytes, (P - 1) * sizes[i]);
                    else if (
                        alg->op ==
                        PAT_OP_REDUCE) /* in a tree a vector from each child, which every rank but the root is */
                        received += bytes;
                    else if (alg->op == PAT_OP_SCATTER)
                        assert_true(r == 0 ? bytes == 0 : bytes >= sizes[i]);
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
                if (alg->op == PAT_OP_REDUCE && strcmp(alg->name, "reduce_halving") != 0)
                    assert_int_equal(received, (P - 1) * sizes[i]);
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
        {"direct", 8, 7, 7}, {"ring", 8, 7, 7}, {"nex", 8, 4, 4},   {"nex", 9, 8, 8},
        {"bdr", 8, 7, 7},    {"lnbc", 8, 7, 7}, {"bslb", 8, 14, 8}, {"gather_bsls", 8, 14, 1},
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
        cmocka_unit_test(all_sizes),
        cmocka_unit_test(message_counts),
        cmocka_unit_test(table),
        cmocka_unit_test(impossible_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

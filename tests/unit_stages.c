/*
 * unit_stages.c — the stage rule gives what is worked out by hand for it, and the closed forms where these are exact; for all broadcasts,
 * and for messages, ranks and roots at which something falls back or wraps round.
 */
#include <errno.h>
#include <string.h>

#include "formulas.h"

/* With a node for every rank the rule gives the closed forms, where these are exact. */
static void rule_against_forms(void **state)
{
    static const struct {
        pat_tree tree;
        const char *name;
    } pairs[] = {{{.kind = PAT_TREE_CHAIN, .fanout = 1}, "bcast_chain"},
                 {{.kind = PAT_TREE_CHAIN, .fanout = 4}, "bcast_kchain"},
                 {{.kind = PAT_TREE_BINARY}, "bcast_binary"},
                 {{.kind = PAT_TREE_BINOMIAL}, "bcast_binomial"}};
    pat_stage_link link = {.ratio = 1, .network = {some, GAMMAS}};
    static pat_stage_costs costs;
    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        for (int k = 2; k <= 10; k++) {
            pat_tree tree = pairs[i].tree;
            tree.num_ranks = 1 << k;
            if (tree.kind == PAT_TREE_BINARY)
                tree.num_ranks--; /* full: no rank has one child only */
            if (tree.fanout == 4)
                tree.num_ranks += 2; /* at least four chains */
            assert_int_equal(pat_stage_costs_of(&costs, &tree, &link), 0);
            for (int n = 1; n <= 4096; n *= 4) {
                pat_job job = job_of(tree.num_ranks, n * SEGMENT);
                double form = cost_of(pairs[i].name, &job, some).messages, rule = pat_stages_sum(&costs, n);
                assert_near(form, rule, 1e-9 * form);
            }
        }
}

static void one_by_one(void **state)
{
    pat_stage_costs costs = {.num_depths = 5, .at = {2, 5, 1, 4, 3}};
    (void)state;
    for (int64_t n = 1; n < 40; n++) {
        double sum = 0;
        for (int64_t stage = 1; stage <= 5 + n - 1; stage++) {
            double dearest = 0;
            for (int64_t d = 0; d < 5; d++)
                if (d >= stage - n && d <= stage - 1)
                    dearest = fmax(dearest, costs.at[d]);
            sum += dearest;
        }
        assert_near(sum, pat_stages_sum(&costs, n), 1e-12);
    }
    assert_near(1, pat_stage_of_rank(&(pat_stage_link){.ratio = 6, .network = {some, GAMMAS}}, 1, 0), 0);
    assert_near(1. / 6, pat_stage_of_rank(&(pat_stage_link){.ratio = 6, .network = {some, GAMMAS}}, 0, 3),
                1e-12);
    assert_near(1.1, pat_stage_of_rank(&(pat_stage_link){.ratio = 6, .network = {some, GAMMAS}}, 1, 6),
                1e-12);
}

/* A message of odd length, less than a segment, less than two; two and three ranks; other roots: what falls back does so, nothing is NaN. */
static void edges(void **state)
{
    static const char *const names[] = {"bcast_linear", "bcast_chain", "bcast_kchain",
                                        "bcast_binary", "bcast_split", "bcast_binomial"};
    const pat_algorithm *split = pat_algorithm_find("bcast_split"),
                        *chain = pat_algorithm_find("bcast_chain");
    (void)state;
    for (int P = 2; P <= 40; P += P < 9 ? 1 : 31)
        for (int ppn = 0; ppn <= 6; ppn += 2)
            for (int root = 0; root < P; root++)
                for (int64_t bytes = 1; bytes < 100000; bytes = 3 * bytes + 1) {
                    const pat_stage_link link = {
                        .ranks_per_node = ppn, .root = root, .ratio = 6, .network = {some, GAMMAS}};
                    const pat_job job = job_of(P, bytes);
                    assert_ptr_equal(pat_algorithm_runs_as(split, &job), bytes < 2 * SEGMENT ? chain : split);
                    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                        const pat_form_cost c = by_stages(names[i], &job, &link);
                        assert_true(c.messages > 0 && c.messages < 100 && isfinite(c.bytes));
                        assert_true(c.bytes >= (double)bytes / 6 - 1e-9);
                    }
                    if (bytes < 2 * SEGMENT)
                        assert_near(by_stages("bcast_chain", &job, &link).messages,
                                    by_stages("bcast_split", &job, &link).messages, 0);
                }
    const pat_stage_link apart = {.ratio = 1, .network = {some, GAMMAS}};
    pat_job job = job_of(
        2, 3 * SEGMENT + 1); /* two ranks: two segments down, the other half, less by a byte, at once */
    assert_near(2 + 1, by_stages("bcast_split", &job, &apart).messages, 1e-12);
    assert_near(2 * SEGMENT + (3 * SEGMENT) / 2, by_stages("bcast_split", &job, &apart).bytes, 1);
    job.num_ranks = 3;
    assert_near(2 * 1.1 + 1, by_stages("bcast_split", &job, &apart).messages, 1e-12);
    /* Another root: rank 2 of four on two nodes has one of its children, 3, beside it, and the chain leaves its node twice. */
    const pat_stage_link pairs = {.ranks_per_node = 2, .root = 1, .ratio = 4, .network = {some, GAMMAS}};
    job = job_of(4, SEGMENT);
    assert_near(2 + 1. / 4, by_stages("bcast_chain", &job, &pairs).messages, 1e-12);
    assert_near(2 + 1. / 4, by_stages("bcast_linear", &job, &pairs).messages, 1e-12);
    pat_form_cost none;
    assert_int_equal(pat_stages_bcast(&none, pat_algorithm_find("gather_linear"), &job, &pairs), EINVAL);
}

/* Whatever broadcast there is, it goes through the rule; with a node for each rank linear and split-binary are the closed forms too, but that
 * the split one's sends overlap in the rule and follow one another in its form. */
static void every_broadcast(void **state)
{
    const pat_stage_link apart = {.ratio = 1, .network = {some, GAMMAS}};
    int num = 0;
    (void)state;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (alg->op != PAT_OP_BCAST || !alg->build)
            continue;
        num++;
        for (int64_t bytes = 2 * SEGMENT; bytes <= 512 * SEGMENT; bytes *= 8) {
            const pat_job job = job_of(63, bytes);
            const pat_form_cost form = cost_of(alg->name, &job, some),
                                rule = by_stages(alg->name, &job, &apart);
            assert_true(rule.messages <= 1.0001 * form.messages && rule.messages > 0.4 * form.messages);
            if (strcmp(alg->name, "bcast_linear") == 0)
                assert_near(form.bytes, rule.bytes, 0);
            if (strcmp(alg->name, "bcast_split") == 0)
                assert_near((form.messages - 1) / 2 * 1.1 + 1, rule.messages, 1e-9);
        }
    }
    assert_int_equal(num, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rule_against_forms),
        cmocka_unit_test(one_by_one),
        cmocka_unit_test(edges),
        cmocka_unit_test(every_broadcast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * unit_bench_printed.c — what Nuriyev 2021 prints follows from the parameters printed there: coefficients of the closed forms, choices, and
 * the system of equations of figure 6.5. The parameters are those of pat-model --printed.
 */
#include <string.h>

#include "formulas.h"

#include "model_printed.h"

static const printed_set *set_of(const char *machine, enum pat_op op, int ranks)
{
    for (int i = 0; printed_at(i); i++)
        if (strcmp(printed_at(i)->machine, machine) == 0 && printed_at(i)->op == op &&
            printed_at(i)->ranks == ranks)
            return printed_at(i);
    fail_msg("%s with %d ranks is missing", machine, ranks);
    return NULL;
}

static void gamma_and_its_line(void **state)
{
    (void)state;
    const pat_gamma g = set_of("gros", PAT_OP_BCAST, 100)->link.network,
                    s = set_of("grisou", PAT_OP_BCAST, 90)->link.network, none = {0};
    assert_near(1, pat_gamma_of(g, 2), 0);
    assert_near(1.254, pat_gamma_of(g, 5), 0);
    assert_near(1.509, pat_gamma_of(g, 8), 0.0005);
    assert_near(1.763, pat_gamma_of(g, 11), 0.0005);
    assert_near(1.645, pat_gamma_of(s, 8), 0.0005);
    assert_near(1.969, pat_gamma_of(s, 11), 0.0005);
    assert_near(1, pat_gamma_of(none, 40), 0);
}

/* With Gros' gamma. */
static pat_form_cost ours(const char *name, const pat_job *job)
{
    return pat_closed_form(pat_algorithm_find(name), job, set_of("gros", PAT_OP_BCAST, 100)->link.network);
}

static pat_form_cost literal(const char *name, const pat_job *job)
{
    return printed_literal(name, job, set_of("gros", PAT_OP_BCAST, 100)->link.network);
}

/* How often the time of a segment, with Gros' gamma; K-chain and split as printed. Split: without the final exchange. */
static void coefficients(void **state)
{
    static const struct {
        int P, n;
        double chain, kchain, binary, split, binomial;
    } known[] = {
        {8, 1, 7, 1.254, 3.252, 5, 3.254},
        {8, 64, 70, 80.256, 71.544, 68, 76.964},
        {90, 1, 89, 22.254, 6.504, 11, 7.780},
        {90, 64, 152, 101.256, 74.796, 74, 102.830},
        {90, 512, 600, 663.048, 560.428, 522, 778.742},
        {124, 512, 634, 671.048, 560.428, 522, 778.742},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        const pat_job job = job_of(known[i].P, known[i].n * SEGMENT);
        assert_near(known[i].chain, ours("bcast_chain", &job).messages, 0.0005);
        assert_near(known[i].kchain, literal("bcast_kchain", &job).messages, 0.0005);
        assert_near(known[i].kchain + ((known[i].P - 1) % 4 ? 1 : 0), ours("bcast_kchain", &job).messages,
                    0.0005);
        assert_near(known[i].binary, ours("bcast_binary", &job).messages, 0.0005);
        assert_near(known[i].split + 1, literal("bcast_split", &job).messages, 0.0005);
        assert_near(known[i].binomial, ours("bcast_binomial", &job).messages, 0.0005);
        assert_near(known[i].binomial - 1, literal("bcast_binomial", &job).messages, 0.0005);
    }
}

static void choices(void **state)
{
    static const struct {
        const char *machine, *chosen;
        enum pat_op op;
        int ranks, num_rows;
    } known[] = {{"grisou", "bcast_binary", PAT_OP_BCAST, 90, 10},
                 {"grisou", "gather_binomial", PAT_OP_GATHER, 90, 5},
                 {"gros", "gather_binomial", PAT_OP_GATHER, 100, 5}};
    (void)state;
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
        const printed_set *set = set_of(known[k].machine, known[k].op, known[k].ranks);
        assert_int_equal(set->num_rows, known[k].num_rows);
        for (int i = 0; i < set->num_rows; i++)
            for (int literally = 0; literally < 2; literally++) {
                const int chosen = printed_choice(set, set->rows[i].kib * KB, literally);
                assert_string_equal(set->algs[chosen], known[k].chosen);
                assert_int_equal(chosen, set->rows[i].model);
            }
    }
}

static void times(void **state)
{
    /* linear, chain, K-chain, binary, split, binomial, in ms */
    static const double small[PRINTED_ALGS] = {13.1, 3.57, 0.858, 0.257, 0.339, 0.285};
    static const double large[PRINTED_ALGS] = {0, 24.1, 26.1, 22.2, 22.9, 33.3};
    const printed_set *grisou = set_of("grisou", PAT_OP_BCAST, 90);
    (void)state;
    for (int a = 0; a < PRINTED_ALGS; a++) {
        assert_near(small[a], 1e3 * printed_seconds(grisou, a, 8 * KB, true), 0.006 * small[a]);
        if (large[a] > 0)
            assert_near(large[a], 1e3 * printed_seconds(grisou, a, 4096 * KB, true), 0.006 * large[a]);
    }
}

/* Every machine has six algorithms or three, that there are, and predictions of all of them for all rows. */
static void whole(void **state)
{
    int rows = 0;
    (void)state;
    for (int i = 0; printed_at(i); i++) {
        const printed_set *set = printed_at(i);
        assert_int_equal(set->num_algs, set->op == PAT_OP_BCAST ? 6 : 3);
        for (int r = 0; r < set->num_rows; r++, rows++)
            for (int a = 0; a < set->num_algs; a++) {
                assert_non_null(pat_algorithm_find(set->algs[a]));
                assert_true(printed_seconds(set, a, set->rows[r].kib * KB, false) > 0);
                assert_true(set->rows[r].fastest != set->rows[r].model || set->rows[r].model_loss == 0);
                assert_true(set->rows[r].fastest != set->rows[r].library || set->rows[r].library_loss == 0);
            }
    }
    assert_int_equal(rows, 81);
}

/* ---- The stage rule on real trees ---- */

static void printed_system(void **state)
{
    /* n segments; the network's coefficient, less the closing gather's one message */
    static const double known[][2] = {{2, 13.306},    {4, 16.154},    {8, 21.850},
                                      {16, 33.242},   {32, 56.026},   {64, 101.594},
                                      {128, 192.730}, {256, 375.002}, {512, 739.546}};
    static const double printed[] = {14.31, 17.15, 22.85, 34.24, 57.03, 102.59, 193.73, 376.00, 740.55};
    static const double shared[] = {1012.31, 1015.15, 1020.85, 1032.24, 1055.03,
                                    1100.59, 1191.73, 1374.00, 1738.55};
    static const double depths[] = {1.339, 1.424, 1.424, 1.424, 1.424, 1.339, 1.254, 1.170, 1.084};
    pat_tree tree = {.kind = PAT_TREE_BINOMIAL, .num_ranks = 1000};
    pat_stage_link link = set_of("gros-cores", PAT_OP_BCAST, 1000)->link;
    pat_stage_costs costs;
    (void)state;
    assert_int_equal(pat_stage_costs_of(&costs, &tree, &link), 0);
    assert_int_equal(costs.num_depths, 9);
    for (int d = 0; d < 9; d++)
        assert_near(depths[d], costs.at[d], 0.0005);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        double sum = pat_stages_sum(&costs, (int64_t)known[i][0]);
        assert_near(known[i][1], sum, 0.0005);
        assert_near(printed[i], sum + 1, 0.01);
        assert_near(shared[i], sum + 999, 0.01); /* one copy in memory for each message over the network */
    }
}

/*
 * Linear [4.16]: 1000 ranks, 18 to a node, so 17 messages stay on the root's. Split-binary [4.28]: 10 ranks have 3 depths, and 32 segments
 * a half 34 stages. Printed gamma, Q = 12.
 */
static void linear_and_split(void **state)
{
    pat_stage_link link = set_of("gros-cores", PAT_OP_BCAST, 1000)->link;
    (void)state;
    pat_job job = job_of(1000, 64 * SEGMENT);
    pat_form_cost c = by_stages("bcast_linear", &job, &link);
    assert_near(982 + 17. / 12, c.messages, 1e-9);
    assert_near((982 + 17. / 12) * 64 * SEGMENT, c.bytes, 1e-3);

    job.num_ranks = 10;
    link.ranks_per_node = 1;
    c = by_stages("bcast_split", &job, &link);
    assert_near(33 * 1.084 + 1 + 1, c.messages, 1e-9); /* the last stage has ranks with one child only */
    assert_near((33 * 1.084 + 1) * SEGMENT + 32 * SEGMENT, c.bytes, 1e-3);
    /* 0 to 4 and 5 to 9: the root's children are beside it, and the dearest ranks below have one child there and one away. */
    link.ranks_per_node = 5;
    c = by_stages("bcast_split", &job, &link);
    assert_near(33 + 1. / 12 + 1, c.messages, 1e-9); /* rank 0 sends rank 9 its half over the network */
    job.num_ranks = 9;                               /* and here all exchanges are inside nodes */
    c = by_stages("bcast_split", &job, &link);
    assert_near(33 + 1. / 12 + 1. / 12, c.messages, 1e-9);
    link.ranks_per_node = 10; /* one node: channel 0 alone */
    c = by_stages("bcast_split", &job, &link);
    assert_near(35. / 12, c.messages, 1e-9);
    assert_near((34. * SEGMENT + 32 * SEGMENT) / 12, c.bytes, 1e-3);
    link.root = 3; /* where the ranks wrap round changes nothing on one node */
    assert_near(c.messages, by_stages("bcast_split", &job, &link).messages, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gamma_and_its_line),
        cmocka_unit_test(coefficients),
        cmocka_unit_test(choices),
        cmocka_unit_test(times),
        cmocka_unit_test(whole),
        cmocka_unit_test(printed_system),
        cmocka_unit_test(linear_and_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * unit_closed_form.c — the formulas and the stage rule give the numbers that are known for them: coefficients worked out
 * by hand, the printed system of equations of Nuriyev 2021, figure 6.5, and the choices that its printed parameters
 * lead to.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collective.h"
#include "model.h"
#include "plan_set.h"
#include "stages.h"

/* gamma(2) to gamma(7), table 6.1. */
static const double gros[] = {1, 1.084, 1.170, 1.254, 1.339, 1.424};
static const double grisou[] = {1, 1.114, 1.219, 1.283, 1.451, 1.540};

enum { SEGMENT = 8192, KB = 1024 };

#define assert_near(expected, got, within)                                                                   \
    do {                                                                                                     \
        double e_ = (expected), g_ = (got);                                                                  \
        if (!(fabs(e_ - g_) <= (within)))                                                                    \
            fail_msg("expected %.6g, got %.6g", e_, g_);                                                     \
    } while (0)

static pat_job job_of(int P, int64_t bytes)
{
    return (pat_job){
        .num_ranks = P, .block_bytes = bytes, .segment_bytes = SEGMENT, .eager_bytes = 65536 - 64};
}

static pat_form_cost cost_of(const char *name, const pat_job *job, const double *gamma)
{
    return pat_closed_form(pat_algorithm_find(name), job, (pat_gamma){gamma, gamma ? 6 : 0});
}

static void gamma_and_its_line(void **state)
{
    (void)state;
    pat_gamma g = {gros, 6}, s = {grisou, 6}, none = {0};
    assert_near(1, pat_gamma_of(g, 2), 0);
    assert_near(1.254, pat_gamma_of(g, 5), 0);
    assert_near(1.509, pat_gamma_of(g, 8), 0.0005);
    assert_near(1.763, pat_gamma_of(g, 11), 0.0005);
    assert_near(1.645, pat_gamma_of(s, 8), 0.0005);
    assert_near(1.969, pat_gamma_of(s, 11), 0.0005);
    assert_near(1, pat_gamma_of(none, 40), 0);
}

/* ---- As printed, with what is wrong there ---- */

enum { BCASTS = 6 };
static const char *const bcasts[BCASTS] = {"bcast_linear", "bcast_chain", "bcast_kchain",
                                           "bcast_binary", "bcast_split", "bcast_binomial"};

static int log_down(int n)
{
    return n > 1 ? 1 + log_down(n / 2) : 0;
}

/* So many times a segment, and for the split broadcast half the message after it. */
static pat_form_cost literal_cost(const char *name, const pat_job *job, const double *gamma)
{
    const int P = job->num_ranks;
    const double n = ceil((double)job->block_bytes / SEGMENT), half = (double)job->block_bytes / 2;
    double count = 0;
    if (strcmp(name, "bcast_kchain") == 0)
        count = (P - 1) / 4 + n * pat_gamma_of((pat_gamma){gamma, 6}, 5) - 1;
    else if (strcmp(name, "bcast_split") == 0)
        return (pat_form_cost){2 * (log_down(P) + n / 2 - 1) + 1,
                               2 * (log_down(P) + n / 2 - 1) * SEGMENT + half};
    else if (strcmp(name, "bcast_binomial") == 0)
        count = cost_of(name, job, gamma).messages - 1;
    else
        return cost_of(name, job, gamma);
    return (pat_form_cost){count, count * SEGMENT};
}

/* ---- What is known ---- */

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
        assert_near(known[i].chain, cost_of("bcast_chain", &job, gros).messages, 0.0005);
        assert_near(known[i].kchain, literal_cost("bcast_kchain", &job, gros).messages, 0.0005);
        assert_near(known[i].kchain + ((known[i].P - 1) % 4 ? 1 : 0),
                    cost_of("bcast_kchain", &job, gros).messages, 0.0005);
        assert_near(known[i].binary, cost_of("bcast_binary", &job, gros).messages, 0.0005);
        assert_near(known[i].split + 1, literal_cost("bcast_split", &job, gros).messages, 0.0005);
        assert_near(known[i].binomial, cost_of("bcast_binomial", &job, gros).messages, 0.0005);
        assert_near(known[i].binomial - 1, literal_cost("bcast_binomial", &job, gros).messages, 0.0005);
    }
}

/* Two ranks and one segment: one message by any tree; and what a gather says before it. */
static void one_message(void **state)
{
    (void)state;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        const int messages = strcmp(alg->name, "gather_sync") == 0   ? 2 /* and the signal */
                             : strcmp(alg->name, "gather_bsls") == 0 ? 3 /* and the short part */
                                                                     : 1;
        pat_job job = job_of(2, SEGMENT);
        if (!alg->formula || !pat_collective_of(alg->op)->rooted)
            continue;
        job.eager_bytes = messages > 1 ? 0 : 65536;
        const pat_form_cost cost = cost_of(alg->name, &job, gros);
        assert_near(messages, cost.messages, 1e-12);
        assert_near(SEGMENT, cost.bytes, 1e-9);
    }
}

static void gathers(void **state)
{
    (void)state;
    pat_job job = job_of(6, 1000);
    pat_form_cost c = cost_of("gather_binomial", &job, gros);
    assert_near(3, c.messages, 0);
    assert_near(5000, c.bytes, 0);
    c = cost_of("gather_sync", &job, gros); /* halves that fit the eager limit */
    assert_near(5, c.messages, 0);
    assert_near(2500, c.bytes, 0);
    job.block_bytes = 200000;
    c = cost_of("gather_sync", &job, gros);
    assert_near(10, c.messages, 0);
    assert_near(1000000, c.bytes, 0);
}

/* Messages of less than two segments go down a chain, as in Open MPI. */
static void split_falls_back(void **state)
{
    (void)state;
    pat_job job = job_of(8, 2 * SEGMENT - 1);
    assert_near(cost_of("bcast_chain", &job, gros).messages, cost_of("bcast_split", &job, gros).messages, 0);
    job.block_bytes++;
    assert_near(2 * 3 + 1, cost_of("bcast_split", &job, gros).messages, 0);
}

/* ---- Parameters as printed for one machine, and what follows ---- */

static const double grisou_bcast[BCASTS][2] = {{2.2e-12, 1.8e-8}, {6.1e-13, 4.9e-9}, {5.7e-13, 4.7e-9},
                                               {5.8e-13, 4.7e-9}, {3.7e-13, 3.6e-9}, {5.8e-13, 4.8e-9}};

static double predicted_ms(pat_form_cost c, const double *alpha_beta)
{
    return 1e3 * (c.messages * alpha_beta[0] + c.bytes * alpha_beta[1]);
}

static void replay_of_broadcasts(void **state)
{
    /* linear, chain, K-chain, binary, split, binomial (as printed) */
    static const double small[BCASTS] = {13.1, 3.57, 0.858, 0.257, 0.339, 0.285};
    static const double large[BCASTS] = {0, 24.1, 26.1, 22.2, 22.9, 33.3};
    (void)state;
    for (int64_t bytes = 8 * KB; bytes <= 4096 * KB; bytes *= 2) {
        const pat_job job = job_of(90, bytes);
        double least = 1e300;
        int best = 0;
        for (int f = 0; f < BCASTS; f++) {
            double ms = predicted_ms(literal_cost(bcasts[f], &job, grisou), grisou_bcast[f]);
            if (bytes == 8 * KB)
                assert_near(small[f], ms, 0.006 * small[f]);
            if (bytes == 4096 * KB && large[f] > 0)
                assert_near(large[f], ms, 0.006 * large[f]);
            if (ms < least) {
                least = ms;
                best = f;
            }
        }
        assert_string_equal(bcasts[best], "bcast_binary");
    }
}

static void replay_of_gathers(void **state)
{
    /* On Grisou (90 ranks) and Gros (100) */
    static const char *const names[3] = {"gather_linear", "gather_sync", "gather_binomial"};
    static const double ab[2][3][2] = {{{1.5e-5, 1.5e-9}, {5.9e-5, 9.4e-10}, {1.2e-4, 8.6e-10}},
                                       {{1.3e-4, 3.4e-10}, {9.5e-5, 3.9e-10}, {1.0e-4, 4.2e-10}}};
    static const int P[2] = {90, 100};
    (void)state;
    for (int machine = 0; machine < 2; machine++)
        for (int64_t bytes = 64 * KB; bytes <= 1024 * KB; bytes *= 2) {
            const pat_job job = job_of(P[machine], bytes);
            double ms[3];
            for (int i = 0; i < 3; i++)
                ms[i] = predicted_ms(cost_of(names[i], &job, NULL), ab[machine][i]);
            assert_true(ms[2] < ms[0] && ms[2] < ms[1]);
        }
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
    pat_stage_link link = {.ranks_per_node = 18, .ratio = 12, .network = {gros, 6}};
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
    pat_stage_link link = {.ratio = 1, .network = {gros, 6}};
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
                double form = cost_of(pairs[i].name, &job, gros).messages, rule = pat_stages_sum(&costs, n);
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
    assert_near(1, pat_stage_of_rank(&(pat_stage_link){.ratio = 6, .network = {gros, 6}}, 1, 0), 0);
    assert_near(1. / 6, pat_stage_of_rank(&(pat_stage_link){.ratio = 6, .network = {gros, 6}}, 0, 3), 1e-12);
    assert_near(1.084, pat_stage_of_rank(&(pat_stage_link){.ratio = 6, .network = {gros, 6}}, 1, 6), 1e-12);
}

/* ---- Formulas against plans ---- */

/* The last rank's exit when all call at 0. */
static int64_t walked_ns(const char *name, int P, int64_t bytes, int64_t segment, int64_t alpha_ns)
{
    static pat_plan plans[MAX_RANKS];
    int64_t arrival[MAX_RANKS] = {0}, exit_ns[MAX_RANKS], last = 0;
    pat_job job = {.num_ranks = P,
                   .block_bytes = bytes,
                   .element_bytes = 1,
                   .segment_bytes = segment,
                   .arrival_ns = arrival,
                   .tau_ns = alpha_ns + bytes,
                   .alpha_ns = alpha_ns,
                   .beta_ps = 1000};
    pat_cost cost = {.alpha_ns = alpha_ns, .beta_ps = 1000};
    plan_set_build(pat_algorithm_find(name), &job, plans);
    assert_int_equal(pat_model_walk(plans, P, arrival, &cost, exit_ns, NULL), 0);
    plan_set_free(plans, P);
    for (int r = 0; r < P; r++)
        last = exit_ns[r] > last ? exit_ns[r] : last;
    return last;
}

/* Bytes by formula where a rank's messages leave one after the other, as in the walk. */
static double serial_bytes(const char *name, const pat_job *job)
{
    double serial[MAX_RANKS];
    for (int i = 0; i < MAX_RANKS; i++)
        serial[i] = i + 1;
    return pat_closed_form(pat_algorithm_find(name), job, (pat_gamma){serial, MAX_RANKS}).bytes;
}

/*
 * In the walk a rank's messages leave one after the other, so gamma(p) is p-1. Where latency does not count, and the
 * ranks are as many as the tree's shape asks for, formula and plan are the same number. Not so the binomial broadcast: its
 * stages wait for their dearest rank, the plan does not, and lies between that and what the root alone takes.
 */
static void formulas_against_plans(void **state)
{
    static const struct {
        const char *name;
        int ranks[4];
    } list[] = {
        {"bcast_linear", {2, 5, 16, 33}},    {"bcast_chain", {2, 5, 16, 33}},
        {"bcast_kchain", {5, 9, 33, 61}},    {"bcast_binary", {3, 7, 31, 63}},
        {"bcast_split", {3, 7, 31, 63}},     {"bcast_binomial", {2, 8, 32, 64}},
        {"gather_linear", {2, 5, 16, 33}},   {"gather_sync", {2, 5, 16, 33}},
        {"gather_binomial", {2, 8, 32, 64}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        for (int k = 0; k < 4; k++)
            for (int n = 2; n <= 32; n *= 4) {
                const int P = list[i].ranks[k];
                const bool binomial = strcmp(list[i].name, "bcast_binomial") == 0;
                const pat_job job = {.num_ranks = P, .block_bytes = n * 1000, .segment_bytes = 1000};
                double form = serial_bytes(list[i].name, &job);
                double walked = (double)walked_ns(list[i].name, P, n * 1000, 1000, 0);
                double root = n * 1000.0 * pat_tree_num_children(&(pat_tree){PAT_TREE_BINOMIAL, P, 0}, 0);
                if (binomial ? walked > form || walked < root : walked != form)
                    fail_msg("%s, %d ranks, %d segments: the formula says %.0f, the plan takes %.0f",
                             list[i].name, P, n, form, walked);
            }
    /* With latency, where messages follow one another. */
    for (int P = 2; P <= 33; P += 31) {
        const pat_job job = {.num_ranks = P, .block_bytes = 5000};
        pat_form_cost c = cost_of("bcast_chain", &job, NULL);
        assert_near(c.messages * 700 + c.bytes, (double)walked_ns("bcast_chain", P, 5000, 0, 700), 1e-6);
    }
}

/* Every algorithm of the table, whatever the number of ranks: its plan takes about what its formula says. */
static void every_formula(void **state)
{
    enum { LEAST = 1000 };
    int num = 0;
    (void)state;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        assert_true(!alg->build || alg->formula);
        num += alg->formula != NULL;
        for (int P = 2; alg->formula && P <= MAX_RANKS; P += P < 17 ? 1 : 7)
            for (int parts = 2; parts <= 32; parts *= 4) {
                const pat_job job = {.num_ranks = P, .block_bytes = parts * LEAST, .segment_bytes = LEAST};
                const double form = serial_bytes(alg->name, &job);
                const double walked = (double)walked_ns(alg->name, P, job.block_bytes, LEAST, 0);
                if (walked > 2 * form || form > 2.5 * walked)
                    fail_msg("%s, %d ranks, %d segments: the formula says %.0f, the plan takes %.0f",
                             alg->name, P, parts, form, walked);
            }
    }
    assert_true(num > 0);
}

/*
 * All-gathers without latency: the plan takes what the formula says, or with a broadcast a segment more, where a rank's own
 * segments go behind others (PAT_SEND_WINDOW). One that goes by no estimates passes on what has come, so its link is not busy from
 * the first moment, and it may take a block more.
 */
static void all_gathers_against_plans(void **state)
{
    enum { SEGMENT_LEAST = 4096 };
    static const int ranks[] = {2, 3, 4, 5, 8, 16, 31};
    (void)state;
    for (int a = 0; a < pat_algorithm_count(); a++)
        for (size_t k = 0; k < sizeof(ranks) / sizeof(ranks[0]); k++)
            for (int parts = 1; parts <= 8; parts *= 2) {
                const pat_algorithm *alg = pat_algorithm_at(a);
                const pat_job job = {.num_ranks = ranks[k],
                                     .block_bytes = parts * SEGMENT_LEAST,
                                     .segment_bytes = SEGMENT_LEAST};
                if (!alg->formula || alg->op != PAT_OP_ALLGATHER)
                    continue;
                const double form = serial_bytes(alg->name, &job);
                const double walked = (double)walked_ns(alg->name, ranks[k], job.block_bytes, 0, 0);
                const double more = (double)(pat_algorithm_is_ahead(alg) ? job.block_bytes : SEGMENT_LEAST);
                if (walked < form || walked > form + more)
                    fail_msg("%s, %d ranks, %d segments: the formula says %.0f, the plan takes %.0f",
                             alg->name, ranks[k], parts, form, walked);
            }
    static const char *const exact[] = {"ring", "nex", "bdr"};
    for (int P = 2; P <= 32; P++) /* with latency too, where messages follow one another */
        for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
            for (int64_t alpha = 0; alpha <= 700; alpha += 700) {
                const pat_job job = {.num_ranks = P, .block_bytes = 5000};
                const pat_form_cost c = cost_of(exact[i], &job, NULL);
                assert_near(c.messages * (double)alpha + c.bytes,
                            (double)walked_ns(exact[i], P, 5000, 0, alpha), 1e-6);
            }
}

/* All-reduces of ranks that call at once: converge's pieces wait for one another at times. */
static void all_reduces_against_plans(void **state)
{
    static const char *const exact[] = {"allreduce_doubling", "allreduce_ring"};
    (void)state;
    for (int P = 2; P <= 64; P++)
        for (int64_t alpha = 0; alpha <= 700; alpha += 700)
            for (int i = 0; i < 2; i++) {
                const pat_job job = {.num_ranks = P, .block_bytes = 840 * P}; /* parts of a ring are alike */
                const pat_form_cost c = cost_of(exact[i], &job, NULL);
                assert_near(c.messages * (double)alpha + c.bytes,
                            (double)walked_ns(exact[i], P, job.block_bytes, 0, alpha), 1e-6);
            }
    for (int P = 2; P <= 64; P *= 2) {
        const int64_t bytes = 1 << 20; /* of 1024 pieces, the most there are */
        const pat_job job = {.num_ranks = P, .block_bytes = bytes, .segment_bytes = bytes / 1024};
        const double form = cost_of("allreduce_converge", &job, NULL).bytes;
        const double walked = (double)walked_ns("allreduce_converge", P, bytes, 0, 0);
        if (walked < form || walked > 1.1 * form)
            fail_msg("converge, %d ranks: the formula says %.0f, the plan takes %.0f", P, form, walked);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gamma_and_its_line),
        cmocka_unit_test(coefficients),
        cmocka_unit_test(one_message),
        cmocka_unit_test(gathers),
        cmocka_unit_test(split_falls_back),
        cmocka_unit_test(replay_of_broadcasts),
        cmocka_unit_test(replay_of_gathers),
        cmocka_unit_test(printed_system),
        cmocka_unit_test(rule_against_forms),
        cmocka_unit_test(one_by_one),
        cmocka_unit_test(formulas_against_plans),
        cmocka_unit_test(every_formula),
        cmocka_unit_test(all_gathers_against_plans),
        cmocka_unit_test(all_reduces_against_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * unit_closed_form.c — the formulas give what is worked out by hand for them, and what the plans of their algorithms take.
 */
#include <string.h>

#include "formulas.h"

#include "collective.h"
#include "model.h"
#include "plan_set.h"

/* Two ranks and one segment: one message by any tree; and what a gather says before it. */
static void one_message(void **state)
{
    (void)state;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        const int messages = strcmp(alg->name, "gather_sync") == 0      ? 2 /* and the signal */
                             : strcmp(alg->name, "gather_bsls") == 0    ? 3 /* and the short part */
                             : strcmp(alg->name, "reduce_halving") == 0 ? 2 /* of half the vector */
                                                                        : 1;
        pat_job job = job_of(2, SEGMENT);
        if (!alg->formula || !pat_collective_of(alg->op)->rooted)
            continue;
        job.eager_bytes = pat_collective_of(alg->op)->reduces || messages == 1 ? 65536 : 0;
        const pat_form_cost cost = cost_of(alg->name, &job, some);
        assert_near(messages, cost.messages, 1e-12);
        assert_near(SEGMENT, cost.bytes, 1e-9);
    }
}

/* Of all messages so many may only follow another one. The first segment never does; of a chain all others do. */
static void what_follows(void **state)
{
    (void)state;
    for (int a = 0; a < pat_algorithm_count(); a++)
        for (int ranks = 2; ranks <= 9; ranks++) {
            const pat_job job = job_of(ranks, 10 * SEGMENT);
            if (!pat_algorithm_at(a)->formula)
                continue;
            const pat_form_cost cost = cost_of(pat_algorithm_at(a)->name, &job, some);
            assert_true(cost.pieces >= 0 && cost.pieces < cost.messages);
        }
    pat_job job = job_of(5, 10 * SEGMENT);
    assert_near(9, cost_of("bcast_chain", &job, some).pieces, 0);
    assert_near(4 + 9, cost_of("bcast_chain", &job, some).messages, 0);
    job.segment_bytes = 10 * SEGMENT / 2;
    assert_near(1, cost_of("reduce_chain", &job, some).pieces, 0);
    assert_near(4 + 1, cost_of("reduce_chain", &job, some).messages, 0);
    assert_near(3, cost_of("reduce_binomial", &job, some).pieces, 0);
    job.block_bytes = SEGMENT;
    assert_near(0, cost_of("bcast_chain", &job, some).pieces, 0);
}

static void gathers(void **state)
{
    (void)state;
    pat_job job = job_of(6, 1000);
    pat_form_cost c = cost_of("gather_binomial", &job, some);
    assert_near(3, c.messages, 0);
    assert_near(5000, c.bytes, 0);
    c = cost_of("gather_sync", &job, some); /* halves that fit the eager limit */
    assert_near(5, c.messages, 0);
    assert_near(2500, c.bytes, 0);
    job.block_bytes = 200000;
    c = cost_of("gather_sync", &job, some);
    assert_near(10, c.messages, 0);
    assert_near(1000000, c.bytes, 0);
}

/* Messages of less than two segments go down a chain, as in Open MPI. */
static void split_falls_back(void **state)
{
    (void)state;
    pat_job job = job_of(8, 2 * SEGMENT - 1);
    assert_near(cost_of("bcast_chain", &job, some).messages, cost_of("bcast_split", &job, some).messages, 0);
    job.block_bytes++;
    assert_near(2 * 3 + 1, cost_of("bcast_split", &job, some).messages, 0);
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
                /* Of messages that are all posted at once some wait for each other, where a link takes one after the other. */
                const double more =
                    !strcmp(alg->name, "direct")
                        ? form / 8 + SEGMENT_LEAST
                        : (double)(pat_algorithm_is_ahead(alg) ? job.block_bytes : SEGMENT_LEAST);
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
        cmocka_unit_test(one_message),
        cmocka_unit_test(what_follows),
        cmocka_unit_test(gathers),
        cmocka_unit_test(split_falls_back),
        cmocka_unit_test(formulas_against_plans),
        cmocka_unit_test(every_formula),
        cmocka_unit_test(all_gathers_against_plans),
        cmocka_unit_test(all_reduces_against_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

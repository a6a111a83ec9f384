/*
 * unit_check_all.c — the checker accepts every plan that the algorithms of the table build, for every number of ranks and
 * arrivals of every kind; and those of every all-gather carry what ranks tell each other, where they are asked to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "check.h"
#include "plan_set.h"

#ifdef SLOW_BUILD /* one pattern of each kind and size finds what it can find */
enum { PATTERNS = 9, SWEEP_RANKS = 32, MANY_RANKS = 32, PATTERNS_OF_MANY = 9 };
#else /* with many ranks plans take long to check, and what is wrong with them is wrong with fewer, too */
enum { PATTERNS = 200, SWEEP_RANKS = MAX_RANKS, MANY_RANKS = 32, PATTERNS_OF_MANY = 27 };
#endif

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/*
 * A plan that needs no estimates is the same for all patterns: then only sizes and links make a difference. Unequal blocks
 * are cut out of plans that were right, whatever the arrivals.
 */
static int patterns_of(const pat_algorithm *alg, int ranks, bool unequal)
{
    const int most = ranks > MANY_RANKS ? PATTERNS_OF_MANY : PATTERNS;
    if (pat_collective_of(alg->op)
            ->reduces) /* plans with many nodes: one of each kind; unit_allreduce.c tries more */
        return 9;
    return (!alg->uses_arrivals || unequal) && most > 27 ? 27 : most;
}

static bool has_an_empty_block(const pat_job *job)
{
    bool has = false;
    for (int r = 0; r < job->num_ranks && job->starts; r++)
        has = has || job->starts[r] == job->starts[r + 1];
    return has;
}

/*
 * What a block carries comes with the message in the result that has the block's last byte. So every other rank's block must come in by such a message where a plan
 * was asked to carry, and nothing may be carried where a block has no last byte. Returns what is wrong; NULL: nothing.
 */
static const char *carries_wrongly(const pat_job *job, const pat_plan *plan)
{
    const bool may = job->num_ranks > 1 && !has_an_empty_block(job);
    bool comes[MAX_RANKS] = {false};
    if (plan->carries && !may)
        return "carries arrivals of empty blocks, or nobody's";
    if (job->carries && may && !plan->carries)
        return "does not carry what it was asked to";
    for (int i = 0; i < plan->num_nodes && plan->carries; i++) {
        const pat_node *n = &plan->nodes[i];
        if (n->kind != PAT_NODE_RECV || n->length == 0 || n->to.space != PAT_SPACE_RESULT)
            continue;
        for (int b = pat_plan_block_of(plan, n->to.offset);
             b < plan->num_ranks && pat_plan_block_start(plan, b + 1) <= n->to.offset + n->length; b++)
            comes[b] = true;
    }
    for (int b = 0; b < plan->num_ranks; b++)
        if (plan->carries && b != plan->rank && !comes[b])
            return "carries arrivals, but some rank's come with no message";
    return NULL;
}

static int refused_in_sweep(const pat_algorithm *alg, bool unequal)
{
    static pat_plan plans[MAX_RANKS];
    int64_t arrival_ns[MAX_RANKS];
    char why[256];
    uint64_t seed = 1;
    int64_t starts[MAX_RANKS + 1];
    int order[MAX_RANKS], node_of[MAX_RANKS], refused = 0;
    for (int P = 1; P <= SWEEP_RANKS; P++)
        for (int k = 0; k < patterns_of(alg, P, unequal); k++) {
            pat_job job = random_job(&seed, k, P, arrival_ns);
            random_order(&seed, k, &job, order);
            random_nodes(&seed, k, &job, node_of);
            if (unequal)
                random_starts(&seed, k, &job, starts);
            job.carries = alg->op == PAT_OP_ALLGATHER && k / 2 % 2 == 0;
            plan_set_build(alg, &job, plans);
            if (pat_check(plans, P, pat_collective_of(alg->op), why, sizeof(why))) {
                refused++;
                print_error("%s, %d ranks, %s%lld bytes, pattern %d: %s\n", alg->name, P,
                            unequal ? "up to " : "", (long long)job.block_bytes, k, why);
            }
            for (int r = 0; r < P; r++) {
                const char *wrong = carries_wrongly(&job, &plans[r]);
                refused += wrong != NULL;
                if (wrong)
                    print_error("%s, %d ranks, pattern %d, rank %d: %s\n", alg->name, P, k, r, wrong);
            }
            /* What may be forgotten between calls must not have sent anything: see LAST_CALLS in list.h. */
            for (int r = 0; r < P && alg->uses_last_calls; r++)
                if (plans[r].has_control) {
                    refused++;
                    print_error("%s, %d ranks, pattern %d: rank %d sends before anybody has called\n",
                                alg->name, P, k, r);
                }
            plan_set_free(plans, P);
        }
    return refused;
}

static void test_every_algorithm_is_right(void **state)
{
    int refused = 0;
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    (void)state;
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (pat_algorithm_at(a)->build)
            refused += refused_in_sweep(pat_algorithm_at(a), false);
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (pat_algorithm_at(a)->build && pat_algorithm_at(a)->op == PAT_OP_ALLGATHER)
            refused += refused_in_sweep(pat_algorithm_at(a), true);
    print_message("1 to %d ranks, up to %d arrival patterns each: %.1f s, of which %.1f s on the processor\n",
                  SWEEP_RANKS, PATTERNS, seconds(CLOCK_MONOTONIC) - wall,
                  seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
    assert_int_equal(refused, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_algorithm_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

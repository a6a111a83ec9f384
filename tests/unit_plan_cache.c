/*
 * unit_plan_cache.c — plans are built once for what is asked for again, whatever came in between; those in use stay as they are; the
 * others go when there are too many or when they are too large.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "plan_cache.h"

static pat_job job_of(int num_ranks, int64_t bytes)
{
    return (pat_job){
        .num_ranks = num_ranks, .block_bytes = bytes, .tau_ns = 1000, .alpha_ns = 100, .beta_ps = 900};
}

static const pat_plan *get(pat_plan_cache *cache, const char *alg, const pat_job *job, int rank)
{
    const pat_plan *plan = NULL;
    assert_int_equal(pat_plan_cache_get(cache, pat_algorithm_find(alg), job, rank, &plan), 0);
    assert_int_equal(plan->block_bytes, job->block_bytes);
    assert_int_equal(plan->rank, rank);
    return plan;
}

static void release(pat_plan_cache *cache, const pat_plan *plan)
{
    pat_plan_cache_release(cache, &plan);
    assert_null(plan);
}

/* Broadcasts, gathers from two roots, all-gathers of two lengths, and one of unequal blocks, in turn. */
static void alternating_calls_build_nothing(void **state)
{
    (void)state;
    pat_plan_cache cache = {0};
    static const int64_t starts[] = {0, 100, 350, 450, 1000}, others[] = {0, 100, 350, 451, 1000};
    for (int turn = 0; turn < 20; turn++) {
        pat_job job = job_of(4, 1000);
        job.segment_bytes = 500;
        release(&cache, get(&cache, "bcast_binomial", &job, 1));
        release(&cache, get(&cache, "gather_binomial", &job, 1));
        release(&cache, get(&cache, "gather_binomial", &job, 3)); /* as seen from another root */
        job = job_of(4, 1000);
        release(&cache, get(&cache, "relay", &job, 1));
        job.together = true;
        release(&cache, get(&cache, "relay", &job, 1));
        job = job_of(4, 1000);
        release(&cache, get(&cache, "ring", &job, 1));
        job.carries = true;
        release(&cache, get(&cache, "ring", &job, 1));
        job = job_of(4, 2000);
        release(&cache, get(&cache, "relay", &job, 1));
        job.alpha_ns++; /* on another link, and in pieces that cost something else */
        release(&cache, get(&cache, "relay", &job, 1));
        job.piece_ns++;
        release(&cache, get(&cache, "relay", &job, 1));
        job = job_of(4, 550);
        job.starts = starts;
        release(&cache, get(&cache, "relay", &job, 1));
        job.starts = others;
        release(&cache, get(&cache, "relay", &job, 1));
        job.own_starts = starts; /* two lists */
        release(&cache, get(&cache, "alltoall_linear", &job, 1));
        job.own_starts = others;
        const pat_plan *plan = get(&cache, "alltoall_linear", &job, 1);
        assert_int_equal(plan->starts[3], 451);
        release(&cache, plan);
        assert_int_equal(cache.num_built, 14);
    }
    pat_plan_cache_free(&cache);
}

static void what_differs_is_another_plan(void **state)
{
    (void)state;
    pat_plan_cache cache = {0};
    pat_job job = job_of(4, 1000);
    job.segment_bytes = 500;
    const pat_plan *a = get(&cache, "bcast_split", &job, 0);
    job.segment_bytes = 250;
    const pat_plan *b = get(&cache, "bcast_split", &job, 0);
    assert_ptr_not_equal(a, b);
    assert_ptr_equal(pat_plan_cache_algorithm(a), pat_algorithm_find("bcast_split"));
    assert_false(pat_plan_cache_together(a));
    release(&cache, a);
    release(&cache, b);
    job.element_bytes = 4;
    a = get(&cache, "allreduce_doubling", &job, 0);
    job.element_bytes = 8; /* half as many elements are joined */
    b = get(&cache, "allreduce_doubling", &job, 0);
    assert_int_equal(a->element_bytes, 4);
    assert_int_equal(b->element_bytes, 8);
    release(&cache, a);
    release(&cache, b);
    a = get(&cache, "ring", &job, 0);
    job.carries = true; /* messages of other lengths */
    b = get(&cache, "ring", &job, 0);
    assert_false(a->carries);
    assert_true(b->carries);
    assert_ptr_equal(get(&cache, "ring", &job, 0), b);
    release(&cache, a);
    release(&cache, b);
    pat_plan_cache_free(&cache);
}

/* What goes by arrivals is built each time, and does not stay. */
static void arrivals_come_once(void **state)
{
    (void)state;
    pat_plan_cache cache = {0};
    static const int64_t arrival_ns[] = {0, 5000, 100, 90000};
    pat_job job = job_of(4, 1000);
    job.arrival_ns = arrival_ns;
    for (int i = 1; i <= 3; i++) {
        release(&cache, get(&cache, "bdr", &job, 2));
        assert_int_equal(cache.num_built, i);
        assert_null(cache.newest);
    }
    pat_plan_cache_free(&cache);
}

/* One plan is in use all the time, twice; hundreds of others come and go. */
static void bounded_but_for_those_in_use(void **state)
{
    (void)state;
    pat_plan_cache cache = {0};
    const pat_job first = job_of(5, 64);
    const pat_plan *kept = get(&cache, "ring", &first, 4), *again = get(&cache, "ring", &first, 4);
    const int nodes = kept->num_nodes;
    assert_ptr_equal(kept, again);
    for (int i = 0; i < 300; i++) {
        const pat_job job = job_of(5, 65 + i);
        release(&cache, get(&cache, "ring", &job, 4));
    }
    const pat_job recent = job_of(5, 65 + 299), gone = job_of(5, 65);
    release(&cache, get(&cache, "ring", &recent, 4));
    assert_int_equal(cache.num_built, 301);
    release(&cache, get(&cache, "ring", &gone, 4));
    assert_int_equal(cache.num_built, 302);
    release(&cache, kept);
    assert_ptr_equal(get(&cache, "ring", &first, 4), again);
    assert_int_equal(again->num_nodes, nodes);
    pat_plan_cache_free(&cache);
}

/* Plans for a thousand ranks take megabytes: few are kept, but the one that was asked for last always is until it is released. */
static void large_ones_go_sooner(void **state)
{
    (void)state;
    pat_plan_cache cache = {0};
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < 12; i++) {
            const pat_job job = job_of(4000, 100000 + i);
            release(&cache, get(&cache, "relay", &job, 7));
        }
    assert_true(cache.num_built > 12);
    pat_plan_cache_free(&cache);
}

static void errors_leave_it_as_it_was(void **state)
{
    (void)state;
    pat_plan_cache cache = {0};
    const pat_plan *plan = NULL;
    const pat_job bad = job_of(0, 10);
    assert_int_not_equal(pat_plan_cache_get(&cache, pat_algorithm_find("ring"), &bad, 0, &plan), 0);
    assert_null(plan);
    assert_null(cache.newest);
    pat_plan_cache_release(&cache, &plan);
    pat_plan_cache_free(&cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alternating_calls_build_nothing),
        cmocka_unit_test(what_differs_is_another_plan),
        cmocka_unit_test(arrivals_come_once),
        cmocka_unit_test(bounded_but_for_those_in_use),
        cmocka_unit_test(large_ones_go_sooner),
        cmocka_unit_test(errors_leave_it_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * unit_allreduce.c — all-reduces as plans: the checker accepts them for counts that do not divide and all kinds of arrivals,
 * their operands are joined in an order that no arrival changes, contributions move before the last rank has called, converge is hardly
 * slower than the regular ones when ranks come at once and faster when they do not, no plan has more messages than the job allows, and none
 * is predicted to beat the physical bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include "model.h"
#include "plan_judge.h"

enum { ELEMENT = 8, NUM_NAMES = 3 };

static const char *const names[NUM_NAMES] = {"allreduce_doubling", "allreduce_ring", "allreduce_converge"};

/* A link on which a vector of a few KiB is worth some pieces. */
static pat_job job_of(int num_ranks, int64_t elements, const int64_t *arrival_ns)
{
    return (pat_job){.num_ranks = num_ranks,
                     .block_bytes = elements * ELEMENT,
                     .element_bytes = ELEMENT,
                     .arrival_ns = arrival_ns,
                     .tau_ns = 100 + elements * ELEMENT,
                     .alpha_ns = 100,
                     .beta_ps = 1000,
                     .piece_ns = 25};
}

static void test_right_for_all_counts_and_arrivals(void **state)
{
    static pat_plan plans[MAX_RANKS];
    uint64_t seed = 11;
    char why[256];
    (void)state;
    for (int P = 1; P <= MAX_RANKS; P++)
        for (int a = 0; a < NUM_NAMES; a++) {
            const int64_t counts[] = {0, 1, 2, P - 1, P, P + 1, 1000};
            for (int k = 0; k < 7; k++)
                for (int pattern = strcmp(names[a], "allreduce_converge") ? 7 : 0; pattern < 9;
                     pattern += P < 20 || k < 6 ? 1 : 3) {
                    int64_t arrival[MAX_RANKS];
                    pat_job job = job_of(P, counts[k], pattern == 7 ? NULL : arrival);
                    random_arrivals(&seed, pattern, P, 8000, arrival);
                    plan_set_build(pat_algorithm_find(names[a]), &job, plans);
                    if (pat_check(plans, P, pat_collective_of(PAT_OP_ALLREDUCE), why, sizeof(why)))
                        fail_msg("%s, %d ranks, %d elements, pattern %d: %s", names[a], P, (int)counts[k],
                                 pattern, why);
                    plan_set_free(plans, P);
                }
        }
}

/* ---- The order of joining ---- */

/* The expression of the ranks from `from` to before `to`, halves joined with halves. */
static uint64_t of_halves(int from, int to, int64_t unit)
{
    if (to - from == 1)
        return contribution(from, unit).expression;
    const int middle = from + (to - from) / 2;
    return mix(of_halves(from, middle, unit), of_halves(middle, to, unit));
}

/* From a rank on round the ring. */
static uint64_t round_ring(int from, int num_ranks, int64_t unit)
{
    uint64_t e = contribution(from, unit).expression;
    for (int i = 1; i < num_ranks; i++)
        e = mix(e, contribution((from + i) % num_ranks, unit).expression);
    return e;
}

static uint64_t wanted(const char *name, int num_ranks, int64_t elements, int64_t element, int64_t unit)
{
    int part = num_ranks - 1;
    if (strcmp(name, "allreduce_ring") != 0)
        return of_halves(0, num_ranks, unit);
    while (pat_cut(elements, 1, num_ranks, part) > element)
        part--;
    return round_ring(part, num_ranks, unit);
}

static void expect_order(const char *name, const pat_job *job, uint64_t seed)
{
    set s = {.num_ranks = job->num_ranks, .random = seed};
    judge j;
    plan_set_build(pat_algorithm_find(name), job, s.plans);
    judge_begin(&j, &s);
    assert_true(execute(&j, &s, pat_collective_of(PAT_OP_ALLREDUCE)));
    for (int r = 0; r < s.num_ranks; r++)
        for (int64_t unit = 0; unit < job->block_bytes / j.unit; unit++)
            assert_true(cells_at(&j, r, pat_result(unit * j.unit))->expression ==
                        wanted(name, s.num_ranks, job->block_bytes / ELEMENT, unit * j.unit / ELEMENT, unit));
    judge_end(&j);
    plan_set_free(s.plans, s.num_ranks);
}

static void test_order_of_joining(void **state)
{
    uint64_t seed = 12;
    (void)state;
    for (int P = 2; P <= MOST_RANKS; P++)
        for (int pattern = 0; pattern < 18; pattern++) {
            int64_t arrival[MAX_RANKS];
            const int64_t elements =
                pattern < 9 ? 600 : 1 + pattern % 3; /* long ones are cut, short ones are not */
            const pat_job job = job_of(P, elements, arrival);
            pat_job in_pieces = job;
            in_pieces.eager_bytes = 16 * ELEMENT;
            random_arrivals(&seed, pattern, P, 8000, arrival);
            expect_order("allreduce_ring", &in_pieces, seed);
            expect_order("allreduce_converge", &job, seed);
            if ((P & (P - 1)) == 0) /* else its halves are of other sizes */
                expect_order("allreduce_doubling", &job, seed);
        }
}

/* ---- What is left after the last call ---- */

/* Arrivals 50 vectors' times apart, in an order of their own. */
static void far_apart(uint64_t *seed, const pat_job *job, int64_t *arrival)
{
    int order[MAX_RANKS];
    pat_job placed = *job;
    random_order(seed, 1, &placed, order);
    for (int r = 0; r < job->num_ranks; r++)
        arrival[order[r]] = 50 * job->block_bytes * r;
}

static int64_t walked_ns(const char *name, const pat_job *job, const int64_t *arrival, int64_t *exit_ns)
{
    static pat_plan plans[MAX_RANKS];
    const pat_cost cost = {.alpha_ns = job->alpha_ns, .beta_ps = job->beta_ps};
    int64_t last = INT64_MIN;
    plan_set_build(pat_algorithm_find(name), job, plans);
    assert_int_equal(pat_model_walk(plans, job->num_ranks, arrival, &cost, exit_ns, NULL), 0);
    plan_set_free(plans, job->num_ranks);
    for (int r = 0; r < job->num_ranks; r++)
        last = exit_ns[r] > last ? exit_ns[r] : last;
    return last;
}

/* What is left after the last call, when ranks come far apart: little more than a vector and two latencies, less than a ring. */
static void test_far_apart(void **state)
{
    uint64_t seed = 13;
    (void)state;
    for (int P = 3; P <= MAX_RANKS; P++) {
        static pat_plan plans[MAX_RANKS];
        int64_t arrival[MAX_RANKS], exit_ns[MAX_RANKS], last = 0, early = 0;
        pat_job job = job_of(P, 65536, arrival);
        far_apart(&seed, &job, arrival);
        plan_set_build(pat_algorithm_find("allreduce_converge"), &job, plans);
        for (int r = 0; r < P; r++) {
            int64_t taken;
            pat_plan_recv_bytes(&plans[r], &taken);
            early += taken;
            last = arrival[r] > last ? arrival[r] : last;
        }
        plan_set_free(plans, P);
        assert_int_equal(
            early,
            (P - 1) * job.block_bytes); /* contributions come in whether their receiver has called or not */
        const int64_t past = walked_ns("allreduce_converge", &job, arrival, exit_ns) - last;
        assert_true(past >= job.block_bytes + job.alpha_ns);
        assert_true(100 * past <= 125 * job.block_bytes);
        if (P >= 4) {
            const int64_t ring = walked_ns("allreduce_ring", &job, arrival, exit_ns) - last;
            assert_true(100 * ring > (P < 8 ? 130 : 145) * past);
        }
    }
}

/* Whoever is last, the total goes from each rank to the next one by number, so over the same connections in each call. */
static void test_same_connections(void **state)
{
    uint64_t seed = 14;
    (void)state;
    for (int P = 3; P <= 20; P++) {
        static pat_plan plans[MAX_RANKS];
        int64_t arrival[MAX_RANKS];
        const pat_job job = job_of(P, 65536, arrival);
        far_apart(&seed, &job, arrival);
        plan_set_build(pat_algorithm_find("allreduce_converge"), &job, plans);
        int root = 0;
        for (int r = 1; r < P; r++)
            root = arrival[r] > arrival[root] ? r : root;
        for (int r = 0; r < P; r++) {
            int64_t bytes = 0;
            for (int i = 0; i < plans[r].num_nodes; i++)
                if (plans[r].nodes[i].kind == PAT_NODE_SEND && plans[r].nodes[i].peer == (r + 1) % P)
                    bytes += plans[r].nodes[i].length;
            if ((r + 1) % P != root)
                assert_true(bytes >= job.block_bytes);
        }
        plan_set_free(plans, P);
    }
}

/* 16 ranks, rank 11 last, most long there. Of some: how long before it they call, in hundredths of a vector's time. */
static int64_t past_with_late(int num, const int (*late)[2])
{
    int64_t arrival[16], exit_ns[16];
    const pat_job job = job_of(16, 8192, arrival);
    const int64_t last = 100 * job.block_bytes;
    for (int r = 0; r < 16; r++)
        arrival[r] = 2 * job.block_bytes * r;
    arrival[11] = last;
    for (int i = 0; i < num; i++)
        arrival[late[i][0]] = last - late[i][1] * job.block_bytes / 100;
    return walked_ns("allreduce_converge", &job, arrival, exit_ns) - last;
}

/*
 * What a rank sends that calls shortly before the last one is passed on as it comes in, so it delays nobody. But where
 * several send to one rank, they wait for one another there, even if each has called a vector's time before the last
 * one; and who still sends its own contribution cannot pass the total on. Then the chain is not taken.
 */
static void test_some_late(void **state)
{
    (void)state;
    const int64_t alone = past_with_late(0, NULL), vector = 8192 * ELEMENT;
    assert_true(100 * past_with_late(1, (const int[][2]){{3, 60}}) <= 100 * alone + vector);
    assert_true(100 * past_with_late(1, (const int[][2]){{14, 30}}) <= 100 * alone + vector);
    /* Ranks 1, 2 and 4 have all called then, and all send to rank 0: of their vectors less than one has come in. */
    const int64_t piled_up = past_with_late(4, (const int[][2]){{0, 80}, {1, 165}, {2, 160}, {4, 155}});
    assert_true(100 * piled_up < 140 * vector);
    /* Rank 3 stands at the chain's end, rank 1 would have to pass the total on behind half of its own contribution. */
    const int64_t busy = past_with_late(2, (const int[][2]){{3, 40}, {1, 45}});
    assert_true(100 * busy < 140 * vector);
}

/* Time past the last call of the regular algorithm that is the faster one. */
static int64_t regular_past_ns(const pat_job *job, int64_t last)
{
    int64_t exit_ns[MAX_RANKS];
    const int64_t ring = walked_ns("allreduce_ring", job, job->arrival_ns, exit_ns) - last;
    const int64_t doubling = walked_ns("allreduce_doubling", job, job->arrival_ns, exit_ns) - last;
    return ring < doubling ? ring : doubling;
}

/* Ranks that come at once or near each other: hardly slower than the best regular algorithm, and on average faster. */
static void test_near_each_other(void **state)
{
    static const int64_t counts[] = {1, 8, 50, 200, 1000, 8192, 65536};
    uint64_t seed = 15;
    (void)state;
    for (int apart = 0; apart <= 4; apart += 2) /* vectors' times */
        for (int k = 0; k < 7; k++) {
            double regular = 0, converge = 0;
            for (int P = 3; P <= MAX_RANKS; P += P < 20 ? 1 : 11) {
                int64_t arrival[MAX_RANKS], exit_ns[MAX_RANKS], last = 0;
                const pat_job job = job_of(P, counts[k], arrival);
                for (int r = 0; r < P; r++) {
                    arrival[r] = random_below(&seed, apart * job.block_bytes + 1);
                    last = arrival[r] > last ? arrival[r] : last;
                }
                const int64_t best = regular_past_ns(&job, last);
                const int64_t past = walked_ns("allreduce_converge", &job, arrival, exit_ns) - last;
                if (100 * past > (apart == 0 ? 115 : 135) * best)
                    fail_msg("%d ranks, %d elements, %d apart: %lld ns, a regular one takes %lld", P,
                             (int)counts[k], apart, (long long)past, (long long)best);
                regular += (double)best / (double)job.block_bytes;
                converge += (double)past / (double)job.block_bytes;
            }
            assert_true(converge <= (apart == 4 ? 1 : 1.05) * regular);
            assert_true(apart < 4 || counts[k] < 8192 || 1.25 * converge < regular);
        }
}

/* Returns how many messages that go one way between two ranks are the most. */
static int expect_most_messages(const char *name, const pat_job *job)
{
    int most = 0;
    for (int r = 0; r < job->num_ranks; r++) {
        pat_plan plan;
        assert_int_equal(pat_algorithm_plan(pat_algorithm_find(name), job, r, &plan), 0);
        for (int i = 0; i < plan.num_nodes; i++) {
            assert_true(plan.nodes[i].match < job->most_messages);
            most = plan.nodes[i].match + 1 > most ? plan.nodes[i].match + 1 : most;
        }
        pat_plan_free(&plan);
    }
    return most;
}

static void test_most_messages(void **state)
{
    (void)state;
    for (int P = 2; P <= 40; P++)
        for (int most = 2 * P; most < 600; most *= 2) {
            pat_job job = job_of(P, 100000, NULL);
            job.most_messages = most;
            expect_most_messages("allreduce_converge", &job);
            job.eager_bytes = 1000;
            const int sent = expect_most_messages("allreduce_ring", &job);
            assert_true(sent > most - 2 * P ||
                        sent >= 2 * (P - 1) * 256); /* as many pieces as there may be */
        }
}

/* The longest message of all ranks, for a vector of 64 KiB at 50 Mbit/s. */
static int64_t longest_message_of(int num_ranks, int64_t bytes, int64_t eager_bytes, int64_t packet_bytes,
                                  int64_t piece_ns)
{
    int64_t longest = 0;
    const pat_job job = {.num_ranks = num_ranks,
                         .block_bytes = bytes,
                         .element_bytes = ELEMENT,
                         .tau_ns = 200000 + bytes * 160,
                         .alpha_ns = 200000,
                         .beta_ps = 160000,
                         .piece_ns = piece_ns,
                         .eager_bytes = eager_bytes,
                         .packet_bytes = packet_bytes};
    for (int r = 0; r < job.num_ranks; r++) {
        pat_plan plan;
        assert_int_equal(pat_algorithm_plan(pat_algorithm_find("allreduce_converge"), &job, r, &plan), 0);
        for (int i = 0; i < plan.num_nodes; i++)
            if (pat_is_message(&plan.nodes[i]) && plan.nodes[i].length > longest)
                longest = plan.nodes[i].length;
        pat_plan_free(&plan);
    }
    return longest;
}

static int64_t longest_message(int64_t eager_bytes, int64_t packet_bytes, int64_t piece_ns)
{
    return longest_message_of(8, 65536, eager_bytes, packet_bytes, piece_ns);
}

/* With two ranks as well no message is asked for first, though one vector each way would be the least. */
static void test_nothing_is_asked_for(void **state)
{
    (void)state;
    for (int64_t bytes = 65536; bytes <= 4 << 20; bytes *= 8)
        for (int packet = 0; packet <= 1448; packet += 1448) {
            assert_true(longest_message_of(2, bytes, 65280, packet, 50000) <= 65280);
            assert_true(longest_message_of(2, bytes, 0, packet, 50000) <= 8192);
        }
    assert_int_equal(longest_message_of(2, 65280, 65280, 0, 50000), 65280); /* whole */
    assert_true(longest_message_of(2, 65536, 0, 0, 500000) >
                8192); /* so many would cost too much of their time */
}

/* Pieces fit into whole packets, with room for MPI's header, and are sent without asking first. */
static void test_length_of_pieces(void **state)
{
    (void)state;
    const int64_t one = longest_message(0, 1448, 50000), two = longest_message(0, 1448, 200000);
    assert_true(one <= 1448 - 64 && one > 1448 * 3 / 4);
    assert_true(two <= 2 * 1448 - 64 && two > 1448);
    /* Headers count as much where pieces cost next to nothing. */
    const int64_t cheap = longest_message(0, 1448, 5000);
    assert_true(cheap <= 1448 - 64 && cheap > 1448 * 3 / 4);
    assert_true(longest_message(0, 0, 200000) > 2000);
    assert_true(longest_message(2000, 0, 200000) <= 2000);
    assert_true(longest_message(2000, 1448, 150000) <= 2000);
}

/* Down the chain too, but for vectors so long that a plan would have too many of them. */
static void test_pieces_of_the_chain(void **state)
{
    static const int64_t counts[] = {8192, 190000};
    (void)state;
    for (int k = 0; k < 2; k++) {
        int64_t arrival[16], sent = 0, longest = 0;
        pat_job job = job_of(16, counts[k], arrival);
        pat_plan plan;
        job.piece_ns = 5;
        job.packet_bytes = 1448;
        for (int r = 0; r < 16; r++)
            arrival[r] = 3 * job.block_bytes * r;
        assert_int_equal(pat_algorithm_plan(pat_algorithm_find("allreduce_converge"), &job, 15, &plan), 0);
        for (int i = 0; i < plan.num_nodes; i++)
            if (plan.nodes[i].kind == PAT_NODE_SEND) {
                sent++;
                longest = plan.nodes[i].length > longest ? plan.nodes[i].length : longest;
            }
        pat_plan_free(&plan);
        assert_true(sent <= 1024 && longest > 1448 * 3 / 4 && (k == 1 || longest <= 1448 - 64));
    }
}

/* ---- The bound ---- */

static void test_bound_by_hand(void **state)
{
    const int64_t apart[] = {0, 7000, 100000, 3000}, together[] = {5, 5, 5, 5}, two[] = {0, 0, 9000, 9000};
    int64_t exit_ns[4], last;
    (void)state;
    /* 1000 bytes at a byte a nanosecond, latency 10: a vector after the last arrival, and after the last other one. */
    assert_int_equal(pat_model_allreduce_bound(4, 1000, apart, &(pat_cost){.alpha_ns = 10, .beta_ps = 1000},
                                               exit_ns, &last),
                     0);
    assert_int_equal(last, 101010);
    assert_int_equal(exit_ns[0], 101010);
    assert_int_equal(exit_ns[2], 100000);
    /* All at once: 2 * 3/4 of a vector. */
    assert_int_equal(pat_model_allreduce_bound(4, 1000, together,
                                               &(pat_cost){.alpha_ns = 10, .beta_ps = 1000}, exit_ns, &last),
                     0);
    assert_int_equal(last, 5 + 10 + 1500);
    assert_int_equal(exit_ns[3], 5 + 10 + 1000);
    /* The last two at once: no more than after one. */
    assert_int_equal(
        pat_model_allreduce_bound(4, 1000, two, &(pat_cost){.alpha_ns = 10, .beta_ps = 1000}, exit_ns, &last),
        0);
    assert_int_equal(last, 9000 + 10 + 1000);
    assert_int_equal(exit_ns[2], 9000 + 10 + 1000);
    assert_int_equal(pat_model_allreduce_bound(1, 1000, apart + 1,
                                               &(pat_cost){.alpha_ns = 10, .beta_ps = 1000}, exit_ns, &last),
                     0);
    assert_int_equal(last, 7000);
    assert_int_equal(exit_ns[0], 7000);
}

static void test_nothing_beats_the_bound(void **state)
{
    uint64_t seed = 14;
    int met = 0, walked = 0;
    (void)state;
    for (int number = 0; number < 243; number++) {
        const int P = 1 + (int)random_below(&seed, 16);
        int64_t arrival[MAX_RANKS], bound[MAX_RANKS], exit_ns[MAX_RANKS], last;
        const pat_job job = random_job(&seed, number, P, arrival);
        assert_int_equal(pat_model_allreduce_bound(
                             P, job.block_bytes, arrival,
                             &(pat_cost){.alpha_ns = job.alpha_ns, .beta_ps = job.beta_ps}, bound, &last),
                         0);
        for (int a = 0; a < NUM_NAMES; a++, walked++) {
            const int64_t got = walked_ns(names[a], &job, arrival, exit_ns);
            if (got < last)
                fail_msg("%s, %d ranks: %lld ns, the bound is %lld", names[a], P, (long long)got,
                         (long long)last);
            for (int r = 0; r < P; r++)
                assert_true(exit_ns[r] >= bound[r]);
            met += P > 1 && got == last;
        }
    }
    assert_true(met > 0 && met < walked); /* else it would be no bound, or nothing would have been tested */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_for_all_counts_and_arrivals),
        cmocka_unit_test(test_order_of_joining),
        cmocka_unit_test(test_far_apart),
        cmocka_unit_test(test_same_connections),
        cmocka_unit_test(test_some_late),
        cmocka_unit_test(test_near_each_other),
        cmocka_unit_test(test_most_messages),
        cmocka_unit_test(test_nothing_is_asked_for),
        cmocka_unit_test(test_length_of_pieces),
        cmocka_unit_test(test_pieces_of_the_chain),
        cmocka_unit_test(test_bound_by_hand),
        cmocka_unit_test(test_nothing_beats_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

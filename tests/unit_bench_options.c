/*
 * unit_bench_options.c — what a command line of the mini-benchmark means, and which are refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "algorithm_list.h"
#include "bench_options.h"

enum { MAX_ARGS = 32 };

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

/* Parse a command line given as one string; its words have to outlive the options, which point to them. */
static int parse(bench_options *o, const char *line)
{
    static char words[512], name[] = "pat-bench";
    char *argv[MAX_ARGS + 1] = {name}, *rest = words, *word;
    int argc = 1;
    snprintf(words, sizeof(words), "%s", line);
    while (argc < MAX_ARGS && (word = strsep(&rest, " ")) != NULL)
        if (*word)
            argv[argc++] = word;
    return bench_options_parse(o, argc, argv, NULL);
}

static void test_options_meaning(void **state)
{
    (void)state;
    bench_options o;
    assert_int_equal(
        parse(&o, "--alg ring,bdr --count 1K,2M,300 --max-delay 0,0.5,100 --iters 7 --base 12.5 --pattern "
                  "one-late --seed 99 --link 50,94.5 --csv x.csv"),
        0);
    assert_int_equal(o.action, BENCH_RUN);
    assert_int_equal(o.num_algs, 2);
    assert_string_equal(o.algs[0], "ring");
    assert_string_equal(o.algs[1], "bdr");
    assert_int_equal(o.num_counts, 3);
    assert_int_equal(o.counts[0], 1024);
    assert_int_equal(o.counts[1], 2 * 1024 * 1024);
    assert_int_equal(o.counts[2], 300);
    assert_int_equal(o.num_delays, 3);
    assert_near(o.delays_ms[1], 0.5, 0);
    assert_int_equal(o.iters, 7);
    assert_near(o.base_ms, 12.5, 0);
    assert_int_equal(o.pattern, BENCH_ONE_LATE);
    assert_int_equal(o.seed, 99);
    assert_true(o.link_set);
    assert_near(o.link_latency_us, 50, 0);
    assert_near(o.link_mbit, 94.5, 0);
    assert_string_equal(o.csv, "x.csv");
    bench_options_free(&o);

    assert_int_equal(parse(&o, "--edges 25,50.5,75 --pause"), 0);
    assert_int_equal(o.num_edges, 3);
    assert_near(o.edges[1], 50.5, 0);
    assert_true(o.pause);
    bench_options_free(&o);
    static const char *const wrong[] = {"--edges 0",     "--edges 100", "--edges 50,50",
                                        "--edges 75,25", "--edges x",   "--edges="};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_not_equal(parse(&o, wrong[i]), 0);
        assert_non_null(strstr(o.error, "--edges"));
        bench_options_free(&o);
    }

    assert_int_equal(parse(&o, ""), 0);
    assert_int_equal(o.num_edges, 1);
    const alg_list all = algs_of(PAT_OP_ALLGATHER, alg_is_one); /* the gather alone is not among them */
    assert_int_equal(o.num_algs, all.num);
    for (int a = 0; a < all.num; a++)
        assert_string_equal(o.algs[a], all.names[a]);
    assert_int_equal(o.counts[0], 128 * 1024);
    assert_int_equal(o.num_delays, 3);
    assert_int_equal(o.iters, 20);
    assert_int_equal(o.pattern, BENCH_UNIFORM);
    bench_options_free(&o);

    /* The collective shapes what other options mean, also those that stand before it. */
    assert_int_equal(
        parse(&o, "--alg ring,allreduce_converge,auto --bytes 64K --versus converge --op allreduce"), 0);
    assert_int_equal(o.num_algs, 3);
    assert_string_equal(o.algs[0], "allreduce_ring");
    assert_string_equal(o.algs[1], "allreduce_converge");
    assert_string_equal(o.algs[2], "allreduce_auto");
    assert_string_equal(o.versus, "allreduce_converge");
    assert_int_equal(bench_options_sizes(&o, 3), 0);
    assert_int_equal(o.counts[0], 8192); /* doubles of one vector, however many ranks */
    assert_int_equal(bench_block_bytes(o.op, o.counts[0], 3), 65536);
    bench_options_free(&o);
    assert_int_equal(parse(&o, "--op allreduce"), 0);
    assert_int_equal(o.num_algs, 5); /* native, doubling, ring, halving, converge */
    bench_options_free(&o);

    assert_int_equal(parse(&o, "--from a.csv,b.json --plot d --paper"), 0);
    assert_int_equal(o.action, BENCH_FROM);
    assert_int_equal(o.num_from, 2);
    assert_string_equal(o.from[1], "b.json");
    assert_true(o.paper);
    bench_options_free(&o);
    assert_int_equal(parse(&o, "--help"), 0);
    assert_int_equal(o.action, BENCH_HELP);
    assert_int_equal(parse(&o, "--version"), 0);
    assert_int_equal(o.action, BENCH_VERSION);
}

/* Every message names the bad value and what is accepted. */
static void test_options_bad(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"--alg fastest", "'fastest'", "auto, native, direct, bruck, ring, nex, lnbc, bdr, bslb, relay"},
        {"--op scan", "'scan'", "accepted: allgather, allreduce"},
        {"--op bcast", "'bcast'", "accepted: allgather, allreduce"},
        {"--op", "'--op'", "value is missing"},
        {"--alg relay --op allreduce", "'relay'", "all, allreduce_auto, allreduce_native"},
        {"--alg ring,allreduce_ring --op allreduce", "'allreduce_ring'", "twice"},
        {"--versus bdr --op allreduce", "'bdr'", "allreduce_auto, allreduce_native"},
        {"--alg allreduce_ring", "'allreduce_ring'", "all, auto, native"},
        {"--op allreduce --bytes 12", "'12'", "a multiple of the 8 bytes of a double"},
        {"--op allreduce --persistent", "--persistent", "all-gathers only"},
        {"--op allreduce --plot d", "--plot", "all-gathers"},
        {"--op allreduce --paper", "--paper", "all-gathers"},
        {"--alg gather_bsls", "'gather_bsls'", "all, auto, native"},
        {"--alg ring,ring", "'ring'", "twice"},
        {"--alg all,bdr", "'bdr'", "twice"},
        {"--alg ring,,bdr", "'ring,,bdr'", "empty"},
        {"--count 0", "'0'", "from 1 to 256M"},
        {"--count -4", "'-4'", "whole number of floats"},
        {"--count 1.5K", "'1.5K'", "whole number of floats"},
        {"--count 12G", "'12G'", "K, M or G"},
        {"--count 257M", "'257M'", "256M"},
        {"--count 99999999999999999999", "'99999999999999999999'", "256M"},
        {"--count K", "'K'", "K, M or G"},
        {"--bytes 0", "'0'", "from 4 to 1G"},
        {"--bytes 6", "'6'", "a multiple of the 4 bytes of a float"},
        {"--bytes 64KB", "'64KB'", "K, M or G"},
        {"--bytes 64K,65536", "'65536'", "twice"},
        {"--bytes 64K --count 1K", "--bytes", "one of them"},
        {"--count 1K,1024", "'1024'", "twice"},
        {"--max-delay -5", "'-5'", "from 0 to 60000"},
        {"--max-delay nan", "'nan'", "from 0 to 60000"},
        {"--max-delay 5ms", "'5ms'", "from 0 to 60000"},
        {"--max-delay 1e9", "'1e9'", "from 0 to 60000"},
        {"--max-delay 10,10.0", "'10.0'", "twice"},
        {"--iters 0", "'0'", "from 1 to 100000"},
        {"--iters ten", "'ten'", "from 1 to 100000"},
        {"--base inf", "'inf'", "from 0 to 60000"},
        {"--pattern late", "'late'",
         "uniform, none, one-late, ascending, descending, gaussian, rotating-late, alternating-late, "
         "switching-late"},
        {"--seed -1", "'-1'", "whole number from 0"},
        {"--link 50", "'50'", "LATENCY,RATE"},
        {"--link 50,0", "'50,0'", "Mbit/s"},
        {"--progress=loud", "'loud'", "bar, lines, off"},
        {"--from results.txt", "'results.txt'", ".csv or .json"},
        {"--from a.csv --csv b.csv", "--from", "--csv"},
        {"--speed 3", "'--speed'", "--op, --alg, --bytes, --count"},
        {"--csv", "'--csv'", "value is missing"},
        {"--persistent=yes", "'--persistent=yes'", "takes no value"},
        {"-x", "'-x'", "accepted"},
        {"128K", "'128K'", "options only"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bench_options o;
        if (parse(&o, cases[i][0]) == 0 || !strstr(o.error, cases[i][1]) || !strstr(o.error, cases[i][2]))
            fail_msg("'%s': message '%s' lacks '%s' or '%s'", cases[i][0], o.error, cases[i][1], cases[i][2]);
        bench_options_free(&o);
    }
    bench_options o;
    char name[] = "pat-bench", *argv[] = {name, NULL};
    assert_int_not_equal(bench_options_parse(&o, 1, argv, "often"), 0);
    assert_non_null(strstr(o.error, "PAT_PROGRESS 'often'"));
    assert_int_equal(bench_options_parse(&o, 1, argv, "bar"), 0);
    assert_int_equal(o.progress, BENCH_PROGRESS_BAR);
}

static void test_bytes_per_rank(void **state)
{
    (void)state;
    bench_options o;
    assert_int_equal(parse(&o, "--bytes 64K,4,1g"), 0);
    assert_int_equal(bench_options_sizes(&o, 1), 0);
    assert_int_equal(o.num_counts, 3);
    assert_int_equal(o.counts[0], 16384);
    assert_int_equal(o.counts[1], 1);
    assert_int_equal(o.counts[2], 1 << 28);
    assert_int_not_equal(bench_options_sizes(&o, 3), 0); /* 3 GiB in all */
    assert_non_null(strstr(o.error, "--bytes '1073741824': at most 357913940 are accepted with 3 ranks"));
    bench_options_free(&o);
    assert_int_equal(parse(&o, "--count 1000"), 0);
    assert_int_equal(bench_options_sizes(&o, 3), 0);
    assert_int_equal(o.counts[0], 1000);
    bench_options_free(&o);
}

static void test_rounding(void **state)
{
    (void)state;
    assert_int_equal(bench_round_count(PAT_OP_ALLGATHER, 1024, 4), 1024);
    assert_int_equal(bench_round_count(PAT_OP_ALLGATHER, 1000, 3), 999);
    assert_int_equal(bench_round_count(PAT_OP_ALLGATHER, 7, 8), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_meaning),
        cmocka_unit_test(test_options_bad),
        cmocka_unit_test(test_bytes_per_rank),
        cmocka_unit_test(test_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * unit_config.c — settings are taken exactly as they are meant, or refused with a message that names them.
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

#include "collective.h"
#include "config.h"

/* One setting is enough for most tests; a second one for the rest. */
static const char *names[2], *values[2];

static const char *get(const char *name)
{
    for (int i = 0; i < 2; i++)
        if (names[i] && strcmp(names[i], name) == 0)
            return values[i];
    return NULL;
}

static int read_two(pat_config *config, const char *name, const char *value, const char *name2,
                    const char *value2, char why[256])
{
    names[0] = name;
    values[0] = value;
    names[1] = name2;
    values[1] = value2;
    strcpy(why, "untouched");
    return pat_config_read(config, get, why, 256);
}

static pat_config good(const char *name, const char *value)
{
    pat_config config;
    char why[256];
    if (read_two(&config, name, value, NULL, NULL, why) != 0)
        fail_msg("%s=\"%s\" was refused: %s", name, value, why);
    assert_string_equal(why, "untouched");
    return config;
}

static void bad(const char *name, const char *value)
{
    pat_config config = {.mem_bytes = -7};
    char why[256], start[64];
    if (read_two(&config, name, value, NULL, NULL, why) != EINVAL)
        fail_msg("%s=\"%s\" was accepted", name, value);
    snprintf(start, sizeof(start), "%s=\"%.8s", name, value);
    if (strncmp(why, start, strlen(start)) != 0 || !strstr(why, "\": accepted: "))
        fail_msg("%s=\"%s\": unhelpful message: %s", name, value, why);
    assert_int_equal(config.mem_bytes, -7); /* nothing half-read */
}

static void test_defaults(void **state)
{
    (void)state;
    pat_config c = good("PAT_UNKNOWN", "x");
    assert_string_equal(c.alg[PAT_OP_ALLGATHER], "auto");
    assert_true(c.background);
    assert_string_equal(c.thread_pin, "auto");
    assert_int_equal(c.mem_bytes, 256 << 20);
    assert_int_equal(c.trace_mem_bytes, 64 << 20);
    assert_false(c.link_set);
}

static void test_environment(void **state)
{
    (void)state;
    pat_config config;
    char why[256];
    assert_int_equal(setenv("PAT_MEM", "3M", 1), 0);
    assert_int_equal(pat_config_read(&config, pat_config_env, why, sizeof(why)), 0);
    assert_int_equal(config.mem_bytes, 3 << 20);
    assert_int_equal(setenv("PAT_MEM", "", 1), 0); /* empty is not unset */
    assert_int_equal(pat_config_read(&config, pat_config_env, why, sizeof(why)), EINVAL);
    assert_int_equal(unsetenv("PAT_MEM"), 0);
    assert_int_equal(pat_config_read(&config, pat_config_env, why, sizeof(why)), 0);
    assert_int_equal(config.mem_bytes, 256 << 20);
}

static void test_alg(void **state)
{
    (void)state;
    assert_string_equal(good("PAT_ALG", "bdr").alg[PAT_OP_ALLGATHER], "bdr");
    assert_string_equal(good("PAT_ALG", "0123456789012345678901234567890").alg[PAT_OP_ALLGATHER],
                        "0123456789012345678901234567890");
    bad("PAT_ALG", "");
    bad("PAT_ALG", "01234567890123456789012345678901");
    assert_string_equal(good("PAT_ALG", "bdr").alg[PAT_OP_BCAST], "bcast_auto");
    assert_string_equal(good("PAT_ALG_BCAST", "bcast_chain").alg[PAT_OP_BCAST], "bcast_chain");
    assert_string_equal(good("PAT_ALG_GATHER", "gather_sync").alg[PAT_OP_GATHER], "gather_sync");
    assert_string_equal(good("PAT_CALIBRATION", "here.json").calibration, "here.json");
    assert_false(good("PAT_CALIBRATION", "here.json").calibration_sought);
    assert_string_equal(good("PAT_CALIBRATION", "None").calibration, "");
    assert_false(good("PAT_CALIBRATION", "none").calibration_sought);
    assert_true(good("PAT_ALG", "auto").calibration_sought);
    assert_true(good("PAT_EXPLAIN", "on").explain && !good("PAT_EXPLAIN", "0").explain);
    bad("PAT_EXPLAIN", "2");
    bad("PAT_CALIBRATION", "");
    assert_string_equal(good("PAT_REPORT", "there.json").report, "there.json");
    bad("PAT_REPORT", "");
    assert_string_equal(good("PAT_MOCKUPS", "profiles").mockups, "profiles");
    bad("PAT_MOCKUPS", "");
    bad("PAT_ALG_BCAST", "");
    bad("PAT_ALG_GATHER", "01234567890123456789012345678901");
}

static void test_background(void **state)
{
    (void)state;
    static const char *const on[] = {"1", "on", "ON", "yes", "Yes", "true", "tRuE"};
    static const char *const off[] = {"0", "off", "Off", "no", "NO", "false", "FALSE"};
    for (size_t i = 0; i < 7; i++) {
        assert_true(good("PAT_BACKGROUND", on[i]).background);
        assert_false(good("PAT_BACKGROUND", off[i]).background);
    }
    static const char *const wrong[] = {"", "2", "00", "-1", "o", "onn", " 1", "1 ", "enabled"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        bad("PAT_BACKGROUND", wrong[i]);
}

static void test_thread_pin(void **state)
{
    (void)state;
    assert_string_equal(good("PAT_THREAD_PIN", "AUTO").thread_pin, "auto");
    assert_string_equal(good("PAT_THREAD_PIN", "Off").thread_pin, "off");
    assert_string_equal(good("PAT_THREAD_PIN", "0").thread_pin, "0");
    assert_string_equal(good("PAT_THREAD_PIN", "007").thread_pin, "7");
    assert_string_equal(good("PAT_THREAD_PIN", "2147483647").thread_pin, "2147483647");
    static const char *const wrong[] = {"",      "-1", "+1", "1.0", "1,2",        "0x1",
                                        "auto ", " 3", "3x", "on",  "2147483648", "99999999999999999999"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        bad("PAT_THREAD_PIN", wrong[i]);
}

static void test_wait(void **state)
{
    (void)state;
    assert_false(good("PAT_WAIT", "adaptive").wait_spin);
    assert_true(good("PAT_GOAL", "Last").goal_last);
    assert_false(good("PAT_GOAL", "mean").goal_last);
    bad("PAT_GOAL", "median");
    assert_false(good("PAT_REORDER", "off").reorder);
    assert_true(good("PAT_REORDER", "yes").reorder);
    bad("PAT_REORDER", "sum");
    assert_int_equal(good("PAT_RANKS_PER_NODE", "16").ranks_per_node, 16);
    assert_true(good("PAT_EXPLAIN", "0").single_copy);
    assert_false(good("PAT_SINGLE_COPY", "off").single_copy);
    static const char *const no_number[] = {"", "0", "-1", "two", "4x", "99999999999"};
    for (size_t i = 0; i < sizeof(no_number) / sizeof(no_number[0]); i++)
        bad("PAT_RANKS_PER_NODE", no_number[i]);
    assert_true(good("PAT_WAIT", "Spin").wait_spin);
    assert_string_equal(good("PAT_TRACE", "a b/c").trace, "a b/c");
    assert_string_equal(good("PAT_WAIT", "spin").trace, "");
    bad("PAT_TRACE", "");
    static const char *const wrong[] = {"", "0", "spinning", " spin", "block"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        bad("PAT_WAIT", wrong[i]);
}

static void test_mem(void **state)
{
    (void)state;
    assert_int_equal(good("PAT_TRACE_MEM", "1M").trace_mem_bytes, 1 << 20);
    assert_int_equal(good("PAT_MEM", "0").mem_bytes, 0);
    assert_int_equal(good("PAT_MEM", "1").mem_bytes, 1);
    assert_int_equal(good("PAT_MEM", "12K").mem_bytes, 12 * 1024);
    assert_int_equal(good("PAT_MEM", "3m").mem_bytes, 3 << 20);
    assert_int_equal(good("PAT_MEM", "5G").mem_bytes, INT64_C(5) << 30);
    assert_int_equal(good("PAT_MEM", "9223372036854775807").mem_bytes, INT64_MAX);
    assert_int_equal(good("PAT_MEM", "8589934591G").mem_bytes, INT64_C(8589934591) << 30);
    static const char *const wrong[] = {"",
                                        "K",
                                        "12X",
                                        "12KB",
                                        "12 K",
                                        " 12",
                                        "12 ",
                                        "-1",
                                        "+1",
                                        "1.5G",
                                        "0x10",
                                        "1e6",
                                        "12T",
                                        "many",
                                        "9223372036854775808",
                                        "8589934592G",
                                        "18446744073709551617"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        bad("PAT_MEM", wrong[i]);
}

static void assert_link(const char *value, int64_t alpha_ns, int64_t beta_ps)
{
    pat_config c = good("PAT_LINK", value);
    assert_true(c.link_set);
    assert_int_equal(c.link_alpha_ns, alpha_ns);
    assert_int_equal(c.link_beta_ps, beta_ps);
}

static void test_link(void **state)
{
    (void)state;
    assert_link("50,1000", 50000, 8000);
    assert_link("0.5,100", 500, 80000);
    assert_link("12.3456,940", 12346, 8511); /* 8e6/940 = 8510.6 */
    assert_link("1,0.001", 1000, INT64_C(8000000000));
    assert_link("0.001,1000000", 1, 8);
    assert_link("1000000,3.000000000000000001", 1000000000, 2666667);
    static const char *const wrong[] = {
        "",         ",",        "50",    "50,",     ",100",      "50,100,",     "50,100x",
        "50;100",   "0,100",    "50,0",  "-1,100",  "50,-1",     "nan,1",       "1,nan",
        "1,inf",    "1e3,100",  "50 ,1", "50, 1",   "+5,1",      "1.,1",        ".5,1",
        "0.0001,1", "1,0.0001", "0x1,1", "1,2.5.1", "1000001,1", "1,1000000.1", "99999999999999999999,1"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        bad("PAT_LINK", wrong[i]);
}

static void test_message(void **state)
{
    (void)state;
    pat_config config;
    char why[256], value[400];
    assert_int_equal(read_two(&config, "PAT_MEM", "12X", NULL, NULL, why), EINVAL);
    assert_string_equal(why,
                        "PAT_MEM=\"12X\": accepted: a number of bytes with optional K, M or G, e.g. 256M");

    /* The good one of two settings does not hide the bad one. */
    assert_int_equal(read_two(&config, "PAT_ALG", "ring", "PAT_LINK", "0,0", why), EINVAL);
    assert_non_null(strstr(why, "PAT_LINK=\"0,0\""));

    /* A value of any length leaves room for what is accepted. */
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    assert_int_equal(read_two(&config, "PAT_LINK", value, NULL, NULL, why), EINVAL);
    assert_non_null(strstr(why, "x...\": accepted: "));
    assert_non_null(strstr(why, "50,940"));

    /* A message goes to a terminal: what is shown has no control characters. */
    assert_int_equal(read_two(&config, "PAT_MEM", "1\033[2J", NULL, NULL, why), EINVAL);
    assert_non_null(strstr(why, "\"1?[2J\""));
}

static uint64_t digest(const char *name, const char *value, const char *name2, const char *value2)
{
    pat_config config;
    char why[256];
    assert_int_equal(read_two(&config, name, value, name2, value2, why), 0);
    return pat_config_digest(&config);
}

static void test_digest(void **state)
{
    (void)state;
    const uint64_t plain = digest(NULL, NULL, NULL, NULL);
    /* FNV-1a of "alg=auto,bcast_auto,gather_auto,allreduce_auto,alltoall_auto,reduce_auto,scatter_auto,reduce_scatter_auto;cal=1,,0;reorder=0;per_node=0;copy=1;report=;mockups=;mem=268435456;link=0,0,0", worked out apart from this
     * code: the same on every platform. */
    assert_true(plain == UINT64_C(0xf31bd036eb5e98a4));

    /* The same settings, said differently. */
    assert_true(plain == digest("PAT_ALG", "auto", "PAT_MEM", "262144K"));
    assert_true(digest("PAT_LINK", "50,100", NULL, NULL) == digest("PAT_LINK", "50.0,100.000", NULL, NULL));
    /* What may differ from rank to rank. */
    assert_true(plain == digest("PAT_BACKGROUND", "0", "PAT_THREAD_PIN", "1"));
    assert_true(plain == digest("PAT_WAIT", "spin", "PAT_THREAD_PIN", "1"));
    assert_true(plain == digest("PAT_TRACE", "/tmp", "PAT_EXPLAIN", "1"));
    /* What may not. */
    assert_true(plain != digest("PAT_ALG", "ring", NULL, NULL));
    assert_true(plain != digest("PAT_REORDER", "1", NULL, NULL));
    assert_true(plain != digest("PAT_RANKS_PER_NODE", "4", NULL, NULL));
    assert_true(plain != digest("PAT_SINGLE_COPY", "0", NULL, NULL));
    assert_true(plain == digest("PAT_RANKS_PER_NODE", "Auto", NULL, NULL));
    assert_true(plain != digest("PAT_ALG_BCAST", "bcast_chain", NULL, NULL));
    assert_true(plain != digest("PAT_ALG_GATHER", "gather_linear", NULL, NULL));
    assert_true(plain != digest("PAT_ALG_ALLREDUCE", "allreduce_native", NULL, NULL));
    assert_true(plain != digest("PAT_CALIBRATION", "here.json", NULL, NULL));
    assert_true(plain != digest("PAT_CALIBRATION", "none", NULL, NULL));
    assert_true(plain != digest("PAT_MEM", "255M", NULL, NULL));
    assert_true(plain != digest("PAT_MOCKUPS", "profiles", NULL, NULL));
    assert_true(plain != digest("PAT_LINK", "50,100", NULL, NULL));
    assert_true(digest("PAT_LINK", "50,100", NULL, NULL) != digest("PAT_LINK", "51,100", NULL, NULL));
    assert_true(digest("PAT_LINK", "50,100", NULL, NULL) != digest("PAT_LINK", "50,101", NULL, NULL));
}

static void test_strays(void **state)
{
    (void)state;
    char a[] = "HOME=/", b[] = "PAT_LINKS=50,940", c[] = "PAT_MEM=1M", d[] = "PAT_RT_SUMMARY=1",
         e[] = "PAT_ALOG", f[] = "PAT_LAB_RATE=1", g[] = "XPAT_MEM=1",
         h[] = "PAT_=", i[] = "PAT_thread_pin=1";
    char *const environment[] = {a, b, c, d, e, f, g, h, i, NULL};
    static const char *const expected[][2] = {{"PAT_LINKS", "PAT_LINK"},
                                              {"PAT_RT_SUMMARY", NULL}, /* another program's */
                                              {"PAT_ALOG", "PAT_ALG"},
                                              {"PAT_", NULL},
                                              {"PAT_thread_pin", NULL}};
    char name[64];
    const char *nearest;
    for (int k = 0; k < 5; k++) {
        assert_true(pat_config_stray(environment, k, name, sizeof(name), &nearest));
        assert_string_equal(name, expected[k][0]);
        if (!expected[k][1])
            assert_null(nearest);
        else
            assert_string_equal(nearest, expected[k][1]);
    }
    assert_false(pat_config_stray(environment, 5, name, sizeof(name), &nearest));
    char small[8];
    assert_true(pat_config_stray(environment, 0, small, sizeof(small), &nearest));
    assert_string_equal(small, "PAT_LIN");
}

/* What is shown of a setting is whole, and what it says holds without it is what holds without it. */
static void test_table(void **state)
{
    (void)state;
    const pat_setting *s;
    const uint64_t plain = digest(NULL, NULL, NULL, NULL);
    int num = 0;
    for (; (s = pat_config_setting(num)) != NULL; num++) {
        const size_t length = strlen(s->description);
        assert_true(length > 20 && s->description[length - 1] == '.');
        assert_true(!s->read == !!s->collective); /* one way to take a value, not two */
        if (s->collective)
            assert_int_not_equal(pat_collective_find(s->collective), PAT_NUM_OPS);
        if (strcmp(s->unset, "nothing") != 0 && strcmp(s->unset, "measured") != 0 &&
            strcmp(s->unset, "found") != 0)
            assert_true(plain == digest(s->name, s->unset, NULL, NULL));
    }
    assert_true(num >= 15);
    assert_null(pat_config_setting(-1));
}

/* Every collective's algorithm can be set, by the setting that its row names. */
static void test_collectives(void **state)
{
    (void)state;
    const pat_config plain = good("PAT_UNKNOWN", "x"), forced = good("PAT_FORCE", "bdr");
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        const pat_collective *collective = pat_collective_of((enum pat_op)op);
        assert_int_equal(pat_collective_find(collective->name), op);
        assert_string_equal(plain.alg[op], collective->default_alg);
        assert_string_equal(plain.alg_setting[op], collective->setting);
        const pat_config set = good(collective->setting, "another");
        for (int other = 0; other < PAT_NUM_OPS; other++)
            assert_string_equal(set.alg[other], other == op ? "another" : plain.alg[other]);
        assert_string_equal(forced.alg_setting[op],
                            op == PAT_OP_ALLGATHER ? "PAT_FORCE" : collective->setting);
    }
    assert_int_equal(pat_collective_find("scan"), PAT_NUM_OPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),    cmocka_unit_test(test_alg),    cmocka_unit_test(test_background),
        cmocka_unit_test(test_thread_pin),  cmocka_unit_test(test_mem),    cmocka_unit_test(test_link),
        cmocka_unit_test(test_message),     cmocka_unit_test(test_digest), cmocka_unit_test(test_wait),
        cmocka_unit_test(test_environment), cmocka_unit_test(test_strays), cmocka_unit_test(test_table),
        cmocka_unit_test(test_collectives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

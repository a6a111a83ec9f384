/*
 * unit_bench_library.c — of the MPI library's own algorithms the fastest is found, and what the MPI library chooses stays where nothing is
 * clearly faster; rules say so in the MPI library's own counting; all of it stays in the file, and what is broken is refused.
 */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench_library.h"
#include "bench_rules.h"

static const bench_variant own = {.op = PAT_OP_GATHER, .name = "ignore"},
                           tree = {.op = PAT_OP_GATHER, .name = "binomial", .id = 2},
                           asked = {.op = PAT_OP_GATHER,
                                    .name = "linear_sync",
                                    .id = 3,
                                    .segment_bytes = 1024},
                           asked_late = {
                               .op = PAT_OP_GATHER, .name = "linear_sync", .id = 3, .segment_bytes = 8192};
static bench_library l, back;

static void add(const bench_variant *v, int64_t bytes, double us)
{
    const bench_library_time t = {.variant = *v,
                                  .ranks = 4,
                                  .bytes = bytes,
                                  .us = us,
                                  .known = {.runs = 7,
                                            .unsure = true,
                                            .mean_us = us / 3,
                                            .ci_us = 1.0 / 3,
                                            .lag1 = 0.1,
                                            .normal_p = 0.5,
                                            .closing_share = -1}};
    bench_library_add(&l, &t);
}

/* The tree is the best for 256 bytes, asking rank after rank for 65536; between them they cross at 4096. */
static void fill(void)
{
    l.num = 0;
    add(&own, 256, 100);
    add(&own, 65536, 10000);
    add(&tree, 256, 10);
    add(&tree, 65536, 4000);
    add(&asked, 256, 40);
    add(&asked, 65536, 1000);
    add(&asked_late, 65536, 1500);
}

static void fastest(void **state)
{
    (void)state;
    fill();
    assert_float_equal(bench_library_us(&l, &tree, 4, 256), 10, 1e-9);
    assert_float_equal(bench_library_us(&l, &tree, 4, 4096), 200, 1e-9);
    assert_float_equal(bench_library_us(&l, &tree, 4, 1), 10, 1e-9); /* not beyond what was measured */
    assert_float_equal(bench_library_us(&l, &asked, 4, 1 << 30), 1000, 1e-9);
    bench_variant best = bench_library_best(&l, PAT_OP_GATHER, 4, 3000);
    assert_true(bench_variant_same(&best, &tree));
    best = bench_library_best(&l, PAT_OP_GATHER, 4, 5000);
    assert_true(bench_variant_same(&best, &asked)); /* and not the one with other segments */
    best = bench_library_best(&l, PAT_OP_BCAST, 4, 5000);
    assert_string_equal(best.name, "ignore");
    l.of[0].us = 10.4; /* the tree is not a twentieth faster */
    best = bench_library_best(&l, PAT_OP_GATHER, 4, 100);
    assert_true(bench_variant_same(&best, &own));
    assert_true(bench_library_has(&l, PAT_OP_GATHER, 4) && !bench_library_has(&l, PAT_OP_GATHER, 2));
    assert_true(!bench_library_has(&l, PAT_OP_BCAST, 4) && bench_library_ranks(&l) == 4);
}

static void rules(void **state)
{
    static char path[] = "/tmp/pat-rules-XXXXXX";
    char text[10000];
    (void)state;
    fill();
    const int file = mkstemp(path);
    assert_true(file >= 0 && close(file) == 0);
    assert_int_equal(bench_rules_write(&l, path, false), 0);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    /* Of the whole result: 4 blocks of 4096 bytes. Nothing is known of broadcasts. */
    assert_non_null(strstr(text, "9 # gather\n4 # communicator sizes\n"));
    assert_non_null(strstr(text, "4 # ranks\n2 # rules: bytes, algorithm, fan, segment\n"
                                 "0 2 0 0 # binomial\n16384 3 0 1024 # linear_sync\n"));
    assert_non_null(strstr(text,
                           "7 # bcast\n4 # communicator sizes\n2 # ranks\n1 # rules: bytes, algorithm, fan, "
                           "segment\n0 0 0 0 # ignore\n"));
    assert_int_equal(bench_rules_write(&l, path, true), 0);
    json_t *all = json_load_file(path, 0, NULL), *rule;
    unlink(path);
    rule = json_array_get(
        json_object_get(json_array_get(json_object_get(json_object_get(all, "collectives"), "gather"), 1),
                        "rules"),
        1);
    assert_string_equal(json_string_value(json_object_get(rule, "alg")), "linear_sync");
    assert_int_equal(json_integer_value(json_object_get(rule, "msg_size_min")), 16384);
    assert_int_equal(json_integer_value(json_object_get(rule, "seg_size")), 1024);
    json_decref(all);
}

static void round_trip(void **state)
{
    static const struct {
        const char *key;
        int value;
    } wrong[] = {{"ranks", 1}, {"bytes", 0}, {"us", 0}, {"id", -1}, {"collective", 5}, {"runs", 0}};
    json_error_t error;
    (void)state;
    fill();
    json_t *list = bench_library_json(&l);
    char *text = json_dumps(list, JSON_REAL_PRECISION(17));
    json_decref(list);
    list = json_loads(text, 0, NULL);
    assert_true(bench_library_read(&back, list, &error));
    assert_int_equal(back.num, l.num);
    for (int i = 0; i < l.num; i++) {
        const bench_library_time *a = &l.of[i], *b = &back.of[i];
        assert_true(bench_variant_same(&a->variant, &b->variant) && a->ranks == b->ranks &&
                    a->bytes == b->bytes);
        assert_true(a->us == b->us && a->known.mean_us == b->known.mean_us && a->known.runs == b->known.runs);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        json_t *bad = json_loads(text, 0, NULL);
        json_object_set_new(json_array_get(bad, 3), wrong[i].key, json_integer(wrong[i].value));
        if (bench_library_read(&back, bad, &error))
            fail_msg("%s %d is taken", wrong[i].key, wrong[i].value);
        json_decref(bad);
    }
    assert_true(bench_library_read(&back, NULL, &error)); /* an older file */
    assert_int_equal(back.num, 0);
    json_decref(list);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fastest), cmocka_unit_test(rules),
                                       cmocka_unit_test(round_trip)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * unit_bench_measured.c — how well times are known stays in a calibration's file from writing to writing, to the bit; the library's reading
 * of the file is the same with it and without it; what is broken is refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench_measured.h"

static char path[] = "/tmp/pat-measured-XXXXXX";

static int index_of(const char *name)
{
    return (int)(pat_algorithm_find(name) - pat_algorithm_at(0));
}

/* A point of the MPI library's broadcast with its figures, one without, and two experiments of a fit. */
static void some(pat_calibration *c, bench_measured *m)
{
    *c = (pat_calibration){.machine = {.cpu = "c", .mpi = "m", .pus = 1, .ranks_per_node = 1},
                           .ranks = 4,
                           .link_us = 1,
                           .link_mbit = 1000,
                           .num_gammas = 3,
                           .gammas = {1, 1.1, 1.3},
                           .num_points = 2};
    for (int i = 0; i < 2; i++)
        c->points[i] =
            (pat_point){.alg = index_of("bcast_native"), .ranks = 4, .bytes = 1024 << i, .us = 100.0 / 3 + i};
    bench_measured_gammas(m, (double[]){1, 1.0, 1.3}, (double[]){1, 1.2, 1.3}, c->gammas, 3);
    m->num = 0;
    const bench_known known = {.runs = 40,
                               .unsure = true,
                               .mean_us = 200.0 / 7,
                               .ci_us = 1.0 / 3,
                               .lag1 = 1.0 / 3,
                               .normal_p = 0.01,
                               .closing_share = 0.7};
    bench_experiment e = {.is_point = true,
                          .alg = index_of("bcast_native"),
                          .ranks = 4,
                          .bytes = 2048,
                          .closing_bytes = -1,
                          .us = 103.0 / 3,
                          .known = known};
    bench_measured_add(m, &e);
    e = (bench_experiment){.alg = index_of("bcast_chain"),
                           .ranks = 4,
                           .bytes = 65536,
                           .closing_bytes = 64,
                           .us = 1e5 / 7,
                           .known = known};
    bench_measured_add(m, &e);
    m->library.num = 0;
    const bench_library_time own = {
        .variant = {.op = PAT_OP_BCAST, .name = "ignore"}, .ranks = 4, .bytes = 1, .us = 1, .known = known};
    bench_library_add(&m->library, &own);
    e.alg = index_of("gather_linear");
    e.closing_bytes = -1;
    e.known = (bench_known){
        .runs = 5, .mean_us = 1e5 / 7, .ci_us = 10.0 / 3, .lag1 = -0.5, .normal_p = 1, .closing_share = -1};
    bench_measured_add(m, &e);
}

static char *text_of_file(void)
{
    static char text[2][20000];
    static int which;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    which = !which;
    text[which][fread(text[which], 1, sizeof(text[which]) - 1, file)] = '\0';
    fclose(file);
    return text[which];
}

static void put(const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_not_equal(fputs(text, file), EOF);
    assert_int_equal(fclose(file), 0);
}

static pat_calibration c, again;
static bench_measured m, back;

static void round_trip(void **state)
{
    char why[300];
    (void)state;
    some(&c, &m);
    assert_int_equal(bench_measured_write(&c, &m, path, false), 0);
    assert_int_equal(bench_measured_read(&back, path, why, sizeof(why)), 0);
    assert_int_equal(pat_calibration_read(&again, path, why, sizeof(why)), 0);
    assert_int_equal(back.num, m.num);
    assert_int_equal(back.num_apart, 3);
    assert_int_equal(back.library.num, 1);
    assert_memory_equal(back.gammas_apart, m.gammas_apart, 3 * sizeof(double));
    const char *first = text_of_file();
    assert_int_equal(bench_measured_write(&again, &back, path, false), 0);
    assert_string_equal(text_of_file(), first);
    for (int i = 0; i < back.num; i++) { /* points come after the fits */
        const bench_experiment *a = &back.of[i], *b = &m.of[(i + 1) % m.num];
        assert_true(a->is_point == b->is_point && a->alg == b->alg && a->ranks == b->ranks &&
                    a->bytes == b->bytes);
        assert_true(a->closing_bytes == b->closing_bytes && a->known.runs == b->known.runs);
        assert_true(a->known.unsure == b->known.unsure && a->known.mean_us == b->known.mean_us);
        assert_true(a->known.lag1 == b->known.lag1 && a->known.normal_p == b->known.normal_p);
        assert_true(a->known.ci_us == b->known.ci_us && a->known.closing_share == b->known.closing_share);
    }
    bench_measured_forget_fit(&back, index_of("bcast_chain"));
    assert_int_equal(back.num, m.num - 1);
    bench_measured_forget_fit(&back, index_of("bcast_native")); /* a point stays */
    assert_int_equal(back.num, m.num - 1);
}

/* What an older version has written: every time is there, and nothing is known of how it was found. */
static void older(void **state)
{
    char why[300];
    (void)state;
    some(&c, &m);
    assert_int_equal(bench_measured_write(&c, &m, path, false), 0);
    assert_int_equal(pat_calibration_read(&again, path, why, sizeof(why)), 0);
    const uint32_t digest = pat_calibration_digest(&again);
    assert_int_equal(pat_calibration_write(&c, path, false), 0);
    assert_int_equal(bench_measured_read(&back, path, why, sizeof(why)), 0);
    assert_true(back.num == 0 && back.num_apart == 0);
    assert_int_equal(pat_calibration_read(&again, path, why, sizeof(why)), 0);
    assert_int_equal(pat_calibration_digest(&again), digest);
}

static void broken(void **state)
{
    static const char *const changes[][2] = {{"\"runs\": 40", "\"runs\": 0"},
                                             {"\"runs\": 5", "\"runs\": \"5\""},
                                             {"\"ci95_us\": ", "\"ci95_us\": -"},
                                             {"\"not_precise\": true", "\"not_precise\": 1"},
                                             {"\"closing_share\": 0", "\"closing_share\": null, \"x\": 0"},
                                             {"bcast_chain", "bcast_chian"},
                                             {"\"gamma_apart\": [", "\"gamma_apart\": [-1, "}};
    (void)state;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        char why[300] = "", spoilt[20000];
        some(&c, &m);
        assert_int_equal(bench_measured_write(&c, &m, path, false), 0);
        const char *text = text_of_file(), *at = strstr(text, changes[i][0]);
        if (!at)
            fail_msg("no %s", changes[i][0]);
        snprintf(spoilt, sizeof(spoilt), "%.*s%s%s", (int)(at - text), text, changes[i][1],
                 at + strlen(changes[i][0]));
        put(spoilt);
        if (bench_measured_read(&back, path, why, sizeof(why)) != EINVAL || !strstr(why, path))
            fail_msg("%s is taken: %s", changes[i][1], why);
    }
}

/* What pat-calibrate says of a fit's experiments. */
static void quality(void **state)
{
    (void)state;
    some(&c, &m);
    bench_quality q = bench_measured_quality(&m, index_of("bcast_chain"));
    assert_true(q.num == 1 && q.unsure == 1 && q.least_share == 0.7 && q.most_share == 0.7);
    assert_true(q.dependent == 1 && q.not_normal == 1);
    q = bench_measured_quality_of_all(&m); /* a third in 40 repetitions is much, a half in 5 is not */
    assert_true(q.num == 3 && q.unsure == 2 && q.dependent == 2 && q.not_normal == 2);
    bench_experiment e = m.of[1];
    assert_true(bench_measured_is_closing(&e));
    e.bytes--; /* of a short message it is no wonder */
    assert_false(bench_measured_is_closing(&e));
    e.known.closing_share = 0.2;
    e.known.unsure = false;
    bench_measured_add(&m, &e);
    q = bench_measured_quality(&m, index_of("bcast_chain"));
    assert_true(q.num == 2 && q.unsure == 1 && q.least_share == 0.2 && q.most_share == 0.7);
    q = bench_measured_quality(&m, index_of("gather_linear"));
    assert_true(q.num == 1 && q.unsure == 0 && q.least_share < 0 && q.most_share < 0);
}

/* What was measured twice is used as its mean, and how far the two are apart is said. */
static void gammas(void **state)
{
    (void)state;
    some(&c, &m);
    assert_true(c.gammas[0] == 1 && c.gammas[1] == (1.0 + 1.2) / 2 && c.gammas[2] == 1.3);
    assert_true(m.gammas_apart[0] == 0 && m.gammas_apart[2] == 0);
    assert_float_equal(bench_measured_gammas_apart(&m), 0.2 / 1.1, 1e-12);
    /* Too large, and less than the one before: what is kept is within bounds, what is said of the distance is as measured. */
    bench_measured_gammas(&m, (double[]){1, 3.0, 2.5, 4.5}, (double[]){1, 4.0, 1.5, 3.0}, c.gammas, 4);
    assert_true(c.gammas[0] == 1 && c.gammas[1] == 2 && c.gammas[2] == (2.5 + 2.0) / 2 &&
                c.gammas[3] == (4.0 + 3.0) / 2);
    assert_float_equal(m.gammas_apart[1], 1.0 / 3.5, 1e-12);
    assert_float_equal(m.gammas_apart[2], 1.0 / 2.0, 1e-12);
}

int main(void)
{
    const int file = mkstemp(path);
    if (file < 0)
        return 1;
    close(file);
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(older),
                                       cmocka_unit_test(broken), cmocka_unit_test(quality),
                                       cmocka_unit_test(gammas)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}

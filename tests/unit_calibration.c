/*
 * unit_calibration.c — the calibration file: what is written comes back to the bit, what is broken is refused and named,
 * what is foreign is told apart; and the choice is the least of what is predicted.
 */
#include <errno.h>
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

#include "calibration.h"
#include "collective.h"

static char path[] = "/tmp/pat-calibration-XXXXXX";

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static double next_fraction(void)
{
    return (double)(next_random() >> 11) / 9007199254740992.0;
}

static int index_of(const char *name)
{
    return (int)(pat_algorithm_find(name) - pat_algorithm_at(0));
}

/* Of broadcasts and gathers. */
static pat_calibration some(void)
{
    pat_calibration c = {
        .machine = {.cpu = "A \"processor\" \xc3\xa9", .mpi = "An MPI, v1.2", .pus = 3, .ranks_per_node = 1},
        .ranks = 8,
        .numbering = PAT_ACROSS_NODES,
        .link_us = 12.5,
        .link_mbit = 940,
        .num_gammas = 4,
        .gammas = {1, 1.1, 1.2, 1.3},
        .ratio = 6.25};
    for (int a = 0; a < pat_algorithm_count(); a++)
        if (pat_algorithm_at(a)->formula && pat_collective_of(pat_algorithm_at(a)->op)->rooted)
            c.fits[a] = (pat_fit){.known = true,
                                  .alpha_us = 100 * next_fraction(),
                                  .beta_ns = 10 * next_fraction(),
                                  .rank = 1 + (int)(next_random() % 2),
                                  .condition = 1 + next_fraction(),
                                  .spread = next_fraction()};
    for (int ranks = 16; ranks > 1; ranks /= 2)
        for (int64_t bytes = 1 << 20; bytes > 8; bytes /= 4)
            c.points[c.num_points++] =
                (pat_point){index_of("bcast_native"), ranks, bytes,
                            ranks * (50 + 0.01 * (double)bytes * (1 + next_fraction()))};
    pat_calibration_sort(&c);
    return c;
}

static void put(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static size_t get(char *bytes, size_t size)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size = fread(bytes, 1, size, file);
    fclose(file);
    return size;
}

static bool same(const pat_calibration *a, const pat_calibration *b)
{
    for (int i = 0; i < pat_algorithm_count(); i++)
        for (int ranks = 2; ranks < 40; ranks += 5)
            for (int64_t bytes = 1; bytes < 1 << 24; bytes = bytes * 3 + 1) {
                const double x = pat_calibration_us(a, pat_algorithm_at(i), ranks, bytes);
                const double y = pat_calibration_us(b, pat_algorithm_at(i), ranks, bytes);
                if (memcmp(&x, &y, sizeof(x)) != 0 && !(isnan(x) && isnan(y)))
                    return false;
            }
    return strcmp(a->machine.cpu, b->machine.cpu) == 0 && strcmp(a->machine.mpi, b->machine.mpi) == 0 &&
           a->machine.pus == b->machine.pus && a->machine.ranks_per_node == b->machine.ranks_per_node &&
           a->ratio == b->ratio && a->ranks == b->ranks && a->link_us == b->link_us &&
           a->link_mbit == b->link_mbit;
}

static void round_trip(void **state)
{
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        char why[300];
        pat_calibration out = some(), in;
        assert_int_equal(pat_calibration_write(&out, path, false), 0);
        assert_int_equal(pat_calibration_read(&in, path, why, sizeof(why)), 0);
        assert_true(same(&out, &in));
        out.ratio = 0; /* one node, or one rank on each */
        assert_int_equal(pat_calibration_write(&out, path, false), 0);
        assert_int_equal(pat_calibration_read(&in, path, why, sizeof(why)), 0);
        assert_true(in.ratio == 0);
    }
}

static void refused(const char *with)
{
    char why[300] = "";
    pat_calibration c = {.ranks = -7};
    assert_int_equal(pat_calibration_read(&c, path, why, sizeof(why)), EINVAL);
    assert_int_equal(c.ranks, -7);
    if (!strstr(why, path) || (with && !strstr(why, with)))
        fail_msg("unhelpful: %s", why);
}

/* Replace the first `what` in a good file. */
static void spoil(const char *what, const char *by, const char *told)
{
    static char text[100000], spoilt[100000];
    pat_calibration c = some();
    assert_int_equal(pat_calibration_write(&c, path, false), 0);
    text[get(text, sizeof(text) - 1)] = '\0';
    char *at = strstr(text, what);
    if (!at)
        fail_msg("no %s", what);
    snprintf(spoilt, sizeof(spoilt), "%.*s%s%s", (int)(at - text), text, by, at + strlen(what));
    put(spoilt, strlen(spoilt));
    refused(told);
}

static void broken(void **state)
{
    (void)state;
    static char text[100000];
    pat_calibration c = some();
    char why[300];
    assert_int_equal(pat_calibration_write(&c, path, false), 0);
    const size_t size = get(text, sizeof(text));
    for (size_t keep = 0; keep + 2 < size; keep++) { /* the last byte or two are only white space */
        put(text, keep);
        refused("line");
    }
    put("", 0);
    refused("line 1");
    put("[]\n", 3);
    refused("format");
    spoil("\"format\": 2", "\"format\": 1", "format");
    spoil("\"ranks\": 8", "\"ranks\": 1", "\"ranks\" is wrong");
    spoil("\"ranks\": 8", "\"rank\": 8", "\"ranks\" is missing");
    spoil("\"numbering\": \"across nodes\"", "\"numbering\": \"as it comes\"", "\"numbering\" is wrong");
    spoil("\"bcast_chain\"", "\"bcast_chian\"", "bcast_chian");
    spoil("\"bcast_chain\"", "\"bcast_binary\"", "duplicate");
    spoil("\"bcast_native\"", "\"bcast_auto\"", "bcast_auto");
    spoil("\"alpha_us\": ", "\"alpha_us\": -", "alpha_us");
    spoil("1.1", "0.9", "gamma");
    spoil("\"segment_bytes\": 8192", "\"segment_bytes\": 4096", "segment_bytes");
    spoil("\"bcast_chain\"", "\"native\"", "native");
    spoil("\"points\"", "\"native\"", "points");
    spoil("\"mbit\": ", "\"mbit\": -", "mbit");
    spoil("\"network_over_node\": ", "\"network_over_node\": -", "network_over_node");
    spoil("\"link\"", "\"lnk\"", "latency_us");
    spoil("\"bytes\": 16", "\"bytes\": 0", "bytes");
    spoil("\"cpu\": \"", "\"cpu\": 5, \"x\": \"", "cpu");
    unlink(path);
    assert_int_equal(pat_calibration_read(&c, path, why, sizeof(why)), ENOENT);
    assert_non_null(strstr(why, path));
    assert_int_equal(pat_calibration_read(&c, "/tmp", why, sizeof(why)), EINVAL);
    assert_int_equal(pat_calibration_write(&c, "/nowhere/at/all", false), ENOENT);
}

/* Whatever comes, it is refused, or its figures can be used. */
static void any_bytes(void **state)
{
    (void)state;
    static char text[100000], spoilt[100000];
    pat_calibration c = some(), in;
    char why[300];
    int taken = 0;
    assert_int_equal(pat_calibration_write(&c, path, false), 0);
    const size_t size = get(text, sizeof(text));
    for (int trial = 0; trial < 4000; trial++) {
        memcpy(spoilt, text, size);
        for (uint64_t n = next_random() % 4 + 1; n > 0; n--) {
            static const char likely[] = "0123456789-+.eE\"{}[],: \n\\u";
            const uint64_t r = next_random();
            spoilt[next_random() % size] = r % 8 ? likely[(r >> 8) % (sizeof(likely) - 1)] : (char)(r >> 8);
        }
        put(spoilt, size);
        const int error = pat_calibration_read(&in, path, why, sizeof(why));
        assert_true(error == 0 || (error == EINVAL && strstr(why, path)));
        if (error)
            continue;
        taken++;
        for (int i = 0; i < pat_algorithm_count(); i++) {
            const double us = pat_calibration_us(&in, pat_algorithm_at(i), 7, 12345);
            assert_true(isnan(us) || us >= 0);
        }
    }
    assert_true(taken > 0);
    unlink(path);
}

static void foreign(void **state)
{
    (void)state;
    const pat_calibration c = some();
    pat_machine m = c.machine;
    char why[400];
    assert_true(pat_calibration_is_of(&c, &m, why, sizeof(why)));
    strcpy(m.cpu, "Another processor");
    assert_false(pat_calibration_is_of(&c, &m, why, sizeof(why)));
    assert_non_null(strstr(why, "Another processor"));
    m = c.machine;
    strcpy(m.mpi, "An MPI, v1.3");
    assert_false(pat_calibration_is_of(&c, &m, why, sizeof(why)));
    assert_non_null(strstr(why, "v1.3"));
    m = c.machine;
    m.pus = 17;
    assert_false(pat_calibration_is_of(&c, &m, why, sizeof(why)));
    assert_non_null(strstr(why, "17"));
    m = c.machine;
    m.ranks_per_node = 19;
    assert_false(pat_calibration_is_of(&c, &m, why, sizeof(why)));
    assert_non_null(strstr(why, "19"));
    assert_true(pat_calibration_is_of_link(&c, 700, why, sizeof(why)));
    assert_false(pat_calibration_is_of_link(&c, 9400, why, sizeof(why)));
    assert_non_null(strstr(why, "9400"));
    assert_false(pat_calibration_is_of_link(&c, 94, why, sizeof(why)));
}

static void least(void **state)
{
    (void)state;
    for (int trial = 0; trial < 20; trial++) {
        const pat_calibration c = some();
        for (int ranks = 2; ranks < 70; ranks++)
            for (int64_t bytes = 1; bytes < 1 << 24; bytes = bytes * 2 + 1) {
                const pat_algorithm *best = pat_calibration_best(&c, PAT_OP_BCAST, ranks, bytes);
                const double us = pat_calibration_us(&c, best, ranks, bytes);
                assert_int_equal(best->op, PAT_OP_BCAST);
                assert_false(pat_calibration_best(&c, PAT_OP_GATHER, ranks, bytes)->uses_arrivals);
                for (int i = 0; i < pat_algorithm_count(); i++)
                    if (pat_algorithm_at(i)->op == PAT_OP_BCAST)
                        assert_false(pat_calibration_us(&c, pat_algorithm_at(i), ranks, bytes) < us);
            }
        assert_null(pat_calibration_best(&c, PAT_OP_ALLGATHER, 8, 1000));
    }
}

/* Points come back as they are, and between them nothing leaves their range; beyond them it goes on. */
static void points(void **state)
{
    (void)state;
    pat_calibration c = {.num_points = 0};
    const pat_algorithm *native = pat_algorithm_find("bcast_native");
    static const struct {
        int ranks;
        int64_t bytes;
        double us;
    } known[] = {{8, 4096, 80}, {8, 1024, 40}, {4, 1024, 20}, {4, 4096, 40}, {4, 65536, 640}};
    assert_true(isnan(pat_calibration_us(&c, native, 4, 1024)));
    for (int i = 0; i < 5; i++)
        c.points[c.num_points++] =
            (pat_point){index_of("bcast_native"), known[i].ranks, known[i].bytes, known[i].us};
    pat_calibration_sort(&c);
    for (int i = 0; i < 5; i++)
        assert_true(fabs(pat_calibration_us(&c, native, known[i].ranks, known[i].bytes) / known[i].us - 1) <
                    1e-12);
    assert_true(fabs(pat_calibration_us(&c, native, 4, 2048) / sqrt(20 * 40) - 1) < 1e-12);
    assert_true(fabs(pat_calibration_us(&c, native, 16, 1024) / 80 - 1) < 1e-12);
    assert_true(fabs(pat_calibration_us(&c, native, 4, 16384) / 160 - 1) < 1e-12);
    assert_true(fabs(pat_calibration_us(&c, native, 4, 262144) / 2560 - 1) < 1e-12);
    assert_true(fabs(pat_calibration_us(&c, native, 2, 256) / 5 - 1) < 1e-12);
    c.ranks = 8; /* what fewer ranks have shown says nothing of how far all reach */
    assert_int_equal(pat_calibration_longest(&c, PAT_OP_BCAST), 4096);
    assert_int_equal(pat_calibration_longest(&c, PAT_OP_GATHER), INT64_MAX);
}

/* A formula that was off by so much at some lengths is corrected there, between them, and with other ranks. */
static void corrected(void **state)
{
    (void)state;
    pat_calibration c = {.ranks = 8};
    const pat_algorithm *chain = pat_algorithm_find("bcast_chain"),
                        *linear = pat_algorithm_find("bcast_linear");
    c.fits[index_of("bcast_chain")] = c.fits[index_of("bcast_linear")] =
        (pat_fit){.known = true, .alpha_us = 3, .beta_ns = 2, .rank = 2};
    const double at_1000 = pat_calibration_us(&c, chain, 8, 1000),
                 at_4000 = pat_calibration_us(&c, chain, 8, 4000);
    const double others[] = {pat_calibration_us(&c, chain, 4, 2000), pat_calibration_us(&c, chain, 3, 10),
                             pat_calibration_us(&c, chain, 70, 2000), pat_calibration_us(&c, linear, 8, 1000),
                             pat_calibration_us(&c, chain, 16, 1 << 20)};
    c.points[c.num_points++] = (pat_point){index_of("bcast_chain"), 8, 1000, 2 * at_1000};
    c.points[c.num_points++] = (pat_point){index_of("bcast_chain"), 8, 4000, at_4000 / 2};
    c.points[c.num_points++] = (pat_point){index_of("bcast_chain"), 4, 2000, 4 * others[0]};
    pat_calibration_sort(&c);
    assert_true(fabs(pat_calibration_us(&c, chain, 8, 1000) / at_1000 - 2) < 1e-12);
    assert_true(fabs(pat_calibration_us(&c, chain, 8, 4000) / at_4000 - 0.5) < 1e-12);
    assert_true(fabs(pat_calibration_us(&c, chain, 4, 2000) / others[0] - 4) < 1e-12);
    assert_true(fabs(pat_calibration_us(&c, chain, 3, 10) / others[1] - 4) < 1e-12);
    /* At 2000 bytes 4 times with 4 ranks and once with 8: a quarter with 16 and with all beyond them. */
    assert_true(fabs(pat_calibration_us(&c, chain, 70, 2000) / others[2] - 0.25) < 1e-12);
    assert_true(fabs(pat_calibration_us(&c, chain, 16, 1 << 20) / others[4] - 0.0625) < 1e-12);
    assert_true(fabs(pat_calibration_us(&c, linear, 8, 1000) / others[3] - 1) < 1e-12);
}

int main(void)
{
    const int file = mkstemp(path);
    if (file < 0)
        return 1;
    close(file);
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(broken),
                                       cmocka_unit_test(any_bytes),  cmocka_unit_test(foreign),
                                       cmocka_unit_test(least),      cmocka_unit_test(points),
                                       cmocka_unit_test(corrected)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}

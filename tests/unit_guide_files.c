/*
 * unit_guide_files.c — what pat-guidelines reads: input files, lists of algorithms, printed medians, raw data. What is good comes out whole, and what is bad is refused by
 * its line, with what is accepted; and the numbers of ranks of a sweep. And what it writes for the drop-in: profiles; and a collective against itself at other sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guide_beyond.h"
#include "guide_input.h"
#include "guide_judge.h"
#include "guide_list.h"
#include "guide_medians.h"
#include "guide_profile.h"
#include "guide_ranks.h"
#include "guide_raw.h"
#include "mockup_profile.h"

static char dir[] = "/tmp/unit_guide_XXXXXX", path[64], why[8192];

/* 7 ranks on two nodes: 4 and 3. */
static const guide_grid grid = {2, 4, 7}, other_grid = {2, 4, 8};

static const guide_way way = {"barrier", 0, "random", "single"};

static const char *file(const char *text)
{
    FILE *to = fopen(path, "w");
    fputs(text, to);
    fclose(to);
    why[0] = '\0';
    return path;
}

static int make_dir(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof(path), "%s/file", dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static void says(const char *words)
{
    if (!strstr(why, words))
        fail_msg("'%s' does not say '%s'", why, words);
}

static void input(void **state)
{
    guide_input in;
    (void)state;
    assert_int_equal(
        guide_input_read(
            &in,
            file("# a comment\n\n  MPI_Bcast --msizes-list=1,2,8388608 --nrep=5000 --runtime-type=global "
                 "--proc-sync=roundtime "
                 "--rt-bench-time-ms=3000 --rt-barrier-count=0\n"
                 "MPI_Gather\t--bytes=64K --samples=7 --time-ms=12.5 --sync=barrier --runtime-type=global "
                 "--root=3 \r\n"),
            why, sizeof(why)),
        0);
    assert_int_equal(in.num, 2);
    const guide_line *l = in.lines;
    assert_string_equal(l[0].mpi, "MPI_Bcast");
    assert_int_equal(l[0].num_bytes, 3);
    assert_int_equal(l[0].bytes[2], 8388608);
    assert_int_equal(l[0].samples, 5000);
    assert_true(l[0].round_time && l[0].barrier_after == 0 && l[0].time_ms == 3000 && l[0].global);
    assert_int_equal(l[1].bytes[0], 65536);
    assert_true(!l[1].round_time && l[1].barrier_after == -1 && l[1].time_ms == 12.5 && l[1].global &&
                l[1].root == 3);
    guide_input_free(&in);
}

static void bad_input(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "there is no collective in it"},
        {"# nothing\n", "there is no collective in it"},
        {"Bcast --bytes=1\n", "line 1: 'Bcast': accepted: a collective"},
        {"\nMPI_Bcast\n", "line 2: MPI_Bcast has no --msizes-list"},
        {"MPI_Bcast --bytes=1,,2\n", "--bytes '1,,2': accepted: up to 64 different sizes"},
        {"MPI_Bcast --bytes=0\n", "--bytes '0'"},
        {"MPI_Bcast --bytes=1,1\n", "--bytes '1,1'"},
        {"MPI_Bcast --bytes=2G\n", "--bytes '2G'"},
        {"MPI_Bcast --bytes=1 --nrep=0\n", "--nrep '0': accepted: a whole number from 1"},
        {"MPI_Bcast --bytes=1 --nrep\n", "'--nrep': accepted: --msizes-list"},
        {"MPI_Bcast --bytes=1 --repeats=3\n", "'--repeats': accepted: --msizes-list"},
        {"MPI_Bcast --bytes=1 --proc-sync=dtime\n", "--proc-sync 'dtime': accepted: barrier, roundtime"},
        {"MPI_Bcast --bytes=1 --rt-bench-time-ms=nan\n", "--rt-bench-time-ms 'nan'"},
        {"MPI_Bcast --bytes=1 --rt-barrier-count=-2\n", "--rt-barrier-count '-2': accepted: -1"},
        {"MPI_Bcast --bytes=1\nMPI_Gather --bytes=2 --runtime-type=global\n",
         "line 2: --runtime-type: accepted: the same"},
        {"MPI_Bcast --bytes=1\nMPI_Bcast --bytes=2\n", "line 2: MPI_Bcast is there in an earlier line"},
    };
    guide_input in;
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_not_equal(guide_input_read(&in, file(bad[i].text), why, sizeof(why)), 0);
        says(bad[i].says);
    }
    assert_int_not_equal(guide_input_read(&in, "/no/file", why, sizeof(why)), 0);
    says("'/no/file'");
    assert_int_not_equal(guide_input_read(&in, dir, why, sizeof(why)), 0);
}

static void list(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "there is no algorithm in it"},
        {"bcast;MPI_Bcast;default;1\n", "line 1: not the header"},
        {GUIDE_LIST_HEADER "\nbcast;MPI_Bcast;default\n", "line 2: there are not 4 columns"},
        {GUIDE_LIST_HEADER "\nbcast;MPI_Bcast;bcast_as_magic;1\n",
         "'bcast_as_magic': accepted for MPI_Bcast: default, bcast_as_allgatherv"},
        {GUIDE_LIST_HEADER "\nfoo;MPI_Foo;default;1\n", "'MPI_Foo': accepted: MPI_Bcast, MPI_Scan"},
        {GUIDE_LIST_HEADER "\nbcast;MPI_Bcast;default;0\n",
         "accepted for this algorithm: bcast;MPI_Bcast;default;1"},
        {GUIDE_LIST_HEADER "\nbcast;MPI_Bcast;default;1\nbcast;MPI_Bcast;default;1\n",
         "line 3: MPI_Bcast by default is there"},
        {GUIDE_LIST_HEADER "\nbcast;MPI_Bcast;bcast_as_allgatherv;1\n",
         "the line bcast;MPI_Bcast;default;1 is missing"},
    };
    guide_list known = {.num = 0}, read;
    size_t length;
    (void)state;
    guide_list_add(&known, "bcast", "MPI_Bcast", "default", true);
    guide_list_add(&known, "bcast", "MPI_Bcast", "bcast_as_allgatherv", true);
    guide_list_add(&known, "scan", "MPI_Scan", "default", false);
    char *text = guide_list_text(&known, &length);
    assert_string_equal(
        text, GUIDE_LIST_HEADER
        "\nbcast;MPI_Bcast;default;1\nbcast;MPI_Bcast;bcast_as_allgatherv;1\nscan;MPI_Scan;default;0\n");
    assert_int_equal(guide_list_read(&read, &known, "default", file(text), why, sizeof(why)), 0);
    assert_int_equal(read.num, 3);
    guide_list_free(&read);
    free(text);
    /* A line less, an algorithm less. */
    assert_int_equal(guide_list_read(&read, &known, "default",
                                     file(GUIDE_LIST_HEADER "\n# all but one\nbcast;MPI_Bcast;default;1\n"),
                                     why, sizeof(why)),
                     0);
    assert_null(guide_list_find(&read, "MPI_Bcast", "bcast_as_allgatherv"));
    guide_list_free(&read);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_not_equal(guide_list_read(&read, &known, "default", file(bad[i].text), why, sizeof(why)),
                             0);
        says(bad[i].says);
    }
    /* Where another left side is held against them, the native call may be away. */
    assert_int_equal(guide_list_read(&read, &known, "mpi",
                                     file(GUIDE_LIST_HEADER "\nbcast;MPI_Bcast;bcast_as_allgatherv;1\n"), why,
                                     sizeof(why)),
                     0);
    assert_int_equal(read.num, 1);
    guide_list_free(&read);
    guide_list_free(&known);
}

static void bad_medians(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "there is nothing in it"},
        {"MPI_Bcast,1,1,1,default,1,1,1\n", "line 1: not the header"},
        {GUIDE_MEDIANS_HEADER "\nMPI_Bcast,1,1,1,default,1,1\n", "line 2: there are not 8 columns"},
        {GUIDE_MEDIANS_HEADER "\nBcast,1,1,1,default,1,1,1\n", "no collective"},
        {GUIDE_MEDIANS_HEADER "\nMPI_Bcast,0,1,1,default,1,1,1\n", "N and ppn"},
        {GUIDE_MEDIANS_HEADER "\nMPI_Bcast,1,1,x,default,1,1,1\n", "no number of bytes"},
        {GUIDE_MEDIANS_HEADER "\nMPI_Bcast,1,1,1,default,1,-1,1\n", "no time in ms"},
        {GUIDE_MEDIANS_HEADER "\nMPI_Bcast,1,1,1,default,1,1,inf\n", "no time in ms"},
        {GUIDE_MEDIANS_HEADER "\nMPI_Bcast,1,1,1,x,1,1,1\n", "there is no line of its default"},
        {GUIDE_MEDIANS_HEADER "\nMPI_Bcast,1,1,1,default,1,1,1\nMPI_Bcast,1,1,1,default,1,1,1\n",
         "line 3: the same collective"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        guide_results r;
        guide_results_make(&r, "default");
        assert_int_not_equal(guide_medians_read(&r, file(bad[i].text), why, sizeof(why)), 0);
        says(bad[i].says);
        guide_results_free(&r);
    }
}

static void describe(guide_results *r, const char *library)
{
    guide_results_make(r, "default");
    snprintf(r->library, sizeof(r->library), "%s", library);
}

static void add(guide_results *r, int64_t bytes, const char *alg, int launch, double ms)
{
    guide_cell *c = guide_results_cell(r, "MPI_Bcast", bytes, grid);
    guide_series *s = guide_cell_series(c, alg);
    c->barrier_ms = 0.001;
    for (int i = 0; i < 4; i++)
        guide_series_add(s, launch, ms + 1e-4 * i);
}

/* Two launches, written and read again, launch by launch. */
static void raw_data(void **state)
{
    guide_results r, again;
    char name[128];
    (void)state;
    describe(&r, "Some MPI 1.0");
    add(&r, 8, "default", 1, 0.5);
    add(&r, 8, "default", 2, 0.25);
    add(&r, 16, "default", 2, 1);
    assert_int_equal(guide_raw_write(&r, "MPI_Bcast", &way, dir, why, sizeof(why)), 0);
    describe(&again, "Some MPI 1.0");
    assert_int_equal(guide_raw_read(&again, "MPI_Bcast", "default", grid, &way, dir, why, sizeof(why)), 0);
    assert_int_equal(again.num, 2);
    const guide_series *s = &guide_results_cell(&again, "MPI_Bcast", 8, grid)->series[0];
    assert_int_equal(s->num, 8);
    assert_int_equal(s->num_launches, 2);
    assert_true(s->launch[1] == 2 && s->end[0] == 4 && s->ms[4] > 0.2499 && s->ms[4] < 0.2501);
    /* Of another algorithm there is none; of another machine, nothing is taken. */
    assert_int_equal(
        guide_raw_read(&again, "MPI_Bcast", "bcast_as_allgatherv", grid, &way, dir, why, sizeof(why)), 0);
    assert_int_not_equal(
        guide_raw_read(&again, "MPI_Bcast", "default", other_grid, &way, dir, why, sizeof(why)), 0);
    says("it was measured with ranks=7, this is ranks=8");
    guide_results_free(&again);
    describe(&again, "Some MPI 2.0");
    assert_int_not_equal(guide_raw_read(&again, "MPI_Bcast", "default", grid, &way, dir, why, sizeof(why)),
                         0);
    says("it was measured with mpi_library=Some MPI 1.0, this is mpi_library=Some MPI 2.0");
    guide_results_free(&again);
    snprintf(name, sizeof(name), "%s/data_MPI_Bcast_default.dat", dir);
    /* What was measured in another way is not added up, whichever of its parts is another. */
    static const guide_way others[] = {{"roundtime", 0, "random", "single"},
                                       {"barrier", 1, "random", "single"},
                                       {"barrier", 0, "series", "single"},
                                       {"barrier", 0, "random", "multiple"}};
    static const char *const other_words[] = {"sync=barrier, this is sync=roundtime",
                                              "root=0, this is root=1", "order=random, this is order=series",
                                              "threads=single, this is threads=multiple"};
    describe(&again, "Some MPI 1.0");
    for (int i = 0; i < 4; i++) {
        assert_int_not_equal(
            guide_raw_read(&again, "MPI_Bcast", "default", grid, &others[i], dir, why, sizeof(why)), 0);
        says(other_words[i]);
    }
    guide_results_free(&again);
    /* Nor what does not say how it was measured. */
    FILE *to = fopen(name, "w");
    fputs("#@collective=MPI_Bcast\n#@algorithm=default\n#@launch=1\nMPI_Bcast 0 8 1e-6\n", to);
    fclose(to);
    describe(&again, "Some MPI 1.0");
    assert_int_not_equal(guide_raw_read(&again, "MPI_Bcast", "default", grid, &way, dir, why, sizeof(why)),
                         0);
    says("line 4: there is no #@mpi_library= above it");
    guide_results_free(&again);
    /* All of a directory: a copy of a file is not one more launch. */
    char copy[128];
    snprintf(copy, sizeof(copy), "%s/data_MPI_Bcast_default_old.dat", dir);
    assert_int_equal(guide_raw_write(&r, "MPI_Bcast", &way, dir, why, sizeof(why)), 0);
    describe(&again, "");
    assert_int_equal(guide_raw_read_all(&again, dir, why, sizeof(why)), 0);
    assert_int_equal(again.num, 2);
    guide_results_free(&again);
    assert_int_equal(link(name, copy), 0);
    describe(&again, "");
    assert_int_not_equal(guide_raw_read_all(&again, dir, why, sizeof(why)), 0);
    says("_old.dat': it holds data of MPI_Bcast by default; accepted in this directory: under the name");
    guide_results_free(&again);
    unlink(copy);
    /* A time of nothing is none: by it others are divided. */
    static const char *const no_samples[] = {"MPI_Bcast 4 8 soon\n", "MPI_Bcast 4 8 0.0000000000\n"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(guide_raw_write(&r, "MPI_Bcast", &way, dir, why, sizeof(why)), 0);
        to = fopen(name, "a");
        fputs(no_samples[i], to);
        fclose(to);
        describe(&again, "Some MPI 1.0");
        assert_int_not_equal(
            guide_raw_read(&again, "MPI_Bcast", "default", grid, &way, dir, why, sizeof(why)), 0);
        says("not a sample of MPI_Bcast");
        guide_results_free(&again);
    }
    assert_true(guide_raw_is_there(dir));
    assert_int_equal(guide_raw_remove(dir, why, sizeof(why)), 0);
    assert_false(guide_raw_is_there(dir));
    assert_int_not_equal(access(name, F_OK), 0);
    guide_results_free(&r);
}

static char *read_whole(const char *name)
{
    static char text[4096];
    FILE *from = fopen(name, "r");
    const size_t length = from ? fread(text, 1, sizeof(text) - 1, from) : 0;
    text[length] = '\0';
    if (from)
        fclose(from);
    return text;
}

static bool knows(const char *collective, const char *alg)
{
    return strcmp(collective, "MPI_Bcast") == 0 && (!alg || strncmp(alg, "bcast_as_", 9) == 0);
}

/* Sizes 1 to 8 K: as default, A, A, B where A is faster too, default, A, B where neither is faster at the other's, PAT's own where B is faster too. */
static void profile(void **state)
{
    static const double a[] = {2, 0.5, 0.5, 0.8, 2, 0.5, 2}, b[] = {2, 2, 2, 0.5, 2, 2, 0.5};
    guide_results r;
    char name[128];
    int num;
    (void)state;
    describe(&r, "Some MPI 1.0");
    for (int i = 6; i >= 0; i--) { /* the order of sizes does not matter */
        add(&r, 1024 * (i + 1), "default", 1, 1);
        add(&r, 1024 * (i + 1), "bcast_as_a", 1, a[i]);
        add(&r, 1024 * (i + 1), "bcast_as_b", 1, b[i]);
        add(&r, 1024 * (i + 1), "pat_relay", 1, 0.1);      /* not of this collective */
        add(&r, 1024 * (i + 1), "pat_bcast_auto", 1, 0.1); /* no algorithm, but a choice */
    }
    add(&r, 8192, "default", 1, 1);
    add(&r, 8192, "pat_bcast_chain", 1, 0.4);
    add(&r, 8192, "bcast_as_b", 1, 0.5);
    guide_judge(&r);
    assert_int_equal(guide_profile_write(&r, dir, &num, why, sizeof(why)), 0);
    assert_int_equal(num, 1);
    snprintf(name, sizeof(name), "%s/MPI_Bcast_7.prf", dir);
    assert_string_equal(strchr(read_whole(name), '\n') + 1,
                        "MPI_Bcast\n7\n3\n1 bcast_as_a\n2 bcast_as_b\n3 pat_bcast_chain\n"
                        "5\n2048 4095 1\n4096 4096 2\n6144 6144 1\n7168 8191 2\n8192 8192 3\n");
    /* The drop-in takes it. */
    pat_mockup_profile read;
    const char *written = read_whole(name);
    if (!pat_mockup_profile_read(&read, written, strlen(written), knows, why, sizeof(why)))
        fail_msg("the drop-in refuses the profile: %s", why);
    assert_int_equal(read.ranks, 7);
    assert_string_equal(read.algs[pat_mockup_profile_alg(&read, 3000)], "bcast_as_a");
    assert_string_equal(read.algs[pat_mockup_profile_alg(&read, 8192)], "pat_bcast_chain");
    assert_true(pat_mockup_profile_alg(&read, 2047) < 0 && pat_mockup_profile_alg(&read, 5000) < 0);
    pat_mockup_profile_free(&read);
    guide_results_free(&r);
    /* Nothing is violated any more: nothing is left to apply. */
    describe(&r, "Some MPI 1.0");
    add(&r, 1024, "default", 1, 1);
    add(&r, 1024, "bcast_as_a", 1, 2);
    guide_judge(&r);
    assert_int_equal(guide_profile_write(&r, dir, &num, why, sizeof(why)), 0);
    assert_int_equal(num, 0);
    assert_int_not_equal(access(name, F_OK), 0);
    guide_results_free(&r);
}

static void numbers_of_ranks(void **state)
{
    static const struct {
        const char *text;
        int largest, num, are[6];
    } good[] = {
        {"2", 2, 1, {2}},
        {"6,2,6,4-5", 6, 4, {2, 4, 5, 6}},
        {"3-9:4,8", 8, 2, {3, 7}}, /* 9 is not named */
        {"all", 0, 6, {2, 3, 4, 5, 6, 7}},
        {"12,2", 12, 1, {2}},
        {"9-16777216:8", 16777209, 0, {0}},
    };
    static const char *const bad[] = {"",
                                      "1",
                                      "0",
                                      "-2",
                                      "2,",
                                      ",2",
                                      "2-",
                                      "-",
                                      "4-2",
                                      "2-8:",
                                      "2-8:0",
                                      "2:2",
                                      "2-4-6",
                                      "2-8:2:2",
                                      "every",
                                      "2;4",
                                      "all-2",
                                      "2.5",
                                      "99999999999999999999",
                                      "2-16777217"};
    guide_ranks r;
    char many[4 * 65 + 1] = "";
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        int num;
        assert_true(guide_ranks_read(&r, good[i].text));
        assert_int_equal(guide_ranks_largest(&r), good[i].largest);
        int *all = guide_ranks_all(&r, 7, &num);
        assert_int_equal(num, good[i].num);
        for (int k = 0; k < num; k++)
            assert_int_equal(all[k], good[i].are[k]);
        free(all);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (guide_ranks_read(&r, bad[i]))
            fail_msg("'%s' was taken", bad[i]);
    for (int i = 0; i < 65; i++)
        strcat(many, i > 0 ? ",2" : "2");
    assert_false(guide_ranks_read(&r, many));
    many[2 * 64 - 1] = '\0';
    assert_true(guide_ranks_read(&r, many));
}

static void beyond(void **state)
{
    guide_results r, to;
    (void)state;
    describe(&r, "Some MPI 1.0");
    add(&r, 2048, "default", 1, 5); /* more than two calls of 1024, and than one of 4096 */
    add(&r, 1024, "default", 1, 1);
    add(&r, 1000, "default", 1, 0.5);
    add(&r, 4096, "default", 1, 3);
    add(&r, 0, "default", 1, 0.1); /* of which no number of calls is a call of something */
    guide_judge(&r);
    guide_beyond(&r, &to);
    const guide_cell *c = guide_results_cell(&to, "MPI_Bcast", 2048, grid);
    assert_int_equal(c->num, 3);
    assert_true(guide_cell_find(c, "at_4096_bytes")->verdict.violation);
    assert_true(guide_cell_find(c, "2_calls_of_1024_bytes")->verdict.violation);
    c = guide_results_cell(&to, "MPI_Bcast", 1024, grid);
    assert_int_equal(c->num, 2);
    assert_false(guide_cell_find(c, "at_2048_bytes")->verdict.violation);
    c = guide_results_cell(&to, "MPI_Bcast", 4096, grid);
    assert_int_equal(c->num, 3);
    assert_false(guide_cell_find(c, "4_calls_of_1024_bytes")->verdict.violation);
    guide_results_free(&to);
    guide_results_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(input),       cmocka_unit_test(bad_input),        cmocka_unit_test(list),
        cmocka_unit_test(bad_medians), cmocka_unit_test(raw_data),         cmocka_unit_test(profile),
        cmocka_unit_test(beyond),      cmocka_unit_test(numbers_of_ranks),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}

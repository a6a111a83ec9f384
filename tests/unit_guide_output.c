/*
 * unit_guide_output.c — the tables of pat-guidelines, column by column, its verdicts, totals and JSON, from samples made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guide_compare.h"
#include "guide_courses.h"
#include "guide_json.h"
#include "guide_judge.h"
#include "guide_report.h"
#include "guide_test.h"
#include "guide_totals.h"
#include "guide_views.h"

static const guide_grid grid = {36, 2, 72};

/* `num` samples around ms in each of `launches`: none in another launch is the same. */
static void add(guide_results *r, const char *mpi, int64_t bytes, const char *alg, double ms, int num,
                int launches)
{
    guide_cell *c = guide_results_cell(r, mpi, bytes, grid);
    guide_series *s = guide_cell_series(c, alg);
    c->barrier_ms = 0.015;
    for (int l = 1; l <= launches; l++)
        for (int i = 0; i < num; i++)
            guide_series_add(s, l, ms + 1e-4 * (i - (num - 1) / 2.0));
}

static void make(guide_results *r, int launches)
{
    guide_results_make(r, "default");
    r->complete = true;
    add(r, "MPI_Bcast", 1024, "default", 0.030, 5, launches);
    add(r, "MPI_Bcast", 1024, "bcast_as_allgatherv", 0.020, 5, launches); /* a gain of 10 us: starred */
    add(r, "MPI_Bcast", 1024, "bcast_as_scatter_allgather", 0.0299, 5, launches); /* not significant */
    add(r, "MPI_Bcast", 65536, "default", 0.300, 5, launches);
    add(r, "MPI_Bcast", 65536, "bcast_as_allgatherv", 0.200, 5, launches);
    add(r, "MPI_Bcast", 65536, "bcast_as_scatter_allgather", 0.100, 5, launches); /* the faster one */
    add(r, "MPI_Gather", 64, "default", 0.010, 5, launches);
    add(r, "MPI_Gather", 64, "gather_as_gatherv", 0.020, 5, launches);
    guide_cell *c = guide_results_cell(r, "MPI_Gather", 64, grid);
    snprintf(guide_cell_series(c, "gather_as_reduce")->reason, GUIDE_REASON,
             "the scratch for data is too small");
    guide_judge(r);
}

static char *csv(const guide_results *r, int comparer, const char *mpi, bool more)
{
    guide_sheet sheet;
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    guide_compare(&sheet, guide_comparer_number(comparer), r, mpi, more);
    guide_sheet_print(&sheet, true, to);
    fclose(to);
    guide_sheet_free(&sheet);
    return text;
}

static void expect(const guide_results *r, int comparer, const char *mpi, const char *wanted)
{
    char *text = csv(r, comparer, mpi, false);
    assert_string_equal(text, wanted);
    free(text);
}

static void tables(void **state)
{
    guide_results r;
    (void)state;
    make(&r, 1);
    expect(&r, 0, "MPI_Gather",
           "mockup,count,runtime\n"
           "default,64,0.010000\n"
           "gather_as_gatherv,64,0.020000\n");
    expect(&r, 1, "MPI_Gather",
           "message_size,mockup,median_ms\n"
           "64,default,0.010000\n"
           "64,gather_as_gatherv,0.020000\n");
    expect(&r, 2, "MPI_Gather",
           "message_size,mockup,relative_runtime\n"
           "64,default,1.000000\n"
           "64,gather_as_gatherv,0.500000\n");
    /* t of 5 and 5 samples with a deviation of sqrt(2.5) 1e-4: 10e-3 / (1e-4 sqrt(2.5) sqrt(2 / 5)) = 100. */
    expect(&r, 3, "MPI_Bcast",
           "mockup,count,N,ppn,n,runtime_mean,runtime_median,z_value,critical_value,violation\n"
           "default,1024,36,2,5,0.030000,0.030000,,,\n"
           "bcast_as_allgatherv*,1024,36,2,5,0.020000,0.020000,-100.000000,1.859548,1\n"
           "bcast_as_scatter_allgather,1024,36,2,5,0.029900,0.029900,-1.000000,1.859548,0\n"
           "default,65536,36,2,5,0.300000,0.300000,,,\n"
           "bcast_as_allgatherv,65536,36,2,5,0.200000,0.200000,-1000.000000,1.859548,1\n"
           "bcast_as_scatter_allgather,65536,36,2,5,0.100000,0.100000,-2000.000000,1.859548,1\n");
    expect(&r, 3, "MPI_Gather", /* one of three has not run */
           "mockup,count,N,ppn,n,runtime_mean,runtime_median,z_value,critical_value,violation\n"
           "default,64,36,2,5,0.010000,0.010000,,,\n"
           "gather_as_gatherv,64,36,2,5,0.020000,0.020000,100.000000,1.859548,0\n");
    expect(&r, 4, "MPI_Bcast",
           "mockup,count,N,ppn,n,default_mean,default_median,mockup_mean,mockup_median,z_value,critical_val,"
           "violation,slowdown,"
           "has_barrier,diff<barrier\n"
           "bcast_as_allgatherv,1024,36,2,5,0.030000,0.030000,0.020000,0.020000,-100.000000,1.859548,1,1."
           "500000,1,1\n"
           "bcast_as_scatter_allgather,1024,36,2,5,0.030000,0.030000,0.029900,0.029900,-1.000000,1.859548,0,"
           "1.003344,1,1\n"
           "bcast_as_allgatherv,65536,36,2,5,0.300000,0.300000,0.200000,0.200000,-1000.000000,1.859548,1,1."
           "500000,1,0\n"
           "bcast_as_scatter_allgather,65536,36,2,5,0.300000,0.300000,0.100000,0.100000,-2000.000000,1."
           "859548,1,3.000000,1,0\n");
    /* Merged: a row for each collective and size, and of the violated ones the fastest alone. */
    expect(&r, 5, NULL,
           "collective,count,N,ppn,n,default_median,slowdown,mockup,mockup_median\n"
           "MPI_Bcast,1024,36,2,5,0.030000,1.500000,bcast_as_allgatherv*,0.020000\n"
           "MPI_Bcast,65536,36,2,5,0.300000,3.000000,bcast_as_scatter_allgather,0.100000\n"
           "MPI_Gather,64,36,2,5,0.010000,,,\n");
    expect(&r, 1, NULL,
           "collective,message_size,mockup,median_ms\n"
           "MPI_Bcast,1024,default,0.030000\n"
           "MPI_Bcast,1024,bcast_as_allgatherv,0.020000\n"
           "MPI_Bcast,1024,bcast_as_scatter_allgather,0.029900\n"
           "MPI_Bcast,65536,default,0.300000\n"
           "MPI_Bcast,65536,bcast_as_allgatherv,0.200000\n"
           "MPI_Bcast,65536,bcast_as_scatter_allgather,0.100000\n"
           "MPI_Gather,64,default,0.010000\n"
           "MPI_Gather,64,gather_as_gatherv,0.020000\n");
    assert_null(guide_comparer_number(1000));
    guide_results_free(&r);
}

/* The same for people: columns below one another, no blanks at a line's end; and what did not run. */
static void text(void **state)
{
    guide_results r;
    guide_sheet sheet;
    char *text = NULL;
    size_t length;
    (void)state;
    make(&r, 1);
    FILE *to = open_memstream(&text, &length);
    guide_compare(&sheet, guide_comparer_number(5), &r, "MPI_Bcast", false);
    guide_sheet_print(&sheet, false, to);
    guide_compare_notes(&r, NULL, to);
    fclose(to);
    assert_string_equal(
        text,
        "collective  count   N  ppn  n  default_median  slowdown  mockup                      mockup_median\n"
        "MPI_Bcast    1024  36    2  5        0.030000  1.500000  bcast_as_allgatherv*             0.020000\n"
        "MPI_Bcast   65536  36    2  5        0.300000  3.000000  bcast_as_scatter_allgather       0.100000\n"
        "# not run: MPI_Gather by gather_as_reduce, 64 bytes, 36 x 2 ranks: the scratch for data is too "
        "small\n"
        "# *: what is gained is less than a barrier takes\n");
    free(text);
    guide_sheet_free(&sheet);
    guide_results_free(&r);
}

static const guide_series *at(const guide_results *r, int cell, const char *alg)
{
    return guide_cell_find(&r->cells[cell], alg);
}

static void certainty(void **state)
{
    (void)state;
    for (int launches = 1; launches <= 4; launches++) {
        guide_results r;
        make(&r, launches);
        assert_int_equal(at(&r, 1, "bcast_as_allgatherv")->verdict.certain, launches >= 3);
        assert_false(at(&r, 0, "bcast_as_allgatherv")->verdict.certain); /* starred */
        assert_false(at(&r, 2, "gather_as_gatherv")->verdict.certain);
        assert_false(at(&r, 2, "gather_as_reduce")->verdict.is_judged);
        guide_results_free(&r);
    }
    /* One launch that says otherwise. */
    guide_results r;
    make(&r, 3);
    guide_series *s = guide_cell_series(&r.cells[1], "bcast_as_allgatherv");
    guide_series *l = &r.cells[1].series[0];
    for (int i = 0; i < 5; i++) {
        guide_series_add(s, 4, 0.3 + 1e-4 * i);
        guide_series_add(l, 4, 0.3 + 1e-4 * i);
    }
    guide_judge(&r);
    assert_true(s->verdict.violation);
    assert_int_equal(s->verdict.launches, 4);
    assert_int_equal(s->verdict.launches_in_violation, 3);
    assert_false(s->verdict.certain);
    guide_results_free(&r);
}

/* What one side has done after the time of the other was up is not held against it. */
static void turns(void **state)
{
    guide_results r;
    (void)state;
    guide_results_make(&r, "default");
    add(&r, "MPI_Bcast", 8, "default", 1, 30, 3);
    add(&r, "MPI_Bcast", 8, "bcast_as_allgatherv", 1, 30, 3);
    guide_series *s = guide_cell_series(&r.cells[0], "bcast_as_allgatherv");
    for (int i = 0; i < 1000; i++) /* call after call, faster */
        guide_series_add(s, 3, 0.5 + 1e-4 * i / 1000);
    guide_judge(&r);
    assert_false(s->verdict.violation);
    assert_true(s->verdict.statistic == 0);
    assert_int_equal(s->verdict.launches, 3);
    assert_int_equal(s->verdict.launches_in_violation, 0);
    guide_results_free(&r);
}

static void totals(void **state)
{
    guide_results r;
    (void)state;
    make(&r, 3);
    guide_totals t = guide_total(&r, NULL, NULL);
    assert_int_equal(t.cells, 3);
    assert_int_equal(t.brave, 2);
    assert_int_equal(t.cautious, 1);
    assert_int_equal(t.certain, 1);
    assert_int_equal(t.not_run, 1);
    assert_true(fabs(t.worst - 3) < 1e-9);
    assert_true(fabs(t.score - 100 * cbrt(1.0 / 3)) < 1e-9); /* a starred one costs nothing */
    t = guide_total(&r, "MPI_Gather", &grid);
    assert_int_equal(t.cells, 1);
    assert_true(t.score == 100);
    t = guide_total(&r, NULL, &(guide_grid){36, 1, 36});
    assert_int_equal(t.cells, 0);
    assert_string_equal(guide_best(&r), "MPI_Gather");
    assert_string_equal(guide_worst(&r), "MPI_Bcast");
    guide_results_free(&r);
}

/* What is read is what was written: the same text again. */
static void json_and_back(void **state)
{
    char path[] = "/tmp/unit_guide_XXXXXX", why[512] = "";
    guide_results r, again;
    size_t length, length_again;
    (void)state;
    make(&r, 3);
    char *text = guide_json_text(&r, &length), *text_again;
    const int fd = mkstemp(path);
    assert_int_equal(write(fd, text, length), (ssize_t)length);
    assert_int_equal(guide_json_read(&again, path, why, sizeof(why)), 0);
    text_again = guide_json_text(&again, &length_again);
    assert_string_equal(text, text_again);
    guide_results_free(&again);
    free(text_again);
    /* Cut short, and with a verdict on what did not run. */
    assert_int_equal(ftruncate(fd, (off_t)length / 2), 0);
    assert_int_not_equal(guide_json_read(&again, path, why, sizeof(why)), 0);
    assert_non_null(strstr(why, path));
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, "{\"format\": 1, \"cells\": [{}]}", 28, 0), 28);
    assert_int_not_equal(guide_json_read(&again, path, why, sizeof(why)), 0);
    assert_non_null(strstr(why, "not a result of pat-guidelines"));
    close(fd);
    unlink(path);
    free(text);
    guide_results_free(&r);
}

/* A campaign whose words are all as long as they may be, beside itself, from a directory with a long name: its label is cut off at its end. */
static void long_label(void **state)
{
    char dir[] = "/tmp/unit_guide_XXXXXX", why[512] = "", path[64], same[512];
    guide_results r;
    guide_views v;
    size_t length;
    (void)state;
    assert_non_null(mkdtemp(dir));
    memset(same, '/', sizeof(same));
    memcpy(same, dir, strlen(dir));
    same[sizeof(same) - 1] = '\0';
    snprintf(path, sizeof(path), "%s/guidelines.json", dir);
    guide_results_make(&r, "default");
    memset(r.library, 'l', sizeof(r.library) - 1);
    memset(r.left, 'e', sizeof(r.left) - 1);
    memset(r.arrival, 'a', sizeof(r.arrival) - 1);
    memset(r.score, 's', sizeof(r.score) - 1);
    add(&r, "MPI_Bcast", 1024, r.left, 0.030, 5, 1);
    add(&r, "MPI_Bcast", 1024, "bcast_as_allgatherv", 0.020, 5, 1);
    guide_judge(&r);
    char *text = guide_json_text(&r, &length);
    FILE *to = fopen(path, "w");
    assert_int_equal(fwrite(text, 1, length, to), length);
    fclose(to);
    const char *const dirs[] = {dir, same};
    assert_int_equal(guide_views_read(&v, dirs, 2, why, sizeof(why)), 0);
    assert_int_equal(v.num, 2);
    assert_non_null(strstr(v.views[0].label, "s (cut short)"));
    assert_int_equal(strlen(v.views[1].label), sizeof(v.views[1].label) - 1);
    assert_non_null(strstr(v.views[1].label, "s (cut short) /tmp/unit_guide_"));
    guide_views_free(&v);
    guide_results_free(&r);
    free(text);
    unlink(path);
    rmdir(dir);
}

/* A campaign's file in the directory dir/name. */
static const char *campaign(const char *dir, const char *name, guide_grid of, const char *arrival, double ms)
{
    static char paths[16][64];
    static int num;
    char *path = paths[num++], file[80], *text;
    size_t length;
    guide_results r;
    guide_results_make(&r, "default");
    snprintf(r.arrival, sizeof(r.arrival), "%s", arrival);
    for (int k = 0; k < 2; k++) {
        guide_cell *c = guide_results_cell(&r, "MPI_Bcast", 1024, of);
        for (int i = 0; i < 5; i++)
            guide_series_add(guide_cell_series(c, k ? "bcast_as_allgatherv" : "default"), 1,
                             (k ? 1 : ms) + 1e-4 * i);
    }
    guide_judge(&r);
    snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(file, sizeof(file), "%s/guidelines.json", path);
    FILE *to = fopen(file, "w");
    text = guide_json_text(&r, &length);
    fwrite(text, 1, length, to);
    fclose(to);
    free(text);
    guide_results_free(&r);
    return path;
}

static void remove_campaigns(const char *const dirs[], int num)
{
    for (int i = 0; i < num; i++) {
        char file[80];
        snprintf(file, sizeof(file), "%s/guidelines.json", dirs[i]);
        unlink(file);
        rmdir(dirs[i]);
    }
}

/* Campaigns that differ in the number of ranks are put in its order, whichever calls of a recorded program are behind them; others are not mixed in. */
static void courses(void **state)
{
    char dir[] = "/tmp/unit_guide_XXXXXX", why[512] = "", *text = NULL;
    size_t length;
    guide_views v;
    guide_courses c;
    (void)state;
    assert_non_null(mkdtemp(dir));
    const char *const dirs[] = {campaign(dir, "a", (guide_grid){1, 16, 16}, "trace:app+0x64+11111111", 2),
                                campaign(dir, "b", (guide_grid){1, 2, 2}, "trace:app+0x64+22222222", 0.5),
                                campaign(dir, "c", (guide_grid){1, 4, 4}, "none", 3),
                                campaign(dir, "d", (guide_grid){1, 2, 2}, "none", 0.5),
                                campaign(dir, "e", (guide_grid){1, 4, 4}, "none", 4),
                                campaign(dir, "f", (guide_grid){1, 3, 3}, "trace:app+0x65+22222222", 2)};
    enum { DIRS = sizeof(dirs) / sizeof(dirs[0]) };
    assert_int_equal(guide_views_read(&v, dirs, 1, why, sizeof(why)), 0);
    guide_courses_make(&c, &v);
    assert_true(c.num == 1 && !c.is_sweep);
    guide_courses_free(&c);
    guide_views_free(&v);
    assert_int_equal(guide_views_read(&v, dirs, DIRS, why, sizeof(why)), 0);
    guide_courses_make(&c, &v);
    assert_true(c.num == 4 && c.is_sweep);
    assert_true(c.courses[0].num == 2 && c.courses[0].views[0] == &v.views[1] &&
                c.courses[0].views[1] == &v.views[0]);
    assert_true(c.courses[1].num == 2 && c.courses[1].views[0] == &v.views[3] &&
                c.courses[1].views[1] == &v.views[2]);
    assert_true(c.courses[2].num == 1 && c.courses[3].num == 1);
    guide_courses_free(&c);
    FILE *to = open_memstream(&text, &length);
    guide_report_print(&v, to);
    fclose(to);
    assert_non_null(strstr(text, "MPI_Bcast: slow-downs by the number of ranks\n"
                                 "ranks  view  1K\n"
                                 "    2  #2    kept\n"
                                 "   16  #1    2.000\n"
                                 "    2  #4    kept\n"
                                 "    4  #3    3.000\n"));
    free(text);
    guide_views_free(&v);
    remove_campaigns(dirs, DIRS);
    rmdir(dir);
}

/* Sweeps of one kind are a course each, however many numbers of ranks they have; campaigns by themselves are one where they have as many ranks on a node. */
static void groups(void **state)
{
    char dir[] = "/tmp/unit_guide_XXXXXX", a[40], b[40], why[512] = "";
    guide_views v;
    guide_courses c;
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(a, sizeof(a), "%s/a", dir);
    snprintf(b, sizeof(b), "%s/b", dir);
    assert_true(mkdir(a, 0700) == 0 && mkdir(b, 0700) == 0);
    const char *const dirs[] = {campaign(a, "ranks-2", (guide_grid){1, 2, 2}, "none", 2),
                                campaign(a, "ranks-8", (guide_grid){2, 4, 8}, "none", 2),
                                campaign(b, "ranks-4", (guide_grid){1, 4, 4}, "none", 2),
                                campaign(b, "ranks-16", (guide_grid){4, 4, 16}, "none", 2),
                                campaign(b, "ranks-32", (guide_grid){8, 4, 32}, "none", 2),
                                campaign(dir, "ranks-", (guide_grid){1, 64, 64}, "none", 2),
                                campaign(dir, "e", (guide_grid){4, 4, 16}, "none", 2),
                                campaign(dir, "f", (guide_grid){8, 4, 32}, "none", 2),
                                campaign(dir, "g", (guide_grid){8, 1, 8}, "none", 2)};
    enum { DIRS = sizeof(dirs) / sizeof(dirs[0]) };
    /* In ascending order of their first: which views, by number, each has. */
    static const int wanted[5][4] = {{0, 1, -1}, {2, 3, 4, -1}, {8, -1}, {6, 7, -1}, {5, -1}};
    assert_int_equal(guide_views_read(&v, dirs, DIRS, why, sizeof(why)), 0);
    guide_courses_make(&c, &v);
    assert_true(c.num == 5 && c.is_sweep);
    for (int i = 0; i < c.num; i++)
        for (int k = 0; k < c.courses[i].num || wanted[i][k] >= 0; k++) {
            assert_true(k < c.courses[i].num);
            assert_int_equal(c.courses[i].views[k] - v.views, wanted[i][k]);
        }
    guide_courses_free(&c);
    /* What was judged by different tests does not differ in the number of ranks alone. */
    v.results[1].test = guide_test_number(v.results[0].test == guide_test_number(1) ? 2 : 1);
    guide_courses_make(&c, &v);
    assert_int_equal(c.num, 6);
    guide_courses_free(&c);
    guide_views_free(&v);
    remove_campaigns(dirs, DIRS);
    rmdir(a);
    rmdir(b);
    rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),     cmocka_unit_test(text),    cmocka_unit_test(certainty),
        cmocka_unit_test(turns),      cmocka_unit_test(totals),  cmocka_unit_test(json_and_back),
        cmocka_unit_test(long_label), cmocka_unit_test(courses), cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

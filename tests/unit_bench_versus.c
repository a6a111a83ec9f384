/*
 * unit_bench_versus.c — one algorithm held against the others, the bound and the predictor; what one that chooses loses; how the time past the last
 * arrival grows with the ranks; and the figures of both.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench_choice.h"
#include "bench_growth.h"
#include "bench_heat.h"
#include "bench_text.h"
#include "bench_versus.h"

enum { ITERS = 6 };

/* A row of a cell with tau 2 ms and a bound of 10 and 4 ms. */
static bench_row *add(bench_table *t, const char *alg, int procs, int kib, const char *pattern, double delay,
                      double elapsed, double past_last)
{
    bench_row *r = bench_table_add(t);
    assert_non_null(r);
    snprintf(r->alg, sizeof(r->alg), "%s", alg);
    snprintf(r->pattern, sizeof(r->pattern), "%s", pattern);
    r->procs = procs;
    r->ppn = 1;
    r->count = (int64_t)procs * kib * 256;
    r->segment_bytes = kib * 1024;
    r->max_delay_ms = delay;
    r->iters = r->num_iters = ITERS;
    r->elapsed_ms = elapsed;
    r->elapsed_ci_ms = 0.1;
    r->past_last_ms = past_last;
    r->bound_ms = 10;
    r->bound_past_last_ms = 4;
    r->predicted_ms = elapsed * 0.9;
    r->predicted_past_last_ms = past_last * 0.8;
    r->tau_ms = 2;
    r->iter_elapsed_ms = calloc(ITERS, sizeof(double));
    for (int i = 0; i < ITERS; i++)
        r->iter_elapsed_ms[i] = elapsed + 0.1 * (i % 2) - 0.05;
    return r;
}

static void versus_relay(const bench_table *t, FILE *to)
{
    bench_versus_print(t, "relay", to);
}

static void versus_auto(const bench_table *t, FILE *to)
{
    bench_versus_print(t, "auto", to);
}

static void versus_nex(const bench_table *t, FILE *to)
{
    bench_versus_print(t, "nex", to);
}

static void expect(const char *text, const char *part)
{
    assert_non_null(text);
    if (!strstr(text, part))
        fail_msg("not there: %s\n%s", part, text);
}

static void test_versus(void **state)
{
    (void)state;
    bench_table t = {0};
    add(&t, "relay", 4, 64, "uniform", 8, 12, 5); /* delay 4 tau */
    add(&t, "ring", 4, 64, "uniform", 8, 18, 10);
    add(&t, "native", 4, 64, "uniform", 8, 24, 9); /* the best past the last arrival */
    add(&t, "bdr", 4, 64, "uniform", 8, 15, 20);
    add(&t, "auto", 4, 64, "uniform", 8, 12, 5); /* neither a regular nor a published one */
    add(&t, "relay", 4, 4, "uniform", 0, 11, 5); /* a short segment: in a table of its own */
    add(&t, "ring", 4, 4, "uniform", 0, 10, 4);
    char *text = text_of(&t, versus_relay);
    expect(text, "Segments of 16 KiB and more\n");
    expect(text,
           "        4     1 |  1.500  1.500  1.500  1.250  1.250  1.250  1.200  1.200  1.200 |  1.800  1.800 "
           " 1.800  4.000  4.000  4.000  1.250  1.250  1.250\n");
    expect(text, "regular ones, 4 and up: 1.800 in mean elapsed time, 2.250 past the last arrival.\n");
    expect(text, "Segments of less than 16 KiB\n");
    expect(text, "        0     1 |  0.909  0.909  0.909      -      -      -  1.100");
    expect(text, "4 ranks, 4 KiB, delay 0 ms: relay 0.909 times as fast as ring, beyond doubt\n");
    expect(text,
           "relay         2 |  0.900  0.900  0.900 |  0.800  0.800  0.800\n"); /* predicted over measured */
    assert_null(strstr(text, "Doubt"));
    free(text);
    text = text_of(&t, versus_auto); /* it is not slower anywhere */
    expect(text, "In none of 1 cells more than 2 % slower");
    free(text);
    t.rows[0].doubtful = true;
    text = text_of(&t, versus_relay);
    expect(text, "Doubt");
    free(text);
    text = text_of(&t, versus_nex);
    expect(text, "no cell has nex\n");
    free(text);
    bench_table_free(&t);
}

static void choice_auto(const bench_table *t, FILE *to)
{
    bench_choice_print(t, "auto", to);
}

/* Elapsed times of even and of odd iterations. */
static void set_halves(bench_row *r, double even_ms, double odd_ms)
{
    for (int i = 0; i < ITERS; i++)
        r->iter_elapsed_ms[i] = i % 2 ? odd_ms : even_ms;
    r->elapsed_ms = (even_ms + odd_ms) / 2;
}

static void test_choice(void **state)
{
    (void)state;
    bench_table t = {0};
    char *text = text_of(&t, choice_auto);
    assert_string_equal(text, ""); /* nothing to say */
    free(text);
    bench_row *ours = add(&t, "auto", 4, 64, "uniform", 8, 11, 5);
    set_halves(ours, 11, 11);
    ours->iter_ran = calloc(ITERS, sizeof(ours->iter_ran[0]));
    for (int i = 1; i < ITERS; i++) /* of the first one it is not known */
        ours->iter_ran[i] = pat_algorithm_find(i < 3 ? "native" : "relay");
    set_halves(add(&t, "native", 4, 64, "uniform", 8, 0, 5), 12.5, 12.5);
    /* Each of the two is the best in one half, and is timed in the other one. */
    set_halves(add(&t, "relay", 4, 64, "uniform", 8, 0, 5), 9, 11);
    set_halves(add(&t, "bdr", 4, 64, "uniform", 8, 0, 5), 11, 9);
    /* Who ran is known nowhere; and what has no time in one of the two is compared with nothing. */
    ours = add(&t, "auto", 4, 4, "uniform", 0, 0, 5);
    set_halves(ours, 9, 9);
    ours->iter_elapsed_ms[5] = NAN;
    ours = add(&t, "native", 4, 4, "uniform", 0, 0, 5);
    set_halves(ours, 10, 10);
    ours->iter_elapsed_ms[5] = 1000;
    set_halves(add(&t, "native", 4, 4, "uniform", 0, 0, 5), 1, 1); /* measured again: the first time counts */
    add(&t, "relay", 8, 4, "uniform", 0, 10, 5);                   /* a cell without it */
    add(&t, "auto", 16, 4, "uniform", 0, 10, 5);                   /* and one with nobody else */
    set_halves(add(&t, "auto", 2, 16, "none", 0, 0, 5), 5, 5);
    set_halves(add(&t, "ring", 2, 16, "none", 0, 0, 5), 4, 4);
    text = text_of(&t, choice_auto);
    expect(text, "    4    1       64 uniform               4     0.00       0.880  bdr 1, relay 1       "
                 "relay 3, native 2\n");
    expect(text, "    4    1        4 uniform               0   -10.00       0.900  native 2             \n");
    expect(text, "    2    1       16 none                  0    25.00           -  ring 2               \n");
    expect(text,
           "      64     1     0.00     0.00       0.880  best: bdr 1, relay 1; ran: relay 3, native 2\n");
    expect(text, "       4     1   -10.00   -10.00       0.900  best: native 2\n");
    expect(text, "     all     3     5.00    25.00       0.900  best: native 2, ring 2, bdr 1, relay 1; ran: "
                 "relay 3, native 2\n");
    expect(text, "# left out: 1 cells");
    free(text);
    bench_table_free(&t);
}

static void growth_table(const bench_table *t, FILE *to)
{
    bench_cell *cells;
    const int num = bench_table_cells(t, &cells);
    bench_growth_print(t, cells, num, to);
    free(cells);
}

static void growth_figure(const bench_table *t, FILE *to)
{
    bench_cell *cells;
    const int num = bench_table_cells(t, &cells);
    int figures = 0;
    char name[96] = "";
    for (int i = 0; i < num; i++)
        figures += bench_growth_data(t, cells, num, i, name, sizeof(name), to);
    assert_int_equal(figures, 1);
    free(cells);
}

static void test_growth(void **state)
{
    (void)state;
    bench_table t = {0};
    add(&t, "ring", 4, 64, "ascending", 12, 30, 6);
    add(&t, "relay", 4, 64, "ascending", 12, 30, 3);
    add(&t, "ring", 16, 64, "ascending", 60, 30, 30);
    add(&t, "relay", 16, 64, "ascending", 60, 30, 4);
    add(&t, "relay", 8, 16, "ascending", 28, 30, 4); /* one number of ranks only: no series */
    add(&t, "relay", 8, 64, "uniform", 28, 30, 4);
    char *text = text_of(&t, growth_table);
    expect(text, "2 segments' time apart, segments of 64 KiB");
    expect(text, "ring           3.00    15.00     5.00\n");
    expect(text, "relay          1.50     2.00     1.33\n");
    expect(text, "bound          2.00     2.00     1.00\n");
    assert_null(strstr(text, "segments of 16 KiB"));
    free(text);
    text = text_of(&t, growth_figure);
    expect(text,
           "procs,ppn,segment_kib,gap_in_segments,max_delay_ms,pattern,doubtful,alg,past_last_in_segments\n"
           "4,1,64,2,12,ascending,0,ring,3.0000\n");
    expect(text, "4,1,64,2,12,ascending,0,relay,1.5000\n16,1,64,2,60,ascending,0,relay,2.0000\n");
    expect(text, ",bound,2.0000\n");
    free(text);
    t.rows[2].doubtful = true;
    text = text_of(&t, growth_figure);
    expect(text, "4,1,64,2,12,ascending,0,relay,1.5000\n16,1,64,2,60,ascending,1,relay,2.0000\n");
    free(text);
    text = text_of(&t, growth_table);
    expect(text, "Doubt");
    free(text);
    bench_table_free(&t);
}

static void heat_data(const bench_table *t, FILE *to)
{
    bench_cell *cells;
    const int num = bench_table_cells(t, &cells);
    char name[96];
    assert_true(bench_heat_bound(t, cells, num, "relay", name, sizeof(name), to));
    assert_string_equal(name, "over-bound-relay");
    free(cells);
}

static void test_heat(void **state)
{
    (void)state;
    bench_table t = {0};
    add(&t, "relay", 4, 64, "uniform", 0, 11, 5);
    add(&t, "relay", 4, 64, "uniform", 8, 12, 5);
    add(&t, "relay", 8, 64, "uniform", 32, 13, 5);
    add(&t, "ring", 4, 64, "uniform", 0, 20, 5);
    t.rows[1].doubtful = true;
    char *text = text_of(&t, heat_data);
    expect(text,
           "across,up,procs,ppn,segment_kib,delay_in_segments,max_delay_ms,pattern,doubtful,alg,over_bound\n"
           "0,0,4,1,64,0,0,uniform,0,relay,1.1000\n"
           "1,0,4,1,64,4,8,uniform,1,relay,1.2000\n"
           "2,1,8,1,64,16,32,uniform,0,relay,1.3000\n");
    free(text);
    bench_table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_versus), cmocka_unit_test(test_choice),
                                       cmocka_unit_test(test_growth), cmocka_unit_test(test_heat)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

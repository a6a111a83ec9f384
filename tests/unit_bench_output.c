/*
 * unit_bench_output.c — the mini-benchmark's results: verdicts per cell, files that come back as they were
 * written, the paper's figures, and what is drawn.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench_csv.h"
#include "bench_file.h"
#include "bench_json.h"
#include "bench_paper.h"
#include "bench_wins.h"
#include "bench_draw.h"
#include "bench_plot.h"
#include "bench_report.h"
#include "bench_text.h"

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

/* A row with iterations around a mean: +-10 in common to all algorithms, +-jitter of its own. */
static bench_row *add(bench_table *t, const char *alg, int procs, int64_t count, double delay, double elapsed,
                      double jitter)
{
    static const double common[] = {-10, 10, 5, -5, 0, 8, -8, 0}, own[] = {1, -1, -1, 1, 1, -1, 1, -1};
    bench_row *r = bench_table_add(t);
    assert_non_null(r);
    snprintf(r->alg, sizeof(r->alg), "%s", alg);
    snprintf(r->pattern, sizeof(r->pattern), "uniform");
    r->procs = procs;
    r->ppn = 1;
    r->count = count;
    r->segment_bytes = count / procs * 4;
    r->max_delay_ms = delay;
    r->iters = r->num_iters = 8;
    r->elapsed_ms = elapsed;
    r->elapsed_ci_ms = 6;
    r->imbalance_factor = delay / 2;
    r->bound_ms = 11;
    r->ideal_ring_ms = 21;
    r->tau_ms = 1.5;
    r->iter_elapsed_ms = calloc(8, sizeof(double));
    for (int i = 0; i < 8; i++)
        r->iter_elapsed_ms[i] = elapsed + common[i] + jitter * own[(i + t->num) % 8];
    return r;
}

static void fill(bench_table *t)
{
    add(t, "bdr", 4, 65536, 10, 30, 0.5);
    add(t, "ring", 4, 65536, 10, 33, 0.5);
    add(t, "native", 4, 65536, 10, 40, 0.5);
    add(t, "bslb", 4, 65536, 10, 36, 0.5);
    add(t, "ring", 4, 65536, 0, 20, 3); /* a smaller delay that comes later: cells are put in order */
    add(t, "bdr", 4, 65536, 0, 20.5, 3);
    add(t, "ring", 4, 131072, 10, 44, 0.1);
    add(t, "bdr", 4, 131072, 10, 88, 0.1);
    add(t, "ring", 8, 65536, 10, 50, 0.1);
    add(t, "bdr", 8, 65536, 10, 40, 0.1);
}

static void test_cells(void **state)
{
    (void)state;
    bench_table t = {0};
    bench_cell *c;
    fill(&t);
    assert_int_equal(bench_table_cells(&t, &c), 4);
    assert_near(c[0].max_delay_ms, 0, 0);
    assert_int_equal(c[0].best, 4);
    assert_false(c[0].beyond_doubt);
    /* The means' intervals overlap, the paired difference is clear. */
    assert_near(c[1].max_delay_ms, 10, 0);
    assert_int_equal(c[1].num_algs, 4);
    assert_int_equal(c[1].best, 0);
    assert_int_equal(c[1].best_regular, 1);
    assert_int_equal(c[1].best_aware, 0);
    assert_near(c[1].speedup, 1.1, 1e-9);
    assert_near(c[1].diff_ms, 3, 1e-9);
    assert_true(c[1].paired && c[1].beyond_doubt && !c[1].apart);
    /* The regular one is faster, and clearly. */
    assert_int_equal(c[2].count, 131072);
    assert_near(c[2].speedup, 0.5, 1e-9);
    assert_true(c[2].beyond_doubt && c[2].apart);
    assert_int_equal(c[3].procs, 8);
    /* Factor 5 in three cells, 0 in one: only those count. */
    const bench_summary s = bench_summarize(c, 4);
    assert_int_equal(s.cells, 3);
    assert_int_equal(s.aware_wins, 2);
    assert_int_equal(s.aware_sure, 2);
    assert_near(s.geomean, cbrt(1.1 * 0.5 * 1.25), 1e-9);
    assert_near(s.best, 1.25, 1e-9);
    free(c);

    const char *algs[8];
    assert_int_equal(bench_table_algs(&t, algs, 8), 4);
    assert_string_equal(algs[0], "native");
    assert_string_equal(algs[3], "bslb");
    bench_table_free(&t);

    /* Above 4 P nothing is decided. */
    add(&t, "ring", 4, 65536, 100, 50, 0.1);
    add(&t, "bdr", 4, 65536, 100, 40, 0.1);
    assert_int_equal(bench_table_cells(&t, &c), 1);
    assert_int_equal(bench_summarize(c, 1).cells, 0);
    free(c);
    bench_table_free(&t);
}

static char *slurp(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    assert_non_null(f);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static int entries(const char *dir)
{
    DIR *d = opendir(dir);
    int n = 0;
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static char dir[] = "/tmp/pat-unit-XXXXXX";

static void test_files(void **state)
{
    (void)state;
    bench_table t = {0}, back = {0};
    bench_settings s = {0};
    char csv[64], json[64], bad[64], why[256];
    size_t length;
    snprintf(csv, sizeof(csv), "%s/r.csv", dir);
    snprintf(json, sizeof(json), "%s/r.json", dir);
    snprintf(bad, sizeof(bad), "%s/bad.csv", dir);
    fill(&t);
    t.rows[0].iter_elapsed_ms[3] = NAN;
    t.rows[0].iter_ran = calloc(8, sizeof(t.rows[0].iter_ran[0]));
    t.rows[0].iter_ran[2] = pat_algorithm_find("ring");
    snprintf(t.lab_check, sizeof(t.lab_check), "fail");
    assert_int_equal(bench_settings_add(&s, "seed", "%d", 7), 0);

    char *text = bench_csv_text(&t, &length);
    assert_int_equal(bench_file_check(csv, why, sizeof(why)), 0);
    assert_int_equal(entries(dir), 0); /* the check leaves nothing */
    assert_int_equal(bench_file_write(csv, text, length, why, sizeof(why)), 0);
    free(text);
    text = slurp(csv);
    const char *header =
        "alg,procs,ppn,count,segment_bytes,max_delay_ms,pattern,iters,elapsed_ms,elapsed_ci_ms,past_last_ms,"
        "run_ms,absorption_ms,imbalance_factor,bound_ms,early_share,thread_cpu_ms,waiting_cpu_ms,op\n"
        "bdr,4,1,65536,65536,10,uniform,8,30.0000,6.0000,";
    assert_memory_equal(text, header, strlen(header));
    free(text);
    assert_int_equal(bench_results_read(&back, csv, why, sizeof(why)), 0);
    assert_int_equal(back.num, t.num);
    assert_string_equal(back.rows[3].alg, "bslb");
    assert_near(back.rows[3].elapsed_ms, 36, 1e-9);
    assert_null(back.rows[3].iter_elapsed_ms);
    bench_cell *c;
    assert_int_equal(bench_table_cells(&back, &c), 4);
    assert_false(c[1].paired);
    assert_false(c[1].beyond_doubt); /* all a CSV can tell: the intervals overlap */
    assert_true(c[2].beyond_doubt);
    free(c);
    bench_table_free(&back);

    text = bench_json_text(&t, &s, true, &length);
    assert_int_equal(bench_file_write(json, text, length, why, sizeof(why)), 0);
    assert_non_null(strstr(text, "\"seed\": \"7\""));
    free(text);
    assert_int_equal(bench_results_read(&back, json, why, sizeof(why)), 0);
    assert_int_equal(back.num, t.num);
    assert_true(back.rows[0].doubtful && bench_is_doubtful(&back));
    assert_true(isnan(back.rows[0].iter_elapsed_ms[3]));
    assert_near(back.rows[0].iter_elapsed_ms[4], t.rows[0].iter_elapsed_ms[4], 1e-9);
    assert_true(!back.rows[0].iter_ran[1] && back.rows[0].iter_ran[2] == pat_algorithm_find("ring"));
    assert_null(back.rows[1].iter_ran);
    assert_near(back.rows[0].ideal_ring_ms, 21, 1e-9);
    assert_int_equal(bench_table_cells(&back, &c), 4);
    assert_true(c[1].paired && c[1].beyond_doubt);
    free(c);
    /* The next file's check is its own. */
    assert_int_equal(bench_results_read(&back, csv, why, sizeof(why)), 0);
    assert_true(back.rows[t.num - 1].doubtful && !back.rows[t.num].doubtful);
    bench_table_free(&back);

    /* What is no result is refused, and the message says where. */
    static const struct {
        const char *text, *part;
    } broken[] = {{"alg,procs\n", "line 1"},
                  {BENCH_CSV_OLD_HEADER "\nring,4,1,x,1,0,uniform,8,1,1,1,1,1,1,1,1,1,1\n", "line 2"},
                  {BENCH_CSV_OLD_HEADER "\nring,4,1,1,1,0,uniform,8,1,1,1,1,1,1,1,1,1\n", "line 2"},
                  {BENCH_CSV_OLD_HEADER "\nring,4,1,1,1,0,uniform,8,1,1,1,1,1,1,1,1,1,1,1\n", "line 2"},
                  {BENCH_CSV_HEADER "\nring,4,1,1,1,0,uniform,8,1,1,1,1,1,1,1,1,1,1\n", "line 2"},
                  {BENCH_CSV_HEADER "\nring,4,1,1,1,0,uniform,8,1,1,1,1,1,1,1,1,1,1,scan\n", "line 2"},
                  {"", "empty"}};
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        assert_int_equal(bench_file_write(bad, broken[i].text, strlen(broken[i].text), why, sizeof(why)), 0);
        assert_int_not_equal(bench_results_read(&back, bad, why, sizeof(why)), 0);
        assert_non_null(strstr(why, broken[i].part));
        bench_table_free(&back);
    }
    snprintf(json, sizeof(json), "%s/bad.json", dir);
    assert_int_equal(bench_file_write(json, "{\"rows\": [", 10, why, sizeof(why)), 0);
    assert_int_not_equal(bench_results_read(&back, json, why, sizeof(why)), 0);
    assert_int_equal(bench_file_write(json, "{\"rows\": []}", 12, why, sizeof(why)), 0);
    assert_int_not_equal(bench_results_read(&back, json, why, sizeof(why)), 0);
    bench_settings_free(&s);
    bench_table_free(&t);
}

static void test_unwritable(void **state)
{
    (void)state;
    char path[96], why[256];
    snprintf(path, sizeof(path), "%s/none/r.csv", dir);
    assert_int_not_equal(bench_file_check(path, why, sizeof(why)), 0);
    assert_non_null(strstr(why, path));
    assert_int_not_equal(bench_dir_check(path, why, sizeof(why)), 0);
    assert_int_not_equal(bench_file_check(dir, why, sizeof(why)), 0); /* a directory */
    const int before = entries(dir);
    assert_int_not_equal(bench_file_write(dir, "x", 1, why, sizeof(why)), 0);
    assert_int_equal(entries(dir), before); /* no temporary file stays */
    snprintf(path, sizeof(path), "%s/figures", dir);
    assert_int_equal(bench_dir_check(path, why, sizeof(why)), 0);
    assert_int_not_equal(access(path, F_OK), 0); /* the check leaves nothing */
}

/* The counts that are known of the paper's 420 cells. */
static void test_paper(void **state)
{
    (void)state;
    const bench_paper_cell *p;
    const int num = bench_paper_cells(&p);
    int bdr = 0, bslb = 0, late = 0;
    double logs = 0;
    assert_int_equal(num, 420);
    for (int i = 0; i < num; i++) {
        bdr += strcmp(p[i].best, "bdr") == 0;
        bslb += strcmp(p[i].best, "bslb") == 0;
        if (p[i].max_delay_ms >= 5) {
            late++;
            logs += log(p[i].speedup);
        }
    }
    assert_int_equal(bdr, 166);
    assert_int_equal(bslb, 86);
    assert_near(exp(logs / late), 1.103, 0.0005);

    /* 512K floats on 16 ranks: tau 1.05 ms at 1 Gbit/s. */
    const bench_paper_cell cell = {.procs = 16, .size_k = 512, .max_delay_ms = 10};
    assert_near(bench_paper_factor(&cell), 10.0 * 15 / 17 / 1.048576, 1e-9);
    /* Our network is slower, our delays longer: the factor finds the cell. */
    bench_cell ours = {.procs = 16, .count = 512 * 1024, .max_delay_ms = 200, .factor = 8.2};
    const bench_paper_cell *match = bench_paper_match(&ours);
    assert_non_null(match);
    assert_int_equal(match->size_k, 512);
    assert_near(match->max_delay_ms, 10, 0);
    assert_near(match->speedup, 1.35, 1e-9);
    /* A factor its row does not have: the nearest of any size. */
    ours.count = 2048 * 1024;
    ours.factor = 400;
    match = bench_paper_match(&ours);
    assert_int_not_equal(match->size_k, 2048);
    assert_near(match->max_delay_ms, 500, 0);
    ours.max_delay_ms = 0;
    ours.factor = 0.01;
    assert_near(bench_paper_match(&ours)->max_delay_ms, 0, 0);
    ours.procs = 5;
    assert_null(bench_paper_match(&ours));
}

static void print_paper_wins(const bench_table *unused, FILE *to)
{
    (void)unused;
    bench_wins_print_paper(to);
}

static void test_report(void **state)
{
    (void)state;
    bench_table t = {0};
    fill(&t);
    char *text = text_of(&t, bench_report_print);
    assert_non_null(strstr(
        text, "Process number: 4, 1 per node; delays: uniform\nMD [ms] ->                0         10\n"));
    assert_non_null(strstr(text, "\n64                     RING   BDR1.10*\n"));
    assert_non_null(
        strstr(text, "\n128                       -      RING*\n")); /* a cell that was not measured */
    assert_non_null(strstr(text, "speed-up, geometric mean                0.883\n"));
    assert_non_null(strstr(text, "     MD [ms]  cells      ring       bdr\n"
                                 "           0      1         1         0\n"
                                 "          10      3         1         2\n"
                                 "    K floats  cells      ring       bdr\n"
                                 "          64      3         1         2\n"
                                 "         128      1         1         0\n"));
    /* An interval of 6 ms of 8 iterations: 6 sqrt(8) over Student's 2.3646. */
    assert_non_null(strstr(text, "(sigma) in ms\n"));
    assert_non_null(strstr(text, "       7.18"));
    assert_null(strstr(text, "Doubt"));
    free(text);
    for (int i = 0; i < 4; i++)
        t.rows[i].doubtful = true;
    text = text_of(&t, bench_report_print);
    int warnings = 0;
    for (const char *at = text;
         (at = strstr(at, "in 1 of 4 cells: some link did not carry its rate. Doubt these:\n"
                          "# 4 ranks, 64 KiB, uniform 10 ms\n")) != NULL;
         at++)
        warnings++;
    assert_int_equal(warnings, 6); /* at every table */
    free(text);
    text = text_of(&t, bench_paper_print);
    assert_non_null(strstr(text, "Doubt"));
    assert_non_null(strstr(text, "Over the 3 cells"));
    free(text);
    text = text_of(&t, print_paper_wins);
    /* Of the paper's 420 cells 60 are of each delay, and 84 of each size. */
    assert_non_null(strstr(text, "     MD [ms]  cells      ring       nex      lnbc       bdr      bslb\n"
                                 "           0     60        38        12         5         4         1\n"));
    assert_non_null(
        strstr(text, "\n        2048     84        25         0         0        38        21\n"));
    free(text);
    bench_table_free(&t);
}

/* Of a figure's data, for the caller to free. */
static char *sheet(const char *where, const char *name)
{
    char path[200];
    snprintf(path, sizeof(path), "%s/%s.csv", where, name);
    return slurp(path);
}

static void test_plot_data(void **state)
{
    (void)state;
    static const char *const names[] = {"elapsed-by-size-p4-md10", "elapsed-by-delay-p4-n64k",
                                        "elapsed-by-ranks-n64k-md10", "speedup-p4", "winners"};
    bench_table t = {0};
    char figures[64], why[256], *calls = NULL;
    size_t length;
    fill(&t);
    snprintf(figures, sizeof(figures), "%s/it's", dir);
    assert_int_equal(mkdir(figures, 0777), 0);
    FILE *to = open_memstream(&calls, &length);
    /* P=4: by size at delay 10, by delay at 64K, by ranks, heat map. P=8 is a single cell. And the winners of all. */
    assert_int_equal(bench_plot_data(&t, NULL, figures, "/its/templates", to, why, sizeof(why)), 5);
    fclose(to);
    assert_int_equal(entries(figures), 5);
    assert_non_null(strstr(calls, "call '/its/templates/elapsed.gp' '/tmp/"));
    assert_non_null(strstr(calls, "/it''s/elapsed-by-size-p4-md10'\n"));
    assert_non_null(strstr(calls, "/it''s/speedup-p4'\n"));
    free(calls);
    for (int i = 0; i < 4; i++) {
        char *text = sheet(figures, names[i]);
        assert_null(strstr(text, ",1,bdr,")); /* no cell is doubtful */
        free(text);
    }
    /* Of the algorithms' table's order, then by delay; nothing of another size or number of ranks. */
    char *text = sheet(figures, "elapsed-by-delay-p4-n64k");
    assert_string_equal(
        text,
        "axis,place,procs,ppn,segment_kib,total_kfloats,max_delay_ms,pattern,imbalance_factor,doubtful,alg,"
        "elapsed_ms,elapsed_ci_ms,bound_ms,ideal_ring_ms\n"
        "delay,1,4,1,64,64,10,uniform,5,0,native,40,6,11,21\n"
        "delay,0,4,1,64,64,0,uniform,0,0,ring,20,6,11,21\n"
        "delay,1,4,1,64,64,10,uniform,5,0,ring,33,6,11,21\n"
        "delay,0,4,1,64,64,0,uniform,0,0,bdr,20.5,6,11,21\n"
        "delay,1,4,1,64,64,10,uniform,5,0,bdr,30,6,11,21\n"
        "delay,1,4,1,64,64,10,uniform,5,0,bslb,36,6,11,21\n");
    free(text);
    text = sheet(figures, "winners");
    assert_string_equal(text, "axis,place,value,cells,doubtful,alg,below,won\n"
                              "delay,0,0,1,0,ring,0,1\n"
                              "delay,0,0,1,0,bdr,1,0\n"
                              "delay,1,10,3,0,ring,0,1\n"
                              "delay,1,10,3,0,bdr,1,2\n"
                              "size,0,64,3,0,ring,0,1\n"
                              "size,0,64,3,0,bdr,1,2\n"
                              "size,1,128,1,0,ring,0,1\n"
                              "size,1,128,1,0,bdr,1,0\n");
    free(text);
    text = sheet(figures, "speedup-p4");
    assert_non_null(strstr(text, "\n1,0,4,1,64,64,10,uniform,5,0,bdr,1.1000,1\n"));
    free(text);

    /* Of a cluster that failed its check only the cells concerned are doubtful. */
    for (int i = 0; i < 4; i++)
        t.rows[i].doubtful = true;
    assert_int_equal(bench_plot_data(&t, NULL, figures, "", NULL, why, sizeof(why)), 5);
    text = sheet(figures, "elapsed-by-delay-p4-n64k");
    assert_non_null(strstr(text, "delay,1,4,1,64,64,10,uniform,5,1,ring,33"));
    assert_non_null(strstr(text, "delay,0,4,1,64,64,0,uniform,0,0,ring,20"));
    free(text);
    text = sheet(figures, "speedup-p4");
    assert_non_null(strstr(text, ",5,1,bdr,1.1000,1\n"));
    assert_non_null(strstr(text, ",5,0,ring,0.5000,1\n"));
    free(text);
    bench_table_free(&t);
}

static void test_figures(void **state)
{
    (void)state;
    if (!bench_plot_available())
        skip();
    static const char *const names[] = {"elapsed-by-size-p4-md10", "elapsed-by-delay-p4-n64k",
                                        "elapsed-by-ranks-n64k-md10", "speedup-p4", "winners"};
    bench_table t = {0};
    char figures[64], path[160], why[256];
    fill(&t);
    t.rows[4].doubtful = t.rows[5].doubtful = true;
    t.rows[5].bound_ms = t.rows[4].bound_ms = t.rows[5].elapsed_ci_ms = NAN;
    snprintf(figures, sizeof(figures), "%s/f", dir);
    assert_int_equal(bench_plot_make(&t, NULL, figures, why, sizeof(why)), 5);
    assert_int_equal(entries(figures), 15);
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "%s/%s.svg", figures, names[i]);
        char *text = slurp(path);
        assert_non_null(strstr(text, "<svg"));
        assert_non_null(strstr(text, "</svg>"));
        if (i == 1)
            assert_non_null(strstr(text, "failed its own check (4 ranks, 64 KiB, 0 ms)"));
        else if (i == 4)
            assert_non_null(strstr(text, "failed its own check: 0 ms: 1"));
        else if (i != 3)
            assert_null(strstr(text, "failed its own check"));
        free(text);
        snprintf(path, sizeof(path), "%s/%s.png", figures, names[i]);
        text = slurp(path);
        assert_memory_equal(text, "\x89PNG", 4);
        free(text);
    }
    bench_table_free(&t);
}

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),   cmocka_unit_test(test_files),  cmocka_unit_test(test_unwritable),
        cmocka_unit_test(test_paper),   cmocka_unit_test(test_report), cmocka_unit_test(test_plot_data),
        cmocka_unit_test(test_figures),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}

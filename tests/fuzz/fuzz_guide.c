/*
 * fuzz_guide.c — what pat-guidelines reads, and the profiles that the drop-in applies, as a fuzzer makes them up: FUZZ_WHAT says which of them the input is. What is
 * refused is told, what is taken is judged and printed, and what was written can be read again. libFuzzer calls this; tests/fuzz/run builds it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guide_beyond.h"
#include "guide_input.h"
#include "guide_json.h"
#include "guide_judge.h"
#include "guide_list.h"
#include "guide_medians.h"
#include "guide_output.h"
#include "guide_profile.h"
#include "guide_raw.h"
#include "guide_report.h"
#include "guide_test.h"
#include "mockup_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const guide_way way = {"barrier", 0, "random", "single"};

static char why[4096];

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_guide: %s: %s\n", what, why);
    abort();
}

/* Whoever refuses a file says why. */
static bool is_taken(int error)
{
    must(!error || why[0], "refused without a word");
    return !error;
}

/* A file below FUZZ_DIR; to is of 1000 bytes. */
static const char *path_of(char *to, const char *name)
{
    snprintf(to, 1000, "%s/%s", getenv("FUZZ_DIR"), name);
    return to;
}

static void put_file(const char *path, const void *data, size_t size)
{
    FILE *to = fopen(path, "w");
    must(to, path);
    fwrite(data, 1, size, to);
    fclose(to);
}

/* ---- Each of them ---------------------------------------------------------------------------------------------- */

static void try_input(const char *path)
{
    guide_input in;
    if (!is_taken(guide_input_read(&in, path, why, sizeof(why))))
        return;
    must(in.num > 0, "no line");
    for (int i = 0; i < in.num; i++) {
        const guide_line *l = &in.lines[i];
        must(l->num_bytes >= 1 && l->num_bytes <= GUIDE_SIZES && l->samples >= 1 && l->time_ms >= 1 &&
                 l->barrier_after >= -1 && l->root >= 0,
             "a line has what it must not");
        for (int k = 0; k < l->num_bytes; k++)
            must(l->bytes[k] >= 1, "no size");
    }
    guide_input_free(&in);
}

static void try_list(const char *path)
{
    guide_list known = {.num = 0}, list, again;
    size_t length, length_again;
    guide_list_add(&known, "bcast", "MPI_Bcast", "default", true);
    guide_list_add(&known, "bcast", "MPI_Bcast", "bcast_as_allgatherv", true);
    guide_list_add(&known, "scan", "MPI_Scan", "default", false);
    guide_list_add(&known, "scan", "MPI_Scan", "scan_as_exscan_reducelocal", false);
    if (is_taken(guide_list_read(&list, &known, "mpi", path, why, sizeof(why)))) {
        char *text = guide_list_text(&list, &length);
        put_file(path, text, length);
        must(guide_list_read(&again, &known, "mpi", path, why, sizeof(why)) == 0,
             "a list that was written is refused");
        char *text_again = guide_list_text(&again, &length_again);
        must(length == length_again && memcmp(text, text_again, length) == 0, "a list has changed");
        free(text);
        free(text_again);
        guide_list_free(&list);
        guide_list_free(&again);
    }
    guide_list_free(&known);
}

/* All that is made of results; what is written can be read again. */
static void use(guide_results *r, const char *path)
{
    guide_results beyond, again;
    size_t length;
    int profiles;
    char dir[1000];
    FILE *nowhere = fopen("/dev/null", "w");
    must(nowhere, "/dev/null");
    for (int test = 0; guide_test_number(test); test++) {
        r->test = guide_test_number(test);
        guide_judge(r);
    }
    for (int i = 0; guide_comparer_number(i); i++)
        guide_output_print(r, &(guide_shape){guide_comparer_number(i), true, true, true}, nowhere);
    guide_beyond(r, &beyond);
    guide_output_print(&beyond, &(guide_shape){guide_comparer_number(5), true, true, true}, nowhere);
    guide_results_free(&beyond);
    fclose(nowhere);
    if (strcmp(r->left, "default") == 0)
        must(guide_profile_write(r, path_of(dir, "profiles"), &profiles, why, sizeof(why)) == 0,
             "no profile");
    char *text = guide_json_text(r, &length);
    put_file(path, text, length);
    free(text);
    must(guide_json_read(&again, path, why, sizeof(why)) == 0, "JSON that was written is refused");
    must(again.num == r->num, "JSON has other cells");
    guide_results_free(&again);
}

static void try_medians(const char *path)
{
    guide_results r;
    guide_results_make(&r, "default");
    if (is_taken(guide_medians_read(&r, path, why, sizeof(why))))
        use(&r, path);
    guide_results_free(&r);
}

/* The input is the left side's samples, beside good ones of another side and of the barrier (tests/fuzz/run). */
static void try_raw(const char *path)
{
    static const guide_grid grid = {1, 2, 2};
    guide_results r;
    char dir[1000], json[1000];
    (void)path;
    guide_results_make(&r, "default");
    snprintf(r.library, sizeof(r.library), "some MPI");
    is_taken(guide_raw_read(&r, "MPI_Bcast", "default", grid, &way, path_of(dir, "data"), why, sizeof(why)));
    guide_results_free(&r);
    guide_results_make(&r, "default");
    if (is_taken(guide_raw_read_all(&r, dir, why, sizeof(why))))
        use(&r, path_of(json, "guidelines.json"));
    guide_results_free(&r);
}

static void try_json(const char *path)
{
    guide_views v;
    const char *const dirs[] = {getenv("FUZZ_DIR"), getenv("FUZZ_DIR")};
    (void)path;
    if (!is_taken(guide_views_read(&v, dirs, 2, why, sizeof(why))))
        return;
    FILE *nowhere = fopen("/dev/null", "w");
    must(nowhere, "/dev/null");
    guide_report_print(&v, nowhere);
    fclose(nowhere);
    guide_views_free(&v);
}

static bool knows(const char *collective, const char *alg)
{
    return strcmp(collective, "MPI_Bcast") == 0 &&
           (!alg || strcmp(alg, "default") == 0 || strcmp(alg, "bcast_as_allgatherv") == 0);
}

static void try_profile(const uint8_t *data, size_t size)
{
    static const int64_t sizes[] = {0, 1, 1024, INT64_MAX};
    pat_mockup_profile p;
    if (!is_taken(!pat_mockup_profile_read(&p, (const char *)data, size, knows, why, sizeof(why))))
        return;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        must(pat_mockup_profile_alg(&p, sizes[i]) < p.num_algs, "no such algorithm");
    pat_mockup_profile_free(&p);
}

static const struct {
    const char *what, *file; /* the file's name below FUZZ_DIR */
    void (*try)(const char *path);
} all[] = {{"input", "input", try_input},
           {"list", "list.csv", try_list},
           {"medians", "medians.csv", try_medians},
           {"raw", "data/data_MPI_Bcast_default.dat", try_raw},
           {"json", "guidelines.json", try_json}};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *what = getenv("FUZZ_WHAT");
    char path[1000];
    bool found = strcmp(what, "profile") == 0;
    why[0] = '\0';
    if (found)
        try_profile(data, size);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && !found; i++) {
        found = strcmp(what, all[i].what) == 0;
        if (found) {
            put_file(path_of(path, all[i].file), data, size);
            all[i].try(path);
        }
    }
    must(found, "FUZZ_WHAT is unknown");
    return 0;
}

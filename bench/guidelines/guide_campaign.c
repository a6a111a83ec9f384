/*
 * guide_campaign.c — see guide_campaign.h. Must never begin to measure where the results could not be kept.
 */
#include "guide_campaign.h"

#include <stdlib.h>
#include <string.h>

#include "bench_file.h"
#include "bench_finalize.h"
#include "bench_must.h"
#include "guide_agree.h"
#include "guide_beyond.h"
#include "guide_judge.h"
#include "guide_measure.h"
#include "guide_need.h"
#include "guide_profile.h"
#include "guide_raw.h"
#include "nodes.h"
#include "pat.h"
#include "tool_options.h"

typedef struct campaign {
    const guide_options *o;
    guide_input input;
    guide_list list;
    guide_run run;
    const char *threads;                  /* level that MPI was started with */
    char *raw, *past, *past_raw, *beyond; /* directories; NULL without an output directory */
    char why[4096];
} campaign;

static int complain(const campaign *c, bool speaks, int status)
{
    if (speaks)
        fprintf(stderr, "pat-guidelines: %s\n", c->why);
    return status;
}

static char *below(const char *dir, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", dir, name) < 0)
        path = NULL;
    return guide_need(path);
}

/* ---- What is to be measured ---------------------------------------------------------------------------------- */

/* The sides of a collective, the left one first; for the caller to free. */
static guide_side *sides_of(const campaign *c, const char *mpi, int *num)
{
    char why[1024];
    guide_side *sides = guide_need_array((size_t)c->list.num + 1, sizeof(*sides));
    int found = guide_side_find(&sides[0], mpi, c->o->left, why, sizeof(why));
    for (int i = 0; i < c->list.num && found > 0; i++)
        if (strcmp(c->list.entries[i].mpi, mpi) == 0 && strcmp(c->list.entries[i].alg, c->o->left) != 0)
            found += guide_side_find(&sides[found], mpi, c->list.entries[i].alg, why, sizeof(why));
    *num = found;
    return sides;
}

/* 0, or the exit status with a text. Does any side need the library? */
static int read_files(campaign *c, bool *needs_pat)
{
    guide_list known;
    int error = guide_input_read(&c->input, c->o->input, c->why, sizeof(c->why));
    if (error)
        return TOOL_BAD_INPUT;
    guide_known(&known, true, true);
    if (c->o->algorithms)
        error = guide_list_read(&c->list, &known, c->o->algorithms, c->why, sizeof(c->why));
    guide_list_free(&known);
    if (!c->o->algorithms)
        guide_known(&c->list, c->o->own, false);
    *needs_pat = false;
    for (int i = 0; i < c->input.num && !error; i++) {
        const char *mpi = c->input.lines[i].mpi;
        char wrong[2048];
        guide_side left;
        int num = 0;
        error = !guide_side_find(&left, mpi, c->o->left, wrong, sizeof(wrong));
        if (error) {
            snprintf(c->why, sizeof(c->why), "%s%s", left.native ? "--left " : "", wrong);
            break;
        }
        guide_side *sides = sides_of(c, mpi, &num);
        for (int k = 0; k < num; k++)
            *needs_pat = *needs_pat || sides[k].kind == GUIDE_PAT;
        free(sides);
        error = num < 2;
        if (error)
            snprintf(c->why, sizeof(c->why), "%s: the list has no algorithm to hold %s against", mpi,
                     c->o->left);
    }
    return error ? TOOL_BAD_INPUT : 0;
}

int guide_campaign_write_list(const guide_options *o)
{
    guide_list list;
    char why[1024];
    size_t length;
    guide_known(&list, o->own, false);
    char *text = guide_list_text(&list, &length);
    const int error = bench_file_write(o->write_algorithms, text, length, why, sizeof(why));
    if (error)
        fprintf(stderr, "pat-guidelines: %s\n", why);
    free(text);
    guide_list_free(&list);
    return error ? TOOL_FAILED : 0;
}

/* ---- Rank 0: where results go, and earlier launches ------------------------------------------------------------- */

static int latest_launch(const guide_results *r)
{
    int latest = 0;
    for (int i = 0; i < r->num; i++)
        for (int k = 0; k < r->cells[i].num; k++) {
            const guide_series *s = &r->cells[i].series[k];
            if (s->num_launches > 0 && s->launch[s->num_launches - 1] > latest)
                latest = s->launch[s->num_launches - 1];
        }
    return latest;
}

static guide_way way_of(const campaign *c, const guide_line *line)
{
    guide_way way = {.sync = "barrier", .root = line->root};
    if (line->round_time && line->barrier_after < 0)
        snprintf(way.sync, sizeof(way.sync), "roundtime");
    else if (line->round_time && line->barrier_after > 0)
        snprintf(way.sync, sizeof(way.sync), "roundtime:%d", line->barrier_after);
    snprintf(way.order, sizeof(way.order), "%s", c->o->in_series ? "series" : "random");
    snprintf(way.threads, sizeof(way.threads), "%s", c->threads);
    return way;
}

/* What earlier launches have left of this algorithm. */
static int take_over(campaign *c, guide_results *r, const char *mpi, const char *alg, const guide_line *line,
                     const char *dir)
{
    const guide_way way = way_of(c, line);
    return guide_raw_read(r, mpi, alg, c->run.grid, &way, dir, c->why, sizeof(c->why));
}

static int take_over_all(campaign *c, guide_results *r, const char *dir)
{
    int error = 0;
    for (int i = 0; i < c->input.num; i++) {
        int num;
        guide_side *sides = sides_of(c, c->input.lines[i].mpi, &num);
        for (int k = 0; k < num && !error; k++)
            error = take_over(c, r, c->input.lines[i].mpi, sides[k].name, &c->input.lines[i], dir);
        free(sides);
    }
    return error;
}

/* What another campaign has left would be judged as a part of this one. */
static int clear(campaign *c)
{
    const guide_options *o = c->o;
    const char *const dirs[] = {c->raw, c->past_raw};
    for (int i = 0; i < 2; i++) {
        if (o->launch == 0 && !o->fresh && guide_raw_is_there(dirs[i])) {
            snprintf(
                c->why, sizeof(c->why),
                "'%s' has the raw data of an earlier campaign; accepted: --launch N to add to it, --fresh to "
                "remove it, or another directory",
                dirs[i]);
            return TOOL_BAD_INPUT;
        }
        if (o->fresh && guide_raw_remove(dirs[i], c->why, sizeof(c->why)) != 0)
            return TOOL_FAILED;
    }
    return 0;
}

static int prepare(campaign *c)
{
    const guide_options *o = c->o;
    const bool late = o->pattern != BENCH_NONE;
    if (o->profile_dir && guide_dir_make(o->profile_dir, c->why, sizeof(c->why)) != 0)
        return TOOL_BAD_INPUT;
    if (!o->outdir)
        return 0;
    const int status = clear(c);
    if (status)
        return status;
    if (guide_dir_make(c->raw, c->why, sizeof(c->why)) != 0 ||
        guide_dir_make(o->outdir, c->why, sizeof(c->why)) != 0 ||
        (late && guide_dir_make(c->past_raw, c->why, sizeof(c->why)) != 0) ||
        (o->beyond && guide_dir_make(c->beyond, c->why, sizeof(c->why)) != 0))
        return TOOL_BAD_INPUT;
    if (o->launch == 0)
        return 0;
    int error = take_over(c, &c->run.barrier, "MPI_Barrier", "default", &c->input.lines[0], c->raw);
    error = error ? error : take_over_all(c, &c->run.results, c->raw);
    if (late)
        error = error ? error : take_over_all(c, &c->run.past, c->past_raw);
    const int latest = latest_launch(&c->run.barrier);
    if (!error && o->launch <= latest) {
        snprintf(c->why, sizeof(c->why), "--launch '%d': '%s' has launch %d already; accepted: %d", o->launch,
                 o->outdir, latest, latest + 1);
        error = TOOL_BAD_INPUT;
    }
    return error ? TOOL_BAD_INPUT : 0;
}

/* ---- Rank 0: what has been measured -------------------------------------------------------------------------------- */

static void judge(campaign *c, guide_results *r)
{
    guide_results_settle(&c->run.barrier);
    for (int i = 0; i < r->num; i++)
        r->cells[i].barrier_ms = c->run.barrier.num > 0 ? c->run.barrier.cells[0].series[0].median_ms : 0;
    guide_judge(r);
}

static int write_results(campaign *c, guide_results *r, const guide_line *line, const char *dir,
                         const char *raw)
{
    const guide_way way = way_of(c, line ? line : &c->input.lines[0]);
    const int error = line ? guide_raw_write(r, line->mpi, &way, raw, c->why, sizeof(c->why)) : 0;
    return error ? error : guide_output_write(r, &c->o->shape, dir, c->why, sizeof(c->why));
}

/* All that there is so far, after each collective; line: the one that was measured last, NULL: the barrier. */
static int write_all(campaign *c, const guide_line *line, bool complete)
{
    const guide_options *o = c->o;
    const bool late = o->pattern != BENCH_NONE;
    int error = 0;
    c->run.results.complete = c->run.past.complete = complete;
    judge(c, &c->run.results);
    if (late)
        judge(c, &c->run.past);
    if (!o->outdir)
        return 0;
    const guide_way way = way_of(c, &c->input.lines[0]);
    if (!line)
        error = guide_raw_write(&c->run.barrier, "MPI_Barrier", &way, c->raw, c->why, sizeof(c->why));
    error = error ? error : write_results(c, &c->run.results, line, o->outdir, c->raw);
    if (late && !error)
        error = write_results(c, &c->run.past, line, c->past, c->past_raw);
    if (o->beyond && !error) {
        guide_results beyond;
        guide_beyond(&c->run.results, &beyond);
        error = guide_output_write(&beyond, &o->shape, c->beyond, c->why, sizeof(c->why));
        guide_results_free(&beyond);
    }
    return error;
}

/* ---- All ranks ------------------------------------------------------------------------------------------------------ */

/* "MPICH 4.0.2" of "MPICH Version:\t4.0.2\n...", "Open MPI v4.1.4" of "Open MPI v4.1.4, package: ..." */
static void shorten(char *library)
{
    static const char word[] = " Version:";
    library[strcspn(library, ",\n")] = '\0';
    char *at = strstr(library, word);
    if (!at)
        return;
    const char *rest = at + strlen(word);
    rest += strspn(rest, " \t");
    *at = ' ';
    memmove(at + 1, rest, strlen(rest) + 1);
}

static const char *thread_level(void)
{
    int level;
    MPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE     ? "multiple"
           : level == MPI_THREAD_SERIALIZED ? "serialized"
           : level == MPI_THREAD_FUNNELED   ? "funneled"
                                            : "single";
}

static void describe(campaign *c)
{
    guide_run *run = &c->run;
    const guide_options *o = c->o;
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Comm node;
    int *node_of, *scratch = guide_need_array((size_t)run->size, sizeof(*scratch));
    MUST(pat_nodes_find(MPI_COMM_WORLD, &node, &node_of));
    const pat_nodes_sizes sizes = pat_nodes_count(node_of, run->size, scratch);
    run->grid = (guide_grid){sizes.nodes, sizes.most, run->size};
    MPI_Comm_free(&node);
    free(node_of);
    free(scratch);
    c->threads = thread_level();
    MPI_Get_library_version(library, &length);
    shorten(library);
    guide_results *const all[] = {&run->results, &run->past, &run->barrier};
    for (int i = 0; i < 3; i++) {
        guide_results_make(all[i], i < 2 ? o->left : "default");
        all[i]->test = o->test;
        snprintf(all[i]->library, sizeof(all[i]->library), "%.*s", (int)sizeof(all[i]->library) - 1, library);
        if (o->pattern != BENCH_NONE && i < 2) {
            snprintf(all[i]->arrival, sizeof(all[i]->arrival), "%s:%g", bench_pattern_name(o->pattern),
                     o->factor);
            snprintf(all[i]->score, sizeof(all[i]->score), "%s", i == 0 ? "elapsed" : "past-last");
        } else if (c->input.lines[0].global) {
            snprintf(all[i]->score, sizeof(all[i]->score), "global");
        }
    }
}

static double expected_ms(const campaign *c)
{
    double total = 0;
    for (int i = 0; i < c->input.num; i++) {
        int num;
        free(sides_of(c, c->input.lines[i].mpi, &num));
        total += num * c->input.lines[i].num_bytes * c->input.lines[i].time_ms;
    }
    return total;
}

/* Rank 0's on all ranks: whoever goes by its own may begin a collective that no other rank takes part in. */
static int as_on_rank_0(int status)
{
    MUST(PMPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD));
    return status;
}

/* The same, told. */
static int agreed(campaign *c, int status)
{
    status = as_on_rank_0(status);
    if (status && c->run.rank == 0)
        fprintf(stderr, "pat-guidelines: %s\n", c->why);
    return status;
}

static int measure_all(campaign *c)
{
    guide_run *run = &c->run;
    int status = 0;
    guide_sync_make(&run->sync);
    guide_measure_barrier(run, &c->input.lines[0]);
    bench_progress_start(&run->progress, run->rank == 0 ? c->o->progress : BENCH_PROGRESS_OFF, expected_ms(c),
                         pat_clock_local_ns());
    if (run->rank == 0)
        status = write_all(c, NULL, false) ? TOOL_FAILED : 0;
    status = as_on_rank_0(status);
    for (int i = 0; i < c->input.num && !status; i++) {
        const guide_line *line = &c->input.lines[i];
        int num;
        guide_side *sides = sides_of(c, line->mpi, &num);
        for (int k = 0; k < line->num_bytes; k++)
            guide_measure_size(run, line, line->bytes[k], sides, num);
        free(sides);
        if (run->rank == 0)
            status = write_all(c, line, i == c->input.num - 1) ? TOOL_FAILED : 0;
        status = as_on_rank_0(status);
    }
    bench_progress_end(&run->progress, pat_clock_local_ns());
    if (run->rank == 0 && !status && c->o->profile_dir) {
        int num;
        status = guide_profile_write(&run->results, c->o->profile_dir, &num, c->why, sizeof(c->why))
                     ? TOOL_FAILED
                     : 0;
        if (!status && num == 0)
            fprintf(stderr, "pat-guidelines: no profile: there is no violation without a star, or with three "
                            "launches none that is certain\n");
    }
    return agreed(c, status);
}

static void print_all(const campaign *c)
{
    guide_output_print(&c->run.results, &c->o->shape, stdout);
    if (c->o->beyond) {
        guide_results beyond;
        guide_beyond(&c->run.results, &beyond);
        printf("\nThe left side at one size against itself at others\n\n");
        guide_output_print(&beyond, &c->o->shape, stdout);
        guide_results_free(&beyond);
    }
    if (c->o->pattern != BENCH_NONE) {
        printf("\nBy the time past the last arrival\n\n");
        guide_output_print(&c->run.past, &c->o->shape, stdout);
    }
}

static int run_all(campaign *c)
{
    guide_run *run = &c->run;
    MPI_Comm_rank(MPI_COMM_WORLD, &run->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &run->size);
    run->o = c->o;
    run->launch = c->o->launch > 0 ? c->o->launch : 1;
    int status = 0;
    if (run->size < 2) {
        snprintf(c->why, sizeof(c->why), "1 rank; accepted: 2 or more: mpirun -n 2 pat-guidelines -f %s",
                 c->o->input);
        return agreed(c, TOOL_BAD_INPUT);
    }
    for (int i = 0; i < c->input.num && !status; i++)
        if (c->input.lines[i].root >= run->size) {
            snprintf(c->why, sizeof(c->why), "%s --root '%d': accepted: 0 to %d", c->input.lines[i].mpi,
                     c->input.lines[i].root, run->size - 1);
            status = TOOL_BAD_INPUT;
        }
    if (status)
        return agreed(c, status);
    describe(c);
    status = agreed(c, run->rank == 0 ? prepare(c) : 0);
    if (!status) {
        run->scratch = pat_mock_scratch_make((size_t)c->o->data_bytes, (size_t)c->o->int_bytes, 0);
        int ok = run->scratch != NULL, all;
        MUST(PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
        if (!all)
            snprintf(c->why, sizeof(c->why), "no memory for the mock-ups' scratch, which --scratch sets");
        status = all ? measure_all(c) : agreed(c, TOOL_FAILED);
        pat_mock_scratch_free(run->scratch);
    }
    if (!status && run->rank == 0 && c->o->verbose)
        print_all(c);
    guide_results_free(&run->results);
    guide_results_free(&run->past);
    guide_results_free(&run->barrier);
    return status;
}

int guide_campaign(const guide_options *o, int argc, char **argv)
{
    campaign c = {.o = o};
    bool needs_pat = false, speaks;
    int level, rc = MPI_SUCCESS, status = read_files(&c, &needs_pat);
    if (status && tool_launcher_rank() < 0) {
        guide_input_free(&c.input);
        guide_list_free(&c.list);
        return complain(&c, true, status);
    }
    /* A rank of several that could not read its files goes on all the same, to tell the others. */
    if (o->outdir) {
        c.raw = below(o->outdir, "data");
        c.past = below(o->outdir, "past-last");
        c.beyond = below(o->outdir, "beyond");
        c.past_raw = below(c.past, "data");
    }
    /* As most programs do it, since the MPI library may be slower with threads; PAT has one. */
    if (needs_pat)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&argc, &argv);
    status = guide_agree(status, &c.input, &c.list, c.why, sizeof(c.why), &speaks);
    if (!status && needs_pat)
        rc = PAT_Init();
    if (status) {
        complain(&c, speaks, status);
    } else if (rc != MPI_SUCCESS) {
        snprintf(c.why, sizeof(c.why), "%s", PAT_Error_string(rc));
        status = complain(&c, tool_launcher_rank() <= 0, TOOL_FAILED);
    } else {
        status = run_all(&c);
        rc = needs_pat ? PAT_Finalize() : MPI_SUCCESS;
    }
    if (rc != MPI_SUCCESS)
        status = TOOL_FAILED;
    bench_finalize(status);
    free(c.raw);
    free(c.past);
    free(c.beyond);
    free(c.past_raw);
    guide_input_free(&c.input);
    guide_list_free(&c.list);
    return status;
}

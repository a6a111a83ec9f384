/*
 * guide_campaign.c — see guide_campaign.h. Must never begin to measure where the results could not be kept.
 */
#include "guide_campaign.h"

#include <stdlib.h>
#include <string.h>

#include "bench_finalize.h"
#include "bench_must.h"
#include "guide_agree.h"
#include "guide_keep.h"
#include "guide_need.h"
#include "guide_profile.h"
#include "nodes.h"
#include "pat.h"
#include "tool_options.h"

typedef struct campaign {
    guide_plan plan;
    guide_run run;
    guide_keep keep;
    int rank, size;
    bench_progress progress;
    char why[4096];
} campaign;

static int complain(const campaign *c, bool speaks, int status)
{
    if (speaks)
        fprintf(stderr, "pat-guidelines: %s\n", c->why);
    return status;
}

/* Rank 0's on all ranks: whoever goes by its own may begin a collective that no other rank takes part in. */
static int as_on_rank_0(int status, MPI_Comm comm)
{
    MUST(PMPI_Bcast(&status, 1, MPI_INT, 0, comm));
    return status;
}

/* The same, told. */
static int agreed(const campaign *c, int status)
{
    status = as_on_rank_0(status, MPI_COMM_WORLD);
    return complain(c, status && c->rank == 0, status);
}

/* ---- What is measured on ------------------------------------------------------------------------------------- */

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

/* 0, or the exit status with a text. */
static int check_ranks(campaign *c)
{
    if (c->size < 2) {
        snprintf(c->why, sizeof(c->why), "1 rank; accepted: 2 or more: mpirun -n 2 pat-guidelines -f %s",
                 c->plan.o->input);
        return TOOL_BAD_INPUT;
    }
    for (int i = 0; i < c->plan.input.num; i++) {
        const guide_line *line = &c->plan.input.lines[i];
        if (line->root < c->size)
            continue;
        snprintf(c->why, sizeof(c->why), "%s --root '%d': accepted: 0 to %d", line->mpi, line->root,
                 c->size - 1);
        return TOOL_BAD_INPUT;
    }
    return 0;
}

static void make_results(const campaign *c, guide_run *run, const char *library)
{
    guide_results *const all[] = {&run->results, &run->past, &run->barrier};
    for (int i = 0; i < 3; i++) {
        guide_results_make(all[i], i < 2 ? c->plan.o->left : "default");
        all[i]->test = c->plan.o->test;
        snprintf(all[i]->library, sizeof(all[i]->library), "%.*s", (int)sizeof(all[i]->library) - 1, library);
        if (guide_is_late(c->plan.o) && i < 2)
            snprintf(all[i]->score, sizeof(all[i]->score), "%s", i == 0 ? "elapsed" : "past-last");
        else if (c->plan.input.lines[0].global)
            snprintf(all[i]->score, sizeof(all[i]->score), "global");
    }
}

static void make_run(campaign *c)
{
    const guide_options *o = c->plan.o;
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, *node_of, *scratch = guide_need_array((size_t)c->size, sizeof(*scratch));
    MPI_Comm node;
    MUST(pat_nodes_find(MPI_COMM_WORLD, &node, &node_of));
    MPI_Get_library_version(library, &length);
    shorten(library);
    const pat_nodes_sizes sizes = pat_nodes_count(node_of, c->size, scratch);
    c->run = (guide_run){.o = o,
                         .comm = MPI_COMM_WORLD,
                         .rank = c->rank,
                         .size = c->size,
                         .launch = o->launch > 0 ? o->launch : 1,
                         .grid = {sizes.nodes, sizes.most, c->size},
                         .arrival = {.o = o},
                         .progress = &c->progress};
    make_results(c, &c->run, library);
    guide_keep_make(&c->keep, &c->plan, &c->run, thread_level(), o->outdir);
    MPI_Comm_free(&node);
    free(node_of);
    free(scratch);
}

static void free_run(campaign *c)
{
    guide_results_free(&c->run.results);
    guide_results_free(&c->run.past);
    guide_results_free(&c->run.barrier);
    guide_arrival_free(&c->run.arrival);
    guide_keep_free(&c->keep);
}

/* Rank 0: all that can be wrong is, before anything is written, and all that is written to is there before anything is measured. */
static int prepare(campaign *c)
{
    const guide_options *o = c->plan.o;
    guide_run *run = &c->run;
    if (!guide_arrival_make(&run->arrival, o, run->size, c->why, sizeof(c->why)))
        return TOOL_BAD_INPUT;
    guide_arrival_name(&run->arrival, run->results.arrival);
    guide_arrival_name(&run->arrival, run->past.arrival);
    const int status = guide_keep_check(&c->keep, c->why, sizeof(c->why));
    if (!status && o->profile_dir && guide_dir_make(o->profile_dir, c->why, sizeof(c->why)) != 0)
        return TOOL_BAD_INPUT;
    return status ? status : guide_keep_begin(&c->keep, c->why, sizeof(c->why));
}

/* ---- Measuring ----------------------------------------------------------------------------------------------- */

/* Rank 0. */
static int write_profiles(campaign *c)
{
    int num;
    if (guide_profile_write(&c->run.results, c->plan.o->profile_dir, &num, c->why, sizeof(c->why)) != 0)
        return TOOL_FAILED;
    if (num == 0)
        fprintf(stderr, "pat-guidelines: no profile: there is no violation without a star, or with "
                        "three launches none that is certain\n");
    return 0;
}

/* Rank 0. */
static int write_results(campaign *c, const guide_line *line, bool complete)
{
    const int error = guide_keep_write(&c->keep, line, complete, c->why, sizeof(c->why));
    return error ? TOOL_FAILED : 0;
}

static int measure(campaign *c)
{
    guide_run *run = &c->run;
    const guide_input *input = &c->plan.input;
    int status = 0;
    guide_arrival_share(&run->arrival, run->comm);
    guide_sync_make(&run->sync, run->comm);
    guide_measure_barrier(run, &input->lines[0]);
    if (run->rank == 0)
        status = write_results(c, NULL, false);
    status = as_on_rank_0(status, run->comm);
    for (int i = 0; i < input->num && !status; i++) {
        const guide_line *line = &input->lines[i];
        int num;
        guide_side *sides = guide_plan_sides(&c->plan, line->mpi, &num);
        for (int k = 0; k < line->num_bytes; k++)
            guide_measure_size(run, line, line->bytes[k], sides, num);
        free(sides);
        if (run->rank == 0)
            status = write_results(c, line, i == input->num - 1);
        status = as_on_rank_0(status, run->comm);
    }
    if (run->rank == 0 && !status && c->plan.o->profile_dir)
        status = write_profiles(c);
    guide_arrival_free(&run->arrival);
    return status;
}

static int measure_all(campaign *c)
{
    bench_progress_start(&c->progress, c->rank == 0 ? c->plan.o->progress : BENCH_PROGRESS_OFF,
                         guide_plan_ms(&c->plan), pat_clock_local_ns());
    const int status = measure(c);
    bench_progress_end(&c->progress, pat_clock_local_ns());
    return agreed(c, status);
}

static int run_prepared(campaign *c)
{
    int status = agreed(c, c->rank == 0 ? prepare(c) : 0);
    if (status)
        return status;
    c->run.scratch = pat_mock_scratch_make((size_t)c->plan.o->data_bytes, (size_t)c->plan.o->int_bytes, 0);
    int ok = c->run.scratch != NULL, all;
    MUST(PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (!all)
        snprintf(c->why, sizeof(c->why), "no memory for the mock-ups' scratch, which --scratch sets");
    status = all ? measure_all(c) : agreed(c, TOOL_FAILED);
    pat_mock_scratch_free(c->run.scratch);
    if (!status && c->rank == 0 && c->plan.o->verbose)
        guide_keep_print(&c->keep, stdout);
    return status;
}

static int run_all(campaign *c)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c->size);
    int status = check_ranks(c);
    if (status)
        return agreed(c, status);
    make_run(c);
    status = run_prepared(c);
    free_run(c);
    return status;
}

int guide_campaign(const guide_options *o, int argc, char **argv)
{
    campaign c = {.rank = 0};
    bool speaks;
    int level, rc = MPI_SUCCESS, status = guide_plan_read(&c.plan, o, c.why, sizeof(c.why));
    const bool needs_pat = c.plan.needs_pat;
    if (status && tool_launcher_rank() < 0) {
        guide_plan_free(&c.plan);
        return complain(&c, true, status);
    }
    /* A rank of several that could not read its files goes on all the same, to tell the others. */
    /* As most programs do it, since the MPI library may be slower with threads; PAT has one. */
    if (needs_pat)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(&argc, &argv);
    status = guide_agree(status, &c.plan.input, &c.plan.list, c.why, sizeof(c.why), &speaks);
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
    guide_plan_free(&c.plan);
    return status;
}

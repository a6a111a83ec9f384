/*
 * guide_campaign.c — see guide_campaign.h. Must never begin to measure where the results could not be kept.
 */
#include "guide_campaign.h"

#include <stdlib.h>
#include <string.h>

#include "bench_finalize.h"
#include "bench_must.h"
#include "bench_wait.h"
#include "guide_agree.h"
#include "guide_keep.h"
#include "guide_need.h"
#include "guide_profile.h"
#include "nodes.h"
#include "pat.h"
#include "tool_options.h"

/* What is measured on one number of ranks. */
typedef struct part {
    guide_run run;
    guide_keep keep;
} part;

typedef struct campaign {
    guide_plan plan;
    part *parts; /* one, or as many as a sweep has */
    int num, rank, size;
    pat_mock_scratch *scratch;
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

/* 0, or the exit status with a text. On how many ranks? For the caller to free. */
static int choose_ranks(campaign *c, int **ranks)
{
    const guide_options *o = c->plan.o;
    *ranks = guide_ranks_all(&o->ranks, c->size, &c->num);
    if (c->size < 2) {
        snprintf(c->why, sizeof(c->why), "1 rank; accepted: 2 or more: mpirun -n 2 pat-guidelines -f %s",
                 o->input);
        return TOOL_BAD_INPUT;
    }
    if (guide_ranks_largest(&o->ranks) > c->size) {
        snprintf(c->why, sizeof(c->why), "--ranks '%d': accepted on %d ranks: 2 to %d",
                 guide_ranks_largest(&o->ranks), c->size, c->size);
        return TOOL_BAD_INPUT;
    }
    if (o->ranks.num == 0)
        (*ranks)[c->num++] = c->size;
    for (int i = 0; i < c->plan.input.num; i++) {
        const guide_line *line = &c->plan.input.lines[i];
        if (line->root < (*ranks)[0])
            continue;
        snprintf(c->why, sizeof(c->why), "%s --root '%d': accepted%s: 0 to %d", line->mpi, line->root,
                 o->ranks.num > 0 ? " with these --ranks" : "", (*ranks)[0] - 1);
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

/* Of the first ranks; which have the lowest numbers on their nodes, so that a node is called the same as among all. */
static void make_part(campaign *c, part *p, int ranks, const int *node_of, const char *library)
{
    const guide_options *o = c->plan.o;
    int *scratch = guide_need_array((size_t)ranks, sizeof(*scratch));
    const pat_nodes_sizes sizes = pat_nodes_count(node_of, ranks, scratch);
    char *dir = NULL;
    p->run = (guide_run){.o = o,
                         .comm = MPI_COMM_WORLD,
                         .rank = c->rank,
                         .size = ranks,
                         .launch = o->launch > 0 ? o->launch : 1,
                         .grid = {sizes.nodes, sizes.most, ranks},
                         .arrival = {.o = o},
                         .progress = &c->progress};
    make_results(c, &p->run, library);
    if (o->outdir && o->ranks.num > 0 && asprintf(&dir, "%s/ranks-%d", o->outdir, ranks) < 0)
        dir = NULL;
    guide_keep_make(&p->keep, &c->plan, &p->run, thread_level(),
                    o->outdir && o->ranks.num > 0 ? guide_need(dir) : o->outdir);
    free(dir);
    free(scratch);
}

static void make_parts(campaign *c, const int *ranks)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, *node_of;
    MPI_Comm node;
    MUST(pat_nodes_find(MPI_COMM_WORLD, &node, &node_of));
    MPI_Get_library_version(library, &length);
    shorten(library);
    c->parts = guide_need_array((size_t)c->num, sizeof(*c->parts));
    for (int i = 0; i < c->num; i++)
        make_part(c, &c->parts[i], ranks[i], node_of, library);
    MPI_Comm_free(&node);
    free(node_of);
}

static void free_parts(campaign *c)
{
    for (int i = 0; i < c->num && c->parts; i++) {
        guide_run *run = &c->parts[i].run;
        guide_results_free(&run->results);
        guide_results_free(&run->past);
        guide_results_free(&run->barrier);
        guide_arrival_free(&run->arrival);
        guide_keep_free(&c->parts[i].keep);
    }
    free(c->parts);
}

/* Rank 0: all that can be wrong is, before anything is written, and all that is written to is there before anything is measured. */
static int prepare(campaign *c)
{
    const guide_options *o = c->plan.o;
    int status = 0;
    for (int i = 0; i < c->num && !status; i++) {
        guide_run *run = &c->parts[i].run;
        if (!guide_arrival_make(&run->arrival, o, run->size, c->why, sizeof(c->why)))
            return TOOL_BAD_INPUT;
        guide_arrival_name(&run->arrival, run->results.arrival);
        guide_arrival_name(&run->arrival, run->past.arrival);
        status = guide_keep_check(&c->parts[i].keep, c->why, sizeof(c->why));
    }
    if (!status && o->profile_dir && guide_dir_make(o->profile_dir, c->why, sizeof(c->why)) != 0)
        status = TOOL_BAD_INPUT;
    for (int i = 0; i < c->num && !status; i++)
        status = guide_keep_make_dirs(&c->parts[i].keep, c->why, sizeof(c->why));
    for (int i = 0; i < c->num && !status; i++)
        status = guide_keep_clear(&c->parts[i].keep, c->why, sizeof(c->why));
    return status;
}

/* ---- Measuring ----------------------------------------------------------------------------------------------- */

/* Rank 0. */
static int write_profiles(campaign *c, const part *p)
{
    int num;
    if (guide_profile_write(&p->run.results, c->plan.o->profile_dir, &num, c->why, sizeof(c->why)) != 0)
        return TOOL_FAILED;
    if (num == 0)
        fprintf(stderr,
                "pat-guidelines: no profile for %d ranks: there is no violation without a star, or with "
                "three launches none that is certain\n",
                p->run.size);
    return 0;
}

/* Rank 0. */
static int write_part(campaign *c, const part *p, const guide_line *line, bool complete)
{
    const int error = guide_keep_write(&p->keep, line, complete, c->why, sizeof(c->why));
    return error ? TOOL_FAILED : 0;
}

/* On the ranks of a part. */
static int measure(campaign *c, part *p)
{
    guide_run *run = &p->run;
    const guide_input *input = &c->plan.input;
    int status = 0;
    guide_arrival_share(&run->arrival, run->comm);
    guide_sync_make(&run->sync, run->comm);
    guide_measure_barrier(run, &input->lines[0]);
    if (p == c->parts) /* for how long the first barrier took says nothing of the rest */
        bench_progress_start(&c->progress, c->rank == 0 ? c->plan.o->progress : BENCH_PROGRESS_OFF,
                             c->num * guide_plan_ms(&c->plan), pat_clock_local_ns());
    if (run->rank == 0)
        status = write_part(c, p, NULL, false);
    status = as_on_rank_0(status, run->comm);
    for (int i = 0; i < input->num && !status; i++) {
        const guide_line *line = &input->lines[i];
        int num;
        guide_side *sides = guide_plan_sides(&c->plan, line->mpi, &num);
        for (int k = 0; k < line->num_bytes; k++)
            guide_measure_size(run, line, line->bytes[k], sides, num);
        free(sides);
        if (run->rank == 0)
            status = write_part(c, p, line, i == input->num - 1);
        status = as_on_rank_0(status, run->comm);
    }
    if (run->rank == 0 && !status && c->plan.o->profile_dir)
        status = write_profiles(c, p);
    guide_arrival_free(&run->arrival);
    return status;
}

/* The first ranks by themselves; the others sleep until they are done. The communicator is made by name, as a program would: whatever is preloaded knows it. */
static int measure_apart(campaign *c, part *p)
{
    const bool takes_part = c->rank < p->run.size;
    int status = 0;
    MUST(MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, c->rank, &p->run.comm));
    if (takes_part)
        status = measure(c, p);
    bench_wait_quietly(MPI_COMM_WORLD);
    if (takes_part)
        MUST(MPI_Comm_free(&p->run.comm));
    return status;
}

static int measure_all(campaign *c)
{
    const guide_options *o = c->plan.o;
    int status = 0;
    for (int i = 0; i < c->num && !status; i++) {
        c->parts[i].run.scratch = c->scratch;
        status = o->ranks.num > 0 ? measure_apart(c, &c->parts[i]) : measure(c, &c->parts[i]);
        status = as_on_rank_0(status, MPI_COMM_WORLD);
    }
    bench_progress_end(&c->progress, pat_clock_local_ns());
    return agreed(c, status);
}

static void print_all(const campaign *c)
{
    for (int i = 0; i < c->num; i++) {
        if (c->plan.o->ranks.num > 0)
            printf("%s%d ranks\n\n", i > 0 ? "\n" : "", c->parts[i].run.size);
        guide_keep_print(&c->parts[i].keep, stdout);
    }
}

static int run_parts(campaign *c)
{
    int status = agreed(c, c->rank == 0 ? prepare(c) : 0);
    if (status)
        return status;
    c->scratch = pat_mock_scratch_make((size_t)c->plan.o->data_bytes, (size_t)c->plan.o->int_bytes, 0);
    int ok = c->scratch != NULL, all;
    MUST(PMPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (!all)
        snprintf(c->why, sizeof(c->why), "no memory for the mock-ups' scratch, which --scratch sets");
    status = all ? measure_all(c) : agreed(c, TOOL_FAILED);
    pat_mock_scratch_free(c->scratch);
    if (!status && c->rank == 0 && c->plan.o->verbose)
        print_all(c);
    return status;
}

static int run_all(campaign *c)
{
    int *ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c->size);
    int status = choose_ranks(c, &ranks);
    if (status) {
        status = agreed(c, status);
    } else {
        make_parts(c, ranks);
        status = run_parts(c);
        free_parts(c);
    }
    free(ranks);
    return status;
}

int guide_campaign(const guide_options *o, int argc, char **argv)
{
    campaign c = {.num = 0};
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

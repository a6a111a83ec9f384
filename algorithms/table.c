/*
 * table.c — names every algorithm, and turns one of them into a plan. Must never decide which algorithm
 * to use: that is for those who know the arrivals and the links.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"

enum kind {
    REGULAR,
    PREDICTED = 1,
    AHEAD = 2,
    ANY_ORDER = 4,
    CHOOSES = 8,
    REDUCES = 16,
    LAST_CALLS = 32,
    NEIGHBOURS = 64,
    PLACES = 128,
    DIRECT = 256,
    REPEATS = 512,
};

#define FIELDS(n, o, kind, text)                                                                             \
    .name = #n, .summary = text, .op = o, .arrival_aware = ((kind) & (PREDICTED | AHEAD)) != 0,              \
    .uses_arrivals = ((kind)&PREDICTED) != 0, .any_order = ((kind)&ANY_ORDER) != 0,                          \
    .uses_last_calls = ((kind)&LAST_CALLS) != 0, .chooses = ((kind)&CHOOSES) != 0,                           \
    .reduces = ((kind)&REDUCES) != 0, .neighbours = ((kind)&NEIGHBOURS) != 0,                                \
    .places = ((kind)&PLACES) != 0, .direct = ((kind)&DIRECT) != 0, .repeats = ((kind)&REPEATS) != 0
#define LEFT_ENTRY(n, o, kind, text) {FIELDS(n, o, kind, text)},
#define OURS_ENTRY(n, o, kind, text)                                                                         \
    {FIELDS(n, o, kind, text), .build = pat_##n##_build, .formula = pat_##n##_formula},
#define ENTRIES(op, lower, LIST, ...) LIST(LEFT_ENTRY, OURS_ENTRY, PAT_OP_##op)

static const pat_algorithm algorithms[] = {PAT_COLLECTIVES(ENTRIES)};

/* Where each algorithm stands there, and where the MPI library's own of each collective does: every short call asks. */
#define INDEX(n, o, kind, text)       INDEX_##n,
#define INDICES(op, lower, LIST, ...) LIST(INDEX, INDEX, PAT_OP_##op)
enum index { PAT_COLLECTIVES(INDICES) };
#define BEYOND(n)                (PAT_NUM_OPS + INDEX_##n) /* an entry that nobody reads */
#define NATIVE(n, o, kind, text) [((kind)&CHOOSES) ? BEYOND(n) : (int)(o)] = INDEX_##n,
#define NO_NATIVE(n, o, kind, text)
#define NATIVES(op, lower, LIST, ...) LIST(NATIVE, NO_NATIVE, PAT_OP_##op)
static const unsigned char natives[] = {PAT_COLLECTIVES(NATIVES)};

_Static_assert(sizeof algorithms / sizeof algorithms[0] <= PAT_MAX_ALGS,
               "counters are arrays of PAT_MAX_ALGS");

#define SEPARATOR                   ", "
#define NAME(n, o, k, text)         SEPARATOR #n
#define NAMES(op, lower, LIST, ...) [PAT_OP_##op] = LIST(NAME, NAME, op),

/* Each begins with a separator. */
static const char *const names[PAT_NUM_OPS] = {PAT_COLLECTIVES(NAMES)};

int pat_algorithm_count(void)
{
    return (int)(sizeof algorithms / sizeof algorithms[0]);
}

const pat_algorithm *pat_algorithm_at(int index)
{
    return index >= 0 && index < pat_algorithm_count() ? &algorithms[index] : NULL;
}

const pat_algorithm *pat_algorithm_find(const char *name)
{
    for (int i = 0; name && i < pat_algorithm_count(); i++)
        if (!strcmp(algorithms[i].name, name))
            return &algorithms[i];
    return NULL;
}

const pat_algorithm *pat_algorithm_native(enum pat_op op)
{
    return &algorithms[natives[op]];
}

const pat_algorithm *pat_algorithm_runs_as(const pat_algorithm *alg, const pat_job *job)
{
    pat_formula formula = {.runs_as = NULL};
    if (alg->formula)
        alg->formula(&formula, job);
    return formula.runs_as ? pat_algorithm_find(formula.runs_as) : alg;
}

bool pat_algorithm_is_early(const pat_algorithm *alg)
{
    return alg->build && alg->arrival_aware;
}

bool pat_algorithm_is_ahead(const pat_algorithm *alg)
{
    return pat_algorithm_is_early(alg) && (!alg->uses_arrivals || alg->uses_last_calls);
}

const pat_algorithm *pat_algorithm_contender(enum pat_op op)
{
    for (int i = 0; i < pat_algorithm_count(); i++)
        if (algorithms[i].op == op && pat_algorithm_is_ahead(&algorithms[i]))
            return &algorithms[i];
    return NULL;
}

const char *pat_algorithm_names(enum pat_op op)
{
    return names[op] + strlen(SEPARATOR);
}

void pat_part_arrive(pat_plan *plan, const pat_job *job, int rank)
{
    int arrive = pat_plan_arrive(plan);
    const int64_t place = plan->element_bytes > 0 ? 0 : rank * job->block_bytes;
    const int64_t own = pat_plan_is_personal(plan) ? place : 0;
    int copy = pat_plan_copy(plan, pat_own(own), pat_result(place), job->block_bytes);
    pat_plan_in_step(plan, arrive);
    pat_plan_in_step(plan, copy);
    pat_plan_after(plan, copy, arrive);
}

/* As if the rank at place i were rank i. */
static void build_by_place(const pat_algorithm *alg, const pat_job *job, int rank, pat_plan *plan)
{
    const int P = job->num_ranks;
    int64_t *arrival_ns = job->arrival_ns ? malloc((size_t)P * sizeof *arrival_ns) : NULL;
    pat_job placed = *job;
    if (job->arrival_ns && !arrival_ns) {
        plan->error = ENOMEM;
        return;
    }
    for (int i = 0; i < P; i++) {
        if (job->order[i] == rank)
            plan->rank = i;
        if (arrival_ns)
            arrival_ns[i] = job->arrival_ns[job->order[i]];
    }
    placed.arrival_ns = arrival_ns;
    alg->build(plan, &placed, plan->rank);
    free(arrival_ns);
    if (!plan->error)
        pat_plan_reorder(plan, job->order);
}

int pat_algorithm_plan(const pat_algorithm *alg, const pat_job *job, int rank, pat_plan *plan)
{
    pat_job plain = *job;
    if (!alg->any_order && !alg->places && job->order)
        plain.order = plain.node_of = NULL; /* nodes are by place */
    pat_plan_init(plan, job->num_ranks, rank, job->block_bytes);
    if (!alg->build)
        plan->error = EINVAL;
    else if (alg->reduces)
        pat_plan_reduces(plan, job->element_bytes);
    if (!plan->error) {
        /* One rank, or nothing to move: the same for every algorithm, so none of them has to think of it. */
        if (job->num_ranks == 1 || job->block_bytes == 0) {
            pat_plan_next_step(plan);
            pat_part_arrive(plan, job, rank);
        } else if (plain.order && !alg->places) {
            build_by_place(alg, &plain, rank, plan);
        } else {
            alg->build(plan, &plain, rank);
        }
    }
    if (job->carries && job->num_ranks > 1)
        pat_plan_carry_arrivals(plan);
    if (job->starts)
        pat_plan_fit(plan, job->starts, pat_plan_is_personal(plan) ? job->own_starts : NULL);
    int error = pat_plan_finish(plan);
    if (error)
        pat_plan_free(plan);
    return error;
}

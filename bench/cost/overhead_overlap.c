/*
 * overhead_overlap.c — see overhead.h. How much of a non-blocking collective is hidden behind a computation, measured as IMB-NBC does: the call
 * alone, started and waited for at once; a computation alone that takes as long; and the call started before the computation and waited for after it.
 */
#include <mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_must.h"
#include "bench_stats.h"
#include "bench_wait.h"
#include "clock.h"
#include "collective.h"
#include "overhead.h"
#include "pat.h"

/* Who runs the call. */
enum { BY_MPI, BY_PAT, RUNNERS };

/* What is timed, in ms, mean over the ranks; BESIDE: the computation while the call is under way. */
enum { PURE, COMPUTING, BOTH, BESIDE, TIMES };

enum { WARM = 4 };

typedef struct buffers {
    uint32_t *out, *in;
    int *counts, *places;   /* of each rank's block, for calls that take lists */
    int items, ranks, rank; /* items: 4 bytes each, of a rank's block or of the whole message */
    uint32_t calls;         /* makes the data of each new */
} buffers;

/* A call: of a collective, with one length for all blocks or with lists; or a barrier, of which there is no result. */
typedef struct form {
    const char *name;
    enum pat_op op;
    bool lists, is_barrier;
} form;

#define FORM(OP, name, ...) {#name, PAT_OP_##OP, false, false},
static const form forms[] = {PAT_COLLECTIVES(FORM){"alltoallv", PAT_OP_ALLTOALL, true, false},
                             {"gatherv", PAT_OP_GATHER, true, false},
                             {"scatterv", PAT_OP_SCATTER, true, false},
                             {"barrier", PAT_OP_ALLGATHER, false, true}};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

#define NAME(OP, name, ...) #name ", "
const char overhead_overlap_calls[] = PAT_COLLECTIVES(NAME) "alltoallv, gatherv, scatterv, barrier";

bool overhead_overlap_has(const char *call)
{
    for (int i = 0; i < FORMS; i++)
        if (!strcmp(call, forms[i].name))
            return true;
    return false;
}

/* What rank `rank` gives as its k-th word. */
static uint32_t word(const buffers *b, int rank, int k)
{
    return (b->calls * 2654435761u) ^ ((uint32_t)rank * 40503u + (uint32_t)k * 2246822519u);
}

static void fill(buffers *b, enum pat_op op)
{
    const int blocks = pat_collective_of(op)->personal ? b->ranks : 1;
    b->calls++;
    for (int k = 0; k < blocks * b->items; k++)
        b->out[k] = word(b, b->rank, k);
    memset(b->in, 0, (size_t)b->ranks * (size_t)b->items * sizeof(*b->in));
    if (op == PAT_OP_BCAST && b->rank == 0)
        memcpy(b->in, b->out, (size_t)b->items * sizeof(*b->in));
}

/* The k-th word of the result's r-th block. */
static uint32_t wanted(const buffers *b, enum pat_op op, int r, int k)
{
    const pat_collective *row = pat_collective_of(op);
    const int at = row->personal ? b->rank * b->items + k : k;
    uint32_t sum = 0;
    if (!row->reduces)
        return word(b, row->all_give ? r : 0, at);
    for (int i = 0; i < b->ranks; i++)
        sum += word(b, i, at);
    return sum;
}

static void check(const buffers *b, enum pat_op op)
{
    const pat_collective *row = pat_collective_of(op);
    const int blocks = row->all_get || b->rank == 0 ? pat_collective_blocks(row, b->ranks) : 0;
    for (int r = 0; r < blocks; r++)
        for (int k = 0; k < b->items; k++)
            if (b->in[(size_t)r * (size_t)b->items + (size_t)k] != wanted(b, op, r, k)) {
                fprintf(stderr, "pat-overhead: %s: rank %d has a wrong result\n", row->mpi, b->rank);
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
}

#define PICK(name) (by == BY_PAT ? PAT_##name : MPI_##name)

static MPI_Request start(const buffers *b, const form *f, int by)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const MPI_Datatype type = MPI_UINT32_T;
    const MPI_Comm comm = MPI_COMM_WORLD;
    switch (f->op) {
    case PAT_OP_ALLGATHER:
        if (f->is_barrier)
            MUST(PICK(Ibarrier)(comm, &request));
        else
            MUST(PICK(Iallgather)(b->out, b->items, type, b->in, b->items, type, comm, &request));
        break;
    case PAT_OP_BCAST:
        MUST(PICK(Ibcast)(b->in, b->items, type, 0, comm, &request));
        break;
    case PAT_OP_GATHER:
        if (f->lists)
            MUST(
                PICK(Igatherv)(b->out, b->items, type, b->in, b->counts, b->places, type, 0, comm, &request));
        else
            MUST(PICK(Igather)(b->out, b->items, type, b->in, b->items, type, 0, comm, &request));
        break;
    case PAT_OP_ALLREDUCE:
        MUST(PICK(Iallreduce)(b->out, b->in, b->items, type, MPI_SUM, comm, &request));
        break;
    case PAT_OP_SCATTER:
        if (f->lists)
            MUST(PICK(Iscatterv)(b->out, b->counts, b->places, type, b->in, b->items, type, 0, comm,
                                 &request));
        else
            MUST(PICK(Iscatter)(b->out, b->items, type, b->in, b->items, type, 0, comm, &request));
        break;
    case PAT_OP_REDUCE:
        MUST(PICK(Ireduce)(b->out, b->in, b->items, type, MPI_SUM, 0, comm, &request));
        break;
    case PAT_OP_REDUCE_SCATTER:
        MUST(PICK(Ireduce_scatter_block)(b->out, b->in, b->items, type, MPI_SUM, comm, &request));
        break;
    default:
        if (f->lists)
            MUST(PICK(Ialltoallv)(b->out, b->counts, b->places, type, b->in, b->counts, b->places, type, comm,
                                  &request));
        else
            MUST(PICK(Ialltoall)(b->out, b->items, type, b->in, b->items, type, comm, &request));
    }
    return request;
}

/* ---- The computation ---------------------------------------------------------------------------------- */

/* Asleep for so long, or so many steps of arithmetic, which take longer when somebody else has the processor. */
typedef struct work {
    bool burns;
    double ms;
    int64_t steps;
} work;

static double volatile result_of_steps;

static void burn(int64_t steps)
{
    double x = result_of_steps + 0.5; /* not known to the compiler, or there would be nothing left to do */
    for (int64_t i = 0; i < steps; i++)
        x = x * 0.999999 + 1e-7;
    result_of_steps = x;
}

static void compute(const work *w)
{
    if (w->burns)
        burn(w->steps);
    else
        bench_sleep_until(pat_clock_local_ns() + (int64_t)(1e6 * w->ms));
}

static double since_ms(int64_t start_ns)
{
    return 1e-6 * (double)(pat_clock_local_ns() - start_ns);
}

static void meet(void)
{
    bench_wait_quietly(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ranks compute at once, as they will; so many steps take `ms` then, on average. */
static int64_t steps_for(double ms)
{
    int64_t steps = 100000;
    for (int i = 0; i < 4; i++) {
        double took, mean;
        meet();
        const int64_t start_ns = pat_clock_local_ns();
        burn(steps);
        took = since_ms(start_ns);
        MPI_Allreduce(&took, &mean, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        int size;
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        steps = (int64_t)((double)steps * ms / (mean / size)) + 1;
    }
    return steps;
}

/* ---- Measuring ---------------------------------------------------------------------------------------- */

/* w: what is done between start and wait, in *beside_ms; NULL: nothing. */
static double one_call(buffers *b, const form *f, int by, const work *w, double *beside_ms)
{
    fill(b, f->op);
    meet();
    const int64_t start_ns = pat_clock_local_ns();
    MPI_Request request = start(b, f, by);
    const int64_t computes_ns = pat_clock_local_ns();
    if (w) {
        compute(w);
        *beside_ms = since_ms(computes_ns);
    }
    MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    const double ms = since_ms(start_ns);
    if (!f->is_barrier)
        check(b, f->op);
    return ms;
}

static double computing(const work *w)
{
    meet();
    const int64_t start_ns = pat_clock_local_ns();
    compute(w);
    return since_ms(start_ns);
}

static void mean_over_ranks(double *ms, int num, int ranks)
{
    MPI_Allreduce(MPI_IN_PLACE, ms, num, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < num; i++)
        ms[i] /= ranks;
}

/* In percent, by the mean times; below 0 where a call beside a computation takes longer than both one after the other. */
static double hidden(double pure, double computing_ms, double both)
{
    return 100 * (pure + computing_ms - both) / fmin(pure, computing_ms);
}

/* What ran the calls of PAT since `before`. */
static const char *ran(const PAT_Counters *before)
{
    PAT_Counters now;
    const char *name = "?";
    MUST(PAT_Get_counters(&now));
    for (int i = 0; i < now.num_algs; i++)
        if (now.alg_calls[i] > before->alg_calls[i])
            name = now.alg_name[i];
    return name;
}

/* Every computation is once alone, and each runner's call once alone and once beside it; who comes first changes. */
static void measure(const overhead_options *o, buffers *b, const form *f)
{
    const int rounds = o->rounds > 0 ? o->rounds : 20;
    double *times[RUNNERS][TIMES], pure = 0;
    work w = {.burns = o->burns};
    PAT_Counters before;
    MUST(PAT_Get_counters(&before));
    for (int by = 0; by < RUNNERS; by++)
        for (int t = 0; t < TIMES; t++)
            times[by][t] = bench_must_alloc((size_t)rounds, sizeof(double));
    for (int i = 0; i < WARM; i++) {
        pure = one_call(b, f, BY_MPI, NULL, NULL);
        one_call(b, f, BY_PAT, NULL, NULL);
    }
    /* As long as the rank is in the call that is there longest: of an operation with a root that is one of few. */
    MPI_Allreduce(MPI_IN_PLACE, &pure, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    w.ms = o->phase_ms > 0 ? o->phase_ms : pure;
    w.steps = w.burns ? steps_for(w.ms) : 0;
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < RUNNERS; k++) {
            const int by = (i + k) % RUNNERS;
            times[by][PURE][i] = one_call(b, f, by, NULL, NULL);
            times[by][COMPUTING][i] = computing(&w);
            times[by][BOTH][i] = one_call(b, f, by, &w, &times[by][BESIDE][i]);
        }
    for (int by = 0; by < RUNNERS; by++)
        for (int t = 0; t < TIMES; t++)
            mean_over_ranks(times[by][t], rounds, b->ranks);
    for (int by = 0; by < RUNNERS && b->rank == 0; by++) {
        double mean[TIMES];
        for (int t = 0; t < TIMES; t++)
            mean[t] = bench_mean(times[by][t], rounds, NULL);
        const bench_paired against = bench_compare(times[by][PURE], times[BY_MPI][PURE], rounds);
        printf("%-14s %-23s %9.3f %9.3f %9.3f %9.3f %8.0f %9.3f %9.1f\n", f->name,
               by == BY_PAT ? ran(&before) : "MPI", mean[PURE], bench_ci95(times[by][PURE], rounds),
               mean[COMPUTING], mean[BOTH], hidden(mean[PURE], mean[COMPUTING], mean[BOTH]), against.ratio,
               100 * (mean[BESIDE] / mean[COMPUTING] - 1));
        fflush(stdout);
    }
    for (int by = 0; by < RUNNERS; by++)
        for (int t = 0; t < TIMES; t++)
            free(times[by][t]);
}

void overhead_overlap(const overhead_options *o, int rank, int size)
{
    buffers b = {.items = o->segment / (int)sizeof(uint32_t), .ranks = size, .rank = rank};
    const size_t words = (size_t)(b.items > 0 ? b.items : 1) * (size_t)size;
    b.items = b.items > 0 ? b.items : 1;
    b.out = bench_must_alloc(words, sizeof(*b.out));
    b.in = bench_must_alloc(words, sizeof(*b.in));
    b.counts = bench_must_alloc((size_t)size, sizeof(*b.counts));
    b.places = bench_must_alloc((size_t)size, sizeof(*b.places));
    if (rank == 0)
        printf("# %d ranks, %d bytes of a rank, %s while they compute; ms, mean over ranks and rounds\n"
               "%-14s %-23s %9s %9s %9s %9s %8s %9s %9s\n",
               size, b.items * 4, o->burns ? "busy" : "asleep", "collective", "by", "call", "+/-",
               "computing", "both", "hidden %", "call/MPI's", "slowed %");
    for (int r = 0; r < size; r++) {
        b.counts[r] = b.items;
        b.places[r] = r * b.items;
    }
    for (int i = 0; i < FORMS; i++)
        if (!o->call || !strcmp(o->call, forms[i].name))
            measure(o, &b, &forms[i]);
    free(b.out);
    free(b.in);
    free(b.counts);
    free(b.places);
}

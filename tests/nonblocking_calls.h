/*
 * nonblocking_calls.h — for mpi_nonblocking and mpi_persistent_others: a call of every non-blocking collective with arguments that are drawn, the same on all ranks, and what the
 * MPI library's blocking call gives for them.
 */
#ifndef PAT_TESTS_NONBLOCKING_CALLS_H
#define PAT_TESTS_NONBLOCKING_CALLS_H

#include "mpi_common.h"

enum { CALLS = 7, MOST_RANKS = 64, MOST_ITEMS = 3000 };

enum kind {
    ALLGATHER,
    ALLGATHERV,
    BCAST,
    GATHER,
    GATHERV,
    ALLREDUCE,
    ALLREDUCE_DOUBLES,
    ALLTOALL,
    ALLTOALLV,
    SCATTER,
    SCATTERV,
    REDUCE,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    NUM_KINDS
};

/* Their names, and what runs them. */
static const struct {
    const char *name;
    enum pat_op op;
} kinds[] = {{"all-gather", PAT_OP_ALLGATHER},
             {"all-gather of unequal blocks", PAT_OP_ALLGATHER},
             {"broadcast", PAT_OP_BCAST},
             {"gather", PAT_OP_GATHER},
             {"gather of unequal blocks", PAT_OP_GATHER},
             {"all-reduce", PAT_OP_ALLREDUCE},
             {"all-reduce of doubles", PAT_OP_ALLREDUCE},
             {"all-to-all", PAT_OP_ALLTOALL},
             {"all-to-all of unequal blocks", PAT_OP_ALLTOALL},
             {"scatter", PAT_OP_SCATTER},
             {"scatter of unequal blocks", PAT_OP_SCATTER},
             {"reduce", PAT_OP_REDUCE},
             {"reduce-scatter of equal parts", PAT_OP_REDUCE_SCATTER},
             {"reduce-scatter", PAT_OP_REDUCE_SCATTER}};

/* One call, and what is to come of it. */
typedef struct call {
    enum kind kind;
    int n, root;
    bool in_place;
    int counts[MOST_RANKS], places[MOST_RANKS];
    int out_counts[MOST_RANKS], out_places[MOST_RANKS]; /* of what an all-to-all of unequal blocks sends */
    void *given, *got, *wanted;
    MPI_Request request;
    bool persistent; /* it is made by a persistent request, which is then kept in `held` */
    PAT_Request held;
} call;

static call calls[CALLS];
static int buffer_bytes; /* of each of their buffers */
static MPI_Comm comm;
static MPI_Datatype gaps; /* two ints in 16 bytes */

/* What was named for each collective, and whether it has plans. */
static const pat_algorithm *in_use[PAT_NUM_OPS];

static int64_t calls_by_plan(void)
{
    const PAT_Counters now = counters();
    int64_t sum = 0;
    for (int i = 0; i < now.num_algs; i++)
        if (pat_algorithm_find(now.alg_name[i])->build)
            sum += now.alg_calls[i];
    return sum;
}

/* The i-th algorithm of each collective, or its last one. Returns false when none has so many. */
static bool use_all(int i)
{
    bool any = false;
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        const alg_list algs = algs_of((enum pat_op)op, alg_is_any);
        const char *name = algs.names[i < algs.num ? i : algs.num - 1];
        any = any || i < algs.num;
        use_alg(name);
        in_use[op] = pat_algorithm_find(name);
    }
    return any;
}

static uint32_t state;

/* The same numbers on all ranks. */
static uint32_t drawn(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

static void fill(call *c, uint32_t seed)
{
    const bool doubles = c->kind == ALLREDUCE_DOUBLES;
    uint32_t mine = seed * 7919u + (uint32_t)test.rank * 104729u;
    for (int i = 0; i < buffer_bytes / 8; i++) {
        mine = mine * 1664525u + 1013904223u;
        if (doubles) /* whole numbers, so that their sum is exact in any order */
            ((double *)c->given)[i] = mine >> 16;
        else
            ((uint64_t *)c->given)[i] = mine & 0xffffffu;
    }
    memset(c->got, 0x5a, (size_t)buffer_bytes);
    memset(c->wanted, 0x5a, (size_t)buffer_bytes);
    if (c->in_place || c->kind == BCAST) {
        memcpy(c->got, c->given, (size_t)buffer_bytes);
        memcpy(c->wanted, c->given, (size_t)buffer_bytes);
    }
}

/* Where blocks lie: one behind the other, or in the opposite order with gaps. */
static void place(const int counts[], int places[], bool apart)
{
    for (int i = 0, at = 0; i < test.size; i++) {
        const int r = apart ? test.size - 1 - i : i;
        places[r] = at;
        at += counts[r] + (apart ? 1 : 0);
    }
}

/* Items from one rank to another, the same both ways in place. A third of the pairs has none, and one rank has nothing to do with any other. */
static int items_of_pair(const call *c, uint32_t seed, int from, int to)
{
    const uint32_t a = (uint32_t)(c->in_place && to < from ? to : from),
                   b = (uint32_t)(c->in_place && to < from ? from : to);
    const uint32_t hash = ((seed * 64 + a) * 64 + b) * 2654435761u;
    const int idle = (int)(seed % (uint32_t)(2 * test.size));
    return hash % 3 == 0 || from == idle || to == idle ? 0 : (int)((hash >> 8) % (uint32_t)c->n);
}

static void draw_pairs(call *c, uint32_t seed)
{
    for (int r = 0; r < test.size; r++) {
        c->counts[r] = items_of_pair(c, seed, r, test.rank);
        c->out_counts[r] = items_of_pair(c, seed, test.rank, r);
    }
    place(c->counts, c->places, (seed + (uint32_t)test.rank) % 3 == 0);
    place(c->out_counts, c->out_places, (seed + (uint32_t)test.rank) % 3 == 1);
}

static void draw(call *c, uint32_t number)
{
    *c = (call){.kind = (enum kind)drawn(NUM_KINDS),
                .n = 1 + (int)drawn(drawn(3) ? MOST_ITEMS : 40),
                .root = (int)drawn((uint32_t)test.size),
                .in_place = drawn(4) == 0,
                .given = c->given,
                .got = c->got,
                .wanted = c->wanted};
    c->in_place = c->in_place && (c->kind != REDUCE || mpi_reduces_in_place(c->root)) &&
                  (c->kind != ALLTOALLV || in_use[PAT_OP_ALLTOALL]->build || mpi_exchanges_in_place());
    int at = 0;
    for (int r = 0; r < test.size; r++) {
        c->counts[r] = (int)drawn((uint32_t)c->n + 1);
        c->places[r] = at;
        at += c->counts[r];
    }
    if (c->kind == REDUCE_SCATTER && drawn(2)) /* else it is left to the MPI library */
        for (int r = 0; r < test.size; r++)
            c->counts[r] = c->n;
    if (c->kind == ALLTOALLV)
        draw_pairs(c, drawn(1000));
    if (c->kind == GATHERV || c->kind == SCATTERV) {
        for (int r = 0; r < test.size; r++)
            c->counts[r] = drawn(4) ? (int)drawn((uint32_t)c->n) : 0;
        place(c->counts, c->places, c->n % 3 == 0);
    }
    fill(c, number);
}

/* What is sent, for calls in which that may be in place. */
static const void *sent(const call *c)
{
    return c->in_place ? MPI_IN_PLACE : c->given;
}

/* A type that is freed as soon as the call has been started; of two integers it is for some ranks one in which they lie apart, for others one in which they do not. */
static MPI_Datatype type_for(const call *c)
{
    MPI_Datatype type;
    MUST(MPI_Type_dup(c->n % 2 == 0 ? MPI_INT : (c->n / 2 + test.rank) % 3 ? gaps : MPI_2INT, &type));
    return type;
}

/* Items of an all-gather or of a reduce-scatter, of which each rank may have another number. */
static int items_of_all(const call *c)
{
    int items = 0;
    for (int r = 0; r < test.size; r++)
        items += c->kind == REDUCE_SCATTER_BLOCK ? c->n : c->counts[r];
    return items;
}

/* Is there anything to do that a plan can? */
static bool suits_plans(const call *c, const pat_algorithm *alg)
{
    if ((c->kind == ALLTOALLV || c->kind == GATHERV || c->kind == SCATTERV) && !alg->direct)
        return alg->uses_arrivals && test.size > 1; /* another one runs it then */
    for (int r = 1; c->kind == REDUCE_SCATTER && r < test.size; r++)
        if (c->counts[r] != c->counts[0])
            return false;
    return test.size > 1 && ((c->kind != ALLGATHERV && c->kind != REDUCE_SCATTER) || items_of_all(c) > 0);
}

/* Of a rank without items the buffer may be anything. */
static void *unless_none(const int counts[], void *buffer)
{
    for (int r = 0; r < test.size; r++)
        if (counts[r] > 0)
            return buffer;
    return NULL;
}

/* Start it, or make a request for it that start() starts. */
#define BEGIN(name, lower, ...)                                                                              \
    MUST(c->persistent ? PAT_##name##_init(__VA_ARGS__, &c->held) : PAT_I##lower(__VA_ARGS__, &c->request))

static void start_pairs(call *c, MPI_Datatype type)
{
    void *const given = unless_none(c->out_counts, c->given), *const got = unless_none(c->counts, c->got);
    if (c->in_place)
        BEGIN(Alltoallv, alltoallv, MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, got, c->counts, c->places,
              type, comm);
    else
        BEGIN(Alltoallv, alltoallv, given, c->out_counts, c->out_places, type, got, c->counts, c->places,
              type, comm);
}

/* Lists count at the root alone. */
static void start_with_lists(call *c, MPI_Datatype type)
{
    const bool at_root = test.rank == c->root;
    const int mine = c->counts[test.rank];
    const int *counts = at_root ? c->counts : NULL, *places = at_root ? c->places : NULL;
    const MPI_Datatype there = at_root ? type : MPI_DATATYPE_NULL;
    if (c->kind == GATHERV)
        BEGIN(Gatherv, gatherv,
              at_root    ? sent(c)
              : mine > 0 ? c->given
                         : NULL,
              mine, type, at_root ? c->got : NULL, counts, places, there, c->root, comm);
    else
        BEGIN(Scatterv, scatterv, at_root ? c->given : NULL, counts, places, there,
              at_root && c->in_place ? MPI_IN_PLACE
              : mine > 0             ? c->got
                                     : NULL,
              mine, type, c->root, comm);
}

static void start(call *c)
{
    MPI_Datatype type = type_for(c);
    const pat_algorithm *alg = in_use[kinds[c->kind].op];
    const int64_t before = calls_by_plan();
    const bool at_root = test.rank == c->root;
    switch (c->kind) {
    case ALLGATHER:
        BEGIN(Allgather, allgather, sent(c), c->n, type, c->got, c->n, type, comm);
        break;
    case ALLGATHERV:
        BEGIN(Allgatherv, allgatherv, sent(c), c->counts[test.rank], type, c->got, c->counts, c->places, type,
              comm);
        break;
    case ALLTOALLV:
        start_pairs(c, type);
        break;
    case GATHERV:
    case SCATTERV:
        start_with_lists(c, type);
        break;
    case BCAST:
        BEGIN(Bcast, bcast, c->got, c->n, type, c->root, comm);
        break;
    case GATHER:
        BEGIN(Gather, gather, at_root ? sent(c) : c->given, c->n, type, at_root ? c->got : NULL, c->n,
              at_root ? type : MPI_DATATYPE_NULL, c->root, comm);
        break;
    case ALLREDUCE:
        BEGIN(Allreduce, allreduce, sent(c), c->got, c->n, MPI_INT, MPI_SUM, comm);
        break;
    case ALLREDUCE_DOUBLES:
        BEGIN(Allreduce, allreduce, sent(c), c->got, c->n, MPI_DOUBLE, MPI_SUM, comm);
        break;
    case SCATTER:
        BEGIN(Scatter, scatter, at_root ? c->given : NULL, c->n, at_root ? type : MPI_DATATYPE_NULL,
              at_root && c->in_place ? MPI_IN_PLACE : c->got, c->n, type, c->root, comm);
        break;
    case REDUCE:
        BEGIN(Reduce, reduce, at_root ? sent(c) : c->given, at_root ? c->got : NULL, c->n, MPI_INT, MPI_SUM,
              c->root, comm);
        break;
    case REDUCE_SCATTER_BLOCK:
        BEGIN(Reduce_scatter_block, reduce_scatter_block, sent(c), c->got, c->n, MPI_INT, MPI_SUM, comm);
        break;
    case REDUCE_SCATTER:
        BEGIN(Reduce_scatter, reduce_scatter, sent(c), c->got, c->counts, MPI_INT, MPI_SUM, comm);
        break;
    default:
        BEGIN(Alltoall, alltoall, sent(c), c->n, type, c->got, c->n, type, comm);
    }
    MUST(MPI_Type_free(&type));
    if (c->held != PAT_REQUEST_NULL)
        MUST(PAT_Start(c->held));
    if (!alg->chooses && !(c->persistent && c->kind == ALLGATHER && test.size == 1)) /* its plan may copy */
        expect_int("calls by plan", alg->build && suits_plans(c, alg), calls_by_plan() - before);
}

static void run_blocking(call *c)
{
    MPI_Datatype type = type_for(c);
    const bool at_root = test.rank == c->root;
    const void *from = c->in_place ? MPI_IN_PLACE : c->given;
    switch (c->kind) {
    case ALLGATHER:
        MUST(PMPI_Allgather(from, c->n, type, c->wanted, c->n, type, comm));
        break;
    case ALLGATHERV:
        MUST(PMPI_Allgatherv(from, c->counts[test.rank], type, c->wanted, c->counts, c->places, type, comm));
        break;
    case ALLTOALLV:
        MUST(PMPI_Alltoallv(from, c->out_counts, c->out_places, type, c->wanted, c->counts, c->places, type,
                            comm));
        break;
    case BCAST:
        MUST(PMPI_Bcast(c->wanted, c->n, type, c->root, comm));
        break;
    case GATHERV:
        MUST(PMPI_Gatherv(at_root ? from : c->given, c->counts[test.rank], type, c->wanted, c->counts,
                          c->places, type, c->root, comm));
        break;
    case SCATTERV:
        MUST(PMPI_Scatterv(c->given, c->counts, c->places, type,
                           at_root && c->in_place ? MPI_IN_PLACE : c->wanted, c->counts[test.rank], type,
                           c->root, comm));
        break;
    case GATHER:
        MUST(PMPI_Gather(at_root ? from : c->given, c->n, type, c->wanted, c->n, type, c->root, comm));
        break;
    case ALLREDUCE:
        MUST(PMPI_Allreduce(from, c->wanted, c->n, MPI_INT, MPI_SUM, comm));
        break;
    case ALLREDUCE_DOUBLES:
        MUST(PMPI_Allreduce(from, c->wanted, c->n, MPI_DOUBLE, MPI_SUM, comm));
        break;
    case SCATTER:
        MUST(PMPI_Scatter(c->given, c->n, type, at_root && c->in_place ? MPI_IN_PLACE : c->wanted, c->n, type,
                          c->root, comm));
        break;
    case REDUCE:
        MUST(PMPI_Reduce(at_root ? from : c->given, at_root ? c->wanted : NULL, c->n, MPI_INT, MPI_SUM,
                         c->root, comm));
        break;
    case REDUCE_SCATTER_BLOCK:
        MUST(PMPI_Reduce_scatter_block(from, c->wanted, c->n, MPI_INT, MPI_SUM, comm));
        break;
    case REDUCE_SCATTER:
        MUST(PMPI_Reduce_scatter(from, c->wanted, c->counts, MPI_INT, MPI_SUM, comm));
        break;
    default:
        MUST(PMPI_Alltoall(from, c->n, type, c->wanted, c->n, type, comm));
    }
    MUST(MPI_Type_free(&type));
}

/* In place, MPI does not say what becomes of the contribution behind the result of a reduce-scatter. */
static bool is_defined(const call *c, int byte)
{
    const int item = byte / (int)sizeof(int);
    if (!c->in_place || (c->kind != REDUCE_SCATTER && c->kind != REDUCE_SCATTER_BLOCK))
        return true;
    return item < (c->kind == REDUCE_SCATTER ? c->counts[test.rank] : c->n) || item >= items_of_all(c);
}

static void check(const call *c)
{
    const unsigned char *got = c->got, *wanted = c->wanted;
    for (int i = 0; i < buffer_bytes; i++)
        if (got[i] != wanted[i] && is_defined(c, i)) {
            test_fail("%s%s of %d: byte %d is %d, not %d", kinds[c->kind].name,
                      c->in_place ? " in place" : "", c->n, i, got[i], wanted[i]);
            return;
        }
}

/* The test begins: a communicator of its own, the type, and memory for the calls. */
static void begin(int *argc, char ***argv)
{
    MPI_Datatype strided;
    test_begin_on_nodes(argc, argv);
    layouts_make();
    MUST(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MUST(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    MUST(MPI_Type_vector(2, 1, 2, MPI_INT, &strided));
    MUST(MPI_Type_create_resized(strided, 0, 16, &gaps));
    MUST(MPI_Type_commit(&gaps));
    MUST(MPI_Type_free(&strided));
    buffer_bytes = test.size * MOST_ITEMS * (int)sizeof(double) * 2;
    for (int i = 0; i < CALLS; i++) {
        calls[i].given = malloc((size_t)buffer_bytes);
        calls[i].got = malloc((size_t)buffer_bytes);
        calls[i].wanted = malloc((size_t)buffer_bytes);
    }
}

/* Returns the exit status. */
static int end(void)
{
    for (int i = 0; i < CALLS; i++) {
        free(calls[i].given);
        free(calls[i].got);
        free(calls[i].wanted);
    }
    MUST(MPI_Type_free(&gaps));
    MUST(MPI_Comm_free(&comm));
    layouts_free();
    return test_end();
}

#endif

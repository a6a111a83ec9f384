/*
 * mpi_reduce_others.c — PAT_Reduce, PAT_Reduce_scatter_block and PAT_Reduce_scatter and their non-blocking forms, element for element as the
 * MPI library's own: every algorithm, every predefined operation on every type that MPI defines it for, every root, equal and unequal counts, in
 * place and not. Values are such that every order of joining gives the same bits. What no plan may run goes to the MPI library, with its
 * results and its errors.
 *
 * ranks: 1 2 3 5 8
 */
#include "reductions.h"

enum { MOST_RANKS = 64 };

static int64_t planned; /* calls that a plan is to run, where the algorithm in use has plans */

/* One call, which exists in `variants` forms. */
typedef struct collective {
    enum pat_op op;
    const char *native;
    void (*call)(MPI_Comm comm, const element *e, const operation *o, int count, int variant);
    int (*variants)(MPI_Comm comm);
} collective;

/* A call's arguments and results, before it. */
static buffers begin(const element *e, const operation *o, int rank, int count)
{
    buffers b = make_buffers((size_t)count * e->size);
    seed++;
    memset(b.send, 0xA5, b.size);
    memset(b.got, 0x5A, b.size);
    memset(b.wanted, 0x5A, b.size);
    fill(b.send + GUARD, e, o, rank, count);
    memcpy(b.sent, b.send, b.size);
    return b;
}

/* So many elements are the result, and what lies from `end` on is not the call's. */
static void check(buffers *b, const element *e, int count, size_t end)
{
    int at;
    if (memcmp(b->send, b->sent, b->size) != 0)
        test_fail("the send buffer has changed");
    if (!same(b->got + GUARD, b->wanted + GUARD, e, count, &at))
        test_fail("element %d is not what the MPI library gives", at);
    if (!all_bytes_are(b->got, GUARD, 0x5A) ||
        !all_bytes_are(b->got + GUARD + end, b->size - GUARD - end, 0x5A))
        test_fail("bytes beside the result have changed");
    free_buffers(b);
}

static bool is_predefined(const operation *o)
{
    return o >= operations && o < operations + NUM_OPERATIONS;
}

/* ---- With a root ---------------------------------------------------------------------------------------- */

static int reduce_variants(MPI_Comm comm)
{
    int size;
    MPI_Comm_size(comm, &size);
    return 4 * size;
}

/* Elsewhere than at the root there need be no receive buffer, and there must be no change where there is one. */
static void reduce(MPI_Comm comm, const element *e, const operation *o, int count, int variant)
{
    int rank, size;
    MPI_Request request;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int root = variant % size;
    const bool gets = rank == root, started = variant / size % 2;
    const bool in_place = variant / size / 2 % 2 && mpi_reduces_in_place(root);
    buffers b = begin(e, o, rank, count);
    const size_t bytes = (size_t)count * e->size;
    test_at("%s of %d %s to %d%s%s", o->name, count, e->name, root, in_place ? ", in place" : "",
            started ? ", non-blocking" : "");
    if (gets && in_place)
        memcpy(b.got + GUARD, b.send + GUARD, bytes);
    const void *from = gets && in_place ? MPI_IN_PLACE : b.send + GUARD;
    void *to = gets || (seed + (unsigned)rank) % 2 ? b.got + GUARD : NULL;
    MUST(PMPI_Reduce(b.sent + GUARD, b.wanted + GUARD, count, e->type, o->op, root, comm));
    if (started) {
        MUST(PAT_Ireduce(from, to, count, e->type, o->op, root, comm, &request));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        MUST(PAT_Reduce(from, to, count, e->type, o->op, root, comm));
    }
    planned += size > 1 && count > 0 && is_predefined(o);
    check(&b, e, gets ? count : 0, gets ? bytes : 0);
}

/* ---- To each its part ----------------------------------------------------------------------------------- */

enum form { BLOCK, EQUAL_PARTS, UNEQUAL_PARTS, NUM_FORMS };

static int reduce_scatter_variants(MPI_Comm comm)
{
    (void)comm;
    return 4 * NUM_FORMS;
}

/* How many elements each rank gets; some get none. Returns whether all get as many. */
static bool counts_of(int counts[MOST_RANKS], int size, int count, enum form form)
{
    bool equal = true;
    for (int r = 0; r < size; r++) {
        counts[r] = form != UNEQUAL_PARTS ? count : r % 3 == 1 ? 0 : count / 2 + r;
        equal = equal && counts[r] == counts[0];
    }
    return equal;
}

static void call_parts(const void *from, void *to, const int *counts, bool block, bool started,
                       const element *e, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;
    if (block && started)
        MUST(PAT_Ireduce_scatter_block(from, to, counts[0], e->type, op, comm, &request));
    else if (block)
        MUST(PAT_Reduce_scatter_block(from, to, counts[0], e->type, op, comm));
    else if (started)
        MUST(PAT_Ireduce_scatter(from, to, counts, e->type, op, comm, &request));
    else
        MUST(PAT_Reduce_scatter(from, to, counts, e->type, op, comm));
    if (started)
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* In place, MPI does not say what becomes of the contribution behind the result. */
static void reduce_scatter(MPI_Comm comm, const element *e, const operation *o, int count, int variant)
{
    static const char *const names[] = {"a block each", "equal parts", "unequal parts"};
    const enum form form = (enum form)(variant % NUM_FORMS);
    const bool started = variant / NUM_FORMS % 2, in_place = variant / NUM_FORMS / 2 % 2;
    int rank, size, counts[MOST_RANKS], all = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const bool equal = counts_of(counts, size, count, form);
    for (int r = 0; r < size; r++)
        all += counts[r];
    buffers b = begin(e, o, rank, all);
    test_at("%s of %d %s, %s%s%s", o->name, count, e->name, names[form], in_place ? ", in place" : "",
            started ? ", non-blocking" : "");
    if (in_place)
        memcpy(b.got + GUARD, b.send + GUARD, (size_t)all * e->size);
    MUST(PMPI_Reduce_scatter(b.sent + GUARD, b.wanted + GUARD, counts, e->type, o->op, comm));
    call_parts(in_place ? MPI_IN_PLACE : b.send + GUARD, b.got + GUARD, counts, form == BLOCK, started, e,
               o->op, comm);
    planned += size > 1 && equal && counts[0] > 0 && is_predefined(o);
    check(&b, e, counts[rank], (size_t)(in_place ? all : counts[rank]) * e->size);
}

/* ---- What is called with what --------------------------------------------------------------------------- */

static int count_of(int i)
{
    const int counts[] = {test.size, 1000, 1, test.size + 1, 0, 33};
    return counts[i % 6];
}

/* Each with one count and in one form here, others for each algorithm and each of the operation's types. */
static void every_operation(const collective *c, int alg)
{
    int i = 5 * alg;
    for (int o = 0; o < NUM_OPERATIONS; o++)
        for (int e = 0; e < num_elements; e++)
            if (operations[o].groups & elements[e].group) {
                i++;
                c->call(MPI_COMM_WORLD, &elements[e], &operations[o], count_of(i + i / 6),
                        i % c->variants(MPI_COMM_WORLD));
            }
}

/* And some with every count, in every form. */
static void every_variant(const collective *c)
{
    for (int v = 0; v < c->variants(MPI_COMM_WORLD); v++) {
        for (int i = 0; i < 6; i++) {
            c->call(MPI_COMM_WORLD, element_of(MPI_INT), operation_of(MPI_SUM), count_of(i), v);
            c->call(MPI_COMM_WORLD, element_of(MPI_DOUBLE_INT), operation_of(MPI_MINLOC), count_of(i), v);
            c->call(MPI_COMM_WORLD, element_of(MPI_SHORT), operation_of(MPI_BAND), count_of(i), v);
        }
        if (v % 3 == 0)
            c->call(MPI_COMM_WORLD, element_of(MPI_DOUBLE), operation_of(MPI_SUM), 40001, v);
    }
}

static void on_communicators(const collective *c)
{
    MPI_Comm backwards, halves;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &backwards);
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &halves);
    for (int i = 0; i < 12; i++) {
        c->call(backwards, element_of(MPI_LONG), operation_of(MPI_SUM), count_of(i), i);
        c->call(halves, element_of(MPI_2INT), operation_of(MPI_MAXLOC), count_of(i + 1), i + 5);
    }
    MPI_Comm_free(&backwards);
    MPI_Comm_free(&halves);
}

/* Messages of calls that follow one another at once are told apart, though ranks do not keep together: only some wait for others. */
static void one_after_the_other(const collective *c)
{
    enum { CALLS = 40 };
    int64_t mine[CALLS][MOST_RANKS], got[CALLS][MOST_RANKS];
    const bool parts = c->op == PAT_OP_REDUCE_SCATTER;
    test_at("calls that follow one another at once");
    for (int i = 0; i < CALLS; i++)
        for (int k = 0; k < MOST_RANKS; k++)
            mine[i][k] = 1000 * i + 10 * k + test.rank;
    for (int i = 0; i < CALLS; i++)
        if (parts)
            MUST(PAT_Reduce_scatter_block(mine[i], got[i], 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
        else
            MUST(
                PAT_Reduce(mine[i], got[i], MOST_RANKS, MPI_INT64_T, MPI_SUM, i % test.size, MPI_COMM_WORLD));
    planned += test.size > 1 ? CALLS : 0;
    for (int i = 0; i < CALLS; i++)
        for (int k = 0; k < (parts ? 1 : test.rank == i % test.size ? MOST_RANKS : 0); k++)
            if (got[i][k] != (int64_t)test.size * (1000 * i + 10 * (parts ? test.rank : k)) +
                                 test.size * (test.size - 1) / 2) {
                test_fail("call %d: element %d is %lld", i, k, (long long)got[i][k]);
                break;
            }
}

/* ---- What goes to the MPI library ------------------------------------------------------------------------- */

/* Operations of the program's own, one of them not commutative, on types of its own and of MPI's. */
static void own_operations(const collective *c)
{
    const int variants = c->variants(MPI_COMM_WORLD);
    const part first = {0, sizeof(int32_t), SIGNED}, second = {sizeof(int32_t), sizeof(int32_t), SIGNED};
    element pair = {"pairs of int32", MPI_DATATYPE_NULL, 0, 2 * sizeof(int32_t), {first, second}};
    operation join = {"the program's own", MPI_OP_NULL, 0}, sum = {"the program's own sum", MPI_OP_NULL, 0};
    MPI_Type_contiguous(2, MPI_INT32_T, &pair.type);
    MPI_Type_commit(&pair.type);
    MPI_Op_create(join_affine, 0, &join.op);
    MPI_Op_create(add_ints, 1, &sum.op);
    const int64_t native = calls_by(c->native);
    for (int v = 0; v < variants; v++) {
        c->call(MPI_COMM_WORLD, &pair, &join, 300, v);
        c->call(MPI_COMM_WORLD, &pair, &sum, 300, v);
        c->call(MPI_COMM_WORLD, element_of(MPI_INT), &sum, 300, v);
    }
    test_at("the program's own operations");
    expect_int("calls left to the MPI library", 3 * variants, calls_by(c->native) - native);
    MPI_Op_free(&join.op);
    MPI_Op_free(&sum.op);
    MPI_Type_free(&pair.type);
}

/* MPI's own verdict on what it does not define, and nothing of it reaches a plan. */
static void verdicts(const collective *c)
{
    const struct {
        const char *what;
        int count, root;
        MPI_Datatype type;
        MPI_Op op;
    } calls[] = {
#ifdef OPEN_MPI /* MPICH's own calls do not all look, and crash */
        {"a negative count", -1, 0, MPI_INT, MPI_SUM},
#endif
        {"no operation", 1, 0, MPI_INT, MPI_OP_NULL},  {"no type", 1, 0, MPI_DATATYPE_NULL, MPI_SUM},
        {"a sum of bytes", 1, 0, MPI_BYTE, MPI_SUM},   {"no such root", 1, test.size, MPI_INT, MPI_SUM},
    };
    static int mine[MOST_RANKS], got[MOST_RANKS];
    MPI_Request request;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const int n = calls[i].count, root = calls[i].root;
        const MPI_Datatype type = calls[i].type;
        const MPI_Op op = calls[i].op;
        const bool rooted = c->op == PAT_OP_REDUCE;
        int counts[MOST_RANKS], verdict;
        for (int r = 0; r < MOST_RANKS; r++)
            counts[r] = n;
        if (root > 0 && !rooted)
            continue;
        const int rc = rooted ? PMPI_Reduce(mine, got, n, type, op, root, MPI_COMM_WORLD)
                              : PMPI_Reduce_scatter_block(mine, got, n, type, op, MPI_COMM_WORLD);
        if (rc == MPI_SUCCESS)
            continue; /* this MPI library takes it */
        MPI_Error_class(rc, &verdict);
        test_at("%s", calls[i].what);
        if (rooted) {
            expect_error("PAT_Reduce", verdict, PAT_Reduce(mine, got, n, type, op, root, MPI_COMM_WORLD),
                         NULL);
            expect_error("PAT_Ireduce", verdict,
                         PAT_Ireduce(mine, got, n, type, op, root, MPI_COMM_WORLD, &request), NULL);
            continue;
        }
        expect_error("PAT_Reduce_scatter_block", verdict,
                     PAT_Reduce_scatter_block(mine, got, n, type, op, MPI_COMM_WORLD), NULL);
        expect_error("PAT_Ireduce_scatter_block", verdict,
                     PAT_Ireduce_scatter_block(mine, got, n, type, op, MPI_COMM_WORLD, &request), NULL);
        expect_error("PAT_Reduce_scatter", verdict,
                     PAT_Reduce_scatter(mine, got, counts, type, op, MPI_COMM_WORLD), NULL);
        expect_error("PAT_Ireduce_scatter", verdict,
                     PAT_Ireduce_scatter(mine, got, counts, type, op, MPI_COMM_WORLD, &request), NULL);
    }
}

/* ---- All of it ------------------------------------------------------------------------------------------ */

static void every_algorithm(const collective *c)
{
    const alg_list algs = algs_of(c->op, alg_is_any);
    for (int a = 0; a < algs.num; a++) {
        const char *const alg = algs.names[a];
        use_alg(alg);
        const int64_t before = calls_by(alg);
        planned = 0;
        every_operation(c, a);
        every_variant(c);
        on_communicators(c);
        one_after_the_other(c);
        own_operations(c);
        verdicts(c);
        test_at("%s", alg);
        if (alg_has_plans(pat_algorithm_find(alg)))
            expect_int("calls by plan", planned, calls_by(alg) - before);
    }
}

int main(int argc, char **argv)
{
    const collective rooted = {PAT_OP_REDUCE, "reduce_native", reduce, reduce_variants},
                     parts = {PAT_OP_REDUCE_SCATTER, "reduce_scatter_native", reduce_scatter,
                              reduce_scatter_variants};
    /* The same plans on every machine, with vectors that are cut into pieces. */
    setenv("PAT_LINK", "20,2000", 1);
    test_begin(&argc, &argv);
    make_elements();
    make_fortran_elements();
    make_operations();
    every_algorithm(&rooted);
    every_algorithm(&parts);
    return test_end();
}

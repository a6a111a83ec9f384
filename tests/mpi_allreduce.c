/*
 * mpi_allreduce.c — PAT_Allreduce, element for element as PMPI_Allreduce: every algorithm, every predefined operation on every type that
 * MPI defines it for, counts around the number of ranks, in place and not. Values are such that every order of joining gives the same
 * bits. What no plan may run goes to the MPI library, with its results and its errors.
 *
 * ranks: 1 2 3 4 5 7 8 13 16 17
 */
#include "reductions.h"

/* ---- One call --------------------------------------------------------------------------------------------- */

static void reduce_once(MPI_Comm comm, const element *e, const operation *o, int count, bool in_place)
{
    const size_t bytes = (size_t)count * e->size;
    buffers b = make_buffers(bytes);
    int rank, at;
    MPI_Comm_rank(comm, &rank);
    seed++;
    memset(b.send, 0xA5, b.size);
    memset(b.got, 0x5A, b.size);
    memset(b.wanted, 0x5A, b.size);
    fill(b.send + GUARD, e, o, rank, count);
    memcpy(b.sent, b.send, b.size);
    if (in_place)
        memcpy(b.got + GUARD, b.send + GUARD, bytes);
    MUST(PMPI_Allreduce(b.sent + GUARD, b.wanted + GUARD, count, e->type, o->op, comm));
    MUST(PAT_Allreduce(in_place ? MPI_IN_PLACE : b.send + GUARD, b.got + GUARD, count, e->type, o->op, comm));
    if (memcmp(b.send, b.sent, b.size) != 0)
        test_fail("%s of %d %s: the send buffer has changed", o->name, count, e->name);
    if (!same(b.got + GUARD, b.wanted + GUARD, e, count, &at))
        test_fail("%s of %d %s%s: element %d is not what MPI_Allreduce gives", o->name, count, e->name,
                  in_place ? ", in place" : "", at);
    if (!all_bytes_are(b.got, GUARD, 0x5A) || !all_bytes_are(b.got + GUARD + bytes, GUARD, 0x5A))
        test_fail("%s of %d %s: bytes beside the receive buffer have changed", o->name, count, e->name);
    free_buffers(&b);
}

static int count_of(int i)
{
    const int counts[] = {test.size, 1000, 1, test.size + 1, 0, test.size - 1};
    return counts[i % 6];
}

/* Each with one count here, another one for each algorithm and each of the operation's types. */
static void every_operation(const char *name, int alg)
{
    for (int o = 0; o < NUM_OPERATIONS; o++)
        for (int e = 0; e < num_elements; e++)
            if (operations[o].groups & elements[e].group) {
                test_at("%s, %s of %s", name, operations[o].name, elements[e].name);
                reduce_once(MPI_COMM_WORLD, &elements[e], &operations[o], count_of(e + o + alg),
                            (e + alg) % 3 == 0);
            }
}

/* And some with every count. */
static void every_count(const char *alg)
{
    for (int i = 0; i < 12; i++) {
        test_at("%s, count %d", alg, count_of(i));
        reduce_once(MPI_COMM_WORLD, element_of(MPI_INT), operation_of(MPI_SUM), count_of(i), i >= 6);
        reduce_once(MPI_COMM_WORLD, element_of(MPI_DOUBLE_INT), operation_of(MPI_MAXLOC), count_of(i),
                    i >= 6);
        reduce_once(MPI_COMM_WORLD, element_of(MPI_SHORT), operation_of(MPI_BXOR), count_of(i), i >= 6);
    }
    for (int i = 0; i < 2; i++) {
        test_at("%s, a long vector", alg);
        reduce_once(MPI_COMM_WORLD, element_of(MPI_DOUBLE), operation_of(MPI_SUM), 40001, i);
    }
}

/* ---- What goes to the MPI library ------------------------------------------------------------------------- */

/* Operations of the program's own, on types of its own and of MPI's. */
static void own_operations(const char *alg)
{
    enum { COUNT = 300 };
    MPI_Op affine_op, sum_op;
    MPI_Datatype affine_type, five;
    affine mine[COUNT], got[COUNT], wanted[COUNT];
    int ints[5 * COUNT], sums[5 * COUNT];
    const int64_t native = calls_by("allreduce_native");
    MPI_Type_contiguous(2, MPI_INT32_T, &affine_type);
    MPI_Type_commit(&affine_type);
    MPI_Type_contiguous(5, MPI_INT, &five);
    MPI_Type_commit(&five);
    MPI_Op_create(join_affine, 0, &affine_op);
    MPI_Op_create(add_ints, 1, &sum_op);
    for (int i = 0; i < COUNT; i++)
        mine[i] = (affine){2 * test.rank + 3, 7 * i - 5 * test.rank};
    for (int i = 0; i < 5 * COUNT; i++)
        ints[i] = i + test.rank;
    test_at("%s, an operation that is not commutative", alg);
    MUST(PAT_Allreduce(mine, got, COUNT, affine_type, affine_op, MPI_COMM_WORLD));
    MUST(PMPI_Allreduce(mine, wanted, COUNT, affine_type, affine_op, MPI_COMM_WORLD));
    if (memcmp(got, wanted, sizeof(got)) != 0)
        test_fail("not what MPI_Allreduce gives");
    for (int form = 0; form < 2; form++) {
        test_at("%s, the program's own sum of %s", alg, form ? "its own type" : "MPI_INT");
        memcpy(sums, ints, sizeof(sums));
        MUST(PAT_Allreduce(form ? MPI_IN_PLACE : ints, sums, form ? COUNT : 5 * COUNT, form ? five : MPI_INT,
                           sum_op, MPI_COMM_WORLD));
        for (int i = 0; i < 5 * COUNT; i++)
            if (sums[i] != test.size * i + test.size * (test.size - 1) / 2) {
                test_fail("element %d is %d", i, sums[i]);
                break;
            }
    }
    expect_int("calls left to the MPI library", native + 3, calls_by("allreduce_native"));
    MPI_Op_free(&affine_op);
    MPI_Op_free(&sum_op);
    MPI_Type_free(&affine_type);
    MPI_Type_free(&five);
}

/* MPI's own verdict on what it does not define, and nothing of it reaches a plan. */
static void verdicts(const char *alg)
{
    int mine[4] = {1, 2, 3, 4}, got[4], verdict;
    const struct {
        const char *what;
        void *recvbuf;
        int count;
        MPI_Datatype type;
        MPI_Op op;
    } calls[] = {
#ifdef OPEN_MPI /* MPICH's own all-reduce takes it as it is, and crashes */
        {"a negative count", got, -1, MPI_INT, MPI_SUM},
#else /* Open MPI crashes on this one */
        {"no receive buffer", NULL, 4, MPI_INT, MPI_SUM},
#endif
        {"no operation", got, 4, MPI_INT, MPI_OP_NULL},
        {"no type", got, 4, MPI_DATATYPE_NULL, MPI_SUM},
        {"a sum of bytes", got, 4, MPI_BYTE, MPI_SUM},
        {"bits of floating numbers", got, 4, MPI_FLOAT, MPI_BAND},
        {"the place of the highest int", got, 4, MPI_INT, MPI_MAXLOC},
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        test_at("%s, %s", alg, calls[i].what);
        const int rc = PMPI_Allreduce(mine, calls[i].recvbuf, calls[i].count, calls[i].type, calls[i].op,
                                      MPI_COMM_WORLD);
        if (rc == MPI_SUCCESS)
            continue; /* this MPI library takes it */
        MPI_Error_class(rc, &verdict);
        expect_error(
            "PAT_Allreduce", verdict,
            PAT_Allreduce(mine, calls[i].recvbuf, calls[i].count, calls[i].type, calls[i].op, MPI_COMM_WORLD),
            NULL);
    }
    expect_error("an unknown algorithm", MPI_ERR_ARG, PAT_UseAlg("allreduce_"), "allreduce_converge");
}

/* ---- All of it -------------------------------------------------------------------------------------------- */

/* The named algorithm was counted for every call of some elements, and its own plan used. */
static void used(const char *alg, const PAT_Counters *before, int64_t calls_before)
{
    test_at("%s, counters",
            alg); /* first, or gcc takes it for NULL where the sanitizer looks whether it is */
    const bool by_plan = strcmp(alg, "allreduce_native") != 0 && test.size > 1;
    if ((calls_by(alg) > calls_before) != (by_plan || strcmp(alg, "allreduce_native") == 0))
        test_fail("%lld calls before, %lld after", (long long)calls_before, (long long)calls_by(alg));
    if ((counters().bytes_received > before->bytes_received) != by_plan)
        test_fail("bytes received by plans: %lld before, %lld after", (long long)before->bytes_received,
                  (long long)counters().bytes_received);
}

static void on_communicators(const char *alg)
{
    MPI_Comm backwards, halves;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -test.rank, &backwards);
    MPI_Comm_split(MPI_COMM_WORLD, test.rank % 2, test.rank, &halves);
    for (int i = 0; i < 6; i++) {
        test_at("%s, communicators, %d", alg, i);
        reduce_once(backwards, element_of(MPI_LONG), operation_of(MPI_SUM), count_of(i), i % 2);
        reduce_once(halves, element_of(MPI_2INT), operation_of(MPI_MINLOC), count_of(i + 1), i % 2);
    }
    MPI_Comm_free(&backwards);
    MPI_Comm_free(&halves);
}

int main(int argc, char **argv)
{
    const alg_list reduces = algs_of(PAT_OP_ALLREDUCE, alg_is_one);
    setenv("PAT_LINK", "20,2000",
           1); /* the same plans on every machine, with vectors that are cut into pieces */
    test_begin(&argc, &argv);
    make_elements();
    make_fortran_elements();
    make_operations();
    for (int a = 0; a < reduces.num; a++) {
        const char *const alg = reduces.names[a];
        use_alg(alg);
        const PAT_Counters before = counters();
        const int64_t calls_before = calls_by(alg);
        every_operation(alg, a);
        every_count(alg);
        on_communicators(alg);
        own_operations(alg);
        verdicts(alg);
        used(alg, &before, calls_before);
    }
    return test_end();
}

/*
 * mpi_allreduce.c — PAT_Allreduce, element for element as PMPI_Allreduce: every algorithm, every predefined operation on every type that
 * MPI defines it for, counts around the number of ranks, in place and not. Values are such that every order of joining gives the same
 * bits. What no plan may run goes to the MPI library, with its results and its errors.
 *
 * ranks: 1 2 3 4 5 7 8 13 16 17
 */
#include "mpi_common.h"

#include <float.h>

/* ---- Elements --------------------------------------------------------------------------------------------- */

/* What values an element takes. */
enum kind { SIGNED, UNSIGNED, FLOATING, COMPLEX, LOGICAL, BYTES, PAIR };

/* In which groups MPI 3.1, section 5.9.2, puts a type. */
enum {
    INTEGER = 1,
    FORTRAN = 2,
    ADDRESS = 4,
    FLOATS = 8,
    COMPLEXES = 16,
    LOGICALS = 32,
    BYTE = 64,
    PAIRS = 128
};

/* A number of an element: where it lies, and how many of its bytes have a value. */
typedef struct part {
    size_t at, bytes;
    enum kind kind;
} part;

typedef struct element {
    const char *name;
    MPI_Datatype type;
    int group;
    size_t size; /* from one to the next */
    part parts[2];
} element;

/* Of x86's 16 bytes 6 are padding. */
static size_t bytes_of_long_double(void)
{
    return LDBL_MANT_DIG == 64 ? 10 : sizeof(long double);
}

/* Their memory, to find where the numbers of a pair lie. */
#define PAIR_OF(c_type)                                                                                      \
    struct {                                                                                                 \
        c_type value;                                                                                        \
        int place;                                                                                           \
    }

enum { MOST_ELEMENTS = 80 };
static element elements[MOST_ELEMENTS];
static int num_elements;

static void add(const char *name, MPI_Datatype type, int group, size_t size, part first, part second)
{
    if (type != MPI_DATATYPE_NULL) /* which it is where the MPI library lacks it */
        elements[num_elements++] = (element){name, type, group, size, {first, second}};
}

static void add_one(const char *name, MPI_Datatype type, int group, size_t size, enum kind kind)
{
    const size_t value = kind == FLOATING && size == sizeof(long double) ? bytes_of_long_double() : size;
    add(name, type, group, size, (part){0, value, kind}, (part){0});
}

static void add_complex(const char *name, MPI_Datatype type, size_t of_each)
{
    const size_t value = of_each == sizeof(long double) ? bytes_of_long_double() : of_each;
    add(name, type, COMPLEXES, 2 * of_each, (part){0, value, COMPLEX}, (part){of_each, value, COMPLEX});
}

#define ADD(type, group, c_type, kind) add_one(#type, type, group, sizeof(c_type), kind)
#define ADD_PAIR(type, c_type, first_kind, first_bytes)                                                      \
    add(#type, type, PAIRS, sizeof(PAIR_OF(c_type)), (part){0, first_bytes, first_kind},                     \
        (part){offsetof(PAIR_OF(c_type), place), sizeof(int), PAIR})

static void make_elements(void)
{
    ADD(MPI_INT, INTEGER, int, SIGNED);
    ADD(MPI_LONG, INTEGER, long, SIGNED);
    ADD(MPI_SHORT, INTEGER, short, SIGNED);
    ADD(MPI_UNSIGNED_SHORT, INTEGER, short, UNSIGNED);
    ADD(MPI_UNSIGNED, INTEGER, int, UNSIGNED);
    ADD(MPI_UNSIGNED_LONG, INTEGER, long, UNSIGNED);
    ADD(MPI_LONG_LONG_INT, INTEGER, long long, SIGNED);
    ADD(MPI_UNSIGNED_LONG_LONG, INTEGER, long long, UNSIGNED);
    ADD(MPI_SIGNED_CHAR, INTEGER, char, SIGNED);
    ADD(MPI_UNSIGNED_CHAR, INTEGER, char, UNSIGNED);
    ADD(MPI_INT8_T, INTEGER, int8_t, SIGNED);
    ADD(MPI_INT16_T, INTEGER, int16_t, SIGNED);
    ADD(MPI_INT32_T, INTEGER, int32_t, SIGNED);
    ADD(MPI_INT64_T, INTEGER, int64_t, SIGNED);
    ADD(MPI_UINT8_T, INTEGER, uint8_t, UNSIGNED);
    ADD(MPI_UINT16_T, INTEGER, uint16_t, UNSIGNED);
    ADD(MPI_UINT32_T, INTEGER, uint32_t, UNSIGNED);
    ADD(MPI_UINT64_T, INTEGER, uint64_t, UNSIGNED);
    ADD(MPI_AINT, ADDRESS, MPI_Aint, SIGNED);
    ADD(MPI_OFFSET, ADDRESS, MPI_Offset, SIGNED);
    ADD(MPI_COUNT, ADDRESS, MPI_Count, SIGNED);
    ADD(MPI_FLOAT, FLOATS, float, FLOATING);
    ADD(MPI_DOUBLE, FLOATS, double, FLOATING);
    ADD(MPI_LONG_DOUBLE, FLOATS, long double, FLOATING);
    add_complex("MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, sizeof(float));
    add_complex("MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, sizeof(double));
    add_complex("MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, sizeof(long double));
    ADD(MPI_C_BOOL, LOGICALS, bool, LOGICAL);
    ADD(MPI_BYTE, BYTE, char, BYTES);
    ADD_PAIR(MPI_FLOAT_INT, float, FLOATING, sizeof(float));
    ADD_PAIR(MPI_DOUBLE_INT, double, FLOATING, sizeof(double));
    ADD_PAIR(MPI_LONG_INT, long, SIGNED, sizeof(long));
    ADD_PAIR(MPI_2INT, int, SIGNED, sizeof(int));
    ADD_PAIR(MPI_SHORT_INT, short, SIGNED, sizeof(short));
    ADD_PAIR(MPI_LONG_DOUBLE_INT, long double, FLOATING, bytes_of_long_double());
}

/* Those of Fortran, where the MPI library has it. */
static void make_fortran_elements(void)
{
    int size = 0;
    if (MPI_INTEGER == MPI_DATATYPE_NULL || MPI_Type_size(MPI_INTEGER, &size) != MPI_SUCCESS || size != 4)
        return;
    ADD(MPI_INTEGER, FORTRAN, int32_t, SIGNED);
    ADD(MPI_INTEGER1, FORTRAN, int8_t, SIGNED);
    ADD(MPI_INTEGER2, FORTRAN, int16_t, SIGNED);
    ADD(MPI_INTEGER4, FORTRAN, int32_t, SIGNED);
    ADD(MPI_INTEGER8, FORTRAN, int64_t, SIGNED);
    ADD(MPI_REAL, FLOATS, float, FLOATING);
    ADD(MPI_REAL4, FLOATS, float, FLOATING);
    ADD(MPI_DOUBLE_PRECISION, FLOATS, double, FLOATING);
    ADD(MPI_REAL8, FLOATS, double, FLOATING);
    ADD(MPI_LOGICAL, LOGICALS, int32_t, LOGICAL);
    add_complex("MPI_COMPLEX", MPI_COMPLEX, sizeof(float));
    add_complex("MPI_COMPLEX8", MPI_COMPLEX8, sizeof(float));
    add_complex("MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX, sizeof(double));
    add_complex("MPI_COMPLEX16", MPI_COMPLEX16, sizeof(double));
    add("MPI_2REAL", MPI_2REAL, PAIRS, 8, (part){0, 4, FLOATING}, (part){4, 4, FLOATING});
    add("MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, PAIRS, 16, (part){0, 8, FLOATING},
        (part){8, 8, FLOATING});
    add("MPI_2INTEGER", MPI_2INTEGER, PAIRS, 8, (part){0, 4, SIGNED}, (part){4, 4, PAIR});
}

typedef struct operation {
    const char *name;
    MPI_Op op;
    int groups;
} operation;

static operation operations[12];
enum { NUM_OPERATIONS = sizeof(operations) / sizeof(operations[0]) };

static void make_operations(void)
{
    const int ordered = INTEGER | FORTRAN | FLOATS | ADDRESS, added = ordered | COMPLEXES;
    const int logical = INTEGER | LOGICALS, bitwise = INTEGER | FORTRAN | BYTE | ADDRESS;
    const operation all[] = {{"MPI_MAX", MPI_MAX, ordered},     {"MPI_MIN", MPI_MIN, ordered},
                             {"MPI_SUM", MPI_SUM, added},       {"MPI_PROD", MPI_PROD, added},
                             {"MPI_LAND", MPI_LAND, logical},   {"MPI_LOR", MPI_LOR, logical},
                             {"MPI_LXOR", MPI_LXOR, logical},   {"MPI_BAND", MPI_BAND, bitwise},
                             {"MPI_BOR", MPI_BOR, bitwise},     {"MPI_BXOR", MPI_BXOR, bitwise},
                             {"MPI_MAXLOC", MPI_MAXLOC, PAIRS}, {"MPI_MINLOC", MPI_MINLOC, PAIRS}};
    _Static_assert(sizeof(all) == sizeof(operations), "all of them");
    memcpy(operations, all, sizeof(all));
}

/* ---- Values ----------------------------------------------------------------------------------------------- */

static uint32_t seed = 1;

/* Small whole numbers, of which no order of joining loses a bit: of products four are 2 and some -1, the others 1. */
static int number(const operation *o, enum kind kind, int rank, int i, int which)
{
    const int drawn = gather_byte(seed, rank, 2 * i + which);
    if (o->op == MPI_PROD && kind == COMPLEX)
        return which == 0 ? ((rank + i) % 5 == 0 ? 2 : 1) : 0;
    if (o->op == MPI_PROD)
        return (rank + i) % 5 == 0 ? 2 : kind != UNSIGNED && drawn % 7 == 0 ? -1 : 1;
    if (kind == LOGICAL)
        return drawn % 2;
    if (kind == PAIR)
        return (rank * 5 + i) % 23; /* of equal values the lowest place counts */
    if (o->groups == (INTEGER | LOGICALS))
        return drawn % 4 ? 0 : drawn % 3;
    return kind == UNSIGNED ? drawn % 8 : drawn % 8 - 4;
}

static void put_number(unsigned char *to, const part *p, int n)
{
    if (p->kind == BYTES) {
        *to = (unsigned char)(n * 37);
    } else if (p->kind == FLOATING || p->kind == COMPLEX) {
        const float f = (float)n;
        const double d = n;
        const long double l = n;
        const void *from = p->bytes == sizeof(f)   ? (const void *)&f
                           : p->bytes == sizeof(d) ? (const void *)&d
                                                   : &l;
        memcpy(to, from, p->bytes);
    } else {
        const int64_t wide = n;
        memcpy(to, &wide, p->bytes); /* of little-endian numbers the low bytes come first */
    }
}

static void fill(unsigned char *to, const element *e, const operation *o, int rank, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2 && e->parts[k].bytes > 0; k++)
            put_number(to + (size_t)i * e->size + e->parts[k].at, &e->parts[k],
                       number(o, e->parts[k].kind, rank, i, k));
}

/* Padding has no value and may be anything. */
static bool same(const unsigned char *a, const unsigned char *b, const element *e, int count, int *first)
{
    for (*first = 0; *first < count; ++*first)
        for (int k = 0; k < 2; k++) {
            const size_t at = (size_t)*first * e->size + e->parts[k].at;
            if (memcmp(a + at, b + at, e->parts[k].bytes) != 0)
                return false;
        }
    return true;
}

static bool all_bytes_are(const unsigned char *from, size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; i++)
        if (from[i] != value)
            return false;
    return true;
}

/* ---- One call --------------------------------------------------------------------------------------------- */

typedef struct buffers {
    unsigned char *send, *sent, *got, *wanted; /* with guards around */
    size_t size;
} buffers;

static buffers make_buffers(size_t bytes)
{
    buffers b = {.size = bytes + 2 * GUARD};
    unsigned char **all[] = {&b.send, &b.sent, &b.got, &b.wanted};
    for (int i = 0; i < 4; i++)
        if (!(*all[i] = malloc(b.size)))
            must("memory for the test's buffers", MPI_ERR_NO_MEM);
    return b;
}

static void free_buffers(buffers *b)
{
    free(b->send);
    free(b->sent);
    free(b->got);
    free(b->wanted);
}

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

static const element *element_of(MPI_Datatype type)
{
    for (int e = 0; e < num_elements; e++)
        if (elements[e].type == type)
            return &elements[e];
    return NULL;
}

static const operation *operation_of(MPI_Op op)
{
    int o = 0;
    while (operations[o].op != op)
        o++;
    return &operations[o];
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

static int64_t calls_of(const char *alg)
{
    const PAT_Counters c = counters();
    for (int i = 0; i < c.num_algs; i++)
        if (strcmp(c.alg_name[i], alg) == 0)
            return c.alg_calls[i];
    test_fail("%s is not among the counters", alg);
    return 0;
}

/* x -> scale * x + more; of two, the left one comes last: associative and not commutative. */
typedef struct affine {
    int32_t scale, more;
} affine;

static void join_affine(void *left, void *right, int *count, MPI_Datatype *type)
{
    const affine *l = left;
    affine *r = right;
    (void)type;
    for (int i = 0; i < *count; i++)
        r[i] = (affine){(int32_t)((uint32_t)l[i].scale * (uint32_t)r[i].scale),
                        (int32_t)((uint32_t)l[i].scale * (uint32_t)r[i].more + (uint32_t)l[i].more)};
}

static void add_ints(void *left, void *right, int *count, MPI_Datatype *type)
{
    const int *l = left;
    int *r = right, per_item;
    MPI_Type_size(*type, &per_item);
    for (int i = 0; i < *count * per_item / (int)sizeof(int); i++)
        r[i] += l[i];
}

/* Operations of the program's own, on types of its own and of MPI's. */
static void own_operations(const char *alg)
{
    enum { COUNT = 300 };
    MPI_Op affine_op, sum_op;
    MPI_Datatype affine_type, five;
    affine mine[COUNT], got[COUNT], wanted[COUNT];
    int ints[5 * COUNT], sums[5 * COUNT];
    const int64_t native = calls_of("allreduce_native");
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
    expect_int("calls left to the MPI library", native + 3, calls_of("allreduce_native"));
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
    const bool by_plan = strcmp(alg, "allreduce_native") != 0 && test.size > 1;
    test_at("%s, counters", alg);
    if ((calls_of(alg) > calls_before) != (by_plan || strcmp(alg, "allreduce_native") == 0))
        test_fail("%lld calls before, %lld after", (long long)calls_before, (long long)calls_of(alg));
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
        const int64_t calls_before = calls_of(alg);
        every_operation(alg, a);
        every_count(alg);
        on_communicators(alg);
        own_operations(alg);
        verdicts(alg);
        used(alg, &before, calls_before);
    }
    return test_end();
}

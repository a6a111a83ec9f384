/*
 * reductions.h — for the tests of what reduces: every predefined operation of MPI, every type that MPI defines it for, and values
 * of which every order of joining gives the same bits; operations of a program's own.
 */
#ifndef PAT_TESTS_REDUCTIONS_H
#define PAT_TESTS_REDUCTIONS_H

#include <float.h>

#include "mpi_common.h"

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
static inline size_t bytes_of_long_double(void)
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

static inline void add(const char *name, MPI_Datatype type, int group, size_t size, part first, part second)
{
    if (type != MPI_DATATYPE_NULL) /* which it is where the MPI library lacks it */
        elements[num_elements++] = (element){name, type, group, size, {first, second}};
}

static inline void add_one(const char *name, MPI_Datatype type, int group, size_t size, enum kind kind)
{
    const size_t value = kind == FLOATING && size == sizeof(long double) ? bytes_of_long_double() : size;
    add(name, type, group, size, (part){0, value, kind}, (part){0});
}

static inline void add_complex(const char *name, MPI_Datatype type, size_t of_each)
{
    const size_t value = of_each == sizeof(long double) ? bytes_of_long_double() : of_each;
    add(name, type, COMPLEXES, 2 * of_each, (part){0, value, COMPLEX}, (part){of_each, value, COMPLEX});
}

#define ADD(type, group, c_type, kind) add_one(#type, type, group, sizeof(c_type), kind)
#define ADD_PAIR(type, c_type, first_kind, first_bytes)                                                      \
    add(#type, type, PAIRS, sizeof(PAIR_OF(c_type)), (part){0, first_bytes, first_kind},                     \
        (part){offsetof(PAIR_OF(c_type), place), sizeof(int), PAIR})

static inline void make_elements(void)
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
static inline void make_fortran_elements(void)
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

static inline void make_operations(void)
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

static inline const element *element_of(MPI_Datatype type)
{
    for (int e = 0; e < num_elements; e++)
        if (elements[e].type == type)
            return &elements[e];
    return NULL;
}

static inline const operation *operation_of(MPI_Op op)
{
    int o = 0;
    while (operations[o].op != op)
        o++;
    return &operations[o];
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

static inline void put_number(unsigned char *to, const part *p, int n)
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

static inline void fill(unsigned char *to, const element *e, const operation *o, int rank, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2 && e->parts[k].bytes > 0; k++)
            put_number(to + (size_t)i * e->size + e->parts[k].at, &e->parts[k],
                       number(o, e->parts[k].kind, rank, i, k));
}

/* Padding has no value and may be anything. */
static inline bool same(const unsigned char *a, const unsigned char *b, const element *e, int count,
                        int *first)
{
    for (*first = 0; *first < count; ++*first)
        for (int k = 0; k < 2; k++) {
            const size_t at = (size_t)*first * e->size + e->parts[k].at;
            if (memcmp(a + at, b + at, e->parts[k].bytes) != 0)
                return false;
        }
    return true;
}

static inline bool all_bytes_are(const unsigned char *from, size_t bytes, unsigned char value)
{
    for (size_t i = 0; i < bytes; i++)
        if (from[i] != value)
            return false;
    return true;
}

/* ---- Buffers and counters --------------------------------------------------------------------------------- */

typedef struct buffers {
    unsigned char *send, *sent, *got, *wanted; /* with guards around */
    size_t size;
} buffers;

static inline buffers make_buffers(size_t bytes)
{
    buffers b = {.size = bytes + 2 * GUARD};
    unsigned char **all[] = {&b.send, &b.sent, &b.got, &b.wanted};
    for (int i = 0; i < 4; i++)
        if (!(*all[i] = malloc(b.size)))
            must("memory for the test's buffers", MPI_ERR_NO_MEM);
    return b;
}

static inline void free_buffers(buffers *b)
{
    free(b->send);
    free(b->sent);
    free(b->got);
    free(b->wanted);
}

/* ---- Operations of the program's own ---------------------------------------------------------------------- */

/* x -> scale * x + more; of two, the left one comes last: associative and not commutative. */
typedef struct affine {
    int32_t scale, more;
} affine;

static inline void join_affine(void *left, void *right, int *count, MPI_Datatype *type)
{
    const affine *l = left;
    affine *r = right;
    (void)type;
    for (int i = 0; i < *count; i++)
        r[i] = (affine){(int32_t)((uint32_t)l[i].scale * (uint32_t)r[i].scale),
                        (int32_t)((uint32_t)l[i].scale * (uint32_t)r[i].more + (uint32_t)l[i].more)};
}

static inline void add_ints(void *left, void *right, int *count, MPI_Datatype *type)
{
    const int *l = left;
    int *r = right, per_item;
    MPI_Type_size(*type, &per_item);
    for (int i = 0; i < *count * per_item / (int)sizeof(int); i++)
        r[i] += l[i];
}

#endif

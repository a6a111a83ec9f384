/*
 * reduction.c — see reduction.h. The classes of types and the operations on them are those of MPI 3.1, section 5.9.2.
 */
#include "reduction.h"

/* Is `type`, which is not null, in the list? Types that the MPI library does not have are null there. */
#define IS_ONE_OF(type, ...) is_one_of(type, (const MPI_Datatype[]){__VA_ARGS__}, COUNT_OF(__VA_ARGS__))
#define COUNT_OF(...)        ((int)(sizeof((const MPI_Datatype[]){__VA_ARGS__}) / sizeof(MPI_Datatype)))

static bool is_one_of(MPI_Datatype type, const MPI_Datatype *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == type)
            return true;
    return false;
}

static bool is_integer(MPI_Datatype type)
{
    return IS_ONE_OF(type, MPI_INT, MPI_LONG, MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
                     MPI_LONG_LONG_INT, MPI_UNSIGNED_LONG_LONG, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR,
                     MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T,
                     MPI_UINT32_T, MPI_UINT64_T);
}

static bool is_fortran_integer(MPI_Datatype type)
{
    return IS_ONE_OF(type, MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8);
}

static bool is_address(MPI_Datatype type)
{
    return IS_ONE_OF(type, MPI_AINT, MPI_OFFSET, MPI_COUNT);
}

static bool is_floating(MPI_Datatype type)
{
    return IS_ONE_OF(type, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4,
                     MPI_REAL8);
}

static bool is_complex(MPI_Datatype type)
{
    return IS_ONE_OF(type, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX, MPI_COMPLEX,
                     MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16);
}

static bool is_logical(MPI_Datatype type)
{
    return IS_ONE_OF(type, MPI_LOGICAL, MPI_C_BOOL, MPI_CXX_BOOL);
}

static bool is_pair(MPI_Datatype type)
{
    return IS_ONE_OF(type, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT,
                     MPI_LONG_DOUBLE_INT, MPI_2REAL, MPI_2DOUBLE_PRECISION, MPI_2INTEGER);
}

/* Pairs of a floating-point number and an index. */
static bool is_floating_pair(MPI_Datatype type)
{
    return IS_ONE_OF(type, MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT, MPI_2REAL,
                     MPI_2DOUBLE_PRECISION);
}

static bool is_defined(MPI_Op op, MPI_Datatype type)
{
    if (op == MPI_MAX || op == MPI_MIN)
        return is_integer(type) || is_fortran_integer(type) || is_floating(type) || is_address(type);
    if (op == MPI_SUM || op == MPI_PROD)
        return is_integer(type) || is_fortran_integer(type) || is_floating(type) || is_address(type) ||
               is_complex(type);
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)
        return is_integer(type) || is_logical(type);
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
        return is_integer(type) || is_fortran_integer(type) || type == MPI_BYTE || is_address(type);
    if (op == MPI_MAXLOC || op == MPI_MINLOC)
        return is_pair(type);
    return false;
}

bool pat_reduction_known(MPI_Op op, MPI_Datatype type, int64_t *element_bytes)
{
    MPI_Aint lb, extent;
    if (op == MPI_OP_NULL || type == MPI_DATATYPE_NULL || !is_defined(op, type) ||
        PMPI_Type_get_extent(type, &lb, &extent) != MPI_SUCCESS || lb != 0 || extent <= 0)
        return false;
    *element_bytes = extent;
    return true;
}

bool pat_reduction_any_order(MPI_Datatype type)
{
    /* Most are integers, which the first question finds. */
    return is_integer(type) || !(is_floating(type) || is_complex(type) || is_floating_pair(type));
}

/*
 * plain_type.c — see plain_type.h.
 */
#include "plain_type.h"

bool pat_type_is_plain(MPI_Datatype type)
{
    int num_ints, num_addresses, num_types, combiner, size;
    MPI_Aint lb, extent;
    if (PMPI_Type_get_envelope(type, &num_ints, &num_addresses, &num_types, &combiner) != MPI_SUCCESS)
        return false;
    if (combiner == MPI_COMBINER_NAMED)
        return PMPI_Type_size(type, &size) == MPI_SUCCESS &&
               PMPI_Type_get_extent(type, &lb, &extent) == MPI_SUCCESS && lb == 0 && extent == size;
    if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP)
        return false;

    int ints[1] = {1};
    MPI_Aint addresses[1];
    MPI_Datatype inner;
    if (num_ints > 1 || num_addresses > 0 || num_types != 1 ||
        PMPI_Type_get_contents(type, num_ints, 0, 1, ints, addresses, &inner) != MPI_SUCCESS)
        return false;
    bool plain = pat_type_is_plain(inner);
    if (PMPI_Type_get_envelope(inner, &num_ints, &num_addresses, &num_types, &combiner) == MPI_SUCCESS &&
        combiner != MPI_COMBINER_NAMED)
        PMPI_Type_free(&inner); /* get_contents hands out a new reference to derived types */
    return plain;
}

/*
 * plain_type.h — may memcpy stand for MPI's own packing of a datatype? Local; ranks may differ.
 */
#ifndef PAT_PLAIN_TYPE_H
#define PAT_PLAIN_TYPE_H

#include <mpi.h>
#include <stdbool.h>

/*
 * Do items of `type` lie in memory exactly as they are packed? Size and extent are not enough to tell (an
 * indexed type may permute), so only what is plain by construction counts: named types without padding, and
 * contiguous or duplicated types of those.
 */
bool pat_type_is_plain(MPI_Datatype type);

#endif

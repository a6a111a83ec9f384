/*
 * info_facts.h — what pat-info tells, as one JSON object; its text is printed from the same object.
 */
#ifndef INFO_FACTS_H
#define INFO_FACTS_H

#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>

/* Collective over comm. NULL where there is no memory. *good: nothing of what is set is wrong. */
json_t *info_facts(MPI_Comm comm, bool *good);

#endif

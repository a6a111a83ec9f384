/*
 * engine_types.h — the types of engine.h that do not need MPI.
 */
#ifndef PAT_ENGINE_TYPES_H
#define PAT_ENGINE_TYPES_H

#include <stdint.h>

#include "plan.h"

typedef struct pat_exec pat_exec;

/* What an execution adds to the counters of PAT_Get_counters. */
typedef struct pat_exec_stats {
    int64_t bytes_received; /* user bytes from other ranks */
    int64_t bytes_early;    /* of these, here before the rank arrived */
    int64_t bytes_copied;   /* own block and early data, copied to the result */
} pat_exec_stats;

/*
 * The tags of a round's messages: `first` and the `count` - 1 that follow. Rounds that may be under way at once have tags of
 * their own, so that a round that was prepared and thrown away can never be mistaken for the one that took its place.
 */
typedef struct pat_tags {
    int first, count;
} pat_tags;

/*
 * How a communicator's ranks are reached on another communicator of the library's: by their numbers there, and with tags that each receiver has chosen for what is
 * sent to it. Both NULL: under their own numbers, and with the same tags on both sides.
 */
typedef struct pat_contacts {
    const int *rank, *first_tag; /* of each rank */
} pat_contacts;

#endif

/*
 * common_comms.h — which communicators, and persistent requests that count as such (events.h), all their members have kept calls of, and of how many calls.
 */
#ifndef PAT_COMMON_COMMS_H
#define PAT_COMMON_COMMS_H

#include "events.h"

typedef struct pat_common_comm {
    const pat_event_comm *comm;
    int64_t calls; /* that all members have kept */
} pat_common_comm;

/*
 * Collective over `all`: those of this rank, in the same order on all members, and those of the same members side by side; to be freed. *good: false on all ranks where one has no
 * memory. A rank can tell of 4096 of them, and all ranks of 2^20: of communicators first, in the order in which it has used them, and then of requests, in the order in which it has made them. *too_many: of how many
 * calls of this rank it is not known for that. Returns an MPI error code.
 */
int pat_common_comms_find(const pat_events *events, MPI_Comm all, pat_common_comm **common, int *num,
                          int64_t *too_many, bool *good);

#endif

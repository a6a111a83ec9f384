/*
 * lateness.h — who was late, and what did it cost? At the end of the program the ranks hold the times against each other at which they
 * came to each call of each communicator (events.h). No call was delayed for it.
 */
#ifndef PAT_LATENESS_H
#define PAT_LATENESS_H

#include "events.h"
#include "one_way.h"
#include "sites.h"

typedef struct pat_lateness_left {
    int64_t calls; /* of which it is not known when the others came */
    int64_t
        too_many; /* of these, since some rank had more communicators and persistent requests than can be told (common_comms.h) */
} pat_lateness_left;

/*
 * Collective over `all`, the report's communicator, when nothing is added any more: to each site, how long this rank has waited there and for
 * whom, how far apart the ranks came, and on rank 0 what some calls would have taken by another algorithm. nodes: how many there are. *one_way: what messages take, which is measured for it. A communicator's calls count as far as all its members have kept them, and they fit together. *left: of this rank's calls those that do not.
 * Returns an MPI error code.
 */
int pat_lateness_find(const pat_events *events, pat_sites *sites, MPI_Comm all, int nodes,
                      pat_one_way *one_way, pat_lateness_left *left);

#endif

/*
 * lateness.h — who was late, and what did it cost? At the end of the program the ranks hold the times against each other at which they
 * came to each call of each communicator (events.h). No call was delayed for it.
 */
#ifndef PAT_LATENESS_H
#define PAT_LATENESS_H

#include "events.h"
#include "one_way.h"
#include "sites.h"

/* For whom does a rank wait in a call that blocks? */
enum pat_waits {
    PAT_WAITS_NOT_KNOWN, /* nobody, or for some that are not known here: a scan, a neighbour, a call that does not block */
    PAT_WAITS_FOR_ALL,  /* its result needs what each rank gives */
    PAT_WAITS_FOR_ROOT, /* all for the root, which waits for nobody */
    PAT_WAITS_AT_ROOT   /* the root for all, the others for nobody */
};

/* By the name of the MPI function. */
enum pat_waits pat_lateness_waits(const char *call);

/* How long a rank has waited in a call that took time_ns. start_ns: when it came; needed_ns: when the last one came that it waits for. */
static inline int64_t pat_lateness_wait_ns(int64_t start_ns, int64_t needed_ns, int64_t time_ns)
{
    const int64_t wait_ns = needed_ns - start_ns;
    return wait_ns < 0 ? 0 : wait_ns < time_ns ? wait_ns : time_ns;
}

/*
 * Collective over `all`, the report's communicator, when nothing is added any more: to each site, how long this rank has waited there and for
 * whom, and how far apart the ranks came. *one_way: what messages take, which is measured for it. A communicator's calls count as far as all its members have kept them, and they fit together. *num_left: calls of this rank that do not.
 * Returns an MPI error code.
 */
int pat_lateness_find(const pat_events *events, pat_sites *sites, MPI_Comm all, pat_one_way *one_way,
                      int64_t *num_left);

#endif

/*
 * parts.h — what the files of this directory share: the build functions that table.c lists, and the parts
 * that several algorithms are put together from. Nobody outside algorithms/ reads it.
 *
 * Build functions are called with at least two ranks and one byte per block: pat_algorithm_plan sees to
 * the rest.
 */
#ifndef PAT_PARTS_H
#define PAT_PARTS_H

#include "algorithms.h"

void pat_ring_build(pat_plan *plan, const pat_job *job, int rank);
void pat_nex_build(pat_plan *plan, const pat_job *job, int rank);
void pat_lnbc_build(pat_plan *plan, const pat_job *job, int rank);
void pat_bdr_build(pat_plan *plan, const pat_job *job, int rank);
void pat_bsls_build(pat_plan *plan, const pat_job *job, int rank);
void pat_bslb_build(pat_plan *plan, const pat_job *job, int rank);

/* ARRIVE and, right after it, the COPY of the rank's own block; both join the open step. (table.c) */
void pat_part_arrive(pat_plan *plan, const pat_job *job, int rank);

/*
 * Broadcast of the whole result from rank 0. It begins with a step of its own, so it waits for all that the
 * plan's last step holds; that step must imply COPY and, at rank 0, every receive of the gather. (bcast.c)
 */
void pat_part_bcast(pat_plan *plan, const pat_job *job, int rank);

/*
 * All ranks from the first predicted arrival to the last; of equal ones the lower rank comes first, so that
 * every rank has the same order. The caller frees it; NULL, and the plan's error set, when memory is short.
 * In bsls.c.
 */
int *pat_part_by_arrival(pat_plan *plan, const pat_job *job);

#endif

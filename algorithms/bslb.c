/*
 * bslb.c — BSLB, background sorted linear synchronized gather with broadcast.
 *
 * What:     the BSLS gather to rank 0, which runs in the background in the order of the predicted
 *           arrivals (gather_bsls.c), then a regular broadcast (bcast.c), which starts when the gather is
 *           complete and rank 0 has called.
 * Source:   Proficz 2021, listing 3.
 * Cost:     of both together: P-1 control messages and 2(P-1) data messages into rank 0, then the
 *           broadcast. Each rank receives P-1 blocks in all. Needs no one-way time tau, only the order of
 *           the arrivals.
 * Memory:   none beyond the result.
 * Limits:   what rank 0 has to pass on waits for rank 0's call; early data helps rank 0 alone.
 * Example:  P = 4, arrivals (0, 30, 10, 20): rank 0 collects from 2, 3, 1 as in gather_bsls.c; then 0>1 (blocks
 *           0, 2, 3), 1>2 (0, 1, 3), 2>3 (0, 1, 2) as in bcast.c, for blocks of more than 2 KiB.
 */
#include "parts.h"

void pat_bslb_build(pat_plan *plan, const pat_job *job, int rank)
{
    pat_gather_bsls_build(plan, job, rank);
    pat_part_bcast(plan, job, rank);
}

void pat_bslb_formula(pat_formula *formula, const pat_job *job)
{
    pat_gather_bsls_formula(formula, job);
    pat_part_bcast_formula(formula, job);
}

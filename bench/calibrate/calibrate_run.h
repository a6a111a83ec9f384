/*
 * calibrate_run.h — the experiments of pat-calibrate: every rank takes part, rank 0's clock counts.
 */
#ifndef CALIBRATE_RUN_H
#define CALIBRATE_RUN_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "algorithms.h"
#include "calibration.h"
#include "clock_sync.h"
#include "collective.h"

/* How long one experiment is repeated: until the mean is known well enough, within these limits. */
typedef struct calibrate_patience {
    double precision; /* half-width of the 95 % confidence interval over the mean */
    int least, most;  /* repetitions */
    double most_s;    /* and no more after so much time, but for the least; 0: however long it takes */
} calibrate_patience;

/* What to time on `comm`. Broadcasts and gathers have root 0, and its clock counts; of an all-gather the mean over ranks. */
typedef struct calibrate_job {
    const pat_algorithm *alg; /* NULL: only the closing gather */
    int64_t bytes;            /* of the message, or of one rank's block */
    int64_t
        closing_bytes; /* after a broadcast every other rank sends so many to rank 0, one by one; < 0: none */
    const pat_clock *clock; /* of all ranks: they call by it */
} calibrate_job;

typedef struct calibrate_result {
    double median_s, mean_s,
        ci_s; /* significant on rank 0; ci_s: half-width of the 95 % confidence interval */
    int runs;
    double lag1, normal_p; /* of the repetitions, see bench_stats.h */
    bool unsure;           /* the most repetitions were made, and the mean is not precise */
} calibrate_result;

/*
 * Collective over comm; for an algorithm of ours comm has all ranks of the job. `buffer` holds what the job needs:
 * calibrate_bytes.
 */
calibrate_result calibrate_time(MPI_Comm comm, const calibrate_job *job, const calibrate_patience *patience,
                                char *buffer);
size_t calibrate_bytes(const calibrate_job *job, int ranks);

/*
 * gamma(2) to gamma(num+1) as measured, not yet kept within their bounds: how many times as long as one message of so many bytes as many
 * take that are posted together. To ranks on other nodes, as far as there are so many. Collective, and the same on all ranks; num
 * less than the ranks, and at most 64.
 */
void calibrate_gammas(MPI_Comm comm, int64_t bytes, const calibrate_patience *patience, double *gammas,
                      int num);

/*
 * How many times as long a message of so many bytes takes to a rank on another node as to one on the same; 0 where rank 0 has not both.
 * Collective.
 */
double calibrate_ratio(MPI_Comm comm, int64_t bytes, const calibrate_patience *patience);

/* One run of the job, timed, on rank 0; its algorithm is in use already. Collective over comm. */
double calibrate_once(MPI_Comm comm, const calibrate_job *job, char *buffer);

/*
 * The root's clock does not see the end of what the root alone gives: a gather must close it, at least of messages without
 * bytes.
 */
static inline bool calibrate_needs_closing(const pat_algorithm *alg)
{
    return !pat_collective_of(alg->op)->all_give;
}

#endif

/*
 * calibrate_one.h — all that pat-calibrate measures of one algorithm: at which lengths, the fit of its formula, and points.
 */
#ifndef CALIBRATE_ONE_H
#define CALIBRATE_ONE_H

#include "bench_measured.h"
#include "calibrate_options.h"
#include "calibrate_place.h"
#include "link.h"

/* Closing gathers of three lengths, none a segment's: with one length alpha and beta would come in one proportion. */
enum { CALIBRATE_NUM_CLOSINGS = 3 };

/* What a rank knows while it measures. Fits are found on rank 0 alone, points on all ranks. */
typedef struct calibrate_session {
    const calibrate_options *options;
    calibrate_place place; /* on rank 0: where it goes */
    int rank, size;
    int node; /* this rank's, nodes counted in the order of their lowest ranks */
    pat_link link;
    pat_clock clock;
    pat_calibration found;
    bench_measured *measured; /* on rank 0 */
    double
        closing_s[CALIBRATE_NUM_CLOSINGS]; /* what the closing gathers take by themselves; 0: not known yet */
    bench_progress progress;
    char *buffer;
} calibrate_session;

/*
 * Is its formula to be fitted? Is it one of the MPI library's own operations that a choice is made among, and to be timed for that?
 */
bool calibrate_is_fitted(const calibrate_session *r, const pat_algorithm *alg);
bool calibrate_is_timed(const calibrate_session *r, const pat_algorithm *alg);

/* Fit its formula, and print the line of it. This and the next function are collective over all ranks. */
void calibrate_fit(calibrate_session *r, const pat_algorithm *alg);

/*
 * With how many ranks points are taken after those with so many: half as many, and where nodes have several ranks each, those of half the
 * nodes, two at least, since with others calls take other times (placing.h). Fewer than `least`: 0.
 */
int calibrate_half(const calibrate_session *r, int ranks, int least);

/* Take its points with so many of the ranks. One of ours has a formula for long messages: with fewer ranks only short ones count. */
void calibrate_points(calibrate_session *r, const pat_algorithm *alg, int ranks);

/*
 * Before experiments of another kind, collective over all ranks: nothing of a collective is prepared in the background while something else
 * is measured; and the clock, which drifts by milliseconds in the minutes that a calibration takes, is set anew.
 */
void calibrate_begin(calibrate_session *r);

/* Lengths that points are taken at; of the MPI library's own as if it were one of ours: longer it hardly takes. Returns how many. */
enum { CALIBRATE_MOST_SIZES = 20 };
int calibrate_point_sizes(const calibrate_session *r, const pat_algorithm *alg, int64_t *sizes);

/* closing_share: as in bench_known. */
bench_known calibrate_known(const calibrate_result *t, double closing_share);

/* Milliseconds that the fits still to be made will take, more or less. */
double calibrate_expected_ms(const calibrate_session *r);

/* The largest buffer that an experiment needs. */
size_t calibrate_most_bytes(const calibrate_session *r);

#endif

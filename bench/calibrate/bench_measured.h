/*
 * bench_measured.h — how well the times of a calibration are known: of every experiment its mean, confidence interval and repetitions. Kept
 * in the calibration's file, for people and for pat-calibrate; the library reads none of it.
 */
#ifndef BENCH_MEASURED_H
#define BENCH_MEASURED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench_known.h"
#include "bench_library.h"
#include "calibration.h"

enum { BENCH_MOST_MEASURED = PAT_MAX_POINTS + 1024 };

typedef struct bench_experiment {
    bool is_point; /* of the MPI library's own operations and of corrections; else of a fit */
    int alg, ranks;
    int64_t bytes;
    /* Of a fit's broadcast: a rank's block in the gather that closes it; negative: none. */
    int64_t closing_bytes;
    /* The median. The closing gather is in a fit's, and taken out of a point's, as out of its mean. */
    double us;
    bench_known known;
} bench_experiment;

typedef struct bench_measured {
    int num_apart; /* gammas of which it is known how far two measurements were apart, as part of their mean */
    double gammas_apart[PAT_MAX_GAMMAS];
    bench_library library; /* the MPI library's own algorithms, each forced */
    int num;
    bench_experiment of[BENCH_MOST_MEASURED];
} bench_measured;

/* Add one. Beyond BENCH_MOST_MEASURED it is left out. */
void bench_measured_add(bench_measured *m, const bench_experiment *e);

/*
 * The means of gammas that were measured twice, each kept between 1 and its number of receivers and never falling; and into *m how far the
 * two were apart as they were measured.
 */
void bench_measured_gammas(bench_measured *m, const double *once, const double *again, double *gammas,
                           int num);

/* The greatest of these distances; 0: none is known. */
double bench_measured_gammas_apart(const bench_measured *m);

/* Forget the experiments of an algorithm's fit: it is fitted anew. */
void bench_measured_forget_fit(bench_measured *m, int alg);

/*
 * Of experiments, of one algorithm's fit or of all: how many are not precise; the least and the greatest share of the closing gather,
 * negative where none has one.
 */
typedef struct bench_quality {
    int num, unsure;
    int dependent, not_normal; /* of which independence or a normal distribution is to be rejected, at 5 % */
    double least_share, most_share;
} bench_quality;

bench_quality bench_measured_quality(const bench_measured *m, int alg);
bench_quality bench_measured_quality_of_all(const bench_measured *m);

/* An experiment of a fit that says more of the closing gather than of the broadcast, though the message is of 64 KiB or more? */
bool bench_measured_is_closing(const bench_experiment *e);

/*
 * Write a calibration and how well its times are known, and read the latter. A file without it, which an older version has written, has
 * none. Return as pat_calibration_write and pat_calibration_read do.
 */
int bench_measured_write(const pat_calibration *c, const bench_measured *m, const char *path, bool own);
int bench_measured_read(bench_measured *m, const char *path, char *why, size_t why_size);

#endif

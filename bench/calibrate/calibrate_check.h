/*
 * calibrate_check.h — is the choice by calibration a good one?
 */
#ifndef CALIBRATE_CHECK_H
#define CALIBRATE_CHECK_H

#include <stdbool.h>

#include "calibrate_run.h"

/*
 * Collective over all ranks of the job: times every broadcast and gather that the calibration knows, interleaved, and prints
 * for each size the fastest, the chosen one and the MPI library's own, then what was lost on the whole and how far
 * predictions were off. Sizes up to those that take longest_s.
 */
void calibrate_check(const pat_calibration *c, const calibrate_patience *patience, double longest_s,
                     bool quick);

#endif

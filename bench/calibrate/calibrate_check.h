/*
 * calibrate_check.h — is the choice by calibration a good one?
 */
#ifndef CALIBRATE_CHECK_H
#define CALIBRATE_CHECK_H

#include "calibrate_options.h"
#include "calibration.h"

/*
 * Collective over all ranks of the job: times every broadcast and gather that the calibration knows, interleaved, and prints
 * for each size the fastest, the chosen one and the MPI library's own, then what was lost on the whole and how far
 * predictions were off. Beside them what Open MPI 3.1 would take (calibrate_rule.h). Sizes up to those that take longest_s; of the collective
 * that the options name, or of all.
 */
void calibrate_check(const pat_calibration *c, const calibrate_options *o);

#endif

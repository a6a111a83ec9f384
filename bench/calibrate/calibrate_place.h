/*
 * calibrate_place.h — where pat-calibrate keeps what it has found, and where it finds it again: the file of --out, or one of the store, in
 * which the library looks by itself.
 */
#ifndef CALIBRATE_PLACE_H
#define CALIBRATE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "calibrate_options.h"
#include "calibration.h"

/*
 * Can a calibration be kept? Asked before anything is measured; makes the store's directory where it is missing and wanted. Collective over
 * all ranks; where the answer is no, rank 0 says why.
 */
bool calibrate_place_is_good(const calibrate_options *o, int rank);

/*
 * On rank 0, when machine, ranks and link are known: the file that it goes to. Without --out that is one of the store that was measured
 * with as many ranks over the same network, or a new one. `room` has place for a path; NULL: it does not fit.
 */
const char *calibrate_place(const calibrate_options *o, const pat_calibration *found, char *room,
                            size_t size);

/*
 * Collective over all ranks, between PAT_Init and PAT_Finalize: what an earlier start has kept, by --out, or else what the library would take
 * here. The caller's to free; NULL: there is none, and rank 0 says why.
 */
pat_calibration *calibrate_place_read(const calibrate_options *o, int rank);

#endif

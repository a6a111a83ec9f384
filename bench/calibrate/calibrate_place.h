/*
 * calibrate_place.h — where pat-calibrate keeps what it has found, and where it finds it again: the file of --out, or one of the store, in
 * which the library looks by itself.
 */
#ifndef CALIBRATE_PLACE_H
#define CALIBRATE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

#include "bench_measured.h"
#include "calibrate_options.h"
#include "store.h"

/*
 * Can a calibration be kept? Asked before anything is measured; makes the store's directory where it is missing and wanted. Collective over
 * all ranks; where the answer is no, rank 0 says why.
 */
bool calibrate_place_is_good(const calibrate_options *o, int rank);

/*
 * The files of one calibration. out: what is written while it is measured; kept: what that is called when it is whole, by which name the
 * library finds it. With --out it keeps its name, and kept is NULL.
 */
typedef struct calibrate_place {
    const char *out, *kept;
    char room[2][PAT_STORE_PATH];
} calibrate_place;

/*
 * On rank 0, when machine, ranks and link are known: where it goes. Without --out that is a file of the store that was measured with as many
 * ranks over the same network, whole or not, or a new one. False: the path does not fit.
 */
bool calibrate_place_find(const calibrate_options *o, const pat_calibration *found, calibrate_place *place);

/*
 * On rank 0: read what there is to go on with, what is not whole yet before what is; *from is where it was. Returns as
 * pat_calibration_read does: ENOENT where there is nothing.
 */
int calibrate_place_before(const calibrate_place *place, pat_calibration *c, const char **from, char *why,
                           size_t why_size);

/* On rank 0: write what was found so far, and how well it is known. Returns 0 or an error number. */
int calibrate_place_save(const calibrate_place *place, const pat_calibration *c, const bench_measured *m);

/* On rank 0: it is whole, and gets its name; nothing happens where nothing was saved. Returns 0 or an error number. */
int calibrate_place_end(const calibrate_place *place);

/*
 * Collective over all ranks, between PAT_Init and PAT_Finalize: what an earlier start has kept, by --out, or else what the library would take
 * here. The caller's to free; NULL: there is none, and rank 0 says why.
 */
pat_calibration *calibrate_place_read(const calibrate_options *o, int rank);

#endif

/*
 * info_calibration.h — which calibration a program would take here, and why none of the others. The rules are the library's own (store.h,
 * machine.h); nothing of them is known here.
 */
#ifndef INFO_CALIBRATION_H
#define INFO_CALIBRATION_H

#include <jansson.h>
#include <mpi.h>

#include "calibration.h"
#include "config.h"
#include "store.h"

/* What is taken. The caller frees `given` and `stored`. */
typedef struct info_taken {
    const pat_calibration *calibration; /* in one of the next two; NULL: none */
    pat_calibration *given;             /* that of PAT_CALIBRATION */
    pat_stored *stored;                 /* what the store holds of this machine */
    int error; /* of MPI, or that PAT_CALIBRATION names no calibration of this machine */
} info_taken;

/*
 * Collective over comm. wish: what for, with the rate 0 where auto does not choose here, so that no calibration is looked at. On every rank an object,
 * which is complete on rank 0: the file that is taken, the store's directory, the files there, and whatever else is to be said.
 */
json_t *info_calibration(MPI_Comm comm, const pat_config *config, const pat_store_wish *wish,
                         info_taken *taken);

#endif

/*
 * machine.h — the machine that a calibration is made on: the processor, the MPI library, the ranks on a node of the cluster.
 */
#ifndef PAT_MACHINE_H
#define PAT_MACHINE_H

#include <mpi.h>

#include "calibration.h"
#include "config.h"
#include "store.h"

/*
 * Collective over comm. *alike: all ranks have the same processor, MPI library and number of processing units, and all
 * nodes have as many ranks; only then do formulas give the same bits everywhere. *placing: how comm's ranks are placed. Returns an MPI error code.
 */
int pat_machine_find(MPI_Comm comm, pat_machine *machine, pat_placing *placing, bool *alike);

/*
 * Collective over comm: rank 0 reads the file of PAT_CALIBRATION, and all ranks get what is in it, or none. *out is the
 * caller's to free. Returns MPI_ERR_ARG, with a text, for a file that cannot be used here: broken, of another machine, of ranks that were placed
 * in another way than comm's, or of another network.
 */
int pat_machine_calibration(MPI_Comm comm, const pat_config *config, pat_calibration **out);

/*
 * Collective over comm: rank 0 reads what the store holds of this machine (pat_store_read), and all ranks get it, or none. *all is the
 * caller's to free; NULL where *num is 0. listener: who is told on rank 0 of files that are not taken, or NULL. Returns an MPI error code;
 * that there is nothing to be used is no error.
 */
int pat_machine_stored(MPI_Comm comm, const pat_store_listener *listener, pat_stored **all, int *num);

/*
 * Collective over comm, on ranks that have the same list and wish: which of what is stored they take (pat_store_nearest); NULL in *taken:
 * none. It is of use only where all ranks come to the same bits by it, which they tell each other here. listener: who is told of the others, or
 * NULL. Returns an MPI error code; then none is taken.
 */
int pat_machine_take(MPI_Comm comm, pat_stored *all, int num, const pat_store_wish *wish,
                     const pat_store_listener *listener, pat_stored **taken);

#endif

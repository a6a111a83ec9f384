/*
 * info_auto.h — what the algorithms that choose would do here, length by length. The rules are the library's own,
 * asked by one call (pat_select_verdict); nothing of them is known here.
 */
#ifndef INFO_AUTO_H
#define INFO_AUTO_H

#include <jansson.h>
#include <mpi.h>

#include "config.h"

/*
 * Collective over comm: measures the link where PAT_LINK does not say it. On every rank an object: the link, what is gone by,
 * and for every collective that is chosen so a list of ranges of bytes per rank with who runs them; or why that is not known. copies: ranks of a node wake each other and copy from each other's memory.
 * *calibration: what info_calibration says.
 */
json_t *info_auto(MPI_Comm comm, const pat_config *config, bool copies, json_t **calibration);

#endif

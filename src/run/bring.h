/*
 * bring.h — the buffers that the round of a call works on: the application's, or the library's where their types are not plain.
 */
#ifndef PAT_BRING_H
#define PAT_BRING_H

#include "comm.h"

/*
 * *home: where the result of the call under way goes. *own: from where the plan copies this rank's contribution; NULL: it is in its place.
 * The caller holds c's lock. Returns an MPI error code: MPI_ERR_NO_MEM where there is no memory to pack.
 */
int pat_bring_buffers(pat_comm *c, char **home, const char **own);

#endif

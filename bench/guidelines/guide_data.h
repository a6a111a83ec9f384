/*
 * guide_data.h — the buffers of a call, and what must stand in them when it is done: what the MPI library's own call has put there.
 */
#ifndef GUIDE_DATA_H
#define GUIDE_DATA_H

#include "guide_side.h"

typedef struct guide_data {
    pat_mock_call call; /* bytes, joined by MPI_BOR where it reduces */
    unsigned char *send, *recv, *wanted;
    size_t send_bytes, recv_bytes;
    bool has_result; /* on this rank */
    bool gives;      /* what a broadcast's root has in recv is what it gives */
} guide_data;

/*
 * For a call of the collective over the communicator: `bytes` of a rank's part where every rank has its own, else of the whole vector. Makes the native call once. NULL,
 * or why there is none, the same on all ranks.
 */
const char *guide_data_make(guide_data *d, const guide_side *side, int64_t bytes, int root, MPI_Comm comm,
                            pat_mock_scratch *scratch);
void guide_data_free(guide_data *d);

/* Wipe the result, before a call that is looked at; false on all ranks alike where what stands there is wrong. */
void guide_data_wipe(guide_data *d);
bool guide_data_is_right(const guide_data *d);

#endif

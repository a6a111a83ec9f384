/*
 * mock_scratch.h — inside of the scratch: two pools that are taken from one end, and given back as a whole when the call is over.
 */
#ifndef PAT_MOCK_SCRATCH_H
#define PAT_MOCK_SCRATCH_H

#include "mock_nodes.h"
#include "mockups.h"

typedef struct pat_mock_pool {
    char *memory;
    int64_t bytes, used, peak;
} pat_mock_pool;

struct pat_mock_scratch {
    pat_mock_pool data, ints;
    int ranks_per_node;
    int keyval;            /* of a communicator: its pat_mock_nodes */
    pat_mock_nodes *nodes; /* of all communicators that have them */
};

#endif

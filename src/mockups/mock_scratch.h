/*
 * mock_scratch.h — inside of the scratch: pairs of pools, one for each call that is run at the same time. A pool is taken from one end, and
 * given back as a whole when the call is over.
 */
#ifndef PAT_MOCK_SCRATCH_H
#define PAT_MOCK_SCRATCH_H

#include <pthread.h>
#include <stdatomic.h>

#include "mock_nodes.h"
#include "mockups.h"

typedef struct pat_mock_pool {
    char *memory;
    int64_t bytes, used;
} pat_mock_pool;

typedef struct pat_mock_pools {
    pat_mock_pool data, ints;
    int64_t data_peak, int_peak; /* of one call */
    struct pat_mock_pools *next;
} pat_mock_pools;

struct pat_mock_scratch {
    int64_t data_bytes, int_bytes; /* of each pair of pools */
    pat_mock_all_nodes nodes;
    _Atomic(pat_mock_pools *)
        spare; /* that no call uses: for the next one, without a lock; NULL: it is in use */
    pthread_mutex_t lock;
    pat_mock_pools *idle; /* others that no call uses; under the lock */
};

/* For a call of the calling thread: pools that no other one uses, made where there are none left. NULL: no memory. */
pat_mock_pools *pat_mock_pools_take(pat_mock_scratch *scratch);
void pat_mock_pools_give(pat_mock_scratch *scratch, pat_mock_pools *pools);

#endif

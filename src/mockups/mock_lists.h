/*
 * mock_lists.h — the mock-ups, by the collectives that they stand for: each file has its own, and mock_list.c puts them in one list.
 */
#ifndef PAT_MOCK_LISTS_H
#define PAT_MOCK_LISTS_H

#include "mockups.h"

/* Each ends with an entry without a name. */
extern const pat_mock pat_mocks_allgather[], pat_mocks_allreduce[], pat_mocks_alltoall[], pat_mocks_bcast[],
    pat_mocks_gather[], pat_mocks_reduce[], pat_mocks_reduce_scatter_block[], pat_mocks_scan[],
    pat_mocks_scatter[];

#endif

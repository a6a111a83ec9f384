/*
 * mock_list.c — see mockups.h: all mock-ups, collective after collective.
 */
#include <string.h>

#include "mock_lists.h"

static const pat_mock *const lists[] = {pat_mocks_allgather,
                                        pat_mocks_allreduce,
                                        pat_mocks_alltoall,
                                        pat_mocks_bcast,
                                        pat_mocks_gather,
                                        pat_mocks_reduce,
                                        pat_mocks_reduce_scatter_block,
                                        pat_mocks_scan,
                                        pat_mocks_scatter};

const pat_mock *pat_mock_at(int i)
{
    for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]) && i >= 0; l++)
        for (const pat_mock *m = lists[l]; m->name; m++)
            if (i-- == 0)
                return m;
    return NULL;
}

const pat_mock *pat_mock_find(const char *mpi_name, const char *name)
{
    for (size_t l = 0; l < sizeof(lists) / sizeof(lists[0]); l++)
        for (const pat_mock *m = lists[l]; m->name && strcmp(m->mpi_name, mpi_name) == 0; m++)
            if (strcmp(m->name, name) == 0)
                return m;
    return NULL;
}

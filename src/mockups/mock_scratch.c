/*
 * mock_scratch.c — see mockups.h: memory that is made once.
 */
#include "mock_scratch.h"

#include <stdlib.h>

static bool make_pool(pat_mock_pool *pool, size_t bytes)
{
    enum { LINE = 64 };
    pool->bytes = (int64_t)bytes;
    return bytes <= INT64_MAX - LINE && posix_memalign((void **)&pool->memory, LINE, bytes ? bytes : 1) == 0;
}

pat_mock_scratch *pat_mock_scratch_make(size_t data_bytes, size_t int_bytes, int ranks_per_node)
{
    pat_mock_scratch *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->ranks_per_node = ranks_per_node;
    s->keyval = MPI_KEYVAL_INVALID;
    if (make_pool(&s->data, data_bytes) && make_pool(&s->ints, int_bytes) &&
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, pat_mock_nodes_delete, &s->keyval, NULL) ==
            MPI_SUCCESS)
        return s;
    pat_mock_scratch_free(s);
    return NULL;
}

void pat_mock_scratch_free(pat_mock_scratch *s)
{
    if (!s)
        return;
    while (s->nodes) /* which its removal takes out of the list */
        PMPI_Comm_delete_attr(s->nodes->user, s->keyval);
    if (s->keyval != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&s->keyval);
    free(s->data.memory);
    free(s->ints.memory);
    free(s);
}

pat_mock_need pat_mock_scratch_peak(const pat_mock_scratch *s)
{
    return (pat_mock_need){.data_bytes = s->data.peak, .int_bytes = s->ints.peak};
}

void pat_mock_scratch_reset_peak(pat_mock_scratch *s)
{
    s->data.peak = s->ints.peak = 0;
}

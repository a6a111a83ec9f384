/*
 * mock_alltoall.c — all-to-alls made of other collectives.
 */
#include "mock_lists.h"
#include "mock_parts.h"

static int native(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    return PMPI_Alltoall(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type, c->comm);
}

static int as_alltoallv_by(pat_mock_parts *p, int count, int stride, MPI_Datatype send_type,
                           MPI_Datatype recv_type)
{
    const pat_mock_call *c = &p->call;
    int *counts = pat_mock_take_ints(p, p->size), *begins = pat_mock_take_ints(p, p->size);
    for (int r = 0; r < p->size; r++) {
        counts[r] = count;
        begins[r] = r * stride;
    }
    return PMPI_Alltoallv(c->send, counts, begins, send_type, c->recv, counts, begins, recv_type, c->comm);
}

/* One pair of lists does for both sides; where these count by different items, a block is one of both. */
static int as_alltoallv(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    if (p->in_place || c->send_count == c->recv_count)
        return as_alltoallv_by(p, c->recv_count, c->recv_count, p->in_place ? c->recv_type : c->send_type,
                               c->recv_type);
    pat_mock_whole whole;
    int rc = pat_mock_whole_make(p, &whole);
    if (rc == MPI_SUCCESS)
        rc = as_alltoallv_by(p, 1, 1, whole.send, whole.recv);
    pat_mock_whole_free(&whole);
    return rc;
}

/* ---- Messages --------------------------------------------------------------------------------------------- */

/* In place a block is kept while the one that takes its place comes in. */
static void need_a_block(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->total;
    need->data_bytes = p->in_place ? p->block : 0;
}

enum { TAG = 2 };

/* With each other rank in the step that has the number of both ranks' sum, so that both come to it in the same step. */
static int exchange_in_place(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    char *kept = pat_mock_take(p, p->block);
    int rc = MPI_SUCCESS;
    for (int step = 0; step < p->size && rc == MPI_SUCCESS; step++) {
        const int other = (step - p->rank + p->size) % p->size;
        void *block = pat_mock_recv_block(p, other);
        if (other == p->rank)
            continue;
        rc = pat_mock_pack(p, block, c->recv_count, c->recv_type, p->recv_plain, kept, p->block);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Sendrecv(kept, (int)p->block, MPI_BYTE, other, TAG, block, c->recv_count, c->recv_type,
                               other, TAG, p->nodes->own, MPI_STATUS_IGNORE);
    }
    return rc;
}

static int as_pairs(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    if (p->in_place)
        return exchange_in_place(p);
    int rc = pat_mock_move(p, pat_mock_send_block(p, p->rank), c->send_count, c->send_type, p->send_plain,
                           pat_mock_recv_block(p, p->rank));
    for (int step = 1; step < p->size && rc == MPI_SUCCESS; step++) {
        const int to = (p->rank + step) % p->size, from = (p->rank - step + p->size) % p->size;
        rc = PMPI_Sendrecv(pat_mock_send_block(p, to), c->send_count, c->send_type, to, TAG,
                           pat_mock_recv_block(p, from), c->recv_count, c->recv_type, from, TAG,
                           p->nodes->own, MPI_STATUS_IGNORE);
    }
    return rc;
}

#define MOCK .cli_name = "alltoall", .mpi_name = "MPI_Alltoall", .kind = PAT_MOCK_BLOCKS
const pat_mock pat_mocks_alltoall[] = {
    {MOCK, .name = "default", .made_of = "the MPI library's own", .run = native},
    {MOCK, .name = "alltoall_as_alltoallv", .made_of = "Alltoallv", .pattern = 8,
     .needs = pat_mock_need_two_lists, .run = as_alltoallv},
    {MOCK, .name = "alltoall_pairwise", .made_of = "messages, one partner at a time",
     .topology = PAT_MOCK_NODES, .needs = need_a_block, .run = as_pairs},
    {.name = NULL}};

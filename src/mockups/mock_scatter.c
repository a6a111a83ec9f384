/*
 * mock_scatter.c — scatters made of other collectives.
 */
#include "mock_lists.h"
#include "mock_parts.h"

static int native(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    return PMPI_Scatter(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type, c->root,
                        c->comm);
}

/* Ranks may count by different items, so all is sent as bytes. */
static int as_bcast(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    char *room = pat_mock_take(p, p->total);
    const bool is_root = p->rank == c->root;
    void *all = is_root && p->send_plain ? (void *)(uintptr_t)c->send : room;
    int rc = MPI_SUCCESS;
    if (is_root && !p->send_plain)
        rc = pat_mock_pack(p, c->send, (int64_t)p->size * c->send_count, c->send_type, false, room, p->total);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Bcast(all, (int)p->total, MPI_BYTE, c->root, c->comm);
    if (rc != MPI_SUCCESS || p->in_place)
        return rc;
    return pat_mock_unpack(p, (const char *)all + p->rank * p->block, p->block, c->recv, c->recv_count,
                           c->recv_type, p->recv_plain);
}

static int as_scatterv(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    int *counts = pat_mock_take_ints(p, p->size), *begins = pat_mock_take_ints(p, p->size);
    for (int r = 0; r < p->size && p->rank == c->root; r++) {
        counts[r] = c->send_count;
        begins[r] = r * c->send_count;
    }
    return PMPI_Scatterv(c->send, counts, begins, c->send_type, c->recv, c->recv_count, c->recv_type, c->root,
                         c->comm);
}

#define MOCK .cli_name = "scatter", .mpi_name = "MPI_Scatter", .is_rooted = true, .kind = PAT_MOCK_SCATTER
const pat_mock pat_mocks_scatter[] = {
    {MOCK, .name = "default", .made_of = "the MPI library's own", .run = native},
    {MOCK, .name = "scatter_as_bcast", .made_of = "Bcast", .pattern = 21, .needs = pat_mock_need_all_blocks,
     .run = as_bcast},
    {MOCK, .name = "scatter_as_scatterv", .made_of = "Scatterv", .pattern = 22,
     .needs = pat_mock_need_two_lists, .run = as_scatterv},
    {.name = NULL}};

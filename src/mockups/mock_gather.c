/*
 * mock_gather.c — gathers made of other collectives.
 */
#include <string.h>

#include "mock_lists.h"
#include "mock_parts.h"

static int native(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    return PMPI_Gather(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type, c->root,
                       c->comm);
}

/* Everybody's blocks, packed; at the root too, so that all ranks decide alike. */
static void need_all_blocks(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = need->data_bytes = p->total;
}

static void need_two_lists(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->total;
    need->int_bytes = pat_mock_two_lists(p);
}

/* A root in place cannot be so in an all-gather: its block is taken from a copy. */
static int as_allgather(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    char *room = pat_mock_take(p, p->total);
    const int bytes = (int)p->block;
    const bool direct = p->rank == c->root;
    int rc = MPI_SUCCESS;
    if (p->in_place) {
        rc = pat_mock_pack(p, p->own, p->own_count, p->own_type, p->own_plain, room, p->block);
        p->own = room;
        p->own_count = bytes;
        p->own_type = MPI_BYTE;
    }
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allgather(p->own, p->own_count, p->own_type, direct ? c->recv : room,
                            direct ? c->recv_count : bytes, direct ? c->recv_type : MPI_BYTE, c->comm);
    return rc;
}

static int as_gatherv(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    int *counts = pat_mock_take_ints(p, p->size), *begins = pat_mock_take_ints(p, p->size);
    for (int r = 0; r < p->size && p->rank == c->root; r++) {
        counts[r] = c->recv_count;
        begins[r] = r * c->recv_count;
    }
    return PMPI_Gatherv(c->send, c->send_count, c->send_type, c->recv, counts, begins, c->recv_type, c->root,
                        c->comm);
}

/* Zeros but for the own block, which are joined by bits. */
static int as_reduce(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    char *room = pat_mock_take(p, p->total), *block = room + p->rank * p->block;
    const bool is_root = p->rank == c->root, direct = is_root && p->recv_plain;
    memset(room, 0, (size_t)(block - room));
    memset(block + p->block, 0, (size_t)(room + p->total - (block + p->block)));
    int rc = pat_mock_pack(p, p->own, p->own_count, p->own_type, p->own_plain, block, p->block);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Reduce(is_root && !direct ? MPI_IN_PLACE : room,
                         direct    ? c->recv
                         : is_root ? room
                                   : NULL,
                         (int)p->total, MPI_BYTE, MPI_BOR, c->root, c->comm);
    if (rc != MPI_SUCCESS || !is_root || direct)
        return rc;
    return pat_mock_unpack(p, room, p->total, c->recv, (int64_t)p->size * c->recv_count, c->recv_type, false);
}

#define MOCK .cli_name = "gather", .mpi_name = "MPI_Gather", .is_rooted = true, .kind = PAT_MOCK_GATHER
const pat_mock pat_mocks_gather[] = {
    {MOCK, .name = "default", .made_of = "the MPI library's own", .run = native},
    {MOCK, .name = "gather_as_allgather", .made_of = "Allgather", .pattern = 11, .needs = need_all_blocks,
     .run = as_allgather},
    {MOCK, .name = "gather_as_gatherv", .made_of = "Gatherv", .pattern = 12, .needs = need_two_lists,
     .run = as_gatherv},
    {MOCK, .name = "gather_as_reduce", .made_of = "Reduce", .pattern = 13, .needs = need_all_blocks,
     .run = as_reduce},
    {.name = NULL}};

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

/*
 * Where what a root receives does not lie as it is packed, the result comes out beside what the root gives, and only without room for that in
 * its place: MPICH 4.0's reduction in place, to another root than rank 0 and of more than 2 KiB, ends the program.
 */
static bool receives_beside(const pat_mock_parts *p)
{
    return p->rank == p->call.root && !p->recv_plain && pat_mock_has_room(p, 2 * p->total);
}

static void need_blocks_to_reduce(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->total;
    need->data_bytes = !p->alike && receives_beside(p) ? 2 * p->total : p->total;
}

/* Zeros but for the own block, which are joined by bits. */
static int as_reduce(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    const bool is_root = p->rank == c->root, beside = receives_beside(p);
    char *room = pat_mock_take(p, p->total), *block = room + p->rank * p->block;
    void *all = !is_root ? NULL : p->recv_plain ? c->recv : beside ? pat_mock_take(p, p->total) : room;
    memset(room, 0, (size_t)(block - room));
    memset(block + p->block, 0, (size_t)(room + p->total - (block + p->block)));
    int rc = pat_mock_pack(p, p->own, p->own_count, p->own_type, p->own_plain, block, p->block);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Reduce(all == room ? MPI_IN_PLACE : room, all, (int)p->total, MPI_BYTE, MPI_BOR, c->root,
                         c->comm);
    if (rc != MPI_SUCCESS || !is_root || p->recv_plain)
        return rc;
    return pat_mock_unpack(p, all, p->total, c->recv, (int64_t)p->size * c->recv_count, c->recv_type, false);
}

#define MOCK .cli_name = "gather", .mpi_name = "MPI_Gather", .is_rooted = true, .kind = PAT_MOCK_GATHER
const pat_mock pat_mocks_gather[] = {
    {MOCK, .name = "default", .made_of = "the MPI library's own", .run = native},
    {MOCK, .name = "gather_as_allgather", .made_of = "Allgather", .pattern = 11,
     .needs = pat_mock_need_all_blocks, .run = as_allgather},
    {MOCK, .name = "gather_as_gatherv", .made_of = "Gatherv", .pattern = 12, .needs = pat_mock_need_two_lists,
     .run = as_gatherv},
    {MOCK, .name = "gather_as_reduce", .made_of = "Reduce", .pattern = 13, .needs = need_blocks_to_reduce,
     .run = as_reduce},
    {.name = NULL}};

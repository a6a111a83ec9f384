/*
 * mock_allgather.c — all-gathers made of other collectives.
 */
#include <string.h>

#include "mock_lists.h"
#include "mock_parts.h"

static int native(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    return PMPI_Allgather(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type,
                          c->comm);
}

static void need_nothing(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->total;
}

static int unpack_all(const pat_mock_parts *p, const char *all)
{
    const pat_mock_call *c = &p->call;
    return pat_mock_unpack(p, all, p->total, c->recv, (int64_t)p->size * c->recv_count, c->recv_type,
                           p->recv_plain);
}

static bool packs_all(const pat_mock_parts *p)
{
    return !p->recv_plain && pat_mock_has_room(p, p->total);
}

static void need_all_to_pack(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->total;
    need->data_bytes = !p->alike && packs_all(p) ? p->total : 0;
}

static int bcast_packed(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    char *all = pat_mock_take(p, p->total);
    int rc = MPI_SUCCESS;
    if (p->rank == 0)
        rc = pat_mock_pack(p, c->recv, (int64_t)p->size * c->recv_count, c->recv_type, false, all, p->total);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Bcast(all, (int)p->total, MPI_BYTE, 0, c->comm);
    return rc == MPI_SUCCESS && p->rank != 0 ? unpack_all(p, all) : rc;
}

static int as_gather_bcast(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    const void *own = p->rank == 0 && p->in_place ? MPI_IN_PLACE : p->own;
    int rc = PMPI_Gather(own, p->own_count, p->own_type, c->recv, c->recv_count, c->recv_type, 0, c->comm);
    if (rc != MPI_SUCCESS)
        return rc;
    if (packs_all(p))
        return bcast_packed(p);
    return p->recv_plain ? PMPI_Bcast(c->recv, (int)p->total, MPI_BYTE, 0, c->comm)
                         : PMPI_Bcast(c->recv, p->size * c->recv_count, c->recv_type, 0, c->comm);
}

/*
 * The same block for everybody. On 12 ranks and more Open MPI's all-to-all of short blocks takes what is sent as lying as what is received,
 * so where that is not as it is packed, packed blocks are received.
 */
static bool receives_packed(const pat_mock_parts *p)
{
    return !p->recv_plain && pat_mock_has_room(p, 2 * p->total);
}

static void need_blocks_twice(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->total;
    need->data_bytes = !p->alike && receives_packed(p) ? 2 * p->total : p->total;
}

static int as_alltoall(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    const bool packed = receives_packed(p);
    char *same = pat_mock_take(p, p->total), *all = packed ? pat_mock_take(p, p->total) : c->recv;
    int rc = pat_mock_pack(p, p->own, p->own_count, p->own_type, p->own_plain, same, p->block);
    for (int64_t have = p->block; have < p->total;) {
        const int64_t more = have < p->total - have ? have : p->total - have;
        memcpy(same + have, same, (size_t)more);
        have += more;
    }
    if (rc == MPI_SUCCESS)
        rc = packed || p->recv_plain
                 ? PMPI_Alltoall(same, (int)p->block, MPI_BYTE, all, (int)p->block, MPI_BYTE, c->comm)
                 : PMPI_Alltoall(same, (int)p->block, MPI_BYTE, all, c->recv_count, c->recv_type, c->comm);
    return rc == MPI_SUCCESS && packed ? unpack_all(p, all) : rc;
}

/* Zeros but for the own block, which are joined by bits: in the user's buffer, if its bytes lie as they are packed. */
static int as_allreduce(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    char *packed = pat_mock_take(p, p->total);
    char *all = p->recv_plain ? c->recv : packed;
    char *block = all + p->rank * p->block;
    int rc = MPI_SUCCESS;
    if (!p->recv_plain || !p->in_place)
        rc = pat_mock_pack(p, p->own, p->own_count, p->own_type, p->own_plain, block, p->block);
    if (p->total > 0) {
        memset(all, 0, (size_t)(block - all));
        memset(block + p->block, 0, (size_t)(all + p->total - (block + p->block)));
    }
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allreduce(MPI_IN_PLACE, all, (int)p->total, MPI_BYTE, MPI_BOR, c->comm);
    return rc == MPI_SUCCESS && !p->recv_plain ? unpack_all(p, all) : rc;
}

/* Is what is sent, or received, not as it is packed, and is there room to make it so? */
static bool packs_lists(const pat_mock_parts *p)
{
    return !(p->own_plain && p->recv_plain) && pat_mock_has_room(p, p->total + p->block);
}

static void need_lists_to_pack(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->total;
    need->int_bytes = pat_mock_two_lists(p);
    need->data_bytes = !p->alike && packs_lists(p) ? p->total + p->block : 0;
}

static int allgatherv(pat_mock_parts *p, const void *own, MPI_Datatype own_type, void *all,
                      MPI_Datatype all_type, int count)
{
    int *counts = pat_mock_take_ints(p, p->size), *begins = pat_mock_take_ints(p, p->size);
    for (int r = 0; r < p->size; r++) {
        counts[r] = count;
        begins[r] = r * count;
    }
    return PMPI_Allgatherv(p->in_place ? MPI_IN_PLACE : own, count, own_type, all, counts, begins, all_type,
                           p->call.comm);
}

static int allgatherv_packed(pat_mock_parts *p)
{
    char *all = pat_mock_take(p, p->total), *block = pat_mock_take(p, p->block);
    char *own = p->in_place ? all + p->rank * p->block : block;
    int rc = pat_mock_pack(p, p->own, p->own_count, p->own_type, p->own_plain, own, p->block);
    if (rc == MPI_SUCCESS)
        rc = allgatherv(p, own, MPI_BYTE, all, MPI_BYTE, (int)p->block);
    return rc == MPI_SUCCESS ? unpack_all(p, all) : rc;
}

/*
 * Open MPI takes the length of the call, by which it chooses how to run it, for the received counts of items of the type that is sent: both
 * sides must count alike, or ranks with other types would choose otherwise.
 */
static int as_allgatherv(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    pat_mock_whole whole;
    if (p->own_plain && p->recv_plain)
        return allgatherv(p, c->send, MPI_BYTE, c->recv, MPI_BYTE, (int)p->block);
    if (packs_lists(p))
        return allgatherv_packed(p);
    int rc = pat_mock_whole_make(p, &whole);
    if (rc == MPI_SUCCESS)
        rc = allgatherv(p, c->send, whole.send, c->recv, whole.recv, 1);
    pat_mock_whole_free(&whole);
    return rc;
}

/* ---- Node by node ----------------------------------------------------------------------------------------- */

static void need_by_nodes(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = need->data_bytes = p->total;
    need->int_bytes = 2 * (int64_t)sizeof(int) * p->nodes->num;
}

static int unpack_places(pat_mock_parts *p, const char *all)
{
    const pat_mock_call *c = &p->call;
    int rc = MPI_SUCCESS;
    for (int r = 0; r < p->size && rc == MPI_SUCCESS; r++)
        rc = pat_mock_unpack(p, all + p->nodes->place[r] * p->block, p->block, pat_mock_recv_block(p, r),
                             c->recv_count, c->recv_type, p->recv_plain);
    return rc;
}

/* Leaders collect their nodes' blocks and exchange them; blocks stand node by node, in the user's buffer where that is their order anyway. */
static int by_nodes(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    const pat_mock_nodes *n = p->nodes;
    char *packed = pat_mock_take(p, p->total);
    int *counts = pat_mock_take_ints(p, n->num), *begins = pat_mock_take_ints(p, n->num);
    const bool direct = p->recv_plain && n->consecutive;
    char *all = direct ? c->recv : packed;
    char *block = all + n->place[p->rank] * p->block;
    const int bytes = (int)p->block;
    int rc = MPI_SUCCESS;
    if (!direct || !p->in_place)
        rc = pat_mock_pack(p, p->own, p->own_count, p->own_type, p->own_plain, block, p->block);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Gather(n->number == 0 ? MPI_IN_PLACE : block, bytes, MPI_BYTE, block, bytes, MPI_BYTE, 0,
                         n->node);
    for (int i = 0; i < n->num; i++) {
        begins[i] = n->begin[i] * bytes;
        counts[i] = n->begin[i + 1] * bytes - begins[i];
    }
    if (rc == MPI_SUCCESS && n->number == 0)
        rc = PMPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, counts, begins, MPI_BYTE, n->lane);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Bcast(all, (int)p->total, MPI_BYTE, 0, n->node);
    return rc == MPI_SUCCESS && !direct ? unpack_places(p, all) : rc;
}

/* ---- Messages --------------------------------------------------------------------------------------------- */

/* Every block goes round: each step a rank gets the next one from its left. */
static int as_ring(pat_mock_parts *p)
{
    enum { TAG = 1 };
    const pat_mock_call *c = &p->call;
    const int right = (p->rank + 1) % p->size, left = (p->rank + p->size - 1) % p->size;
    int rc = MPI_SUCCESS;
    if (!p->in_place)
        rc = pat_mock_move(p, p->own, p->own_count, p->own_type, p->own_plain,
                           pat_mock_recv_block(p, p->rank));
    for (int step = 1; step < p->size && rc == MPI_SUCCESS; step++) {
        const int out = (p->rank - step + 1 + p->size) % p->size, in = (p->rank - step + p->size) % p->size;
        rc = PMPI_Sendrecv(pat_mock_recv_block(p, out), c->recv_count, c->recv_type, right, TAG,
                           pat_mock_recv_block(p, in), c->recv_count, c->recv_type, left, TAG, p->nodes->own,
                           MPI_STATUS_IGNORE);
    }
    return rc;
}

#define MOCK .cli_name = "allgather", .mpi_name = "MPI_Allgather", .kind = PAT_MOCK_BLOCKS
const pat_mock pat_mocks_allgather[] = {
    {MOCK, .name = "default", .made_of = "the MPI library's own", .run = native},
    {MOCK, .name = "allgather_as_gather_bcast", .made_of = "Gather + Bcast", .pattern = 1,
     .needs = need_all_to_pack, .run = as_gather_bcast},
    {MOCK, .name = "allgather_as_alltoall", .made_of = "Alltoall", .pattern = 2, .needs = need_blocks_twice,
     .run = as_alltoall},
    {MOCK, .name = "allgather_as_allreduce", .made_of = "Allreduce", .pattern = 3,
     .needs = pat_mock_need_all_blocks, .run = as_allreduce},
    {MOCK, .name = "allgather_as_allgatherv", .made_of = "Allgatherv", .pattern = 4,
     .needs = need_lists_to_pack, .run = as_allgatherv},
    {MOCK, .name = "allgather_hier", .made_of = "Gather, Allgatherv of the nodes' leaders, Bcast",
     .topology = PAT_MOCK_NODES, .needs = need_by_nodes, .run = by_nodes},
    {MOCK, .name = "allgather_ring", .made_of = "messages around a ring", .topology = PAT_MOCK_NODES,
     .needs = need_nothing, .run = as_ring},
    {.name = NULL}};

/*
 * mock_bcast.c — broadcasts made of other collectives.
 */
#include <string.h>

#include "mock_lists.h"
#include "mock_parts.h"

static int native(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    return PMPI_Bcast(c->recv, c->recv_count, c->recv_type, c->root, c->comm);
}

/* Is the buffer not as it is packed, and is there room to make it so? */
static bool packs(const pat_mock_parts *p)
{
    return !p->recv_plain && pat_mock_has_room(p, p->block);
}

static void need_nothing(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->block;
}

static void need_to_pack(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->block;
    need->data_bytes = !p->alike && packs(p) ? p->block : 0;
}

static void need_lists_to_pack(const pat_mock_parts *p, pat_mock_need *need)
{
    need_to_pack(p, need);
    need->int_bytes = pat_mock_two_lists(p);
}

/* The buffer as MPI is to move it: as bytes, its own if these lie as they are packed. */
typedef struct moved {
    void *buffer;
    int count;
    MPI_Datatype type;
} moved;

static int pack(pat_mock_parts *p, moved *m)
{
    const pat_mock_call *c = &p->call;
    if (!p->recv_plain && !packs(p)) {
        *m = (moved){c->recv, c->recv_count, c->recv_type};
        return MPI_SUCCESS;
    }
    *m = (moved){p->recv_plain ? c->recv : pat_mock_take(p, p->block), (int)p->block, MPI_BYTE};
    return p->rank == c->root && !p->recv_plain
               ? pat_mock_pack(p, c->recv, c->recv_count, c->recv_type, false, m->buffer, p->block)
               : MPI_SUCCESS;
}

static int unpack(pat_mock_parts *p, const moved *m)
{
    const pat_mock_call *c = &p->call;
    return m->buffer != c->recv && p->rank != c->root
               ? pat_mock_unpack(p, m->buffer, p->block, c->recv, c->recv_count, c->recv_type, false)
               : MPI_SUCCESS;
}

/* The packed buffer, rounded up so that each of `ranks` gets as much of it, and one's part. */
static void need_padded(const pat_mock_parts *p, int ranks, pat_mock_need *need)
{
    const int64_t padded = pat_mock_round_up(p->block, ranks);
    need->longest = padded;
    need->data_bytes = padded + padded / ranks;
}

static void need_padded_all(const pat_mock_parts *p, pat_mock_need *need)
{
    need_padded(p, p->size, need);
}

static void need_padded_node(const pat_mock_parts *p, pat_mock_need *need)
{
    need_padded(p, p->nodes->size, need);
}

/* Only the root has a block. */
static int as_allgatherv(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    moved all;
    int *counts = pat_mock_take_ints(p, p->size), *begins = pat_mock_take_ints(p, p->size);
    int rc = pack(p, &all);
    for (int r = 0; r < p->size; r++) {
        counts[r] = r == c->root ? all.count : 0;
        begins[r] = r > c->root ? all.count : 0;
    }
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.buffer, counts, begins, all.type,
                             c->comm);
    return rc == MPI_SUCCESS ? unpack(p, &all) : rc;
}

/*
 * The ranks of `parts_of` get a part each, from the one with rank `root` where they are those of the root's node; `across` has it go
 * on to the other nodes; then all get all parts. Ranks may count by different items, so parts are of bytes.
 */
static int by_parts(pat_mock_parts *p, MPI_Comm parts_of, int ranks, bool scatters, int root, MPI_Comm across,
                    int root_across)
{
    const pat_mock_call *c = &p->call;
    const bool is_root = p->rank == c->root;
    const int64_t padded = pat_mock_round_up(p->block, ranks);
    const int bytes = (int)(padded / ranks);
    char *packed = pat_mock_take(p, padded), *part = pat_mock_take(p, bytes);
    const bool direct = p->recv_plain && padded == p->block;
    char *whole = direct ? c->recv : packed;
    int rc = MPI_SUCCESS;
    if (is_root && !direct)
        rc = pat_mock_pack(p, c->recv, c->recv_count, c->recv_type, p->recv_plain, whole, p->block);
    if (is_root && !direct)
        memset(whole + p->block, 0, (size_t)(padded - p->block));
    if (rc == MPI_SUCCESS && scatters)
        rc = PMPI_Scatter(whole, bytes, MPI_BYTE, part, bytes, MPI_BYTE, root, parts_of);
    if (rc == MPI_SUCCESS && across != MPI_COMM_NULL)
        rc = PMPI_Bcast(part, bytes, MPI_BYTE, root_across, across);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allgather(part, bytes, MPI_BYTE, whole, bytes, MPI_BYTE, parts_of);
    if (rc != MPI_SUCCESS || direct || is_root)
        return rc;
    return pat_mock_unpack(p, whole, p->block, c->recv, c->recv_count, c->recv_type, p->recv_plain);
}

static int as_scatter_allgather(pat_mock_parts *p)
{
    return by_parts(p, p->call.comm, p->size, true, p->call.root, MPI_COMM_NULL, 0);
}

/* ---- Node by node ----------------------------------------------------------------------------------------- */

/* In the root's node first, whose leader then has it too. */
static int by_nodes(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    const pat_mock_nodes *n = p->nodes;
    const int home = n->node_of[c->root];
    moved all;
    int rc = pack(p, &all);
    if (rc == MPI_SUCCESS && n->mine == home)
        rc = PMPI_Bcast(all.buffer, all.count, all.type, n->number_of[c->root], n->node);
    if (rc == MPI_SUCCESS && n->number == 0)
        rc = PMPI_Bcast(all.buffer, all.count, all.type, home, n->lane);
    if (rc == MPI_SUCCESS && n->mine != home)
        rc = PMPI_Bcast(all.buffer, all.count, all.type, 0, n->node);
    return rc == MPI_SUCCESS ? unpack(p, &all) : rc;
}

static int by_lanes(pat_mock_parts *p)
{
    const pat_mock_nodes *n = p->nodes;
    const int root = p->call.root;
    return by_parts(p, n->node, n->size, n->mine == n->node_of[root], n->number_of[root], n->lane,
                    n->node_of[root]);
}

/* ---- Messages --------------------------------------------------------------------------------------------- */

static int as_binomial(pat_mock_parts *p)
{
    enum { TAG = 3 };
    const pat_mock_call *c = &p->call;
    const int own = (p->rank - c->root + p->size) % p->size; /* with the root as 0 */
    int rc = MPI_SUCCESS, bit = 1;
    for (; bit < p->size && !(own & bit); bit <<= 1)
        continue;
    if (own > 0)
        rc = PMPI_Recv(c->recv, c->recv_count, c->recv_type, (own - bit + c->root) % p->size, TAG,
                       p->nodes->own, MPI_STATUS_IGNORE);
    for (bit >>= 1; bit > 0 && rc == MPI_SUCCESS; bit >>= 1)
        if (own + bit < p->size)
            rc = PMPI_Send(c->recv, c->recv_count, c->recv_type, (own + bit + c->root) % p->size, TAG,
                           p->nodes->own);
    return rc;
}

#define MOCK .cli_name = "bcast", .mpi_name = "MPI_Bcast", .is_rooted = true, .kind = PAT_MOCK_BUFFER
const pat_mock pat_mocks_bcast[] = {
    {MOCK, .name = "default", .made_of = "the MPI library's own", .run = native},
    {MOCK, .name = "bcast_as_allgatherv", .made_of = "Allgatherv", .pattern = 9, .needs = need_lists_to_pack,
     .run = as_allgatherv},
    {MOCK, .name = "bcast_as_scatter_allgather", .made_of = "Scatter + Allgather", .pattern = 10,
     .needs = need_padded_all, .run = as_scatter_allgather},
    {MOCK, .name = "bcast_hier", .made_of = "Bcast of the nodes' leaders, Bcast in nodes",
     .topology = PAT_MOCK_NODES, .needs = need_to_pack, .run = by_nodes},
    {MOCK, .name = "bcast_lane", .made_of = "Scatter, Bcast across nodes, Allgather",
     .topology = PAT_MOCK_LANES, .needs = need_padded_node, .run = by_lanes},
    {MOCK, .name = "bcast_binomial", .made_of = "messages down a binomial tree", .topology = PAT_MOCK_NODES,
     .needs = need_nothing, .run = as_binomial},
    {.name = NULL}};

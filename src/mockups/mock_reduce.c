/*
 * mock_reduce.c — reductions to a root made of other collectives.
 */
#include "mock_lists.h"
#include "mock_parts.h"

static int native(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    return PMPI_Reduce(c->send, c->recv, c->recv_count, c->recv_type, c->op, c->root, c->comm);
}

/* The vector; at the root too, so that all ranks decide alike. */
static void need_vector(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->call.recv_count;
    need->data_bytes = pat_mock_span(p, p->call.recv_count);
}

static void need_padded(const pat_mock_parts *p, pat_mock_need *need)
{
    const int64_t padded = pat_mock_round_up(p->call.recv_count, p->size);
    need->longest = padded;
    need->data_bytes = pat_mock_span(p, padded) + pat_mock_span(p, padded / p->size);
}

static void need_chunk(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->call.recv_count;
    need->int_bytes = pat_mock_two_lists(p);
    need->data_bytes = pat_mock_span(p, pat_mock_chunk(p->call.recv_count, p->size, 0));
}

static void need_list(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->call.recv_count;
    need->int_bytes = (int64_t)sizeof(int) * p->size;
}

/* A root in place cannot be so in an all-reduce: it gives a copy. */
static int as_allreduce(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    char *room = pat_mock_take_elements(p, c->recv_count);
    const bool is_root = p->rank == c->root;
    int rc = p->in_place ? pat_mock_copy(p, c->recv, room, c->recv_count) : MPI_SUCCESS;
    return rc == MPI_SUCCESS ? PMPI_Allreduce(p->in_place ? room : c->send, is_root ? c->recv : room,
                                              c->recv_count, c->recv_type, c->op, c->comm)
                             : rc;
}

static int as_reducescatterblock_gather(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    const int64_t padded = pat_mock_round_up(c->recv_count, p->size);
    const int part_count = (int)(padded / p->size);
    char *whole = pat_mock_take_elements(p, padded), *part = pat_mock_take_elements(p, part_count);
    const void *in;
    int rc = pat_mock_pad(p, pat_mock_input(p), c->recv_count, padded, whole, &in);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Reduce_scatter_block(in, part, part_count, c->recv_type, c->op, c->comm);
    const bool direct = padded == c->recv_count;
    if (rc == MPI_SUCCESS)
        rc = PMPI_Gather(part, part_count, c->recv_type, direct ? c->recv : whole, part_count, c->recv_type,
                         c->root, c->comm);
    return rc == MPI_SUCCESS && !direct && p->rank == c->root
               ? pat_mock_copy(p, whole, c->recv, c->recv_count)
               : rc;
}

static int as_reducescatter_gatherv(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    int *counts = pat_mock_take_ints(p, p->size), *begins = pat_mock_take_ints(p, p->size);
    pat_mock_chunks(c->recv_count, p->size, counts, begins);
    char *part = pat_mock_take_elements(p, counts[0]);
    int rc = PMPI_Reduce_scatter(pat_mock_input(p), part, counts, c->recv_type, c->op, c->comm);
    return rc == MPI_SUCCESS ? PMPI_Gatherv(part, counts[p->rank], c->recv_type, c->recv, counts, begins,
                                            c->recv_type, c->root, c->comm)
                             : rc;
}

/* The root's part is everything. MPI lets it alone be in place. */
static int as_reducescatter(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    int *counts = pat_mock_take_ints(p, p->size);
    char nothing;
    for (int r = 0; r < p->size; r++)
        counts[r] = r == c->root ? c->recv_count : 0;
    return PMPI_Reduce_scatter(c->send, p->rank == c->root ? c->recv : &nothing, counts, c->recv_type, c->op,
                               c->comm);
}

/* ---- Node by node ----------------------------------------------------------------------------------------- */

/* To the leaders, from them to the leader of the root's node, and from that to the root. */
static int by_nodes(pat_mock_parts *p)
{
    enum { TAG = 4 };
    const pat_mock_call *c = &p->call;
    const pat_mock_nodes *n = p->nodes;
    const int home = n->node_of[c->root], root = n->number_of[c->root];
    const bool is_root = p->rank == c->root, leads = n->number == 0;
    char *room = pat_mock_take_elements(p, c->recv_count);
    void *sum = is_root ? c->recv : room;
    int rc = PMPI_Reduce(is_root && leads ? c->send : pat_mock_input(p), leads ? sum : NULL, c->recv_count,
                         c->recv_type, c->op, 0, n->node);
    if (rc == MPI_SUCCESS && leads)
        rc = PMPI_Reduce(n->mine == home ? MPI_IN_PLACE : sum, n->mine == home ? sum : NULL, c->recv_count,
                         c->recv_type, c->op, home, n->lane);
    if (rc != MPI_SUCCESS || n->mine != home || root == 0)
        return rc;
    if (leads)
        return PMPI_Send(sum, c->recv_count, c->recv_type, root, TAG, n->node);
    return is_root ? PMPI_Recv(c->recv, c->recv_count, c->recv_type, 0, TAG, n->node, MPI_STATUS_IGNORE) : rc;
}

#define MOCK .cli_name = "reduce", .mpi_name = "MPI_Reduce", .is_rooted = true, .kind = PAT_MOCK_VECTOR
const pat_mock pat_mocks_reduce[] = {
    {MOCK, .name = "default", .made_of = "the MPI library's own", .run = native},
    {MOCK, .name = "reduce_as_allreduce", .made_of = "Allreduce", .pattern = 14, .needs = need_vector,
     .run = as_allreduce},
    {MOCK, .name = "reduce_as_reducescatterblock_gather", .made_of = "Reduce_scatter_block + Gather",
     .pattern = 15, .by_reduce_scatter = true, .needs = need_padded, .run = as_reducescatterblock_gather},
    {MOCK, .name = "reduce_as_reducescatter_gatherv", .made_of = "Reduce_scatter + Gatherv", .pattern = 16,
     .by_reduce_scatter = true, .needs = need_chunk, .run = as_reducescatter_gatherv},
    {MOCK, .name = "reduce_as_reducescatter", .made_of = "Reduce_scatter", .by_reduce_scatter = true,
     .needs = need_list, .run = as_reducescatter},
    {MOCK, .name = "reduce_hier", .made_of = "Reduce in nodes, Reduce of the nodes' leaders",
     .topology = PAT_MOCK_NODES, .needs = need_vector, .run = by_nodes},
    {.name = NULL}};

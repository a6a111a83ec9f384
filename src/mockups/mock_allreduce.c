/*
 * mock_allreduce.c — all-reduces made of other collectives.
 */
#include "mock_lists.h"
#include "mock_parts.h"

static int native(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    return PMPI_Allreduce(c->send, c->recv, c->recv_count, c->recv_type, c->op, c->comm);
}

static void need_nothing(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->call.recv_count;
}

static void need_two_lists(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->call.recv_count;
    need->int_bytes = pat_mock_two_lists(p);
}

/* The vector, rounded up so that each of `ranks` gets as much of it, and one's part. */
static void need_padded(const pat_mock_parts *p, int ranks, pat_mock_need *need)
{
    const int64_t padded = pat_mock_round_up(p->call.recv_count, ranks);
    need->longest = padded;
    need->data_bytes = pat_mock_span(p, padded) + pat_mock_span(p, padded / ranks);
}

static void need_padded_all(const pat_mock_parts *p, pat_mock_need *need)
{
    need_padded(p, p->size, need);
}

static void need_padded_node(const pat_mock_parts *p, pat_mock_need *need)
{
    need_padded(p, p->nodes->size, need);
}

static int as_reduce_bcast(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    const void *in = p->rank == 0 ? c->send : pat_mock_input(p);
    int rc = PMPI_Reduce(in, p->rank == 0 ? c->recv : NULL, c->recv_count, c->recv_type, c->op, 0, c->comm);
    return rc == MPI_SUCCESS ? PMPI_Bcast(c->recv, c->recv_count, c->recv_type, 0, c->comm) : rc;
}

/* Over the ranks of `parts_of` everybody reduces a part, which `across` completes; then all get all parts. */
static int by_parts(pat_mock_parts *p, MPI_Comm parts_of, int ranks, MPI_Comm across)
{
    const pat_mock_call *c = &p->call;
    const int64_t padded = pat_mock_round_up(c->recv_count, ranks);
    const int part_count = (int)(padded / ranks);
    char *whole = pat_mock_take_elements(p, padded), *part = pat_mock_take_elements(p, part_count);
    const void *in;
    int rc = pat_mock_pad(p, pat_mock_input(p), c->recv_count, padded, whole, &in);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Reduce_scatter_block(in, part, part_count, c->recv_type, c->op, parts_of);
    if (rc == MPI_SUCCESS && across != MPI_COMM_NULL)
        rc = PMPI_Allreduce(MPI_IN_PLACE, part, part_count, c->recv_type, c->op, across);
    const bool direct = padded == c->recv_count;
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allgather(part, part_count, c->recv_type, direct ? c->recv : whole, part_count,
                            c->recv_type, parts_of);
    return rc == MPI_SUCCESS && !direct ? pat_mock_copy(p, whole, c->recv, c->recv_count) : rc;
}

static int as_reducescatterblock_allgather(pat_mock_parts *p)
{
    return by_parts(p, p->call.comm, p->size, MPI_COMM_NULL);
}

/* In place the part comes out at the beginning of the buffer, and is moved to where it belongs, which never overlaps. */
static int as_reducescatter_allgatherv(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    int *counts = pat_mock_take_ints(p, p->size), *begins = pat_mock_take_ints(p, p->size);
    pat_mock_chunks(c->recv_count, p->size, counts, begins);
    void *part = pat_mock_at_item(c->recv, p->recv_extent, begins[p->rank]);
    int rc = PMPI_Reduce_scatter(c->send, p->in_place ? c->recv : part, counts, c->recv_type, c->op, c->comm);
    if (rc == MPI_SUCCESS && p->in_place && begins[p->rank] > 0)
        rc = pat_mock_copy(p, c->recv, part, counts[p->rank]);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, c->recv, counts, begins, c->recv_type,
                             c->comm);
    return rc;
}

/* ---- Node by node ----------------------------------------------------------------------------------------- */

static int by_nodes(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    const pat_mock_nodes *n = p->nodes;
    const bool leads = n->number == 0;
    int rc = PMPI_Reduce(leads ? c->send : pat_mock_input(p), leads ? c->recv : NULL, c->recv_count,
                         c->recv_type, c->op, 0, n->node);
    if (rc == MPI_SUCCESS && leads)
        rc = PMPI_Allreduce(MPI_IN_PLACE, c->recv, c->recv_count, c->recv_type, c->op, n->lane);
    return rc == MPI_SUCCESS ? PMPI_Bcast(c->recv, c->recv_count, c->recv_type, 0, n->node) : rc;
}

static int by_lanes(pat_mock_parts *p)
{
    return by_parts(p, p->nodes->node, p->nodes->size, p->nodes->lane);
}

#define MOCK .cli_name = "allreduce", .mpi_name = "MPI_Allreduce", .kind = PAT_MOCK_VECTOR
const pat_mock pat_mocks_allreduce[] = {
    {MOCK, .name = "default", .made_of = "the MPI library's own", .run = native},
    {MOCK, .name = "allreduce_as_reduce_bcast", .made_of = "Reduce + Bcast", .pattern = 5,
     .needs = need_nothing, .run = as_reduce_bcast},
    {MOCK, .name = "allreduce_as_reducescatterblock_allgather", .made_of = "Reduce_scatter_block + Allgather",
     .pattern = 6, .by_reduce_scatter = true, .needs = need_padded_all,
     .run = as_reducescatterblock_allgather},
    {MOCK, .name = "allreduce_as_reducescatter_allgatherv", .made_of = "Reduce_scatter + Allgatherv",
     .pattern = 7, .by_reduce_scatter = true, .needs = need_two_lists, .run = as_reducescatter_allgatherv},
    {MOCK, .name = "allreduce_hier", .made_of = "Reduce, Allreduce of the nodes' leaders, Bcast",
     .topology = PAT_MOCK_NODES, .needs = need_nothing, .run = by_nodes},
    {MOCK, .name = "allreduce_lane", .made_of = "Reduce_scatter_block, Allreduce across nodes, Allgather",
     .topology = PAT_MOCK_LANES, .by_reduce_scatter = true, .needs = need_padded_node, .run = by_lanes},
    {.name = NULL}};

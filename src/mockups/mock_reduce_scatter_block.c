/*
 * mock_reduce_scatter_block.c — reduce-scatters of blocks made of other collectives.
 */
#include "mock_lists.h"
#include "mock_parts.h"

static int native(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    return PMPI_Reduce_scatter_block(c->send, c->recv, c->recv_count, c->recv_type, c->op, c->comm);
}

static int64_t elements_of(const pat_mock_parts *p)
{
    return (int64_t)p->call.recv_count * p->size;
}

static void need_all_elements(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = elements_of(p);
    need->data_bytes = pat_mock_span(p, elements_of(p));
}

static void need_list(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = elements_of(p);
    need->int_bytes = (int64_t)sizeof(int) * p->size;
}

static int as_reduce_scatter(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    const int all_count = (int)elements_of(p);
    char *all = pat_mock_take_elements(p, all_count);
    int rc = PMPI_Reduce(pat_mock_input(p), all, all_count, c->recv_type, c->op, 0, c->comm);
    return rc == MPI_SUCCESS ? PMPI_Scatter(all, c->recv_count, c->recv_type, c->recv, c->recv_count,
                                            c->recv_type, 0, c->comm)
                             : rc;
}

static int as_reducescatter(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    int *counts = pat_mock_take_ints(p, p->size);
    for (int r = 0; r < p->size; r++)
        counts[r] = c->recv_count;
    return PMPI_Reduce_scatter(c->send, c->recv, counts, c->recv_type, c->op, c->comm);
}

static int as_allreduce(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    const int all_count = (int)elements_of(p);
    char *all = pat_mock_take_elements(p, all_count);
    int rc = PMPI_Allreduce(pat_mock_input(p), all, all_count, c->recv_type, c->op, c->comm);
    const void *block = pat_mock_at_item(all, p->recv_extent, (int64_t)p->rank * c->recv_count);
    return rc == MPI_SUCCESS ? pat_mock_copy(p, block, c->recv, c->recv_count) : rc;
}

#define MOCK                                                                                                 \
    .cli_name = "reduce_scatter_block", .mpi_name = "MPI_Reduce_scatter_block", .kind = PAT_MOCK_VECTOR
const pat_mock pat_mocks_reduce_scatter_block[] = {
    {MOCK, .name = "default", .made_of = "the MPI library's own", .run = native},
    {MOCK, .name = "reducescatterblock_as_reduce_scatter", .made_of = "Reduce + Scatter", .pattern = 17,
     .needs = need_all_elements, .run = as_reduce_scatter},
    {MOCK, .name = "reducescatterblock_as_reducescatter", .made_of = "Reduce_scatter", .pattern = 18,
     .by_reduce_scatter = true, .needs = need_list, .run = as_reducescatter},
    {MOCK, .name = "reducescatterblock_as_allreduce", .made_of = "Allreduce", .pattern = 19,
     .needs = need_all_elements, .run = as_allreduce},
    {.name = NULL}};

/*
 * mock_scan.c — scans made of other collectives.
 */
#include "mock_lists.h"
#include "mock_parts.h"

static int native(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    return PMPI_Scan(c->send, c->recv, c->recv_count, c->recv_type, c->op, c->comm);
}

/* What comes from the ranks below can be joined where the result is to stand, but for operations in whose order it must be the first operand, and calls in place. */
static bool joins_in_place(const pat_mock_parts *p)
{
    return p->commutes && !p->in_place;
}

/* Only some ranks may be in place: for all to decide alike, such a call must be possible. */
static void need_vector_at_times(const pat_mock_parts *p, pat_mock_need *need)
{
    need->longest = p->call.recv_count;
    need->data_bytes = p->alike || !joins_in_place(p) ? pat_mock_span(p, p->call.recv_count) : 0;
}

static int as_exscan_reducelocal(pat_mock_parts *p)
{
    const pat_mock_call *c = &p->call;
    const bool joins = joins_in_place(p);
    void *below = joins ? c->recv : pat_mock_take_elements(p, c->recv_count);
    int rc = PMPI_Exscan(pat_mock_input(p), below, c->recv_count, c->recv_type, c->op, c->comm);
    if (rc == MPI_SUCCESS && !p->in_place && (!joins || p->rank == 0))
        rc = pat_mock_copy(p, c->send, c->recv, c->recv_count);
    if (rc != MPI_SUCCESS || p->rank == 0)
        return rc;
    return PMPI_Reduce_local(joins ? c->send : below, c->recv, c->recv_count, c->recv_type, c->op);
}

#define MOCK .cli_name = "scan", .mpi_name = "MPI_Scan", .kind = PAT_MOCK_VECTOR
const pat_mock pat_mocks_scan[] = {
    {MOCK, .name = "default", .made_of = "the MPI library's own", .run = native},
    {MOCK, .name = "scan_as_exscan_reducelocal", .made_of = "Exscan + Reduce_local", .pattern = 20,
     .needs = need_vector_at_times, .run = as_exscan_reducelocal},
    {.name = NULL}};

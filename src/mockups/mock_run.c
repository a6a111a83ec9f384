/*
 * mock_run.c — see mockups.h: from a call to a mock-up that runs it, or to why it does not. Only what is the same on all ranks decides.
 */
#include <limits.h>
#include <string.h>

#include "fail.h"
#include "mock_parts.h"
#include "mock_scratch.h"
#include "plain_type.h"

const char *pat_mock_why_text(enum pat_mock_why why)
{
    static const char *const texts[PAT_NUM_MOCK_WHYS] = {
        [PAT_MOCK_RAN] = "run",
        [PAT_MOCK_NO_DATA] = "the scratch for data is too small",
        [PAT_MOCK_NO_INTS] = "the scratch for counts is too small",
        [PAT_MOCK_TOO_LONG] = "more than an int can count",
        [PAT_MOCK_GROUPS] = "between two groups of ranks",
        [PAT_MOCK_EXTENT] = "elements of a negative extent",
        [PAT_MOCK_ORDER] = "the operation does not commute, and ranks of a node do not follow one another",
        [PAT_MOCK_FAULT] = "the MPI library's own reduce-scatter gets such elements wrong",
        [PAT_MOCK_UNEVEN] = "nodes have unequal numbers of ranks",
        [PAT_MOCK_BITS] = "order kept, see PAT_REORDER",
        [PAT_MOCK_PLAN] = "PAT has no plan for such a call",
        [PAT_MOCK_FIRST] = "first calls",
        [PAT_MOCK_STATE] = "one rank, ranks of other jobs, too few message tags, or no memory",
    };
    return (unsigned)why < PAT_NUM_MOCK_WHYS ? texts[why] : "?";
}

static int64_t bytes_of(int count, MPI_Datatype type)
{
    MPI_Count size = 0;
    return count > 0 && PMPI_Type_size_x(type, &size) == MPI_SUCCESS ? pat_mock_times(count, size) : 0;
}

static int64_t block_of(enum pat_mock_kind kind, const pat_mock_call *c)
{
    const bool by_send = kind == PAT_MOCK_GATHER ? c->send != MPI_IN_PLACE
                                                 : kind == PAT_MOCK_SCATTER && c->recv == MPI_IN_PLACE;
    return by_send ? bytes_of(c->send_count, c->send_type) : bytes_of(c->recv_count, c->recv_type);
}

int64_t pat_mock_bytes(const pat_mock *mock, const pat_mock_call *call)
{
    return block_of(mock->kind, call);
}

/* ---- Taking a call apart ---------------------------------------------------------------------------------- */

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint lb = 0, extent = 0;
    PMPI_Type_get_extent(type, &lb, &extent);
    return extent;
}

/* Where the bytes of an element lie: below its place they are rounded up, so that what lies in the scratch is aligned as it was. */
static void look_at_elements(pat_mock_parts *p)
{
    enum { ALIGNED = 16 };
    MPI_Aint lb, extent;
    PMPI_Type_get_true_extent(p->call.recv_type, &lb, &extent);
    p->below = lb < 0 ? pat_mock_round_up(-(int64_t)lb, ALIGNED) : 0;
    p->has_gaps = extent != p->recv_extent;
    p->above = lb + extent > p->recv_extent ? lb + extent : p->recv_extent;
}

/* Which sides of the call have arguments that count on this rank; the others may be anything, and become nothing. */
static void look_at_sides(pat_mock_parts *p, enum pat_mock_kind kind)
{
    const pat_mock_call *c = &p->call;
    const bool is_root = p->rank == c->root;
    const bool sends =
        (kind == PAT_MOCK_BLOCKS || kind == PAT_MOCK_GATHER || (kind == PAT_MOCK_SCATTER && is_root)) &&
        c->send != MPI_IN_PLACE;
    const bool receives = (kind != PAT_MOCK_GATHER || is_root) && c->recv != MPI_IN_PLACE;
    p->in_place = kind == PAT_MOCK_SCATTER ? c->recv == MPI_IN_PLACE
                                           : kind != PAT_MOCK_BUFFER && c->send == MPI_IN_PLACE;
    if (sends) {
        p->send_extent = extent_of(c->send_type);
        p->send_plain = pat_type_is_plain(c->send_type);
    } else {
        p->call.send_count = 0;
        p->call.send_type = MPI_BYTE;
    }
    if (receives && sends &&
        c->recv_type == c->send_type) { /* as mostly: each question costs some calls of MPI */
        p->recv_extent = p->send_extent;
        p->recv_plain = p->send_plain;
    } else if (receives) {
        p->recv_extent = extent_of(c->recv_type);
        p->recv_plain = pat_type_is_plain(c->recv_type);
    } else {
        p->call.recv_count = 0;
        p->call.recv_type = MPI_BYTE;
    }
    if (kind == PAT_MOCK_VECTOR) {
        int commutes = 0;
        look_at_elements(p);
        PMPI_Op_commutative(c->op, &commutes);
        p->commutes = commutes;
    }
}

static void take_apart(const pat_mock *mock, const pat_mock_call *call, pat_mock_parts *p)
{
    memset(p, 0, sizeof(*p));
    p->call = *call;
    if (call->known) {
        p->rank = call->known->rank;
        p->size = call->known->size;
        p->block = call->known->bytes;
    } else {
        PMPI_Comm_rank(call->comm, &p->rank);
        PMPI_Comm_size(call->comm, &p->size);
        p->block = block_of(mock->kind, call);
    }
    p->total = pat_mock_times(p->block, p->size);
    look_at_sides(p, mock->kind);
    if (p->block == 0 && mock->kind != PAT_MOCK_VECTOR) /* of a type without bytes there may be any number */
        p->call.send_count = p->call.recv_count = 0;
    const bool in_recv = p->in_place && mock->kind != PAT_MOCK_SCATTER;
    p->own = in_recv ? pat_mock_recv_block(p, p->rank) : call->send;
    p->own_count = in_recv ? p->call.recv_count : p->call.send_count;
    p->own_type = in_recv ? call->recv_type : call->send_type;
    p->own_plain = in_recv ? p->recv_plain : p->send_plain;
}

/* ---- May it run? ------------------------------------------------------------------------------------------ */

static pat_mock_need needs_of(const pat_mock *mock, pat_mock_parts *p, bool alike)
{
    pat_mock_need need = {0};
    p->alike = alike;
    if (mock->needs && (mock->topology == PAT_MOCK_FLAT || p->nodes))
        mock->needs(p, &need);
    return need;
}

pat_mock_need pat_mock_needs(const pat_mock *mock, const pat_mock_call *call, const pat_mock_scratch *scratch)
{
    pat_mock_parts p;
    int is_inter = 0;
    if (!mock->needs || PMPI_Comm_test_inter(call->comm, &is_inter) != MPI_SUCCESS || is_inter)
        return (pat_mock_need){0};
    take_apart(mock, call, &p);
    p.scratch = (pat_mock_scratch *)(uintptr_t)scratch; /* which is only looked at */
    if (mock->topology != PAT_MOCK_FLAT)
        p.nodes = pat_mock_nodes_known(call->comm, scratch->nodes.keyval);
    return needs_of(mock, &p, false);
}

static enum pat_mock_why judge_nodes(const pat_mock *mock, const pat_mock_parts *p)
{
    if (mock->topology == PAT_MOCK_LANES && !p->nodes->even)
        return PAT_MOCK_UNEVEN;
    return mock->kind == PAT_MOCK_VECTOR && !p->commutes && !p->nodes->consecutive ? PAT_MOCK_ORDER
                                                                                   : PAT_MOCK_RAN;
}

/*
 * MPICH 4.0's reduce-scatters of 2, 4, 8 ranks and so on, with and without blocks, lay elements whose order counts too close together, and write
 * past their memory.
 */
static bool meets_fault(const pat_mock *mock, const pat_mock_parts *p)
{
#ifdef OPEN_MPI
    enum { HAS_FAULT = 0 };
#else
    enum { HAS_FAULT = 1 };
#endif
    return HAS_FAULT && mock->by_reduce_scatter && !p->commutes && p->has_gaps;
}

/* Nodes first: what is needed is the same on all ranks only where the mock-up is for these nodes. */
static enum pat_mock_why judge(const pat_mock *mock, pat_mock_parts *p)
{
    if (mock->kind == PAT_MOCK_VECTOR && p->recv_extent < 0)
        return PAT_MOCK_EXTENT;
    if (meets_fault(mock, p))
        return PAT_MOCK_FAULT;
    const enum pat_mock_why why = mock->topology == PAT_MOCK_FLAT ? PAT_MOCK_RAN : judge_nodes(mock, p);
    if (why != PAT_MOCK_RAN)
        return why;
    const pat_mock_need need = needs_of(mock, p, true);
    return need.longest > INT_MAX                     ? PAT_MOCK_TOO_LONG
           : need.data_bytes > p->scratch->data_bytes ? PAT_MOCK_NO_DATA
           : need.int_bytes > p->scratch->int_bytes   ? PAT_MOCK_NO_INTS
                                                      : PAT_MOCK_RAN;
}

static int prepare(const pat_mock *mock, const pat_mock_call *call, pat_mock_scratch *scratch,
                   pat_mock_parts *p, enum pat_mock_why *why)
{
    int is_inter = 0;
    int rc = call->known ? MPI_SUCCESS : PMPI_Comm_test_inter(call->comm, &is_inter);
    *why = is_inter ? PAT_MOCK_GROUPS : PAT_MOCK_RAN;
    if (rc != MPI_SUCCESS || is_inter)
        return rc;
    take_apart(mock, call, p);
    if (mock->is_rooted && (call->root < 0 || call->root >= p->size))
        return pat_fail(call->comm, MPI_ERR_ROOT);
    if (p->call.send_count < 0 || p->call.recv_count < 0)
        return pat_fail(call->comm, MPI_ERR_COUNT);
    p->scratch = scratch;
    if (mock->topology != PAT_MOCK_FLAT)
        rc = pat_mock_nodes_get(call->comm, &scratch->nodes, &p->nodes);
    if (rc != MPI_SUCCESS)
        return pat_fail(call->comm,
                        rc); /* what has failed is ours, and no error handler of the user has seen it */
    *why = judge(mock, p);
    return MPI_SUCCESS;
}

int pat_mock_prepare(const pat_mock *mock, const pat_mock_call *call, pat_mock_scratch *scratch,
                     enum pat_mock_why *why)
{
    pat_mock_parts p;
    *why = PAT_MOCK_RAN;
    return mock->needs ? prepare(mock, call, scratch, &p, why) : MPI_SUCCESS;
}

int pat_mock_run(const pat_mock *mock, const pat_mock_call *call, pat_mock_scratch *scratch,
                 enum pat_mock_why *why)
{
    pat_mock_parts p;
    *why = PAT_MOCK_RAN;
    if (!mock->needs) {
        p.call = *call;
        return mock->run(&p);
    }
    int rc = prepare(mock, call, scratch, &p, why);
    if (rc != MPI_SUCCESS || *why != PAT_MOCK_RAN)
        return rc;
    p.pools = pat_mock_pools_take(scratch);
    if (!p.pools)
        return pat_fail(call->comm, pat_error(MPI_ERR_NO_MEM,
                                              "no memory for the scratch of one more call at the same time"));
    rc = mock->run(&p);
    pat_mock_pools_give(scratch, p.pools);
    /* What went wrong on a communicator of our own, its user's error handler has not seen. */
    return rc != MPI_SUCCESS && mock->topology != PAT_MOCK_FLAT ? pat_fail(call->comm, rc) : rc;
}

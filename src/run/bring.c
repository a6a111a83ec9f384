/*
 * bring.c — see bring.h.
 */
#include "bring.h"

#include <limits.h>

#include "calibration.h"
#include "error.h"
#include "runtime.h"

/* Room for so many packed results of so many bytes. */
static int make_room(const pat_work *w, int results, int64_t bytes)
{
    if (results == 0 || pat_comm_buffer(&w->pack->at, &w->pack->size, (size_t)(results * bytes)))
        return MPI_SUCCESS;
    return pat_error(MPI_ERR_NO_MEM, "no memory for %lld bytes that are packed or passed on",
                     (long long)bytes);
}

/* ---- All ranks by number ------------------------------------------------------------------------------ */

/* Where the contribution is a block for each rank it cannot lie where the result goes. */
static int bring_personal(pat_comm *c, const pat_work *w, char **home, const char **own)
{
    const pat_call *call = w->call;
    const int64_t total = c->size * call->block_bytes, unpacked = call->recv_plain ? 0 : total;
    const bool packs = call->in_place || !call->send_plain;
    int rc = make_room(w, !call->recv_plain + packs, total);
    if (rc != MPI_SUCCESS)
        return rc;
    *home = unpacked ? w->pack->at : call->recvbuf;
    *own = packs ? w->pack->at + unpacked : call->sendbuf;
    if (!packs)
        return MPI_SUCCESS;
    atomic_fetch_add_explicit(&pat_rt.bytes_copied, total, memory_order_relaxed);
    return pat_call_pack_all(call, c->own, c->size, w->pack->at + unpacked);
}

static int bring_common(pat_comm *c, const pat_work *w, char **home, const char **own)
{
    const pat_call *call = w->call;
    const pat_collective *row = pat_collective_of(w->op);
    const int block = pat_collective_own_block(row, c->rank);
    const int64_t start = pat_block_start(call->block_bytes, call->starts, block),
                  end = pat_block_start(call->block_bytes, call->starts, block + 1),
                  total =
                      pat_block_start(call->block_bytes, call->starts, pat_collective_blocks(row, c->size));
    int rc = make_room(w, !call->recv_plain, total);
    if (rc != MPI_SUCCESS)
        return rc;
    *home = call->recv_plain ? call->recvbuf : w->pack->at;
    *own = NULL;
    if (call->in_place ? !call->recv_plain : !call->send_plain) {
        atomic_fetch_add_explicit(&pat_rt.bytes_copied, end - start, memory_order_relaxed);
        return pat_call_pack_own(call, c->own, c->rank, *home + start);
    }
    if (!call->in_place)
        *own = call->sendbuf;
    return MPI_SUCCESS;
}

/* Elsewhere than at the root of a gather the own block is only sent, and need not lie where it would in the result. */
static int bring_sent(pat_comm *c, const pat_work *w, char **home, const char **own)
{
    const pat_call *call = w->call;
    const int64_t bytes = call->block_bytes, total = bytes * c->size;
    pat_exec_rotate(w->round->exec, 0, total - c->rank * bytes, total);
    *own = NULL;
    *home = (char *)(uintptr_t)call->sendbuf; /* it is only read */
    if (call->send_plain)
        return MPI_SUCCESS;
    int rc = make_room(w, 1, bytes);
    if (rc != MPI_SUCCESS)
        return rc;
    *home = w->pack->at;
    atomic_fetch_add_explicit(&pat_rt.bytes_copied, bytes, memory_order_relaxed);
    return pat_call_pack_own(call, c->own, c->rank, *home);
}

int pat_bring_buffers(pat_comm *c, const pat_work *w, char **home, const char **own)
{
    const pat_collective *row = pat_collective_of(w->op);
    if (!pat_collective_gets(row, w->round->plan))
        return bring_sent(c, w, home, own);
    return row->personal ? bring_personal(c, w, home, own) : bring_common(c, w, home, own);
}

/* ---- Ranks counted from the root ---------------------------------------------------------------------- */

bool pat_bring_fits(const pat_comm *c, enum pat_op op, const pat_call *call)
{
    /* A gather's messages hold many blocks, and MPI counts their bytes in an int. */
    const int blocks = pat_collective_blocks(pat_collective_of(op), c->size);
    return call->block_bytes > 0 && call->block_bytes <= (blocks > 1 ? INT_MAX / blocks : PAT_MAX_BLOCK) &&
           call->root >= 0 && call->root < c->size;
}

int pat_bring_rooted(pat_comm *c, const pat_work *w, const pat_algorithm *alg, int64_t segment_bytes,
                     pat_tags tags)
{
    const pat_members members = pat_comm_members(c);
    const pat_call *call = w->call;
    pat_lane *lane = &c->lanes[w->op];
    pat_job job = pat_comm_job(c, lane, call->block_bytes);
    job.order = job.node_of = NULL; /* ranks stand as they are counted from the root */
    job.together = false;           /* it makes no difference here */
    job.segment_bytes = pat_collective_of(w->op)->all_give ? PAT_FIRST_BYTES : segment_bytes;
    pat_comm_explain_plan(c, lane, alg, &job);
    return pat_round_make(w->round, &members, alg, &job, (c->rank - call->root + c->size) % c->size, tags);
}

/* Up to which byte of the result this rank holds something of it. */
static int64_t result_end(const pat_plan *plan)
{
    int64_t end = 0;
    for (int i = 0; i < plan->num_nodes; i++) {
        const pat_address at = pat_node_address(&plan->nodes[i]);
        if (at.offset + plan->nodes[i].length > end)
            end = at.offset + plan->nodes[i].length;
    }
    return end;
}

/* The library's own memory in the place of the result's. */
static int stand_in(const pat_work *w, int64_t bytes, char **home)
{
    int rc = make_room(w, 1, bytes);
    if (rc == MPI_SUCCESS)
        *home = w->pack->at;
    return rc;
}

/* This rank's own bytes go to `place`: MPI packs them, or, where *own is set, the plan copies them. */
static int bring_own(const pat_comm *c, const pat_call *call, char *place, const char **own)
{
    if (call->in_place && call->recv_plain)
        return MPI_SUCCESS;
    if (!call->in_place && call->send_plain) {
        *own = call->sendbuf;
        return MPI_SUCCESS;
    }
    atomic_fetch_add_explicit(&pat_rt.bytes_copied, call->block_bytes, memory_order_relaxed);
    return pat_call_pack_own(call, c->own, c->rank, place);
}

/* Where the result is, and where in it the own block. */
static int place_gather(const pat_comm *c, const pat_work *w, char **home, const char **own)
{
    const pat_call *call = w->call;
    const int root = call->root;
    const int64_t bytes = call->block_bytes, total = bytes * c->size;
    const int rank = w->round->plan->rank;
    int rc = MPI_SUCCESS;
    if (rank == 0) { /* the root: blocks in the order of the communicator's ranks */
        *home = call->recvbuf;
        if (!call->recv_plain)
            rc = stand_in(w, total, home);
        pat_exec_rotate(w->round->exec, root, root * bytes, total);
        return rc != MPI_SUCCESS ? rc : bring_own(c, call, *home + root * bytes, own);
    }
    /* Elsewhere the own block comes first, and after it those that are passed on. */
    const int64_t held = result_end(w->round->plan) - rank * bytes;
    pat_exec_rotate(w->round->exec, root, total - rank * bytes, total);
    if (held == bytes && call->send_plain) { /* it is only read */
        *home = (char *)(uintptr_t)call->sendbuf;
        return MPI_SUCCESS;
    }
    rc = stand_in(w, held, home);
    return rc != MPI_SUCCESS ? rc : bring_own(c, call, *home, own);
}

static int place_bcast(const pat_comm *c, const pat_work *w, char **home)
{
    const pat_call *call = w->call;
    const char *own = NULL;
    pat_exec_rotate(w->round->exec, call->root, 0, call->block_bytes);
    *home = call->recvbuf;
    if (call->recv_plain)
        return MPI_SUCCESS;
    int rc = stand_in(w, call->block_bytes, home);
    return rc == MPI_SUCCESS && c->rank == call->root ? bring_own(c, call, *home, &own) : rc;
}

int pat_bring_rooted_buffers(pat_comm *c, const pat_work *w, char **home, const char **own)
{
    *home = NULL;
    *own = NULL;
    return pat_collective_of(w->op)->all_give ? place_gather(c, w, home, own) : place_bcast(c, w, home);
}

/* ---- The result --------------------------------------------------------------------------------------- */

int pat_bring_back(pat_comm *c, const pat_work *w)
{
    const pat_call *call = w->call;
    const pat_collective *row = pat_collective_of(w->op);
    const pat_plan *plan = w->round->plan;
    const int blocks = pat_collective_blocks(row, c->size);
    const bool gives_alone = !row->all_give && pat_collective_gives(row, plan);
    pat_exec_stats stats = pat_exec_get_stats(w->round->exec);
    int rc = MPI_SUCCESS;
    if (!call->recv_plain && pat_collective_gets(row, plan) && !gives_alone) {
        rc = pat_call_unpack(call, c->own, c->rank, blocks, w->pack->at);
        stats.bytes_copied += pat_block_start(call->block_bytes, call->starts, blocks);
    }
    pat_runtime_count_data(&stats);
    return rc;
}

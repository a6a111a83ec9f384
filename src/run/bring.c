/*
 * bring.c — see bring.h.
 */
#include "bring.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "calibration.h"
#include "error.h"
#include "runtime.h"

static int make_room(const pat_work *w, int64_t bytes)
{
    if (bytes == 0 || pat_comm_buffer(&w->pack->at, &w->pack->size, (size_t)bytes))
        return MPI_SUCCESS;
    return pat_error(MPI_ERR_NO_MEM, "no memory for %lld bytes that are packed or passed on",
                     (long long)bytes);
}

/* ---- All ranks by number ------------------------------------------------------------------------------ */

/* Where the contribution is a block for each rank it cannot lie where the result goes. */
static int bring_personal(pat_comm *c, const pat_work *w, char **home, const char **own)
{
    const pat_call *call = w->call;
    const int64_t sent = pat_block_start(call->block_bytes, call->own_starts, c->size),
                  got = pat_block_start(call->block_bytes, call->starts, c->size);
    const bool packs = call->in_place || !call->send_plain;
    const int64_t packed = packs ? sent : 0, unpacked = call->recv_plain ? 0 : got;
    int rc = make_room(w, packed + unpacked);
    if (rc != MPI_SUCCESS)
        return rc;
    *home = unpacked ? w->pack->at : call->recvbuf;
    *own = packed ? w->pack->at + unpacked : call->sendbuf;
    if (!packed)
        return MPI_SUCCESS;
    atomic_fetch_add_explicit(&pat_rt.bytes_copied, packed, memory_order_relaxed);
    /* With the padding of what is reduced, which MPI would not pack. */
    if (call->in_place && call->recv_plain) {
        memcpy(w->pack->at + unpacked, call->recvbuf, (size_t)packed);
        return MPI_SUCCESS;
    }
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
    int rc = make_room(w, call->recv_plain ? 0 : total);
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
    pat_exec_rotate(w->round->exec, 0, PAT_SPACE_RESULT, total - c->rank * bytes, total);
    *own = NULL;
    *home = (char *)(uintptr_t)call->sendbuf; /* it is only read */
    if (call->send_plain)
        return MPI_SUCCESS;
    int rc = make_room(w, bytes);
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
    /* The messages of a gather, and of a scatter, hold many blocks, and MPI counts their bytes in an int. */
    const pat_collective *row = pat_collective_of(op);
    const int blocks = row->personal ? c->size : pat_collective_blocks(row, c->size);
    const bool is_length =
        call->pairs ||
        (call->block_bytes > 0 && call->block_bytes <= (blocks > 1 ? INT_MAX / blocks : PAT_MAX_BLOCK));
    return is_length && call->root >= 0 && call->root < c->size;
}

/* The ranks from node to node, counted from the root. */
static const int *order_from_root(const pat_comm *c, int root)
{
    for (int i = 0; i < c->size; i++)
        c->from_root[i] = ((c->layout.order ? c->layout.order[i] : i) - root + c->size) % c->size;
    return c->from_root;
}

/* The blocks of a list, counted from the root. */
static void list_from_root(const pat_comm *c, int root, const int64_t *starts, int64_t *out)
{
    out[0] = 0;
    for (int i = 0; i < c->size; i++) {
        const int r = (i + root) % c->size;
        out[i + 1] = out[i] + starts[r + 1] - starts[r];
    }
}

/* Make the round of a job whose blocks are lists. The result of a scatter is a single block, whoever the root is. */
static int make_of_lists(pat_comm *c, const pat_work *w, const pat_members *members, const pat_algorithm *alg,
                         pat_job *job, int plan_rank, pat_tags tags)
{
    const pat_call *call = w->call;
    int64_t *lists = malloc(2 * ((size_t)c->size + 1) * sizeof(*lists)), *own = lists + c->size + 1;
    if (!lists)
        return pat_error(MPI_ERR_NO_MEM, "no memory for the lengths of %d blocks", c->size);
    const bool personal = pat_collective_of(w->op)->personal;
    job->starts = personal ? call->starts : lists;
    job->own_starts = !personal ? NULL : call->own_starts ? own : call->starts;
    if (!personal)
        list_from_root(c, call->root, call->starts, lists);
    else if (call->own_starts)
        list_from_root(c, call->root, call->own_starts, own);
    int rc = pat_round_make(w->round, members, alg, job, plan_rank, tags);
    free(lists);
    return rc;
}

int pat_bring_rooted(pat_comm *c, const pat_work *w, const pat_algorithm *alg, const pat_link *link,
                     int64_t segment_bytes, pat_tags tags)
{
    const pat_members members = pat_comm_members(c);
    const pat_call *call = w->call;
    pat_lane *lane = &c->lanes[w->op];
    pat_job job = pat_comm_job(c, lane, link, call->block_bytes);
    if (alg->places && job.node_of)
        job.order = order_from_root(c, call->root);
    else
        job.order = job.node_of = NULL; /* ranks stand as they are counted from the root */
    job.together = false;               /* it makes no difference here */
    job.segment_bytes =
        pat_collective_blocks(pat_collective_of(w->op), c->size) > 1 ? PAT_FIRST_BYTES : segment_bytes;
    job.element_bytes = call->element_bytes;
    pat_comm_explain_plan(c, lane, alg, &job);
    const int plan_rank = (c->rank - call->root + c->size) % c->size;
    return call->pairs ? make_of_lists(c, w, &members, alg, &job, plan_rank, tags)
                       : pat_round_make(w->round, &members, alg, &job, plan_rank, tags);
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
    int rc = make_room(w, bytes);
    if (rc == MPI_SUCCESS)
        *home = w->pack->at;
    return rc;
}

/* This rank's own bytes, `bytes` of them, go to `place`: MPI packs them, or, where *own is set, the plan copies them. */
static int bring_own(const pat_comm *c, const pat_call *call, int64_t bytes, char *place, const char **own)
{
    if (call->in_place && call->recv_plain)
        return MPI_SUCCESS;
    if (!call->in_place && call->send_plain) {
        *own = call->sendbuf;
        return MPI_SUCCESS;
    }
    atomic_fetch_add_explicit(&pat_rt.bytes_copied, bytes, memory_order_relaxed);
    return pat_call_pack_own(call, c->own, c->rank, place);
}

/* Where the result is, and where in it the own block. */
static int place_gather(const pat_comm *c, const pat_work *w, char **home, const char **own)
{
    const pat_call *call = w->call;
    const pat_plan *plan = w->round->plan;
    const int root = call->root, rank = plan->rank;
    const int64_t total = pat_plan_block_start(plan, c->size), begin = pat_plan_block_start(plan, rank),
                  bytes = pat_plan_block_start(plan, rank + 1) - begin;
    int rc = MPI_SUCCESS;
    if (rank == 0) { /* the root: blocks in the order of the communicator's ranks */
        const int64_t mine = pat_block_start(call->block_bytes, call->starts, root);
        *home = call->recvbuf;
        if (!call->recv_plain)
            rc = stand_in(w, total, home);
        pat_exec_rotate(w->round->exec, root, PAT_SPACE_RESULT, mine, total);
        return rc != MPI_SUCCESS ? rc : bring_own(c, call, bytes, *home + mine, own);
    }
    /* Elsewhere the own block comes first, and after it those that are passed on. */
    const int64_t held = result_end(plan) - begin;
    pat_exec_rotate(w->round->exec, root, PAT_SPACE_RESULT, total - begin, total);
    if (held == bytes && call->send_plain) { /* it is only read */
        *home = (char *)(uintptr_t)call->sendbuf;
        return MPI_SUCCESS;
    }
    rc = stand_in(w, held, home);
    return rc != MPI_SUCCESS ? rc : bring_own(c, call, bytes, *home, own);
}

static int place_bcast(const pat_comm *c, const pat_work *w, char **home)
{
    const pat_call *call = w->call;
    const char *own = NULL;
    pat_exec_rotate(w->round->exec, call->root, PAT_SPACE_RESULT, 0, call->block_bytes);
    *home = call->recvbuf;
    if (call->recv_plain)
        return MPI_SUCCESS;
    int rc = stand_in(w, call->block_bytes, home);
    return rc == MPI_SUCCESS && c->rank == call->root ? bring_own(c, call, call->block_bytes, *home, &own)
                                                      : rc;
}

/* Does the rank only pass its own contribution on, as it is? */
static bool only_sends(const pat_plan *plan)
{
    for (int i = 0; i < plan->num_nodes; i++)
        if (plan->nodes[i].kind == PAT_NODE_RECV)
            return false;
    return true;
}

/* Where the sum grows: elsewhere than at the root in memory of the library's. */
static int place_reduce(const pat_work *w, char **home, const char **own)
{
    const pat_call *call = w->call;
    const pat_plan *plan = w->round->plan;
    pat_exec_rotate(w->round->exec, call->root, PAT_SPACE_RESULT, 0, call->block_bytes);
    if (plan->rank != 0 && only_sends(plan)) {
        *home = (char *)(uintptr_t)call->sendbuf;
        return MPI_SUCCESS;
    }
    *home = call->recvbuf;
    if (!call->in_place)
        *own = call->sendbuf;
    return plan->rank == 0 ? MPI_SUCCESS : stand_in(w, call->block_bytes, home);
}

/* The root's blocks lie in the order of the communicator's ranks, and so they do when they have been packed. */
static int place_scatter(const pat_comm *c, const pat_work *w, char **home, const char **own)
{
    const pat_call *call = w->call;
    const int64_t bytes = pat_block_start(call->block_bytes, call->starts, 1),
                  total = pat_block_start(call->block_bytes, call->own_starts, c->size),
                  mine = pat_block_start(call->block_bytes, call->own_starts, call->root);
    const bool gives = w->round->plan->rank == 0, packs = gives && !call->send_plain;
    const bool unpacks = !call->recv_plain && !call->stays;
    int rc = make_room(w, (packs ? total : 0) + (unpacks ? bytes : 0));
    if (rc != MPI_SUCCESS)
        return rc;
    pat_exec_rotate(w->round->exec, call->root, PAT_SPACE_OWN, mine, total);
    *home = unpacks ? w->pack->at : call->recvbuf;
    if (!gives)
        return MPI_SUCCESS;
    char *packed = w->pack->at + (unpacks ? bytes : 0);
    *own = packs ? packed : call->sendbuf;
    if (call->stays)
        *home = (char *)(uintptr_t)*own + mine;
    if (!packs)
        return MPI_SUCCESS;
    atomic_fetch_add_explicit(&pat_rt.bytes_copied, total, memory_order_relaxed);
    return pat_call_pack_all(call, c->own, c->size, packed);
}

int pat_bring_rooted_buffers(pat_comm *c, const pat_work *w, char **home, const char **own)
{
    const pat_collective *row = pat_collective_of(w->op);
    *home = NULL;
    *own = NULL;
    if (row->personal)
        return place_scatter(c, w, home, own);
    if (row->reduces)
        return place_reduce(w, home, own);
    return row->all_give ? place_gather(c, w, home, own) : place_bcast(c, w, home);
}

/* ---- The result --------------------------------------------------------------------------------------- */

int pat_bring_back(pat_comm *c, const pat_work *w)
{
    const pat_call *call = w->call;
    const pat_collective *row = pat_collective_of(w->op);
    const pat_plan *plan = w->round->plan;
    const int blocks = pat_collective_blocks(row, c->size);
    /* What the root of a broadcast gives is its result. */
    const bool gives_alone =
        !row->all_give && pat_collective_gives(row, plan) && (!row->personal || call->stays);
    pat_exec_stats stats = pat_exec_get_stats(w->round->exec);
    int rc = MPI_SUCCESS;
    if (!call->recv_plain && pat_collective_gets(row, plan) && !gives_alone) {
        rc = pat_call_unpack(call, c->own, c->rank, blocks, w->pack->at);
        stats.bytes_copied += pat_block_start(call->block_bytes, call->starts, blocks);
    }
    pat_runtime_count_data(&stats);
    c->lanes[w->op].early_bytes = stats.bytes_early;
    return rc;
}

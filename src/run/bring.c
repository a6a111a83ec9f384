/*
 * bring.c — see bring.h. What is not plain is packed in the lane's memory.
 */
#include "bring.h"

#include "error.h"
#include "runtime.h"

/* Room for so many packed results of so many bytes. */
static int make_room(pat_lane *lane, int results, int64_t bytes)
{
    if (results == 0 || pat_comm_buffer(&lane->pack, &lane->pack_size, (size_t)(results * bytes)))
        return MPI_SUCCESS;
    return pat_error(MPI_ERR_NO_MEM, "no memory to pack %lld bytes", (long long)bytes);
}

/* Where the contribution is a block for each rank it cannot lie where the result goes. */
static int bring_personal(pat_comm *c, char **home, const char **own)
{
    const pat_call *call = &c->call;
    pat_lane *lane = c->lane;
    const int64_t total = c->size * call->block_bytes, unpacked = call->recv_plain ? 0 : total;
    const bool packs = call->in_place || !call->send_plain;
    int rc = make_room(lane, !call->recv_plain + packs, total);
    if (rc != MPI_SUCCESS)
        return rc;
    *home = unpacked ? lane->pack : call->recvbuf;
    *own = packs ? lane->pack + unpacked : call->sendbuf;
    if (!packs)
        return MPI_SUCCESS;
    atomic_fetch_add_explicit(&pat_rt.bytes_copied, total, memory_order_relaxed);
    return pat_call_pack_all(call, c->own, c->size, lane->pack + unpacked);
}

static int bring_common(pat_comm *c, char **home, const char **own)
{
    const pat_call *call = &c->call;
    const pat_collective *row = pat_collective_of(c->lane->op);
    const int block = pat_collective_own_block(row, c->rank);
    const int64_t start = pat_block_start(call->block_bytes, call->starts, block),
                  end = pat_block_start(call->block_bytes, call->starts, block + 1),
                  total =
                      pat_block_start(call->block_bytes, call->starts, pat_collective_blocks(row, c->size));
    int rc = make_room(c->lane, !call->recv_plain, total);
    if (rc != MPI_SUCCESS)
        return rc;
    *home = call->recv_plain ? call->recvbuf : c->lane->pack;
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
static int bring_sent(pat_comm *c, char **home, const char **own)
{
    const pat_call *call = &c->call;
    const int64_t bytes = call->block_bytes, total = bytes * c->size;
    pat_exec_rotate(c->lane->current->exec, 0, total - c->rank * bytes, total);
    *own = NULL;
    *home = (char *)(uintptr_t)call->sendbuf; /* it is only read */
    if (call->send_plain)
        return MPI_SUCCESS;
    int rc = make_room(c->lane, 1, bytes);
    if (rc != MPI_SUCCESS)
        return rc;
    *home = c->lane->pack;
    atomic_fetch_add_explicit(&pat_rt.bytes_copied, bytes, memory_order_relaxed);
    return pat_call_pack_own(call, c->own, c->rank, *home);
}

int pat_bring_buffers(pat_comm *c, char **home, const char **own)
{
    const pat_collective *row = pat_collective_of(c->lane->op);
    if (!pat_collective_gets(row, c->lane->current->plan))
        return bring_sent(c, home, own);
    return row->personal ? bring_personal(c, home, own) : bring_common(c, home, own);
}

/*
 * call.c — see call.h. Ranks may use different datatypes for the same bytes, so nothing decided here
 * may change what a rank sends, only how it gets the bytes out of and into its memory.
 */
#include "call.h"

#include "error.h"
#include "plan.h"

/* Rank r's block, packed and in the receive buffer. A broadcast's only block is everybody's. */
static int64_t packed_bytes(const pat_call *call, int r)
{
    return call->starts ? call->starts[r + 1] - call->starts[r] : call->block_bytes;
}

static char *recv_place(const pat_call *call, int r)
{
    return (char *)call->recvbuf +
           (call->displs ? call->displs[r] * call->recv_extent : r * call->recv_stride);
}

static int recv_count(const pat_call *call, int r)
{
    return call->recvcounts ? call->recvcounts[r] : call->recvcount;
}

/* One of the blocks that this rank contributes: at `from`, or with MPI_IN_PLACE where rank r's belongs. */
static int pack_block(const pat_call *call, MPI_Comm own, int r, const char *from, char *out)
{
    const int bytes = (int)packed_bytes(call, r);
    int position = 0;
    if (call->in_place)
        return PMPI_Pack(recv_place(call, r), recv_count(call, r), call->recvtype, out, bytes, &position,
                         own);
    return PMPI_Pack(from, call->sendcount, call->sendtype, out, bytes, &position, own);
}

int pat_call_pack_own(const pat_call *call, MPI_Comm own, int rank, char *out)
{
    return pack_block(call, own, rank, call->sendbuf, out);
}

int pat_call_pack_all(const pat_call *call, MPI_Comm own, int num_ranks, char *out)
{
    int rc = MPI_SUCCESS;
    for (int r = 0; r < num_ranks && rc == MPI_SUCCESS; r++)
        rc = pack_block(call, own, r, (const char *)call->sendbuf + r * call->send_stride,
                        out + r * call->block_bytes);
    return rc;
}

int pat_call_unpack(const pat_call *call, MPI_Comm own, int rank, int num_ranks, const char *packed)
{
    for (int r = 0; r < num_ranks; r++) {
        int position = 0;
        if ((call->in_place && r == rank) || packed_bytes(call, r) == 0)
            continue;
        int rc = PMPI_Unpack(packed + pat_block_start(call->block_bytes, call->starts, r),
                             (int)packed_bytes(call, r), &position, recv_place(call, r), recv_count(call, r),
                             call->recvtype, own);
        if (rc != MPI_SUCCESS)
            return pat_error(rc, "the MPI library could not unpack rank %d's block to the receive buffer", r);
    }
    return MPI_SUCCESS;
}

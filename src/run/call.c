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

/*
 * Items in the program's memory. With types that have addresses in them they begin at MPI_BOTTOM, a null pointer, which MPICH 4.0 refuses to
 * pack from or to unpack to; then they are one item of a type of ours, whose addresses are counted from this structure.
 */
typedef struct items {
    void *place;
    int count;
    MPI_Datatype type;
    bool ours;
} items;

static void items_free(items *i)
{
    if (i->ours)
        PMPI_Type_free(&i->type);
}

static int items_make(items *i, const void *place, int count, MPI_Datatype type)
{
    MPI_Aint from_here;
    *i = (items){(void *)place, count, type, false};
    if (place)
        return MPI_SUCCESS;
    PMPI_Get_address(i, &from_here);
    from_here = -from_here;
    int rc = PMPI_Type_create_hindexed(1, &count, &from_here, type, &i->type);
    if (rc != MPI_SUCCESS)
        return rc;
    i->place = i;
    i->count = 1;
    i->ours = true;
    return PMPI_Type_commit(&i->type);
}

static int pack(const void *place, int count, MPI_Datatype type, char *out, int bytes, MPI_Comm own)
{
    items i;
    int position = 0;
    if (bytes == 0)
        return MPI_SUCCESS;
    int rc = items_make(&i, place, count, type);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Pack(i.place, i.count, i.type, out, bytes, &position, own);
    items_free(&i);
    return rc;
}

static int unpack(const char *packed, int bytes, void *place, int count, MPI_Datatype type, MPI_Comm own)
{
    items i;
    int position = 0;
    int rc = items_make(&i, place, count, type);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Unpack(packed, bytes, &position, i.place, i.count, i.type, own);
    items_free(&i);
    return rc;
}

/* One of the blocks that this rank contributes: at `from`, or with MPI_IN_PLACE where rank r's belongs. */
static int pack_block(const pat_call *call, MPI_Comm own, int r, const char *from, char *out)
{
    const int bytes = (int)packed_bytes(call, r);
    if (call->in_place)
        return pack(recv_place(call, r), recv_count(call, r), call->recvtype, out, bytes, own);
    return pack(from, call->sendcount, call->sendtype, out, bytes, own);
}

int pat_call_keep_type(MPI_Datatype *type)
{
    MPI_Datatype kept;
    int rc = PMPI_Type_contiguous(1, *type, &kept);
    *type = MPI_DATATYPE_NULL;
    if (rc == MPI_SUCCESS) {
        *type = kept;
        rc = PMPI_Type_commit(type);
    }
    return rc;
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
        const int bytes = (int)packed_bytes(call, r);
        if ((call->in_place && r == rank) || bytes == 0)
            continue;
        int rc = unpack(packed + pat_block_start(call->block_bytes, call->starts, r), bytes,
                        recv_place(call, r), recv_count(call, r), call->recvtype, own);
        if (rc != MPI_SUCCESS)
            return pat_error(rc, "the MPI library could not unpack rank %d's block to the receive buffer", r);
    }
    return MPI_SUCCESS;
}

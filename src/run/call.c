/*
 * call.c — see call.h. Ranks may use different datatypes for the same bytes, so nothing decided here
 * may change what a rank sends, only how it gets the bytes out of and into its memory.
 */
#include "call.h"

#include <limits.h>

#include "error.h"
#include "plan.h"

/* Rank r's block when it is packed. A broadcast's only block is everybody's. */
static int64_t packed_bytes(const pat_call *call, const int64_t *starts, int r)
{
    return starts ? starts[r + 1] - starts[r] : call->block_bytes;
}

/* Where it begins in the program's buffer, and how many items it has. */
static MPI_Aint place_of(const pat_lists *lists, MPI_Aint stride, int r)
{
    return lists->displs ? lists->displs[r] * lists->extent : r * stride;
}

static int count_of(const pat_lists *lists, int count, int r)
{
    return lists->counts ? lists->counts[r] : count;
}

static char *recv_place(const pat_call *call, int r)
{
    return (char *)call->recvbuf + place_of(&call->got, call->recv_stride, r);
}

static const char *send_place(const pat_call *call, int r)
{
    return (const char *)call->sendbuf + place_of(&call->sent, call->send_stride, r);
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

static int pack_items(const char *place, int count, MPI_Datatype type, char *out, int bytes, MPI_Comm own)
{
    items i;
    int position = 0;
    int rc = items_make(&i, place, count, type);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Pack(i.place, i.count, i.type, out, bytes, &position, own);
    items_free(&i);
    return rc;
}

static int unpack_items(const char *place, int count, MPI_Datatype type, char *packed, int bytes,
                        MPI_Comm own)
{
    items i;
    int position = 0;
    int rc = items_make(&i, place, count, type);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Unpack(packed, bytes, &position, i.place, i.count, i.type, own);
    items_free(&i);
    return rc;
}

/* One of the two. */
typedef int move_items(const char *place, int count, MPI_Datatype type, char *packed, int bytes,
                       MPI_Comm own);

/* A block, in several parts where it has more bytes than an int counts. */
static int move(move_items *some_items, const char *place, int count, MPI_Datatype type, char *packed,
                int64_t bytes, MPI_Comm own)
{
    MPI_Aint lb, extent;
    if (bytes == 0)
        return MPI_SUCCESS;
    if (bytes <= PAT_MAX_MESSAGE)
        return some_items(place, count, type, packed, (int)bytes, own);
    const int64_t size = bytes / count, most = size < PAT_MAX_MESSAGE ? PAT_MAX_MESSAGE / size : 1;
    if (size > INT_MAX)
        return pat_error(MPI_ERR_COUNT, "an item of %lld bytes cannot be packed", (long long)size);
    int rc = PMPI_Type_get_extent(type, &lb, &extent);
    for (int64_t at = 0; at < count && rc == MPI_SUCCESS; at += most) {
        const int64_t some = most < count - at ? most : count - at;
        rc = some_items(place + at * extent, (int)some, type, packed + at * size, (int)(some * size), own);
    }
    return rc;
}

/* What this rank contributes, with MPI_IN_PLACE, lies where rank r's block belongs. */
static int pack_in_place(const pat_call *call, MPI_Comm own, int r, char *out)
{
    return move(pack_items, recv_place(call, r), count_of(&call->got, call->recvcount, r), call->recvtype,
                out, packed_bytes(call, call->starts, r), own);
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
    if (call->in_place)
        return pack_in_place(call, own, rank, out);
    return move(pack_items, call->sendbuf, call->sendcount, call->sendtype, out,
                packed_bytes(call, call->starts, rank), own);
}

int pat_call_pack_all(const pat_call *call, MPI_Comm own, int num_ranks, char *out)
{
    int rc = MPI_SUCCESS;
    for (int r = 0; r < num_ranks && rc == MPI_SUCCESS; r++) {
        char *to = out + pat_block_start(call->block_bytes, call->own_starts, r);
        rc = call->in_place ? pack_in_place(call, own, r, to)
                            : move(pack_items, send_place(call, r), count_of(&call->sent, call->sendcount, r),
                                   call->sendtype, to, packed_bytes(call, call->own_starts, r), own);
    }
    return rc;
}

int pat_call_unpack(const pat_call *call, MPI_Comm own, int rank, int num_ranks, const char *packed)
{
    for (int r = 0; r < num_ranks; r++) {
        if (call->in_place && r == rank)
            continue;
        char *from = (char *)(uintptr_t)packed + pat_block_start(call->block_bytes, call->starts, r);
        int rc = move(unpack_items, recv_place(call, r), count_of(&call->got, call->recvcount, r),
                      call->recvtype, from, packed_bytes(call, call->starts, r), own);
        if (rc != MPI_SUCCESS)
            return pat_error(rc, "the MPI library could not unpack rank %d's block to the receive buffer", r);
    }
    return MPI_SUCCESS;
}

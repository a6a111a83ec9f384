/*
 * datatype.c — see datatype.h. Ranks may use different datatypes for the same bytes, so nothing decided here
 * may change what a rank sends, only how it gets the bytes out of and into its memory.
 */
#include "datatype.h"

#include "error.h"
#include "plan.h"
#include "reduction.h"
#include "runtime.h"

/*
 * Do `count` items lie in memory exactly as they are packed? Size and extent are not enough to tell (an
 * indexed type may permute), so only what is plain by construction counts: named types without padding, and
 * contiguous or duplicated types of those.
 */
static bool type_is_plain(MPI_Datatype type)
{
    int num_ints, num_addresses, num_types, combiner, size;
    MPI_Aint lb, extent;
    if (PMPI_Type_get_envelope(type, &num_ints, &num_addresses, &num_types, &combiner) != MPI_SUCCESS)
        return false;
    if (combiner == MPI_COMBINER_NAMED)
        return PMPI_Type_size(type, &size) == MPI_SUCCESS &&
               PMPI_Type_get_extent(type, &lb, &extent) == MPI_SUCCESS && lb == 0 && extent == size;
    if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP)
        return false;

    int ints[1] = {1};
    MPI_Aint addresses[1];
    MPI_Datatype inner;
    if (num_ints > 1 || num_addresses > 0 || num_types != 1 ||
        PMPI_Type_get_contents(type, num_ints, 0, 1, ints, addresses, &inner) != MPI_SUCCESS)
        return false;
    bool plain = type_is_plain(inner);
    if (PMPI_Type_get_envelope(inner, &num_ints, &num_addresses, &num_types, &combiner) == MPI_SUCCESS &&
        combiner != MPI_COMBINER_NAMED)
        PMPI_Type_free(&inner); /* get_contents hands out a new reference to derived types */
    return plain;
}

/* Between two groups the sizes there and back may differ. Such calls are MPI's business anyway. */
static bool is_inter(MPI_Comm comm)
{
    int inter = 0;
    return PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter;
}

/* MPI has no question for it; a send to nobody gives the library's own verdict (of no items MPICH would not look at the type). */
static bool type_is_usable(MPI_Datatype type)
{
    const char never_read = 0;
    int num_ints, num_addresses, num_types, combiner;
    return type != MPI_DATATYPE_NULL &&
           PMPI_Type_get_envelope(type, &num_ints, &num_addresses, &num_types, &combiner) == MPI_SUCCESS &&
           (combiner == MPI_COMBINER_NAMED ||
            PMPI_Send(&never_read, 1, type, MPI_PROC_NULL, 0, pat_rt.world) == MPI_SUCCESS);
}

/* One side of a call. False for what MPI would reject. */
static bool measure(int count, MPI_Datatype type, int64_t *bytes, bool *plain)
{
    int size;
    if (count < 0 || !type_is_usable(type) || PMPI_Type_size(type, &size) != MPI_SUCCESS ||
        size == MPI_UNDEFINED)
        return false;
    *bytes = (int64_t)count * size;
    *plain = type_is_plain(type);
    return true;
}

static void measure_stride(pat_call *call)
{
    MPI_Aint lb, extent;
    PMPI_Type_get_extent(call->recvtype, &lb, &extent);
    call->recv_stride = extent * call->recvcount;
}

bool pat_call_describe(pat_call *call, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                       void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    int64_t send_bytes;
    *call = (pat_call){.sendbuf = sendbuf,
                       .sendcount = sendcount,
                       .sendtype = sendtype,
                       .recvbuf = recvbuf,
                       .recvcount = recvcount,
                       .recvtype = recvtype,
                       .comm = comm,
                       .in_place = sendbuf == MPI_IN_PLACE};
    if (recvbuf == MPI_IN_PLACE || !measure(recvcount, recvtype, &call->block_bytes, &call->recv_plain))
        return false;
    if (!call->in_place && (!measure(sendcount, sendtype, &send_bytes, &call->send_plain) ||
                            (send_bytes != call->block_bytes && !is_inter(comm))))
        return false;
    measure_stride(call);
    call->mean_bytes = call->block_bytes;
    return true;
}

/* Where the blocks begin in the packed result. False for counts that MPI would reject, or blocks that are too long. */
static bool measure_blocks(pat_call *call, int type_size, int num_ranks, int64_t *starts)
{
    starts[0] = 0;
    for (int r = 0; r < num_ranks; r++) {
        const int64_t bytes = (int64_t)call->recvcounts[r] * type_size;
        if (bytes < 0 || bytes > PAT_MAX_BLOCK)
            return false;
        starts[r + 1] = starts[r] + bytes;
        call->block_bytes = bytes > call->block_bytes ? bytes : call->block_bytes;
    }
    call->mean_bytes = (starts[num_ranks] + num_ranks - 1) / num_ranks;
    return true;
}

bool pat_call_describe_v(pat_call *call, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                         void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                         MPI_Comm comm, int rank, int num_ranks, int64_t *starts)
{
    int64_t send_bytes, one;
    MPI_Aint lb;
    *call = (pat_call){.sendbuf = sendbuf,
                       .sendcount = sendcount,
                       .sendtype = sendtype,
                       .recvbuf = recvbuf,
                       .recvtype = recvtype,
                       .comm = comm,
                       .in_place = sendbuf == MPI_IN_PLACE,
                       .recvcounts = recvcounts,
                       .displs = displs};
    if (recvbuf == MPI_IN_PLACE || !recvcounts || !displs || !measure(1, recvtype, &one, &call->recv_plain) ||
        !measure_blocks(call, (int)one, num_ranks, starts))
        return false;
    if (!call->in_place && (!measure(sendcount, sendtype, &send_bytes, &call->send_plain) ||
                            send_bytes != starts[rank + 1] - starts[rank]))
        return false;
    PMPI_Type_get_extent(recvtype, &lb, &call->recv_extent);
    bool packed = true, alike = true; /* blocks without bytes lie anywhere */
    for (int r = 0; r < num_ranks; r++) {
        packed = packed && (recvcounts[r] == 0 || (int64_t)displs[r] * one == starts[r]);
        alike = alike && starts[r + 1] - starts[r] == call->block_bytes;
    }
    call->recv_plain = call->recv_plain && packed;
    call->starts = alike ? NULL : starts;
    return true;
}

bool pat_call_describe_send(pat_call *call, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            MPI_Comm comm)
{
    *call = (pat_call){.sendbuf = sendbuf, .sendcount = sendcount, .sendtype = sendtype, .comm = comm};
    return sendbuf != MPI_IN_PLACE && measure(sendcount, sendtype, &call->block_bytes, &call->send_plain);
}

bool pat_call_describe_one(pat_call *call, void *buffer, int count, MPI_Datatype type, MPI_Comm comm)
{
    if (!pat_call_describe_send(call, buffer, count, type, comm))
        return false;
    call->recvbuf = buffer;
    call->recvcount = count;
    call->recvtype = type;
    call->recv_plain = call->send_plain;
    measure_stride(call);
    return true;
}

bool pat_call_describe_reduce(pat_call *call, const void *sendbuf, void *recvbuf, int count,
                              MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int64_t element_bytes;
    if (count < 0 || recvbuf == MPI_IN_PLACE || !pat_reduction_known(op, type, &element_bytes))
        return false;
    *call = (pat_call){.sendbuf = sendbuf,
                       .sendcount = count,
                       .sendtype = type,
                       .recvbuf = recvbuf,
                       .recvcount = count,
                       .recvtype = type,
                       .comm = comm,
                       .op = op,
                       .block_bytes = count * element_bytes,
                       .mean_bytes = count * element_bytes,
                       .element_bytes = element_bytes,
                       .in_place = sendbuf == MPI_IN_PLACE,
                       .send_plain = true, /* elements are moved as they lie, with their padding */
                       .recv_plain = true};
    return true;
}

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

int pat_call_pack_own(const pat_call *call, MPI_Comm own, int rank, char *out)
{
    const int bytes = (int)packed_bytes(call, rank);
    int position = 0;
    if (call->in_place)
        return PMPI_Pack(recv_place(call, rank), recv_count(call, rank), call->recvtype, out, bytes,
                         &position, own);
    return PMPI_Pack(call->sendbuf, call->sendcount, call->sendtype, out, bytes, &position, own);
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

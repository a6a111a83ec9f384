/*
 * datatype.c — see datatype.h. Ranks may use different datatypes for the same bytes, so nothing decided here
 * may change what a rank sends, only how it gets the bytes out of and into its memory.
 */
#include "datatype.h"

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

/* MPI has no question for it; a send of nothing to nobody gives the library's own verdict. */
static bool type_is_usable(MPI_Datatype type)
{
    int num_ints, num_addresses, num_types, combiner;
    return type != MPI_DATATYPE_NULL &&
           PMPI_Type_get_envelope(type, &num_ints, &num_addresses, &num_types, &combiner) == MPI_SUCCESS &&
           (combiner == MPI_COMBINER_NAMED ||
            PMPI_Send(NULL, 0, type, MPI_PROC_NULL, 0, pat_rt.world) == MPI_SUCCESS);
}

bool pat_call_describe(pat_call *call, const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                       void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    int send_size = 0, recv_size;
    MPI_Aint lb, extent;
    *call = (pat_call){.sendbuf = sendbuf,
                       .sendcount = sendcount,
                       .sendtype = sendtype,
                       .recvbuf = recvbuf,
                       .recvcount = recvcount,
                       .recvtype = recvtype,
                       .comm = comm,
                       .in_place = sendbuf == MPI_IN_PLACE};
    if (recvcount < 0 || recvbuf == MPI_IN_PLACE || !type_is_usable(recvtype) ||
        (!call->in_place && (sendcount < 0 || !type_is_usable(sendtype))))
        return false;
    if (PMPI_Type_size(recvtype, &recv_size) != MPI_SUCCESS || recv_size == MPI_UNDEFINED)
        return false;
    call->block_bytes = (int64_t)recvcount * recv_size;
    if (!call->in_place) {
        if (PMPI_Type_size(sendtype, &send_size) != MPI_SUCCESS || send_size == MPI_UNDEFINED ||
            ((int64_t)sendcount * send_size != call->block_bytes && !is_inter(comm)))
            return false;
        call->send_plain = type_is_plain(sendtype);
    }
    call->recv_plain = type_is_plain(recvtype);
    PMPI_Type_get_extent(recvtype, &lb, &extent);
    call->recv_stride = extent * recvcount;
    return true;
}

int pat_call_pack_own(const pat_call *call, MPI_Comm own, int rank, char *out)
{
    int position = 0;
    if (call->in_place)
        return PMPI_Pack((const char *)call->recvbuf + rank * call->recv_stride, call->recvcount,
                         call->recvtype, out, (int)call->block_bytes, &position, own);
    return PMPI_Pack(call->sendbuf, call->sendcount, call->sendtype, out, (int)call->block_bytes, &position,
                     own);
}

int pat_call_unpack(const pat_call *call, MPI_Comm own, int rank, int num_ranks, const char *packed)
{
    for (int r = 0; r < num_ranks; r++) {
        int position = 0;
        if (call->in_place && r == rank)
            continue;
        int rc =
            PMPI_Unpack(packed + r * call->block_bytes, (int)call->block_bytes, &position,
                        (char *)call->recvbuf + r * call->recv_stride, call->recvcount, call->recvtype, own);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    return MPI_SUCCESS;
}

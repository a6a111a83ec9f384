/*
 * describe.c — see describe.h. What is decided here is the same on all ranks, or concerns only how a rank's bytes lie in its memory: ranks
 * may use different datatypes for the same bytes.
 */
#include "describe.h"

#include <limits.h>
#include <stdlib.h>

#include "collective.h"
#include "comm.h"
#include "error.h"
#include "plain_type.h"
#include "reduction.h"
#include "runtime.h"

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

/* A type that has addresses in it begins at one of them; nearly all others begin at 0. */
static bool has_addresses(MPI_Datatype type)
{
    MPI_Aint begin, extent;
    return PMPI_Type_get_true_extent(type, &begin, &extent) == MPI_SUCCESS && begin != 0;
}

/* No block may be longer: types may say more, but no memory has it. */
#define MOST_BYTES ((int64_t)1 << 40)

static bool measure_item(MPI_Datatype type, int64_t *bytes, bool *plain)
{
    MPI_Count size;
    if (!type_is_usable(type) || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
        return false;
    *bytes = size;
    *plain = pat_type_is_plain(type);
    return true;
}

/* So many items. */
static bool multiply(int64_t count, int64_t item, int64_t most, int64_t *bytes)
{
    return count >= 0 && count <= INT_MAX && !__builtin_mul_overflow(count, item, bytes) && *bytes <= most;
}

/* A null pointer is no buffer but for types that have addresses in them: MPI_BOTTOM. */
static bool is_buffer(const void *buffer, int64_t bytes, MPI_Datatype type)
{
    return buffer || bytes == 0 || has_addresses(type);
}

/* One side of a call. False for what MPI would reject, and for more items than a plan is for. */
static bool measure(const void *buffer, int64_t count, MPI_Datatype type, int64_t *bytes, bool *plain)
{
    int64_t item;
    return measure_item(type, &item, plain) && multiply(count, item, MOST_BYTES, bytes) &&
           is_buffer(buffer, *bytes, type);
}

/* From one block to the next. */
static MPI_Aint stride_of(MPI_Datatype type, int count)
{
    MPI_Aint lb, extent;
    PMPI_Type_get_extent(type, &lb, &extent);
    return extent * count;
}

/* What a rank sends; false as pat_describe has it. */
static bool describe_send(pat_call *call, const pat_args *a)
{
    call->sendbuf = a->sendbuf;
    call->sendcount = (int)a->sendcount;
    call->sendtype = a->sendtype;
    call->in_place = a->sendbuf == MPI_IN_PLACE;
    return call->in_place ||
           measure(a->sendbuf, a->sendcount, a->sendtype, &call->send_bytes, &call->send_plain);
}

static void describe_recv(pat_call *call, const pat_args *a)
{
    call->recvbuf = a->recvbuf;
    call->recvcount = (int)a->recvcount;
    call->recvtype = a->recvtype;
}

/* personal: there is a block to send for each rank. */
static bool describe_blocks(pat_call *call, const pat_args *a, bool personal)
{
    describe_recv(call, a);
    if (a->recvbuf == MPI_IN_PLACE ||
        !measure(a->recvbuf, a->recvcount, a->recvtype, &call->block_bytes, &call->recv_plain) ||
        !describe_send(call, a))
        return false;
    /* Between two groups the sizes there and back may differ. Such calls are MPI's business anyway. */
    if (!call->in_place && call->send_bytes != call->block_bytes && !pat_comm_is_inter(a->comm))
        return false;
    call->recv_stride = stride_of(a->recvtype, call->recvcount);
    if (personal && !call->in_place)
        call->send_stride = stride_of(a->sendtype, call->sendcount);
    call->mean_bytes = call->block_bytes;
    return true;
}

/* Of a gather, elsewhere than at the root, only what is sent counts. */
static bool describe_sent(pat_call *call, const pat_args *a)
{
    const bool sends = describe_send(call, a) && !call->in_place;
    call->block_bytes = call->mean_bytes = call->send_bytes;
    return sends;
}

static bool describe_rooted_blocks(pat_call *call, const pat_args *a)
{
    int rank;
    return PMPI_Comm_rank(a->comm, &rank) == MPI_SUCCESS &&
           (rank == call->root ? describe_blocks(call, a, false) : describe_sent(call, a));
}

/* Of a scatter, elsewhere than at the root only what is received counts; there it may stay where it is. */
static bool describe_scatter(pat_call *call, const pat_args *a)
{
    int rank;
    if (PMPI_Comm_rank(a->comm, &rank) != MPI_SUCCESS)
        return false;
    const bool gives = rank == call->root;
    call->stays = a->recvbuf == MPI_IN_PLACE;
    call->send_plain = true; /* where nothing is sent */
    if (call->stays && !gives)
        return false;
    if (!call->stays) {
        describe_recv(call, a);
        if (!measure(a->recvbuf, a->recvcount, a->recvtype, &call->block_bytes, &call->recv_plain))
            return false;
        call->recv_stride = stride_of(a->recvtype, call->recvcount);
    }
    if (gives) {
        call->sendbuf = a->sendbuf;
        call->sendcount = (int)a->sendcount;
        call->sendtype = a->sendtype;
        if (a->sendbuf == MPI_IN_PLACE ||
            !measure(a->sendbuf, a->sendcount, a->sendtype, &call->send_bytes, &call->send_plain) ||
            (!call->stays && call->send_bytes != call->block_bytes))
            return false;
        call->send_stride = stride_of(a->sendtype, call->sendcount);
        call->block_bytes = call->send_bytes;
    }
    call->mean_bytes = call->block_bytes;
    return true;
}

/*
 * Blocks in a buffer, with lists. Where they begin when they are packed, how long the longest is, unless *longest is more, and whether their bytes lie so in memory. False for what MPI would
 * reject, or blocks that are longer than `most`.
 */
static bool measure_lists(const pat_lists *l, const void *buffer, MPI_Datatype type, int num_ranks,
                          int64_t most, int64_t *starts, int64_t *longest, bool *plain)
{
    int64_t item;
    if (!l->counts || !l->displs || !measure_item(type, &item, plain))
        return false;
    starts[0] = 0;
    for (int r = 0; r < num_ranks; r++) {
        int64_t bytes, at;
        if (!multiply(l->counts[r], item, most, &bytes))
            return false;
        /* Blocks without bytes lie anywhere. */
        *plain = *plain && (bytes == 0 ||
                            (!__builtin_mul_overflow((int64_t)l->displs[r], item, &at) && at == starts[r]));
        starts[r + 1] = starts[r] + bytes;
        *longest = bytes > *longest ? bytes : *longest;
    }
    return is_buffer(buffer, starts[num_ranks], type);
}

static bool describe_recv_lists(pat_call *call, const pat_args *a, int num_ranks, int64_t most,
                                int64_t *starts)
{
    call->got = (pat_lists){a->recvcounts, a->rdispls, 0};
    if (a->recvbuf == MPI_IN_PLACE || !measure_lists(&call->got, a->recvbuf, a->recvtype, num_ranks, most,
                                                     starts, &call->block_bytes, &call->recv_plain))
        return false;
    describe_recv(call, a);
    call->got.extent = stride_of(a->recvtype, 1);
    return true;
}

static int64_t length(const int64_t *starts, int r)
{
    return starts[r + 1] - starts[r];
}

/* Blocks that turn out to be alike and to lie one after the other make a call like any other. `starts`: room for all, and the end. */
static bool describe_lists(pat_call *call, const pat_args *a, int rank, int num_ranks, int64_t *starts)
{
    if (!describe_recv_lists(call, a, num_ranks, PAT_MAX_BLOCK, starts) || !describe_send(call, a) ||
        (!call->in_place && call->send_bytes != length(starts, rank)))
        return false;
    call->mean_bytes = (starts[num_ranks] + num_ranks - 1) / num_ranks;
    bool alike = true;
    for (int r = 0; r < num_ranks; r++)
        alike = alike && length(starts, r) == call->block_bytes;
    call->starts = alike ? NULL : starts;
    return true;
}

/* Of all blocks only one has bytes. */
static void list_one(int64_t bytes, int only, int num_ranks, int64_t *starts)
{
    for (int r = 0; r <= num_ranks; r++)
        starts[r] = r > only ? bytes : 0;
}

static bool describe_send_lists(pat_call *call, const pat_args *a, int num_ranks, int64_t *starts)
{
    call->sent = (pat_lists){a->sendcounts, a->sdispls, 0};
    if (!measure_lists(&call->sent, a->sendbuf, a->sendtype, num_ranks, MOST_BYTES, starts,
                       &call->block_bytes, &call->send_plain))
        return false;
    call->own_starts = starts;
    call->sendbuf = a->sendbuf;
    call->sendtype = a->sendtype;
    call->sent.extent = stride_of(a->sendtype, 1);
    return true;
}

/* As of MPI_Alltoallv. */
static bool describe_exchange(pat_call *call, const pat_args *a, int rank, int num_ranks, int64_t *starts,
                              int64_t *own_starts)
{
    if (!describe_recv_lists(call, a, num_ranks, MOST_BYTES, starts))
        return false;
    call->in_place = a->sendbuf == MPI_IN_PLACE;
    call->own_starts = starts;
    return call->in_place || (describe_send_lists(call, a, num_ranks, own_starts) &&
                              length(own_starts, rank) == length(starts, rank));
}

/* As of MPI_Gatherv. */
static bool describe_gather_list(pat_call *call, const pat_args *a, int rank, int num_ranks, int64_t *starts)
{
    const bool gets = rank == call->root;
    if (gets && !describe_recv_lists(call, a, num_ranks, MOST_BYTES, starts))
        return false;
    if (!describe_send(call, a) || (call->in_place && !gets))
        return false;
    if (gets)
        return call->in_place || call->send_bytes == length(starts, rank);
    call->block_bytes = call->send_bytes;
    list_one(call->send_bytes, rank, num_ranks, starts);
    return true;
}

/* As of MPI_Scatterv: the result is a single block. */
static bool describe_scatter_list(pat_call *call, const pat_args *a, int rank, int num_ranks, int64_t *starts,
                                  int64_t *own_starts)
{
    const bool gives = rank == call->root;
    int64_t got = 0;
    call->stays = a->recvbuf == MPI_IN_PLACE;
    call->send_plain = true; /* where nothing is sent */
    if (call->stays && !gives)
        return false;
    if (!call->stays) {
        describe_recv(call, a);
        if (!measure(a->recvbuf, a->recvcount, a->recvtype, &got, &call->recv_plain))
            return false;
    }
    if (gives && !describe_send_lists(call, a, num_ranks, own_starts))
        return false;
    if (call->stays)
        got = length(own_starts, rank);
    call->block_bytes = got > call->block_bytes ? got : call->block_bytes;
    list_one(got, 0, num_ranks, starts);
    return !gives || length(own_starts, rank) == got;
}

/*
 * Two ranks know of each other no more than how much goes between them, so nothing but that decides how it goes. `starts`: room for two lists. The lists of
 * a gather, or a scatter, are significant at its root alone.
 */
static bool describe_pairs(pat_call *call, const pat_args *a, const pat_collective *row, int rank,
                           int num_ranks, int64_t *starts)
{
    int64_t *const own_starts = starts + num_ranks + 1;
    const bool is_ours = !row->rooted    ? describe_exchange(call, a, rank, num_ranks, starts, own_starts)
                         : row->personal ? describe_scatter_list(call, a, rank, num_ranks, starts, own_starts)
                                         : describe_gather_list(call, a, rank, num_ranks, starts);
    call->pairs = true;
    call->starts = starts;
    call->mean_bytes = 1; /* nobody knows it */
    if (call->block_bytes == 0)
        call->block_bytes =
            1; /* so that plans are the same as that of ranks with longer blocks, but for their messages */
    return is_ours;
}

/* Are there as many counts as ranks? Between groups there are as many as the other one has. */
static bool has_lists(const pat_args *a)
{
    return a->recvcounts && !pat_comm_is_inter(a->comm);
}

static int allocate_and_describe_lists(pat_call *call, const pat_args *a, const pat_collective *row,
                                       bool pairs, bool *ours)
{
    int rank, size;
    *ours = (pairs || has_lists(a)) && PMPI_Comm_size(a->comm, &size) == MPI_SUCCESS &&
            PMPI_Comm_rank(a->comm, &rank) == MPI_SUCCESS;
    if (!*ours)
        return MPI_SUCCESS;
    call->kept = malloc((pairs ? 2 : 1) * ((size_t)size + 1) * sizeof(*call->kept));
    if (!call->kept)
        return pat_error(MPI_ERR_NO_MEM, "no memory for the lengths of %d blocks", size);
    *ours = pairs ? describe_pairs(call, a, row, rank, size, call->kept)
                  : describe_lists(call, a, rank, size, call->kept);
    return MPI_SUCCESS;
}

static bool describe_buffer(pat_call *call, const pat_args *a)
{
    describe_recv(call, a);
    if (a->buffer == MPI_IN_PLACE ||
        !measure(a->buffer, a->count, a->datatype, &call->block_bytes, &call->recv_plain))
        return false;
    call->sendbuf = a->buffer;
    call->sendcount = call->recvcount;
    call->sendtype = a->datatype;
    call->send_plain = call->recv_plain;
    call->recv_stride = stride_of(a->datatype, call->recvcount);
    return true;
}

/* `count` elements are a block; gets: this rank gets a result. */
static bool describe_elements(pat_call *call, const pat_args *a, int64_t count, bool gets)
{
    if (count < 0 || count > INT_MAX || !a->sendbuf ||
        !pat_reduction_known(a->op, a->datatype, &call->element_bytes))
        return false;
    call->in_place = a->sendbuf == MPI_IN_PLACE;
    if (gets ? a->recvbuf == MPI_IN_PLACE || !a->recvbuf : call->in_place)
        return false;
    call->recvbuf = a->recvbuf;
    call->recvtype = call->sendtype = a->datatype;
    call->recvcount = call->sendcount = (int)count;
    call->sendbuf = a->sendbuf;
    call->op = a->op;
    call->block_bytes = call->mean_bytes = count * call->element_bytes;
    call->recv_stride = call->send_stride = (MPI_Aint)call->block_bytes;
    call->send_plain = call->recv_plain = true; /* elements are moved as they lie, with their padding */
    return true;
}

static bool describe_vector(pat_call *call, const pat_args *a, bool rooted)
{
    int rank = 0;
    if (rooted && PMPI_Comm_rank(a->comm, &rank) != MPI_SUCCESS)
        return false;
    return describe_elements(call, a, a->count, !rooted || rank == call->root);
}

/* As many elements for each rank as for the others; else there is no plan. */
static bool describe_parts(pat_call *call, const pat_args *a)
{
    int size;
    if (!has_lists(a) || PMPI_Comm_size(a->comm, &size) != MPI_SUCCESS)
        return false;
    for (int r = 1; r < size; r++)
        if (a->recvcounts[r] != a->recvcounts[0])
            return false;
    return describe_elements(call, a, a->recvcounts[0], true);
}

/* Each rank gives a byte of memory that is the call's own. */
static int describe_nothing(pat_call *call, MPI_Comm comm, bool *ours)
{
    int size;
    if (pat_comm_is_inter(comm) || PMPI_Comm_size(comm, &size) != MPI_SUCCESS)
        return MPI_SUCCESS;
    call->kept = calloc((size_t)size + 1, 1);
    if (!call->kept)
        return pat_error(MPI_ERR_NO_MEM, "no memory for a barrier of %d ranks", size);
    char *bytes = (char *)call->kept;
    call->sendbuf = bytes;
    call->recvbuf = bytes + 1;
    call->sendtype = call->recvtype = MPI_BYTE;
    call->sendcount = call->recvcount = 1;
    call->send_bytes = call->block_bytes = call->mean_bytes = 1;
    call->send_stride = call->recv_stride = 1;
    call->send_plain = call->recv_plain = *ours = true;
    return MPI_SUCCESS;
}

int pat_describe(const pat_face *face, const pat_args *args, pat_call *call, bool *ours)
{
    const pat_collective *row = pat_collective_of(face->op);
    *call = (pat_call){.comm = args->comm, .root = row->rooted ? args->root : 0};
    *ours = false;
    switch (face->kind) {
    case PAT_ARGS_BLOCKS:
        *ours = !row->rooted    ? describe_blocks(call, args, row->personal)
                : row->personal ? describe_scatter(call, args)
                                : describe_rooted_blocks(call, args);
        break;
    case PAT_ARGS_LISTS:
    case PAT_ARGS_PAIRS:
        return allocate_and_describe_lists(call, args, row, face->kind == PAT_ARGS_PAIRS, ours);
    case PAT_ARGS_NOTHING:
        return describe_nothing(call, args->comm, ours);
    case PAT_ARGS_BUFFER:
        *ours = describe_buffer(call, args);
        break;
    case PAT_ARGS_VECTOR:
        *ours = describe_vector(call, args, row->rooted);
        break;
    case PAT_ARGS_PARTS:
        *ours = describe_parts(call, args);
        break;
    }
    return MPI_SUCCESS;
}

void pat_describe_done(pat_call *call)
{
    free(call->kept);
    call->kept = NULL;
}

/* Of an item, or of an element that is reduced, which is moved with its padding; 0: not known. */
static int64_t bytes_of(MPI_Datatype type, bool reduced)
{
    static const MPI_Datatype none; /* a handle of Fortran's that stands for nothing becomes one in C */
    int size;
    MPI_Aint lb, extent;
    if (type == none || type == MPI_DATATYPE_NULL)
        return 0;
    if (reduced) /* one that is resized may be anything */
        return PMPI_Type_get_extent(type, &lb, &extent) == MPI_SUCCESS && extent < PAT_MAX_BLOCK ? extent : 0;
    return PMPI_Type_size(type, &size) == MPI_SUCCESS ? size : 0;
}

int64_t pat_describe_mean_bytes(const pat_face *face, const pat_args *args, int num_ranks)
{
    const pat_collective *row = pat_collective_of(face->op);
    const bool lists = face->kind == PAT_ARGS_LISTS || face->kind == PAT_ARGS_PARTS;
    int64_t items = args->recvcount;
    if (face->kind == PAT_ARGS_PAIRS || (face->kind == PAT_ARGS_BLOCKS && row->rooted))
        return 0; /* what is received is known to this rank only, or counts on some ranks only */
    if (lists) {
        if (!has_lists(args))
            return 0;
        items = 0;
        for (int r = 0; r < num_ranks; r++)
            items += args->recvcounts[r] > 0 ? args->recvcounts[r] : 0;
    }
    if (items <= 0 || (!lists && items > INT_MAX))
        return 0;
    const int64_t bytes = items * bytes_of(args->recvtype, row->reduces);
    return lists ? (bytes + num_ranks - 1) / num_ranks : bytes;
}

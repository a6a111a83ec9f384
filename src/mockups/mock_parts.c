/*
 * mock_parts.c — see mock_parts.h.
 */
#include "mock_parts.h"

#include <string.h>

#include "ensure.h"
#include "mock_scratch.h"

int64_t pat_mock_span(const pat_mock_parts *p, int64_t count)
{
    return count > 0 ? pat_mock_times(count - 1, p->recv_extent) + p->below + p->above : 0;
}

int pat_mock_chunk(int count, int ranks, int rank)
{
    enum { PIECE = 4 };
    const int pieces = count / PIECE;
    return PIECE * (pieces / ranks + (rank < pieces % ranks)) + (rank == pieces % ranks ? count % PIECE : 0);
}

void pat_mock_chunks(int count, int ranks, int counts[], int begins[])
{
    for (int r = 0, begin = 0; r < ranks; begin += counts[r++]) {
        counts[r] = pat_mock_chunk(count, ranks, r);
        begins[r] = begin;
    }
}

bool pat_mock_has_room(const pat_mock_parts *p, int64_t bytes)
{
    return bytes <= p->scratch->data_bytes;
}

/* ---- Scratch ---------------------------------------------------------------------------------------------- */

static char *take(pat_mock_pool *pool, int64_t bytes)
{
    char *at = pool->memory + pool->used;
    pool->used += bytes;
    PAT_ENSURE(pool->used <= pool->bytes);
    return at;
}

char *pat_mock_take(pat_mock_parts *p, int64_t bytes)
{
    return take(&p->pools->data, bytes);
}

int *pat_mock_take_ints(pat_mock_parts *p, int64_t count)
{
    return (int *)(void *)take(&p->pools->ints, count * (int64_t)sizeof(int));
}

char *pat_mock_take_elements(pat_mock_parts *p, int64_t count)
{
    return take(&p->pools->data, pat_mock_span(p, count)) + (count > 0 ? p->below : 0);
}

/* ---- Buffers ---------------------------------------------------------------------------------------------- */

void *pat_mock_at_item(const void *buffer, MPI_Aint extent, int64_t items)
{
    return (void *)((uintptr_t)buffer + (uintptr_t)(extent * items)); /* MPI_BOTTOM may be null */
}

static int block_type(int count, MPI_Datatype of, MPI_Datatype *type)
{
    int rc = PMPI_Type_contiguous(count, of, type);
    return rc == MPI_SUCCESS ? PMPI_Type_commit(type) : rc;
}

int pat_mock_whole_make(const pat_mock_parts *p, pat_mock_whole *whole)
{
    *whole = (pat_mock_whole){MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    int rc = block_type(p->call.send_count, p->call.send_type, &whole->send);
    return rc == MPI_SUCCESS ? block_type(p->call.recv_count, p->call.recv_type, &whole->recv) : rc;
}

void pat_mock_whole_free(pat_mock_whole *whole)
{
    if (whole->send != MPI_DATATYPE_NULL)
        PMPI_Type_free(&whole->send);
    if (whole->recv != MPI_DATATYPE_NULL)
        PMPI_Type_free(&whole->recv);
}

int pat_mock_pack(const pat_mock_parts *p, const void *from, int64_t count, MPI_Datatype type, bool is_plain,
                  void *to, int64_t bytes)
{
    int at = 0;
    if (bytes == 0)
        return MPI_SUCCESS;
    if (!is_plain)
        return PMPI_Pack(from, (int)count, type, to, (int)bytes, &at, p->call.comm);
    memcpy(to, from, (size_t)bytes);
    return MPI_SUCCESS;
}

int pat_mock_unpack(const pat_mock_parts *p, const void *from, int64_t bytes, void *to, int64_t count,
                    MPI_Datatype type, bool is_plain)
{
    int at = 0;
    if (bytes == 0)
        return MPI_SUCCESS;
    if (!is_plain)
        return PMPI_Unpack(from, (int)bytes, &at, to, (int)count, type, p->call.comm);
    memcpy(to, from, (size_t)bytes);
    return MPI_SUCCESS;
}

/* MPI has no call that copies; what a process gathers from itself meets no message of the program's. */
static int copy_any(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                    MPI_Datatype to_type)
{
    return PMPI_Gather(from, from_count, from_type, to, to_count, to_type, 0, MPI_COMM_SELF);
}

int pat_mock_copy(const pat_mock_parts *p, const void *from, void *to, int64_t count)
{
    if (count == 0)
        return MPI_SUCCESS;
    if (!p->recv_plain)
        return copy_any(from, (int)count, p->call.recv_type, to, (int)count, p->call.recv_type);
    memcpy(to, from, (size_t)(count * p->recv_extent));
    return MPI_SUCCESS;
}

int pat_mock_move(const pat_mock_parts *p, const void *from, int from_count, MPI_Datatype from_type,
                  bool from_plain, void *to)
{
    if (from_plain)
        return pat_mock_unpack(p, from, p->block, to, p->call.recv_count, p->call.recv_type, p->recv_plain);
    if (p->recv_plain)
        return pat_mock_pack(p, from, from_count, from_type, false, to, p->block);
    return p->block ? copy_any(from, from_count, from_type, to, p->call.recv_count, p->call.recv_type)
                    : MPI_SUCCESS;
}

int pat_mock_pad(pat_mock_parts *p, const void *from, int64_t count, int64_t padded, char *room,
                 const void **padded_at)
{
    *padded_at = from;
    if (padded == count)
        return MPI_SUCCESS;
    *padded_at = room;
    int rc = pat_mock_copy(p, from, room, count);
    for (int64_t i = count; i < padded && rc == MPI_SUCCESS; i++)
        rc = pat_mock_copy(p, from, pat_mock_at_item(room, p->recv_extent, i), 1);
    return rc;
}

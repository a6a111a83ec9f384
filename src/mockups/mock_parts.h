/*
 * mock_parts.h — what the mock-ups share: a call taken apart, scratch out of the pool, and copies between layouts. What decides whether a
 * call is run comes of what is the same on all ranks: a rank's own datatypes say only how its bytes lie. Data that goes through the
 * scratch is packed, since ranks may describe the same data by different types; the elements of reductions, whose type is the same
 * on all ranks, lie there as they do in the user's buffer.
 */
#ifndef PAT_MOCK_PARTS_H
#define PAT_MOCK_PARTS_H

#include "mock_nodes.h"
#include "mockups.h"

struct pat_mock_parts {
    pat_mock_call call; /* with both counts 0 where there is not a byte to move */
    pat_mock_scratch *scratch;
    struct pat_mock_pools *pools; /* the call's own, while it runs */
    const pat_mock_nodes *nodes;  /* NULL: the mock-up does not want them, or they are not known */
    int rank, size;
    bool in_place;
    bool
        alike; /* of needs: what there must be room for, which all ranks judge alike, whatever their own types are and where their data lies */
    int64_t block;   /* packed bytes: of a rank, or of the whole vector */
    int64_t total;   /* packed bytes of all ranks' blocks */
    const void *own; /* what this rank contributes to an all-gather or a gather, in place or not */
    int own_count;   /* and its count */
    MPI_Datatype own_type;
    bool own_plain, send_plain, recv_plain; /* false for what is not given */
    MPI_Aint send_extent, recv_extent;
    int64_t below,
        above; /* of an element of a vector: bytes below its place, and above it (mostly 0, and the extent) */
    bool commutes, has_gaps; /* has_gaps: an element's bytes do not reach to its ends */
};

/* ---- Lengths ---------------------------------------------------------------------------------------------- */

/* `count` rounded up to a multiple of `parts`. */
static inline int64_t pat_mock_round_up(int64_t count, int64_t parts)
{
    return (count + parts - 1) / parts * parts;
}

/* a times b, neither below 0; at most PAT_MOCK_ENDLESS, which no scratch has and no int counts. */
#define PAT_MOCK_ENDLESS (INT64_MAX / 8)
static inline int64_t pat_mock_times(int64_t a, int64_t b)
{
    int64_t product;
    return b < 0 || __builtin_mul_overflow(a, b, &product) || product > PAT_MOCK_ENDLESS ? PAT_MOCK_ENDLESS
                                                                                         : product;
}

/* The bytes that so many elements of the vector's type take: n * extent, but for types that reach beyond their extent. */
int64_t pat_mock_span(const pat_mock_parts *parts, int64_t count);

/* Two lists of a number for each rank. */
static inline int64_t pat_mock_two_lists(const pat_mock_parts *parts)
{
    return 2 * (int64_t)sizeof(int) * parts->size;
}

/* What is needed where everybody's blocks go by such lists; and where they are kept, packed, on all ranks, so that all decide alike. */
static inline void pat_mock_need_two_lists(const pat_mock_parts *parts, pat_mock_need *need)
{
    need->longest = parts->total;
    need->int_bytes = pat_mock_two_lists(parts);
}

static inline void pat_mock_need_all_blocks(const pat_mock_parts *parts, pat_mock_need *need)
{
    need->longest = need->data_bytes = parts->total;
}

/*
 * A rank's part of a vector that is cut in pieces of four elements: as even as may be, and what four does not divide goes to the first
 * rank with fewer pieces. Rank 0 has most.
 */
int pat_mock_chunk(int count, int ranks, int rank);
/* Those of all ranks, and where they begin. */
void pat_mock_chunks(int count, int ranks, int counts[], int begins[]);

/*
 * Could so many bytes be taken? For a rank whose data does not lie as it is packed: all ranks had better send it as bytes, since libraries
 * cut what they send by the items of each rank's own type. Where there is no room the types go on as they are, which MPI allows.
 */
bool pat_mock_has_room(const pat_mock_parts *parts, int64_t bytes);

/* ---- Scratch of one call ---------------------------------------------------------------------------------- */

/* They cannot fail where `needs` has said so much: pat_mock_run has looked. */
char *pat_mock_take(pat_mock_parts *parts, int64_t bytes);
int *pat_mock_take_ints(pat_mock_parts *parts, int64_t count);
/* Room for so many elements of the vector, given as a user gives a buffer: the first one's place. */
char *pat_mock_take_elements(pat_mock_parts *parts, int64_t count);

/* ---- Buffers ---------------------------------------------------------------------------------------------- */

/* The place `items` extents further on; the buffer may be MPI_BOTTOM. */
void *pat_mock_at_item(const void *buffer, MPI_Aint extent, int64_t items);

/* Where rank r's block stands in recv, and in send. */
static inline void *pat_mock_recv_block(const pat_mock_parts *p, int r)
{
    return pat_mock_at_item(p->call.recv, p->recv_extent, (int64_t)r * p->call.recv_count);
}
static inline void *pat_mock_send_block(const pat_mock_parts *p, int r)
{
    return pat_mock_at_item(p->call.send, p->send_extent, (int64_t)r * p->call.send_count);
}

/* What a reduction reduces, in place or not. */
static inline const void *pat_mock_input(const pat_mock_parts *p)
{
    return p->in_place ? p->call.recv : p->call.send;
}

/* Blocks as one item each: for calls that count the blocks of both sides alike, where these count by different items. */
typedef struct pat_mock_whole {
    MPI_Datatype send, recv;
} pat_mock_whole;
int pat_mock_whole_make(const pat_mock_parts *parts, pat_mock_whole *whole);
/* Also after an error. */
void pat_mock_whole_free(pat_mock_whole *whole);

/* Each returns an error code of MPI. `bytes`: packed. Between two layouts of the same elements: */
int pat_mock_pack(const pat_mock_parts *parts, const void *from, int64_t count, MPI_Datatype type,
                  bool is_plain, void *to, int64_t bytes);
int pat_mock_unpack(const pat_mock_parts *parts, const void *from, int64_t bytes, void *to, int64_t count,
                    MPI_Datatype type, bool is_plain);
/* Elements of the vector. */
int pat_mock_copy(const pat_mock_parts *parts, const void *from, void *to, int64_t count);
/* This rank's block of recv, out of what it contributes or of this place in the send buffer. */
int pat_mock_move(const pat_mock_parts *parts, const void *from, int from_count, MPI_Datatype from_type,
                  bool from_plain, void *to);

/* Elements of the vector, with copies of its first one up to `padded`: `*padded_at` is the user's buffer where nothing is to be added. */
int pat_mock_pad(pat_mock_parts *parts, const void *from, int64_t count, int64_t padded, char *room,
                 const void **padded_at);

#endif

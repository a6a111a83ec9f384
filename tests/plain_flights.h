/*
 * plain_flights.h — collectives and messages that can be under way at once, for plain_flights.c: what each is given, and how many elements of what came of it are
 * wrong. All are integers that tell whose they are.
 */
#ifndef PAT_TESTS_PLAIN_FLIGHTS_H
#define PAT_TESTS_PLAIN_FLIGHTS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_faults.h"
#include "plain_common.h"
#include "plain_persistent.h"

struct flight;

/* Each begins with `request`, or runs at once where that is NULL; and then tells how many elements are wrong. */
typedef struct kind {
    const char *name;
    int (*begin)(struct flight *f, MPI_Request *request);
    int (*wrong)(const struct flight *f);
} kind;

typedef struct flight {
    const kind *what;
    group g;
    int key, count, root, shift;
    bool in_place, pairs,
        largest; /* pairs: this rank has pairs of integers, not single ones; largest: not the sum */
    bool
        floats; /* of a reduction: they are floating-point numbers, whole and small, so that their sums are exact */
    bool kept; /* its requests are persistent: still there when it is complete */
    int from_count, to_count;
    int *from, *to, *counts, *at, *from_counts, *from_at;
    MPI_Request requests[2];
    bool done[2];           /* which of them are complete */
    int num_requests, left; /* left: that are not */
} flight;

#define MUST(call) must(call, #call)

/* Element i of what `rank` gives. */
static int given(const flight *f, int rank, int i)
{
    return (int)(drawn_of((uint32_t)f->key, rank, i) % 2000) - 1000;
}

/* Element i of all ranks, joined. */
static int joined(const flight *f, int i)
{
    int value = f->largest ? -1000 : 0;
    for (int r = 0; r < f->g.size; r++) {
        const int more = given(f, r, i);
        value = !f->largest ? value + more : more > value ? more : value;
    }
    return value;
}

static int as_stored(const flight *f, int value)
{
    const float number = (float)value;
    _Static_assert(sizeof(number) == sizeof(value), "both are stored in the same place");
    if (f->floats)
        memcpy(&value, &number, sizeof(value));
    return value;
}

static void fill(const flight *f, int *to, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = as_stored(f, given(f, f->g.rank, i));
}

/* What is to be sent: in its own buffer, or where it is to stay, `place` elements behind the beginning. */
static void give(flight *f, int count, int place)
{
    f->from = numbers(count);
    fill(f, f->from, count);
    f->from_count = count;
    if (f->in_place)
        fill(f, f->to + place, count);
}

/* To be joined with those of other ranks: whole numbers, or floating-point ones. */
static void give_operands(flight *f, int count)
{
    f->floats = f->key / 2 % 2;
    give(f, count, 0);
}

static void get(flight *f, int count)
{
    f->to = numbers(count);
    f->to_count = count;
}

/* `count` elements from `at` on are those that `rank` has given, from its element `first` on. */
static int wrong_part(const flight *f, int at, int rank, int first, int count)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += f->to[at + i] != given(f, rank, first + i);
    return wrong;
}

static int wrong_joined(const flight *f, int first, int count)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += f->to[i] != as_stored(f, joined(f, first + i));
    return wrong;
}

/* The same bytes may be described otherwise on every rank. */
static MPI_Datatype type_of(const flight *f)
{
    return f->pairs ? MPI_2INT : MPI_INT;
}

static int items_of(const flight *f)
{
    return f->pairs ? f->count / 2 : f->count;
}

#ifdef PERSISTENT
#define KEEP(blocking, ...) PERSISTENT(blocking)(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define KEEP(blocking, ...) MPI_ERR_OTHER
#endif
/* Of a persistent request it is only made. */
#define RUN(blocking, started, ...)                                                                          \
    (!request  ? MPI_##blocking(__VA_ARGS__)                                                                 \
     : f->kept ? KEEP(blocking, __VA_ARGS__)                                                                 \
               : MPI_##started(__VA_ARGS__, request))
#define FROM    (f->in_place ? MPI_IN_PLACE : (void *)f->from)
#define OP      (f->largest ? MPI_MAX : MPI_SUM)
#define NUMBERS (f->floats ? MPI_FLOAT : MPI_INT)

/* ---- Collectives ---------------------------------------------------------------------------------------- */

static int begin_allgather(flight *f, MPI_Request *request)
{
    get(f, f->count * f->g.size);
    give(f, f->count, f->count * f->g.rank);
    return RUN(Allgather, Iallgather, FROM, f->count, MPI_INT, f->to, items_of(f), type_of(f), f->g.comm);
}

static int wrong_blocks(const flight *f)
{
    int wrong = 0;
    for (int r = 0; r < f->g.size; r++)
        wrong += wrong_part(f, r * f->count, r, 0, f->count);
    return wrong;
}

/* Blocks of different lengths, one of them at least of no bytes. Returns the elements of all. */
static int list(flight *f)
{
    int all = 0;
    f->counts = numbers(f->g.size);
    f->at = numbers(f->g.size);
    for (int r = 0; r < f->g.size; r++) {
        f->counts[r] = r == f->key % f->g.size ? 0 : (f->count + 7 * r) % (f->count + 1);
        f->at[r] = all;
        all += f->counts[r];
    }
    return all;
}

static int begin_allgatherv(flight *f, MPI_Request *request)
{
    get(f, list(f));
    give(f, f->counts[f->g.rank], f->at[f->g.rank]);
    return RUN(Allgatherv, Iallgatherv, FROM, f->counts[f->g.rank], MPI_INT, f->to, f->counts, f->at, MPI_INT,
               f->g.comm);
}

static int wrong_lists(const flight *f)
{
    int wrong = 0;
    for (int r = 0; r < f->g.size; r++)
        wrong += wrong_part(f, f->at[r], r, 0, f->counts[r]);
    return wrong;
}

static int begin_alltoall(flight *f, MPI_Request *request)
{
    get(f, f->count * f->g.size);
    give(f, f->count * f->g.size, 0);
    return RUN(Alltoall, Ialltoall, FROM, items_of(f), type_of(f), f->to, f->count, MPI_INT, f->g.comm);
}

static int wrong_personal(const flight *f)
{
    int wrong = 0;
    for (int r = 0; r < f->g.size; r++)
        wrong += wrong_part(f, r * f->count, r, f->g.rank * f->count, f->count);
    return wrong;
}

/* Elements from one rank to another. */
static int count_of_pair(const flight *f, int from, int to)
{
    const int drawn = given(f, from, to);
    return drawn % 4 == 0 ? 0 : (drawn + 1000) % (f->count + 1);
}

/* Never in place, which Open MPI 4.1 cannot do without a plan. */
static int begin_alltoallv(flight *f, MPI_Request *request)
{
    int gives = 0, gets = 0;
    f->in_place = false;
    f->counts = numbers(f->g.size);
    f->at = numbers(f->g.size);
    f->from_counts = numbers(f->g.size);
    f->from_at = numbers(f->g.size);
    for (int r = 0; r < f->g.size; r++) {
        f->counts[r] = count_of_pair(f, r, f->g.rank);
        f->from_counts[r] = count_of_pair(f, f->g.rank, r);
        f->at[r] = gets;
        f->from_at[r] = gives;
        gets += f->counts[r];
        gives += f->from_counts[r];
    }
    get(f, gets);
    give(f, gives, 0);
    return RUN(Alltoallv, Ialltoallv, f->from, f->from_counts, f->from_at, MPI_INT, f->to, f->counts, f->at,
               MPI_INT, f->g.comm);
}

static int wrong_pairs(const flight *f)
{
    int wrong = 0;
    for (int r = 0; r < f->g.size; r++) {
        int first = 0;
        for (int before = 0; before < f->g.rank; before++)
            first += count_of_pair(f, r, before);
        wrong += wrong_part(f, f->at[r], r, first, f->counts[r]);
    }
    return wrong;
}

static int begin_bcast(flight *f, MPI_Request *request)
{
    get(f, f->count);
    if (f->g.rank == f->root)
        fill(f, f->to, f->count);
    return RUN(Bcast, Ibcast, f->to, items_of(f), type_of(f), f->root, f->g.comm);
}

static int wrong_of_root(const flight *f)
{
    return wrong_part(f, 0, f->root, 0, f->count);
}

static int begin_allreduce(flight *f, MPI_Request *request)
{
    get(f, f->count);
    give_operands(f, f->count);
    return RUN(Allreduce, Iallreduce, FROM, f->to, f->count, NUMBERS, OP, f->g.comm);
}

static int wrong_vector(const flight *f)
{
    return wrong_joined(f, 0, f->count);
}

static int begin_reduce(flight *f, MPI_Request *request)
{
    const bool gets = f->g.rank == f->root;
    f->in_place = f->in_place && gets && mpi_reduces_in_place(f->root);
    get(f, gets ? f->count : 0);
    give_operands(f, f->count);
    return RUN(Reduce, Ireduce, FROM, gets ? f->to : NULL, f->count, NUMBERS, OP, f->root, f->g.comm);
}

static int wrong_vector_at_root(const flight *f)
{
    return f->g.rank == f->root ? wrong_vector(f) : 0;
}

/* What is received has no significance elsewhere than at the root. */
static int begin_gather(flight *f, MPI_Request *request)
{
    const bool gets = f->g.rank == f->root;
    f->in_place = f->in_place && gets;
    get(f, gets ? f->count * f->g.size : 0);
    give(f, f->count, f->count * f->g.rank);
    return RUN(Gather, Igather, FROM, items_of(f), type_of(f), gets ? f->to : NULL, gets ? f->count : -1,
               gets ? MPI_INT : MPI_DATATYPE_NULL, f->root, f->g.comm);
}

static int wrong_blocks_at_root(const flight *f)
{
    return f->g.rank == f->root ? wrong_blocks(f) : 0;
}

/* Lists have no significance elsewhere than at the root either. */
static int begin_gatherv(flight *f, MPI_Request *request)
{
    const bool gets = f->g.rank == f->root;
    const int all = list(f);
    f->in_place = f->in_place && gets;
    get(f, gets ? all : 0);
    give(f, f->counts[f->g.rank], f->at[f->g.rank]);
    return RUN(Gatherv, Igatherv, FROM, f->counts[f->g.rank], MPI_INT, gets ? f->to : NULL,
               gets ? f->counts : NULL, gets ? f->at : NULL, gets ? MPI_INT : MPI_DATATYPE_NULL, f->root,
               f->g.comm);
}

static int wrong_lists_at_root(const flight *f)
{
    return f->g.rank == f->root ? wrong_lists(f) : 0;
}

static int begin_scatterv(flight *f, MPI_Request *request)
{
    const bool gives = f->g.rank == f->root, stays = f->in_place && gives;
    const int all = list(f), mine = f->counts[f->g.rank];
    get(f, mine);
    f->in_place = false;
    give(f, gives ? all : 0, 0);
    if (stays)
        memcpy(f->to, f->from + f->at[f->g.rank], (size_t)mine * sizeof(int));
    return RUN(Scatterv, Iscatterv, gives ? f->from : NULL, gives ? f->counts : NULL, gives ? f->at : NULL,
               gives ? MPI_INT : MPI_DATATYPE_NULL, stays ? MPI_IN_PLACE : (void *)f->to, mine, MPI_INT,
               f->root, f->g.comm);
}

static int wrong_list_of_root(const flight *f)
{
    return wrong_part(f, 0, f->root, f->at[f->g.rank], f->counts[f->g.rank]);
}

static int begin_scatter(flight *f, MPI_Request *request)
{
    const bool gives = f->g.rank == f->root, stays = f->in_place && gives;
    get(f, f->count);
    f->in_place = false;
    give(f, gives ? f->count * f->g.size : 0, 0);
    if (stays)
        memcpy(f->to, f->from + f->g.rank * f->count, (size_t)f->count * sizeof(int));
    return RUN(Scatter, Iscatter, gives ? f->from : NULL, gives ? f->count : -1,
               gives ? MPI_INT : MPI_DATATYPE_NULL, stays ? MPI_IN_PLACE : (void *)f->to, items_of(f),
               type_of(f), f->root, f->g.comm);
}

static int wrong_part_of_root(const flight *f)
{
    return wrong_part(f, 0, f->root, f->g.rank * f->count, f->count);
}

/* In place the whole vector lies where the result is to go. */
static int begin_reduce_scatter_block(flight *f, MPI_Request *request)
{
    get(f, f->in_place ? f->count * f->g.size : f->count);
    give_operands(f, f->count * f->g.size);
    return RUN(Reduce_scatter_block, Ireduce_scatter_block, FROM, f->to, f->count, NUMBERS, OP, f->g.comm);
}

static int wrong_own_part(const flight *f)
{
    return wrong_joined(f, f->g.rank * f->count, f->count);
}

/* As many elements for each rank, or not. */
static int begin_reduce_scatter(flight *f, MPI_Request *request)
{
    int all = list(f);
    if (f->key % 2) {
        all = f->count * f->g.size;
        for (int r = 0; r < f->g.size; r++) {
            f->counts[r] = f->count;
            f->at[r] = r * f->count;
        }
    }
    get(f, f->in_place ? all : f->counts[f->g.rank]);
    give_operands(f, all);
    return RUN(Reduce_scatter, Ireduce_scatter, FROM, f->to, f->counts, NUMBERS, OP, f->g.comm);
}

static int wrong_own_list(const flight *f)
{
    return wrong_joined(f, f->at[f->g.rank], f->counts[f->g.rank]);
}

/* What it keeps apart no result shows. */
static int begin_barrier(flight *f, MPI_Request *request)
{
    get(f, 0);
    return RUN(Barrier, Ibarrier, f->g.comm);
}

static int wrong_never(const flight *f)
{
    (void)f;
    return 0;
}

/* ---- Messages ------------------------------------------------------------------------------------------- */

static int to_rank(const flight *f)
{
    return (f->g.rank + f->shift) % f->g.size;
}

static int from_rank(const flight *f)
{
    return (f->g.rank - f->shift + f->g.size) % f->g.size;
}

static int begin_message(flight *f, MPI_Request *request)
{
    const int tag = f->key % 1000;
    get(f, f->count);
    give(f, f->count, 0);
    if (!request)
        return MPI_Sendrecv(f->from, f->count, MPI_INT, to_rank(f), tag, f->to, f->count, MPI_INT,
                            from_rank(f), tag, f->g.comm, MPI_STATUS_IGNORE);
    f->num_requests = 2;
    MUST(MPI_Irecv(f->to, f->count, MPI_INT, from_rank(f), tag, f->g.comm, &request[0]));
    return MPI_Isend(f->from, f->count, MPI_INT, to_rank(f), tag, f->g.comm, &request[1]);
}

/* The same with requests that are made once and could be started again. */
static int begin_persistent(flight *f, MPI_Request *request)
{
    const int tag = 1000 + f->key % 1000;
    MPI_Request own[2], *both = request ? request : own;
    get(f, f->count);
    give(f, f->count, 0);
    MUST(MPI_Recv_init(f->to, f->count, MPI_INT, from_rank(f), tag, f->g.comm, &both[0]));
    MUST(MPI_Send_init(f->from, f->count, MPI_INT, to_rank(f), tag, f->g.comm, &both[1]));
    MUST(MPI_Startall(2, both));
    if (request) {
        f->num_requests = 2;
        f->kept = true;
        return MPI_SUCCESS;
    }
    MUST(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
    MUST(MPI_Request_free(&both[0]));
    return MPI_Request_free(&both[1]);
}

static int wrong_message(const flight *f)
{
    return wrong_part(f, 0, from_rank(f), 0, f->count);
}

static const kind kinds[] = {
    {"all-gather", begin_allgather, wrong_blocks},
    {"all-gather of different blocks", begin_allgatherv, wrong_lists},
    {"all-to-all", begin_alltoall, wrong_personal},
    {"all-to-all of different blocks", begin_alltoallv, wrong_pairs},
    {"broadcast", begin_bcast, wrong_of_root},
    {"all-reduce", begin_allreduce, wrong_vector},
    {"reduce", begin_reduce, wrong_vector_at_root},
    {"gather", begin_gather, wrong_blocks_at_root},
    {"scatter", begin_scatter, wrong_part_of_root},
    {"gather of different blocks", begin_gatherv, wrong_lists_at_root},
    {"scatter of different blocks", begin_scatterv, wrong_list_of_root},
    {"reduce-scatter of blocks", begin_reduce_scatter_block, wrong_own_part},
    {"reduce-scatter", begin_reduce_scatter, wrong_own_list},
    {"barrier", begin_barrier, wrong_never},
    {"message", begin_message, wrong_message},
    {"persistent message", begin_persistent, wrong_message},
};
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), MESSAGES = 2, COLLECTIVES = KINDS - MESSAGES };

#endif

/*
 * plain_random.c — a program that knows nothing of this library: random sequences of collectives, every byte of every
 * result computed beforehand. Run as it is and under the drop-in. Arguments: seed, sequences, steps in each, and, if it is given, how many
 * calls follow of each collective without a root, some of which are seldom drawn.
 *
 * Sequences differ in sizes, types, roots, in place or not, the place in the program (which differs from rank to rank too),
 * the communicator (made for the sequence, split and freed in it), in who sleeps before a call and in when they break off.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_faults.h"
#include "plain_common.h"

enum { MOST_RANKS = 64, MOST_BYTES = 40000 };

static struct {
    int repeated_bytes; /* of all calls of a sequence that repeats some; 0: drawn for each */
    uint64_t shared;    /* the same numbers on all ranks */
    uint64_t own;
    int failures;
} run;

static int upto(int n)
{
    return (int)(next(&run.shared) % (uint32_t)n);
}

static unsigned char byte_of(uint32_t key, int rank, int i)
{
    return (unsigned char)drawn_of(key, rank, i);
}

static void fill(unsigned char *to, uint32_t key, int rank, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = byte_of(key, rank, i);
}

static void check(const char *what, const unsigned char *got, uint32_t key, int rank, int bytes)
{
    for (int i = 0; i < bytes; i++)
        if (got[i] != byte_of(key, rank, i)) {
            if (run.failures++ < 5)
                fprintf(stderr, "%s: block of rank %d, %d bytes: byte %d is %d, not %d\n", what, rank, bytes,
                        i, got[i], byte_of(key, rank, i));
            return;
        }
}

/* A call, which now and then is started, and waited for after a while. All ranks draw alike. */
#define CALL(blocking, started, ...)                                                                         \
    do {                                                                                                     \
        if (upto(3) > 0) {                                                                                   \
            must(MPI_##blocking(__VA_ARGS__), "MPI_" #blocking);                                             \
        } else {                                                                                             \
            MPI_Request request;                                                                             \
            must(MPI_##started(__VA_ARGS__, &request), "MPI_" #started);                                     \
            sometimes_sleep(&run.own);                                                                       \
            must(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");                                         \
        }                                                                                                    \
    } while (0)

/* ---- One call of each kind ------------------------------------------------------------------------------ */

static unsigned char out[MOST_BYTES], in[(size_t)MOST_RANKS * MOST_BYTES];

static int some_bytes(const group *g)
{
    static const int kinds[] = {8, 64, 1000, 5000, 20000, MOST_BYTES};
    if (run.repeated_bytes)
        return run.repeated_bytes;
    const int most = kinds[upto(6)];
    return 4 * (1 + upto((most < MOST_BYTES ? most : MOST_BYTES / (g->size > 8 ? 4 : 1)) / 4));
}

static void all_gather(const group *g, uint32_t key, bool blocking)
{
    const int bytes = some_bytes(g), form = upto(4);
    const bool in_place = upto(3) == 0;
    MPI_Datatype type = MPI_BYTE, wide = MPI_INT;
    if (form == 3) { /* the same bytes, described otherwise on every other rank */
        must(MPI_Type_contiguous(4, MPI_BYTE, &wide), "MPI_Type_contiguous");
        must(MPI_Type_commit(&wide), "MPI_Type_commit");
    }
    const bool use_wide = form >= 2 && (form == 2 || g->rank % 2);
    const int count = use_wide ? bytes / 4 : bytes;
    type = use_wide ? wide : type;
    memset(in, 0xee, (size_t)g->size * (size_t)bytes);
    fill(out, key, g->rank, bytes);
    if (in_place)
        memcpy(in + (size_t)g->rank * (size_t)bytes, out, (size_t)bytes);
    const void *from = in_place ? MPI_IN_PLACE : out;
    sometimes_sleep(&run.own);
    if (!blocking) {
        MPI_Request request;
        must(MPI_Iallgather(from, count, type, in, count, type, g->comm, &request), "MPI_Iallgather");
        must(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    } else if (next(&run.own) % 2) { /* two places in the program for the same call */
        must(MPI_Allgather(from, count, type, in, count, type, g->comm), "MPI_Allgather");
    } else {
        must(MPI_Allgather(from, count, type, in, count, type, g->comm), "MPI_Allgather");
    }
    for (int r = 0; r < g->size; r++)
        check("MPI_Allgather", in + (size_t)r * (size_t)bytes, key, r, bytes);
    if (memcmp(out, (fill(in, key, g->rank, bytes), in), (size_t)bytes) != 0)
        run.failures++;
    if (form == 3)
        must(MPI_Type_free(&wide), "MPI_Type_free");
}

static void all_gather_v(const group *g, uint32_t key)
{
    int counts[MOST_RANKS], at[MOST_RANKS], total = 0;
    const int most = some_bytes(g);
    for (int r = 0; r < g->size; r++) {
        const int drawn = upto(most + 1); /* the same ones in every call, where a sequence repeats */
        counts[r] = run.repeated_bytes ? (most + 61 * r) % (most + 1) : upto(4) ? drawn : 0;
        at[r] = total;
        total += counts[r] + (r % 2); /* a hole now and then */
    }
    const bool in_place = upto(3) == 0;
    memset(in, 0xee, (size_t)total);
    fill(out, key, g->rank, counts[g->rank]);
    if (in_place)
        memcpy(in + at[g->rank], out, (size_t)counts[g->rank]);
    sometimes_sleep(&run.own);
    CALL(Allgatherv, Iallgatherv, in_place ? MPI_IN_PLACE : out, counts[g->rank], MPI_BYTE, in, counts, at,
         MPI_BYTE, g->comm);
    for (int r = 0; r < g->size; r++) {
        check("MPI_Allgatherv", in + at[r], key, r, counts[r]);
        if (r % 2 && in[at[r] + counts[r]] != 0xee && run.failures++ < 5)
            fprintf(stderr, "MPI_Allgatherv has written into the hole after block %d\n", r);
    }
}

static void broadcast(const group *g, uint32_t key)
{
    const int bytes = some_bytes(g), root = upto(g->size);
    memset(out, 0xee, (size_t)bytes);
    if (g->rank == root)
        fill(out, key, root, bytes);
    sometimes_sleep(&run.own);
    CALL(Bcast, Ibcast, out, bytes / 4, MPI_INT, root, g->comm);
    check("MPI_Bcast", out, key, root, bytes);
}

static void gather(const group *g, uint32_t key)
{
    const int bytes = some_bytes(g), root = upto(g->size);
    const bool in_place = upto(2) && g->rank == root;
    fill(out, key, g->rank, bytes);
    memset(in, 0xee, (size_t)g->size * (size_t)bytes);
    if (in_place)
        memcpy(in + (size_t)root * (size_t)bytes, out, (size_t)bytes);
    sometimes_sleep(&run.own);
    CALL(Gather, Igather, in_place ? MPI_IN_PLACE : out, bytes, MPI_BYTE, g->rank == root ? in : NULL, bytes,
         MPI_BYTE, root, g->comm);
    for (int r = 0; r < g->size && g->rank == root; r++)
        check("MPI_Gather", in + (size_t)r * (size_t)bytes, key, r, bytes);
}

/* What a rank gives to be joined: small whole numbers, of which no order of joining loses a bit. */
static int number_of(uint32_t key, int rank, int i)
{
    return byte_of(key, rank, i) % 64 - 32;
}

/* The largest or the sum of element i of all ranks. */
static int joined(const group *g, uint32_t key, int i, bool sum)
{
    int value = sum ? 0 : -64;
    for (int r = 0; r < g->size; r++) {
        const int n = number_of(key, r, i);
        value = sum ? value + n : n > value ? n : value;
    }
    return value;
}

/* A sum of the program's own. */
static void add_ints(void *more, void *sums, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)sums)[i] += ((int *)more)[i];
}

enum result { TO_ALL, TO_ROOT, TO_EACH_ITS_PART };

static void reduce(const group *g, uint32_t key, enum result result)
{
    static int int_from[MOST_RANKS * MOST_BYTES / 4], int_to[MOST_RANKS * MOST_BYTES / 4];
    static double from[MOST_RANKS * MOST_BYTES / 8], to[MOST_RANKS * MOST_BYTES / 8];
    const int form = upto(5), count = some_bytes(g) / (form < 3 ? 4 : 8); /* bytes and operation as drawn */
    const bool drawn = upto(3) == 0, integers = form < 3, sum = form % 2 == 0;
    const int root = upto(g->size), parts = upto(3); /* a block each, as many for each, or not */
    const bool gets = result != TO_ROOT || g->rank == root;
    const bool in_place = drawn && (result != TO_ROOT || mpi_reduces_in_place(root));
    const void *own = in_place && gets ? MPI_IN_PLACE : integers ? (void *)int_from : from;
    void *there = !gets ? NULL : integers ? (void *)int_to : to;
    const MPI_Datatype type = integers ? MPI_INT : MPI_DOUBLE;
    MPI_Op op = sum ? MPI_SUM : MPI_MAX;
    int counts[MOST_RANKS], all = count, first = 0;
    for (int r = 0; r < g->size; r++)
        counts[r] = parts == 2 ? (count + 7 * r) % (count + 1) : count;
    if (result == TO_EACH_ITS_PART) {
        all = 0;
        for (int r = 0; r < g->size; r++) {
            first = r == g->rank ? all : first;
            all += counts[r];
        }
    }
    for (int i = 0; i < all; i++) {
        int_from[i] = number_of(key, g->rank, i);
        from[i] = int_from[i];
        int_to[i] = in_place ? int_from[i] : -1000;
        to[i] = int_to[i];
    }
    if (form == 2)
        must(MPI_Op_create(add_ints, 1, &op), "MPI_Op_create");
    sometimes_sleep(&run.own);
    if (result == TO_ALL)
        CALL(Allreduce, Iallreduce, own, there, count, type, op, g->comm);
    else if (result == TO_ROOT)
        CALL(Reduce, Ireduce, own, there, count, type, op, root, g->comm);
    else if (parts == 0)
        CALL(Reduce_scatter_block, Ireduce_scatter_block, own, there, count, type, op, g->comm);
    else
        CALL(Reduce_scatter, Ireduce_scatter, own, there, counts, type, op, g->comm);
    for (int i = 0; gets && i < (result == TO_EACH_ITS_PART ? counts[g->rank] : count); i++) {
        const double got = integers ? int_to[i] : to[i];
        const int wanted = joined(g, key, first + i, sum);
        if (got == wanted)
            continue;
        if (run.failures++ < 5)
            fprintf(stderr, "%s of %d elements, form %d: element %d is %g, not %d\n",
                    result == TO_ALL    ? "MPI_Allreduce"
                    : result == TO_ROOT ? "MPI_Reduce"
                                        : "MPI_Reduce_scatter",
                    count, form, i, got, wanted);
        break;
    }
    if (form == 2)
        must(MPI_Op_free(&op), "MPI_Op_free");
}

/* Blocks of integers for every rank, whose numbers tell from whom to whom. */
static void all_to_all(const group *g, uint32_t key)
{
    static int from[MOST_RANKS * MOST_BYTES / 4], to[MOST_RANKS * MOST_BYTES / 4];
    const int count = some_bytes(g) / 4;
    const bool in_place = upto(3) == 0;
    int *given = in_place ? to : from;
    for (int i = 0; i < g->size * count; i++) {
        to[i] = -1;
        given[i] = number_of(key, g->rank, i);
    }
    sometimes_sleep(&run.own);
    CALL(Alltoall, Ialltoall, in_place ? MPI_IN_PLACE : from, count, MPI_INT, to, count, MPI_INT, g->comm);
    for (int i = 0; i < g->size * count; i++) {
        const int wanted = number_of(key, i / count, g->rank * count + i % count);
        if (to[i] == wanted)
            continue;
        if (run.failures++ < 5)
            fprintf(stderr, "MPI_Alltoall of %d elements: element %d is %d, not %d\n", count, i, to[i],
                    wanted);
        break;
    }
}

/* Integers from one rank to another; some pairs have none. */
static int pair_count(uint32_t key, int most, int from, int to)
{
    const uint32_t hash = (key + (uint32_t)from * 64u + (uint32_t)to) * 2654435761u;
    return hash % 4 == 0 ? 0 : (int)((hash >> 8) % (uint32_t)(most + 1));
}

/* The same with blocks of different lengths, those that are received in the opposite order, with holes. */
static void all_to_all_v(const group *g, uint32_t key)
{
    static int from[MOST_RANKS * MOST_BYTES / 4], to[MOST_RANKS * (MOST_BYTES / 4 + 1)];
    int sent[MOST_RANKS], got[MOST_RANKS], from_at[MOST_RANKS], to_at[MOST_RANKS], given = 0, taken = 0;
    const int most = some_bytes(g) / 4;
    for (int r = 0; r < g->size; r++) {
        const int back = g->size - 1 - r;
        sent[r] = pair_count(key, most, g->rank, r);
        got[back] = pair_count(key, most, back, g->rank);
        from_at[r] = given;
        to_at[back] = taken;
        given += sent[r];
        taken += got[back] + 1;
    }
    for (int i = 0; i < given; i++)
        from[i] = number_of(key, g->rank, i);
    for (int i = 0; i < taken; i++)
        to[i] = -1;
    sometimes_sleep(&run.own);
    CALL(Alltoallv, Ialltoallv, from, sent, from_at, MPI_INT, to, got, to_at, MPI_INT, g->comm);
    for (int r = 0; r < g->size; r++) {
        int first = 0, wrong = to[to_at[r] + got[r]] != -1;
        for (int before = 0; before < g->rank; before++)
            first += pair_count(key, most, r, before);
        for (int i = 0; i < got[r]; i++)
            wrong += to[to_at[r] + i] != number_of(key, r, first + i);
        if (wrong && run.failures++ < 5)
            fprintf(stderr, "MPI_Alltoallv: %d of %d elements from rank %d are wrong\n", wrong, got[r], r);
    }
}

/* To one rank, or from it, with counts that only it has for all. */
static void rooted_lists(const group *g, uint32_t key, bool to_root)
{
    static int all[MOST_RANKS * (MOST_BYTES / 4 + 1)], own[MOST_BYTES / 4];
    int counts[MOST_RANKS], at[MOST_RANKS], total = 0, wrong = 0;
    const int most = some_bytes(g) / 4, root = upto(g->size), mine = pair_count(key, most, 0, g->rank);
    const bool is_root = g->rank == root;
    for (int r = 0; r < g->size; r++) {
        counts[r] = pair_count(key, most, 0, r);
        at[r] = total;
        total += counts[r] + 1;
    }
    for (int i = 0; i < total; i++)
        all[i] = to_root ? -1 : number_of(key, root, i);
    for (int i = 0; i < mine; i++)
        own[i] = to_root ? number_of(key, g->rank, i) : -1;
    sometimes_sleep(&run.own);
    if (to_root)
        CALL(Gatherv, Igatherv, own, mine, MPI_INT, all, is_root ? counts : NULL, at, MPI_INT, root, g->comm);
    else
        CALL(Scatterv, Iscatterv, all, is_root ? counts : NULL, at, MPI_INT, own, mine, MPI_INT, root,
             g->comm);
    for (int r = 0; to_root && is_root && r < g->size; r++) {
        wrong += all[at[r] + counts[r]] != -1;
        for (int i = 0; i < counts[r]; i++)
            wrong += all[at[r] + i] != number_of(key, r, i);
    }
    for (int i = 0; !to_root && i < mine; i++)
        wrong += own[i] != number_of(key, root, at[g->rank] + i);
    if (wrong && run.failures++ < 5)
        fprintf(stderr, "MPI_%s: %d elements are wrong\n", to_root ? "Gatherv" : "Scatterv", wrong);
}

/* A block of integers for every rank, from one of them, which may keep its own where it is. */
static void scatter(const group *g, uint32_t key)
{
    static int from[MOST_RANKS * MOST_BYTES / 4], to[MOST_BYTES / 4];
    const int count = some_bytes(g) / 4, root = upto(g->size);
    const bool gives = g->rank == root, stays = upto(2) && gives;
    MPI_Datatype pairs; /* the same integers, described otherwise at the root */
    must(MPI_Type_contiguous(2, MPI_INT, &pairs), "MPI_Type_contiguous");
    must(MPI_Type_commit(&pairs), "MPI_Type_commit");
    const bool use_pairs = upto(2) && count % 2 == 0;
    for (int i = 0; gives && i < g->size * count; i++)
        from[i] = number_of(key, root, i);
    for (int i = 0; i < count; i++)
        to[i] = stays ? from[root * count + i] : -1000;
    sometimes_sleep(&run.own);
    CALL(Scatter, Iscatter, gives ? from : NULL, use_pairs ? count / 2 : count, use_pairs ? pairs : MPI_INT,
         stays ? MPI_IN_PLACE : to, count, MPI_INT, root, g->comm);
    must(MPI_Type_free(&pairs), "MPI_Type_free");
    for (int i = 0; i < count; i++)
        if (to[i] != number_of(key, root, g->rank * count + i)) {
            if (run.failures++ < 5)
                fprintf(stderr, "MPI_Scatter of %d elements: element %d is %d, not %d\n", count, i, to[i],
                        number_of(key, root, g->rank * count + i));
            break;
        }
}

static void others(const group *g, uint32_t key, int which)
{
    int mine[2] = {g->rank + 1, which}, sum[2];
    if (which == 2) {
        all_to_all(g, key);
        return;
    }
    sometimes_sleep(&run.own);
    if (which == 0) {
        CALL(Barrier, Ibarrier, g->comm);
        return;
    }
    must(MPI_Scan(mine, sum, 1, MPI_INT, MPI_SUM, g->comm), "MPI_Scan");
    const int n = g->rank + 1;
    if (sum[0] != n * (n + 1) / 2 && run.failures++ < 5)
        fprintf(stderr, "a sum is %d, not %d\n", sum[0], n * (n + 1) / 2);
}

/* ---- Sequences ------------------------------------------------------------------------------------------ */

static void sequence(const group *world, int steps)
{
    /* Halves of the ranks go different ways only where they use different communicators: all draw the same numbers. */
    MPI_Comm half = MPI_COMM_NULL, whole;
    must(upto(2) ? MPI_Comm_dup(world->comm, &whole) : MPI_Comm_split(world->comm, 0, -world->rank, &whole),
         "a communicator");
    group all = group_of(whole), part = {.size = 0};
    static const int few[] = {0, 3, 4, 7};
    const int kind = upto(3); /* a loop of one call, of a few, or anything */
    static const int alone[] = {0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14};
    const int repeated = alone[upto(13)];
    run.repeated_bytes = 0;
    const int drawn = some_bytes(&all);
    run.repeated_bytes = kind < 2 ? drawn : 0;
    for (int i = 0; i < steps; i++) {
        if (half == MPI_COMM_NULL && upto(6) == 0) {
            must(MPI_Comm_split(whole, all.rank % 2, all.rank, &half), "MPI_Comm_split");
            part = group_of(half);
        }
        const group *g = half != MPI_COMM_NULL && upto(3) == 0 ? &part : &all;
        const uint32_t key = next(&run.shared);
        const int what = kind == 0 ? repeated : kind == 1 ? few[i % 4] : upto(15);
        /* Halves have different sizes when the ranks are odd: what is drawn inside must not differ for that. */
        const uint64_t before = run.shared;
        if (what <= 2)
            all_gather(g, key, true);
        else if (what == 3)
            broadcast(g, key);
        else if (what == 4)
            gather(g, key);
        else if (what == 5)
            all_gather_v(g, key);
        else if (what == 6)
            all_gather(g, key, false);
        else if (what == 7)
            reduce(g, key, TO_ALL);
        else if (what == 9)
            reduce(g, key, TO_ROOT);
        else if (what == 10)
            reduce(g, key, TO_EACH_ITS_PART);
        else if (what == 11)
            scatter(g, key);
        else if (what == 12)
            all_to_all_v(g, key);
        else if (what >= 13)
            rooted_lists(g, key, what == 13);
        else
            others(g, key, (int)(key % 3));
        run.shared = before;
        next(&run.shared);
        if (half != MPI_COMM_NULL && upto(8) == 0)
            must(MPI_Comm_free(&half), "MPI_Comm_free");
        if (upto(60) == 0) /* the loop ends early */
            break;
    }
    if (half != MPI_COMM_NULL)
        must(MPI_Comm_free(&half), "MPI_Comm_free");
    must(MPI_Comm_free(&whole), "MPI_Comm_free");
}

/* On all ranks, of lengths that change with every call. */
static void without_root(const group *world, int calls)
{
    run.repeated_bytes = 0;
    for (int i = 0; i < calls; i++) {
        all_gather(world, next(&run.shared), true);
        reduce(world, next(&run.shared), TO_ALL);
        reduce(world, next(&run.shared), TO_EACH_ITS_PART);
        all_to_all(world, next(&run.shared));
    }
}

int main(int argc, char **argv)
{
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "usage: plain_random SEED SEQUENCES STEPS [CALLS]\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    const group world = group_of(MPI_COMM_WORLD);
    const int seed = atoi(argv[1]), sequences = atoi(argv[2]), steps = atoi(argv[3]);
    if (world.size > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int s = 0; s < sequences; s++) {
        run.shared = (uint64_t)(seed + s) * 7919 + 17;
        run.own = run.shared + (uint64_t)world.rank * 104729;
        for (int i = 0; i < 4; i++) {
            next(&run.shared);
            next(&run.own);
        }
        sequence(&world, steps);
    }
    if (argc == 5)
        without_root(&world, atoi(argv[4]));
    int failures = 0;
    MPI_Reduce(&run.failures, &failures, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world.rank == 0)
        printf("plain_random: seed %d, %d sequences, %d ranks: %d differences\n", seed, sequences, world.size,
               failures);
    MPI_Finalize();
    return run.failures != 0;
}

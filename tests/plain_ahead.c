/*
 * plain_ahead.c — a program that knows nothing of this library: non-blocking all-gathers, many of them on each communicator, in patterns of a few lengths that change now and
 * then, several under way at once, completed in any order, with ranks that come late, other collectives between and beside them, and communicators that are freed in the middle. So rounds
 * that are made before the call are called, thrown away and left behind. Every byte of every result is known beforehand. Run as it is and under the drop-in. Arguments:
 * seed, communicators, calls on each.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "plain_common.h"

enum { MOST_CALLS = 6, MOST_LENGTHS = 3, MOST_OTHERS = 5, OTHER_COUNT = 20000 };

#define MUST(call) must(call, #call)

/* An all-gather under way; of blocks with lengths of their own where `counts` is there. */
typedef struct call {
    MPI_Request request;
    uint32_t key;
    int count, total;
    bool in_place;
    int *from, *to, *counts, *at;
} call;

static struct {
    uint64_t shared, own; /* numbers that are the same on all ranks, and this rank's */
    int failures;
    long num_calls;
} run;

static int upto(int n)
{
    return (int)(next(&run.shared) % (uint32_t)n);
}

static int given(uint32_t key, int rank, int i)
{
    return (int)drawn_of(key, rank, i);
}

/* So many elements are rank r's; with lengths of their own some have none. */
static int count_of(const call *c, int r)
{
    return c->counts ? c->counts[r] : c->count;
}

static int place_of(const call *c, int r)
{
    return c->counts ? c->at[r] : r * c->count;
}

static call begin(const group *g, int count, bool lists, bool in_place)
{
    call c = {.key = next(&run.shared), .count = count, .in_place = in_place};
    if (lists) {
        c.counts = numbers(g->size);
        c.at = numbers(g->size);
    }
    for (int r = 0; r < g->size; r++) {
        if (lists) {
            c.counts[r] = count * (r % 3) / 2 + r % 2;
            c.at[r] = c.total;
        }
        c.total += count_of(&c, r);
    }
    const int mine = count_of(&c, g->rank);
    c.to = numbers(c.total);
    c.from = in_place ? c.to + place_of(&c, g->rank) : numbers(mine);
    for (int i = 0; i < mine; i++)
        c.from[i] = given(c.key, g->rank, i);
    const void *send = in_place ? MPI_IN_PLACE : c.from;
    if (lists)
        MUST(MPI_Iallgatherv(send, mine, MPI_INT, c.to, c.counts, c.at, MPI_INT, g->comm, &c.request));
    else
        MUST(MPI_Iallgather(send, mine, MPI_INT, c.to, count, MPI_INT, g->comm, &c.request));
    run.num_calls++;
    return c;
}

static void end(const group *g, call *c)
{
    int wrong = 0;
    for (int r = 0; r < g->size; r++)
        for (int i = 0; i < count_of(c, r); i++)
            wrong += c->to[place_of(c, r) + i] != given(c->key, r, i);
    for (int i = 0; i < BEHIND; i++)
        wrong += c->to[c->total + i] != SPOILT;
    if (wrong > 0 && run.failures++ < 5)
        fprintf(stderr, "%d integers of a rank, rank %d of %d: %d are wrong\n", c->count, g->rank, g->size,
                wrong);
    if (!c->in_place)
        free(c->from);
    free(c->to);
    free(c->counts);
    free(c->at);
}

/* One that is under way, whichever: each rank takes another one, and waits for it or looks now and then. */
static void complete_one(const group *g, call *calls, int *num)
{
    const int which = (int)(next(&run.own) % (uint32_t)*num);
    int done = next(&run.own) % 2 == 0;
    if (done)
        MUST(MPI_Wait(&calls[which].request, MPI_STATUS_IGNORE));
    while (!done) {
        MUST(MPI_Test(&calls[which].request, &done, MPI_STATUS_IGNORE));
        sometimes_sleep(&run.own);
    }
    end(g, &calls[which]);
    calls[which] = calls[--*num];
}

/* Broadcasts under way beside them, which need the same tags of a communicator as all-gathers that were not guessed. */
typedef struct others {
    int num, *data[MOST_OTHERS];
    uint32_t key[MOST_OTHERS];
    MPI_Request request[MOST_OTHERS];
} others;

static void end_others(others *o)
{
    MUST(MPI_Waitall(o->num, o->request, MPI_STATUSES_IGNORE));
    for (int k = 0; k < o->num; k++) {
        for (int i = 0; i < OTHER_COUNT; i++)
            run.failures += o->data[k][i] != given(o->key[k], 0, i);
        free(o->data[k]);
    }
    o->num = 0;
}

static void begin_other(const group *g, others *o)
{
    const int k = o->num++, root = upto(g->size);
    o->key[k] = next(&run.shared);
    o->data[k] = numbers(OTHER_COUNT);
    for (int i = 0; i < OTHER_COUNT && g->rank == root; i++)
        o->data[k][i] = given(o->key[k], 0, i);
    MUST(MPI_Ibcast(o->data[k], OTHER_COUNT, MPI_INT, root, g->comm, &o->request[k]));
}

/* What comes between: others' rounds stay as they are. */
static void something_else(const group *g)
{
    int all[64], one = g->rank, sum;
    switch (upto(3)) {
    case 0:
        MUST(MPI_Allgather(&one, 1, MPI_INT, all, 1, MPI_INT, g->comm));
        for (int r = 0; r < g->size; r++)
            run.failures += all[r] != r;
        break;
    case 1:
        MUST(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, g->comm));
        run.failures += sum != g->size * (g->size - 1) / 2;
        break;
    default:
        one = 7;
        MUST(MPI_Bcast(&one, 1, MPI_INT, g->size - 1, g->comm));
        run.failures += one != 7;
    }
}

static void many_calls(const group *g, int steps)
{
    static const int drawn[] = {300, 2000, 5000, 20000};
    call calls[MOST_CALLS];
    others beside = {.num = 0};
    int num = 0, lengths[MOST_LENGTHS], num_lengths = 1, most = 1;
    bool lists = false;
    for (int step = 0; step < steps; step++) {
        if (step % 25 == 0) { /* another pattern */
            num_lengths = 1 + upto(MOST_LENGTHS);
            for (int i = 0; i < num_lengths; i++)
                lengths[i] = drawn[upto(4)];
            most = upto(2) ? 1 : 1 + upto(MOST_CALLS);
            lists = upto(4) == 0;
        }
        sometimes_sleep(&run.own);
        const int length = upto(20) == 0 ? drawn[upto(4)] : lengths[step % num_lengths];
        calls[num++] = begin(g, length, lists, upto(4) == 0);
        if (upto(12) == 0)
            something_else(g);
        if (upto(6) == 0)
            begin_other(g, &beside);
        if (beside.num == MOST_OTHERS)
            end_others(&beside);
        /* How many are under way is the same everywhere, but not which. */
        while (num >= most)
            complete_one(g, calls, &num);
    }
    while (num > 0)
        complete_one(g, calls, &num);
    end_others(&beside);
}

int main(int argc, char **argv)
{
    int total, threads;
    if (argc != 4) {
        fputs("usage: plain_ahead SEED COMMUNICATORS CALLS\n", stderr);
        return 2;
    }
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &threads);
    const group world = group_of(MPI_COMM_WORLD);
    const int seed = atoi(argv[1]), comms = atoi(argv[2]), steps = atoi(argv[3]);
    run.shared = (uint64_t)seed;
    run.own = (uint64_t)seed * 1000 + (uint64_t)world.rank;
    for (int i = 0; i < comms; i++) {
        MPI_Comm comm;
        /* All ranks, or the even and the odd ones; in another order, or not. */
        const int parts = 1 + upto(2), order = upto(2) ? world.rank : -world.rank;
        MUST(MPI_Comm_split(MPI_COMM_WORLD, world.rank % parts, order, &comm));
        const group g = group_of(comm);
        many_calls(&g, steps);
        if (i < comms - 1) /* the last one is left to MPI_Finalize */
            MUST(MPI_Comm_free(&comm));
    }
    MPI_Reduce(&run.failures, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world.rank == 0)
        printf("plain_ahead: seed %d, %d communicators, %d ranks, %ld calls: %d differences\n", seed, comms,
               world.size, run.num_calls, total);
    MPI_Finalize();
    return world.rank == 0 && total > 0;
}

/*
 * plan_allreduce.h — for the unit tests: all-reduces as plans, put together with the edges that they need and no more.
 * No algorithm of the library is one so far.
 */
#ifndef PAT_TESTS_PLAN_ALLREDUCE_H
#define PAT_TESTS_PLAN_ALLREDUCE_H

#include "plan.h"

enum { ELEMENT = 8, MOST_STEPS = 32 };

/* ARRIVE and a COPY of what the rank contributes to its result. Returns the COPY. */
static inline int allreduce_begin(pat_plan *plan, int num_ranks, int rank, int64_t elements)
{
    pat_plan_init(plan, num_ranks, rank, elements * ELEMENT);
    pat_plan_reduces(plan, ELEMENT);
    const int arrive = pat_plan_arrive(plan);
    const int copy = pat_plan_copy(plan, pat_own(0), pat_result(0), elements * ELEMENT);
    pat_plan_after(plan, copy, arrive);
    return copy;
}

/* A vector that grows as ranks are joined, and where it lies. */
typedef struct partial {
    pat_address at;
    int made;                         /* the node that has written it */
    int sends[MOST_STEPS], num_sends; /* those that read the result */
} partial;

/* Exchange with a peer and join both vectors, the lower rank's on the left. */
static inline void allreduce_exchange(pat_plan *plan, partial *mine, int peer)
{
    const int64_t bytes = plan->block_bytes;
    const pat_address in = pat_plan_scratch(plan, bytes);
    const int send = pat_plan_send_from(plan, peer, mine->at, bytes);
    const int recv = pat_plan_recv_to(plan, peer, in, bytes);
    pat_plan_after(plan, send, mine->made);
    const bool lower = plan->rank < peer;
    const int sum = pat_plan_reduce(plan, lower ? mine->at : in, lower ? in : mine->at, bytes);
    pat_plan_after(plan, sum, mine->made);
    pat_plan_after(plan, sum, recv);
    if (!lower)
        pat_plan_after(plan, sum, send); /* what it overwrites must be out */
    else if (mine->at.space == PAT_SPACE_RESULT)
        mine->sends[mine->num_sends++] = send;
    mine->made = sum;
    mine->at = lower ? in : mine->at;
}

/* The vector goes to the result, if it is not there. */
static inline void allreduce_settle(pat_plan *plan, partial *mine)
{
    if (mine->at.space == PAT_SPACE_RESULT)
        return;
    const int copy = pat_plan_copy(plan, mine->at, pat_result(0), plan->block_bytes);
    pat_plan_after(plan, copy, mine->made);
    for (int k = 0; k < mine->num_sends; k++)
        pat_plan_after(plan, copy, mine->sends[k]);
    mine->made = copy;
}

/*
 * Recursive doubling. Of the first ranks each even one hands its vector to the next rank and gets the result from it in the
 * end, so that a power of two is left.
 */
static inline void allreduce_doubling(pat_plan *plan, int num_ranks, int rank, int64_t elements)
{
    int power = 1;
    while (2 * power <= num_ranks)
        power *= 2;
    const int more = num_ranks - power, bytes = (int)elements * ELEMENT;
    partial mine = {.at = pat_result(0), .made = allreduce_begin(plan, num_ranks, rank, elements)};
    if (rank < 2 * more && rank % 2 == 0) {
        const int send = pat_plan_send(plan, rank + 1, 0, bytes);
        pat_plan_after(plan, send, mine.made);
        pat_plan_after(plan, pat_plan_recv(plan, rank + 1, 0, bytes), send);
        return;
    }
    if (rank < 2 * more) {
        const pat_address in = pat_plan_scratch(plan, bytes);
        const int recv = pat_plan_recv_to(plan, rank - 1, in, bytes);
        const int sum = pat_plan_reduce(plan, in, mine.at, bytes);
        pat_plan_after(plan, sum, mine.made);
        pat_plan_after(plan, sum, recv);
        mine.made = sum;
    }
    const int number = rank < 2 * more ? rank / 2 : rank - more;
    for (int bit = 1; bit < power; bit *= 2) {
        const int other = number ^ bit;
        allreduce_exchange(plan, &mine, other < more ? 2 * other + 1 : other + more);
    }
    allreduce_settle(plan, &mine);
    if (rank < 2 * more)
        pat_plan_after(plan, pat_plan_send(plan, rank - 1, 0, bytes), mine.made);
}

/* What a step of the ring does with one chunk; -1: it is empty, or the step is not yet built. */
typedef struct ring_step {
    int send, recv, sum;
} ring_step;

static inline int ring_send(pat_plan *plan, int peer, int64_t at, int64_t length, int after)
{
    const int send = length > 0 ? pat_plan_send(plan, peer, at, length) : -1;
    if (send >= 0)
        pat_plan_after(plan, send, after);
    return send;
}

/*
 * Ring: P-1 steps in which a chunk's sum goes round, and P-1 in which it is handed on. Two places of scratch take turns.
 */
static inline void allreduce_ring(pat_plan *plan, int num_ranks, int rank, int64_t elements)
{
    const int P = num_ranks, right = (rank + 1) % P, left = (rank + P - 1) % P;
    const int64_t bytes = elements * ELEMENT, longest = pat_cut(bytes, ELEMENT, P, 1);
    const int copy = allreduce_begin(plan, P, rank, elements);
    const pat_address in[2] = {pat_plan_scratch(plan, longest), pat_plan_scratch(plan, longest)};
    int used[2] = {-1, -1}; /* the last REDUCE that reads this place */
    ring_step step[MOST_STEPS];
    for (int s = 0; s < P - 1; s++) {
        const int out = (rank - s + P) % P, take = (rank - s - 1 + P) % P;
        const int64_t at = pat_cut(bytes, ELEMENT, P, take), end = pat_cut(bytes, ELEMENT, P, take + 1);
        const int64_t first = pat_cut(bytes, ELEMENT, P, out);
        step[s] = (ring_step){-1, -1, -1};
        step[s].send = ring_send(plan, right, first, pat_cut(bytes, ELEMENT, P, out + 1) - first,
                                 s == 0 ? copy : step[s - 1].sum);
        if (at == end)
            continue;
        step[s].recv = pat_plan_recv_to(plan, left, in[s % 2], end - at);
        pat_plan_after(plan, step[s].recv, used[s % 2]);
        used[s % 2] = step[s].sum = pat_plan_reduce(plan, in[s % 2], pat_result(at), end - at);
        pat_plan_after(plan, step[s].sum, copy);
        pat_plan_after(plan, step[s].sum, step[s].recv);
    }
    int here = step[P - 2].sum;
    for (int s = 0; s < P - 1; s++) {
        const int out = (rank + 1 - s + P) % P, take = (rank - s + P) % P;
        const int64_t at = pat_cut(bytes, ELEMENT, P, take), end = pat_cut(bytes, ELEMENT, P, take + 1);
        const int64_t first = pat_cut(bytes, ELEMENT, P, out);
        ring_send(plan, right, first, pat_cut(bytes, ELEMENT, P, out + 1) - first, here);
        here = at < end ? pat_plan_recv(plan, left, at, end - at) : -1;
        if (here >= 0)
            pat_plan_after(plan, here, step[s].send); /* what it overwrites must be out */
    }
}

#endif

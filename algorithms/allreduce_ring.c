/*
 * allreduce_ring.c — ring: the vector in P parts, whose sums go round, and then once more round to everybody.
 *
 * What:     in step s rank i sends its right neighbour part i - s, and joins part i - s - 1 that comes from the left with
 *           its own. After P-1 steps rank i has the whole sum of part i + 1; in P-1 more these are handed round. A part that is longer
 *           than what MPI sends without asking goes in pieces: each is joined and passed on while the next one comes.
 * Source:   the usual one (Patarasuk, Yuan 2009).
 * Cost:     2 (P-1) steps of a P-th of the vector: the least that can go through a link when all arrive at once.
 * Memory:   a P-th of the vector.
 * Order:    part c is joined from rank c on round the ring: the same bits on all ranks, but not in the order of ranks, so
 *           the operation must commute.
 * Limits:   ranks stand by number, since the order of joining would change with their places. With fewer elements than
 *           ranks some parts are empty, and are not sent.
 * Example:  P = 3. "0>1 (a0)": part a with rank 0's contribution.
 *           0>1 (a0) 1>2 (b1) 2>0 (c2) | 0>1 (c20) 1>2 (a01) 2>0 (b12) | 0>1 (b120) 1>2 (c201) 2>0 (a012)
 *           0>1 (a) 1>2 (b) 2>0 (c)
 */
#include <errno.h>
#include <stdlib.h>

#include "parts.h"

enum { MOST_PIECES = 256, NONE = -1 };

typedef struct part {
    int64_t from, length;
} part;

/* One rank's plan as it is built. */
typedef struct ring {
    pat_plan *plan;
    const pat_job *job;
    int rank, right, left, pieces;
    pat_address in;        /* a part that comes, to be joined: its pieces, */
    int64_t slot;          /* of which each has so many bytes */
    int *sent;             /* the send of each piece in each of the first P-1 steps */
    int here[MOST_PIECES]; /* what brought, or joined, the piece of the last step */
} ring;

static part part_of(const pat_job *job, int number)
{
    const int P = job->num_ranks, i = (number % P + P) % P;
    const int64_t from = pat_cut(job->block_bytes, job->element_bytes, P, i);
    return (part){from, pat_cut(job->block_bytes, job->element_bytes, P, i + 1) - from};
}

static part piece_of(const ring *r, int number, int piece)
{
    const part whole = part_of(r->job, number);
    const int64_t from = pat_cut(whole.length, r->job->element_bytes, r->pieces, piece);
    return (part){whole.from + from,
                  pat_cut(whole.length, r->job->element_bytes, r->pieces, piece + 1) - from};
}

/* No part is longer than the first. */
static int num_pieces(const pat_job *job)
{
    const int64_t longest = part_of(job, 0).length, steps = 2 * (job->num_ranks - 1);
    int64_t pieces = pat_part_least((longest - 1) / pat_part_unasked(job) + 1, MOST_PIECES);
    if (job->most_messages > 0)
        pieces = pat_part_least(pieces, job->most_messages / steps);
    return pieces > 0 ? (int)pieces : 1;
}

/* The longest piece of the longest part. */
static int64_t slot_of(const pat_job *job, int pieces)
{
    const int64_t elements = part_of(job, 0).length / job->element_bytes;
    return (elements + pieces - 1) / pieces * job->element_bytes;
}

/* A node that waits for `before`; NONE: for the call alone. */
static int add(ring *r, int node, int before)
{
    if (before == NONE)
        pat_plan_in_step(r->plan, node);
    else
        pat_plan_after(r->plan, node, before);
    return node;
}

static void join_round(ring *r, int step, int piece)
{
    const part out = piece_of(r, r->rank - step, piece), take = piece_of(r, r->rank - step - 1, piece);
    const pat_address in = {r->in.space, r->in.offset + piece * r->slot};
    const int joined = r->here[piece];
    r->sent[step * r->pieces + piece] =
        out.length > 0 ? add(r, pat_plan_send(r->plan, r->right, out.from, out.length), joined) : NONE;
    if (take.length == 0)
        return;
    const int recv = add(r, pat_plan_recv_to(r->plan, r->left, in, take.length), joined);
    r->here[piece] = add(r, pat_plan_reduce(r->plan, in, pat_result(take.from), take.length), recv);
}

/* What comes takes the place of a sum that this rank has sent in the first round. */
static void hand_round(ring *r, int step, int piece)
{
    const part out = piece_of(r, r->rank + 1 - step, piece), take = piece_of(r, r->rank - step, piece);
    if (out.length > 0)
        add(r, pat_plan_send(r->plan, r->right, out.from, out.length), r->here[piece]);
    if (take.length > 0)
        r->here[piece] = add(r, pat_plan_recv(r->plan, r->left, take.from, take.length),
                             r->sent[step * r->pieces + piece]);
}

void pat_allreduce_ring_build(pat_plan *plan, const pat_job *job, int rank)
{
    const int P = job->num_ranks;
    ring r = {.plan = plan,
              .job = job,
              .rank = rank,
              .right = (rank + 1) % P,
              .left = (rank + P - 1) % P,
              .pieces = num_pieces(job)};
    r.slot = slot_of(job, r.pieces);
    r.in = pat_plan_scratch(plan, r.pieces * r.slot);
    r.sent = malloc((size_t)(P - 1) * (size_t)r.pieces * sizeof(*r.sent));
    if (!r.sent) {
        plan->error = ENOMEM;
        return;
    }
    for (int piece = 0; piece < r.pieces; piece++)
        r.here[piece] = NONE;
    pat_plan_next_step(plan);
    pat_part_arrive(plan, job, rank);
    pat_plan_next_step(plan);
    for (int step = 0; step < P - 1; step++)
        for (int piece = 0; piece < r.pieces; piece++)
            join_round(&r, step, piece);
    for (int step = 0; step < P - 1; step++)
        for (int piece = 0; piece < r.pieces; piece++)
            hand_round(&r, step, piece);
    free(r.sent);
}

/* Twice round. */
void pat_allreduce_ring_formula(pat_formula *formula, const pat_job *job)
{
    const int steps = 2 * (job->num_ranks - 1);
    pat_part_add(formula, 1, steps, steps * job->block_bytes / job->num_ranks);
}

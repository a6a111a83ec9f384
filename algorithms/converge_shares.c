/*
 * converge_shares.c — longer vectors: every piece of the vector is joined by one rank, to which all others send theirs, and which
 * sends the sum to all others.
 *
 * A rank's contribution sets out when the rank calls, and is received in the background by those that have not called yet. Who joins
 * a piece has a place for each other rank's, and joins as soon as two that the tree puts side by side are there; so of the last
 * rank's contribution log2(P) joints are left. Pieces for different ranks go in turn, each rank beginning with its left neighbour,
 * so that not all send to the same one at once.
 */
#include <errno.h>
#include <stdlib.h>

#include "converge.h"

typedef struct build {
    pat_plan *plan;
    const pat_job *job;
    const pat_shares *shares;
    int rank;
    int *sent; /* the nodes that send this rank's contributions, in the order of for_others */
    int num_sent, num_taken;
    int *recvs;         /* per rank: its last PAT_RECV_WINDOW receives */
    int *num_recvs;     /* per rank */
    pat_address places; /* for the pieces of this rank's share, of one rank after the other */
} build;

/* A piece: who joins it, and its bytes. */
typedef struct piece {
    int joiner;
    int64_t from, length;
} piece;

/* A sum of a piece: where it lies, and the node that has made it. */
typedef struct sum {
    pat_address at;
    int made;
} sum;

static int64_t share_of(const build *b, int rank)
{
    return b->shares->at[rank + 1] - b->shares->at[rank];
}

static piece piece_of(const build *b, int rank, int number)
{
    const int pieces = b->shares->pieces[rank];
    const int64_t share = share_of(b, rank), size = b->job->element_bytes;
    const int64_t from = pat_cut(share, size, pieces, number);
    return (piece){rank, b->shares->at[rank] + from, pat_cut(share, size, pieces, number + 1) - from};
}

/* Of a rank's messages a few are awaited at a time. */
static int receive(build *b, int peer, pat_address to, int64_t bytes)
{
    int *const slot = &b->recvs[peer * PAT_RECV_WINDOW + b->num_recvs[peer] % PAT_RECV_WINDOW];
    const int recv = pat_plan_recv_to(b->plan, peer, to, bytes);
    if (b->num_recvs[peer]++ >= PAT_RECV_WINDOW)
        pat_plan_after(b->plan, recv, *slot);
    return *slot = recv;
}

/* All pieces that others join, in the order in which this rank deals with them: in turn, beginning with its right neighbour. */
static void for_others(build *b, int copy, void (*act)(build *b, piece p, int copy))
{
    const int P = b->job->num_ranks;
    for (int turn = 0, more = 1; more; turn++) {
        more = 0;
        for (int away = 1; away < P; away++) {
            const int peer = (b->rank + away) % P;
            if (turn >= b->shares->pieces[peer])
                continue;
            act(b, piece_of(b, peer, turn), copy);
            more = 1;
        }
    }
}

static void contribute(build *b, piece p, int copy)
{
    const int send = pat_plan_send(b->plan, p.joiner, p.from, p.length);
    pat_plan_after(b->plan, send, copy);
    b->sent[b->num_sent++] = send;
}

/* The sum takes the place of this rank's contribution. */
static void take_sum(build *b, piece p, int copy)
{
    (void)copy;
    const int here = receive(b, p.joiner, pat_result(p.from), p.length);
    pat_plan_after(b->plan, here, b->sent[b->num_taken++]);
}

static sum contribution_of(build *b, int rank, piece p, int copy)
{
    pat_address place = b->places;
    if (rank == b->rank)
        return (sum){pat_result(p.from), copy};
    place.offset += (rank - (rank > b->rank)) * share_of(b, b->rank) + p.from - b->shares->at[b->rank];
    return (sum){place, receive(b, rank, place, p.length)};
}

/* REDUCE leaves the sum where its right operand was. */
static sum join(build *b, int from, int to, piece p, int copy)
{
    if (to - from == 1)
        return contribution_of(b, from, p, copy);
    const int middle = pat_converge_middle(from, to);
    const sum left = join(b, from, middle, p, copy);
    sum right = join(b, middle, to, p, copy);
    const int joined = pat_plan_reduce(b->plan, left.at, right.at, p.length);
    pat_plan_after(b->plan, joined, left.made);
    pat_plan_after(b->plan, joined, right.made);
    right.made = joined;
    return right;
}

static void join_and_give(build *b, piece p, int copy)
{
    const int P = b->job->num_ranks;
    const sum total = join(b, 0, P, p, copy);
    for (int away = 1; away < P; away++)
        pat_plan_after(b->plan, pat_plan_send_from(b->plan, (b->rank + P - away) % P, total.at, p.length),
                       total.made);
    if (total.at.space != PAT_SPACE_RESULT)
        pat_plan_after(b->plan, pat_plan_copy(b->plan, total.at, pat_result(p.from), p.length), total.made);
}

void pat_converge_by_shares(pat_plan *plan, const pat_job *job, int rank, const pat_shares *shares)
{
    const int P = job->num_ranks;
    size_t pieces = 0;
    for (int r = 0; r < P; r++)
        pieces += (size_t)shares->pieces[r];
    build b = {.plan = plan, .job = job, .shares = shares, .rank = rank};
    b.sent = malloc(pieces * sizeof(*b.sent));
    b.recvs = malloc((size_t)P * PAT_RECV_WINDOW * sizeof(*b.recvs));
    b.num_recvs = calloc((size_t)P, sizeof(*b.num_recvs));
    if (b.sent && b.recvs && b.num_recvs) {
        const int copy = pat_converge_begin(plan, job);
        for_others(&b, copy, contribute);
        b.places = pat_plan_scratch(plan, (P - 1) * share_of(&b, rank));
        for (int i = 0; i < shares->pieces[rank]; i++)
            join_and_give(&b, piece_of(&b, rank, i), copy);
        for_others(&b, copy, take_sum);
    } else {
        plan->error = ENOMEM;
    }
    free(b.sent);
    free(b.recvs);
    free(b.num_recvs);
}

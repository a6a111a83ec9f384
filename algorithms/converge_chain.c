/*
 * converge_chain.c — the way of allreduce_converge for ranks that come far apart: everything else is done when the last one calls.
 *
 * The sum of each half of the tree is formed at the rank of it that is predicted to arrive last: of two halves, the one whose last rank
 * is earlier sends its sum to the last rank of the other one, which receives it before its own arrival. So the last rank of all finds
 * the log2(P) sums that it needs and joins them with its own vector piece by piece. The total runs from there down a chain of the
 * others, in the order of their predicted arrival: those that may be late have least to pass on, and the very latest nothing. After the
 * last arrival that takes a vector, P-2 pieces and P-1 latencies. A half's sum that still comes in then is joined and
 * passed on piece by piece, so it delays the end only where the sums come in more slowly than the total goes out.
 *
 * Example: P = 4, arrivals (0, 3, 1, 2) in times of a vector, three pieces a, b, c. The halves are 0, 1 and 2, 3.
 *     0 to 1      0>1 (0)      rank 1, which still computes, gets rank 0's vector
 *     1 to 2      2>3 (2)      rank 3 likewise
 *     2 to 3      3>1 (23)     rank 3 has joined 2 and 3
 *     from 3 on   1>0 (a)                           rank 1 has joined 0 and 1, and 01 and 23
 *                 1>0 (b)   0>2 (a)
 *                 1>0 (c)   0>2 (b)   2>3 (a)
 *                           0>2 (c)   2>3 (b)
 *                                     2>3 (c)       two pieces after the last one has left rank 1
 */
#include <stdlib.h>

#include "converge.h"

/* Where headers begin to weigh, if the network's packets are not known. */
enum { LEAST_BYTES = 1024, MOST_LEVELS = 32 };

/* A half that a rank joins to its own: who has its sum, and where that is received. */
typedef struct half {
    int holder;
    bool is_left;
    pat_address in;
    int awaited[PAT_RECV_WINDOW]; /* the last receives */
} half;

typedef struct build {
    pat_plan *plan;
    const pat_job *job;
    int rank, pieces;
    half halves[MOST_LEVELS]; /* that this rank joins, the smallest first */
    int num_halves;
    int up;       /* the rank that its sum goes to; -1: to nobody, it is the last of all */
    int from, to; /* the ranks before and after it in the chain; -1: none */
    int free_at
        [PAT_CONVERGE_MOST_PIECES]; /* the node after which nothing reads a piece of the result before the total comes */
} build;

/* ---- Who does what ---- */

/* From the leaves up: the halves that the rank joins, until its sum goes to another half. */
static void climb(build *b)
{
    int from[MOST_LEVELS], to[MOST_LEVELS], level = 0;
    from[0] = 0;
    to[0] = b->job->num_ranks;
    for (; to[level] - from[level] > 1; level++) {
        const int middle = pat_converge_middle(from[level], to[level]);
        from[level + 1] = b->rank < middle ? from[level] : middle;
        to[level + 1] = b->rank < middle ? middle : to[level];
    }
    b->up = -1;
    while (level-- > 0 && b->up < 0) {
        const bool is_left = from[level + 1] > from[level]; /* the other half is */
        const int holder = is_left ? pat_converge_last(b->job, from[level], from[level + 1])
                                   : pat_converge_last(b->job, to[level + 1], to[level]);
        if (pat_converge_last(b->job, from[level], to[level]) == b->rank)
            b->halves[b->num_halves++] = (half){.holder = holder, .is_left = is_left};
        else
            b->up = holder;
    }
}

/* Who comes so many vectors' times before the last rank, or more, is expected to be there for long. */
enum { LONG_BEFORE = 2 };

static bool is_early(const build *b, int rank, int root)
{
    return pat_converge_ahead(b->job, rank, root) >= LONG_BEFORE * (int64_t)PAT_CONVERGE_UNITS;
}

/*
 * The chain begins with the last rank. Early ranks follow in the order of ranks, beginning with its right neighbour, so that a
 * chain goes over the same connections from call to call, whoever is last: TCP sends little at once over one that it has not
 * used yet. The others come after them, the later the farther down.
 */
static void stand_in_chain(build *b, const int *by_arrival)
{
    const int P = b->job->num_ranks, root = pat_converge_last(b->job, 0, P);
    int before = root;
    b->from = b->to = -1;
    for (int i = 1; i < 2 * P; i++) {
        const int next = i < P ? (root + i) % P : by_arrival[i - P];
        if (next == root || is_early(b, next, root) != (i < P))
            continue;
        if (before == b->rank)
            b->to = next;
        if (next == b->rank)
            b->from = before;
        before = next;
    }
}

/* ---- Pieces ---- */

/*
 * Each piece delays what is passed on once on P-2 hops, and once while the first one is joined. A rank sends another no more than all
 * pieces on the way up and all on the way down.
 */
int pat_converge_chain_pieces(const pat_job *job)
{
    const int64_t bytes = pat_converge_piece_bytes(job, job->num_ranks - 1, LEAST_BYTES);
    int64_t pieces = pat_part_least((job->block_bytes - 1) / bytes + 1, PAT_CONVERGE_MOST_PIECES);
    if (job->most_messages > 0)
        pieces = pat_part_least(pieces, job->most_messages / 2);
    return pieces > 1 ? (int)pieces : 1;
}

static int64_t piece_at(const build *b, int piece)
{
    return pat_cut(b->job->block_bytes, b->job->element_bytes, b->pieces, piece);
}

static int64_t piece_bytes(const build *b, int piece)
{
    return piece_at(b, piece + 1) - piece_at(b, piece);
}

static pat_address in_piece(const build *b, pat_address vector, int piece)
{
    vector.offset += piece_at(b, piece);
    return vector;
}

/* Pieces come in order, and are awaited so many at a time. */
static int receive(build *b, int peer, pat_address to, int piece, int *awaited)
{
    const int recv = pat_plan_recv_to(b->plan, peer, in_piece(b, to, piece), piece_bytes(b, piece));
    if (piece >= PAT_RECV_WINDOW)
        pat_plan_after(b->plan, recv, awaited[piece % PAT_RECV_WINDOW]);
    return awaited[piece % PAT_RECV_WINDOW] = recv;
}

/* ---- Up the tree ---- */

/*
 * Joins all that comes in for a piece with what is there after `made`, and says where the sum lies: REDUCE leaves it where
 * its right operand was. Returns the node that has made it.
 */
static int join_piece(build *b, int piece, int made, pat_address *sum)
{
    *sum = pat_result(0);
    for (int h = 0; h < b->num_halves; h++) {
        half *other = &b->halves[h];
        const int here = receive(b, other->holder, other->in, piece, other->awaited);
        const pat_address from = other->is_left ? other->in : *sum, to = other->is_left ? *sum : other->in;
        const int joined =
            pat_plan_reduce(b->plan, in_piece(b, from, piece), in_piece(b, to, piece), piece_bytes(b, piece));
        pat_plan_after(b->plan, joined, here);
        pat_plan_after(b->plan, joined, made);
        if (from.space == PAT_SPACE_RESULT)
            b->free_at[piece] = joined;
        *sum = to;
        made = joined;
    }
    return made;
}

/* A piece is joined with all there is to join before the next one is, so that it can leave. */
static void add_up(build *b, int copy)
{
    int made = copy;
    for (int h = 0; h < b->num_halves; h++)
        b->halves[h].in = pat_plan_scratch(b->plan, b->job->block_bytes);
    for (int p = 0; p < b->pieces; p++) {
        pat_address sum;
        made = join_piece(b, p, made, &sum);
        const int to = b->up >= 0 ? b->up : b->to;
        const int send = pat_plan_send_from(b->plan, to, in_piece(b, sum, p), piece_bytes(b, p));
        pat_plan_after(b->plan, send, made);
        if (sum.space == PAT_SPACE_RESULT)
            b->free_at[p] = send;
        else if (b->up < 0)
            pat_plan_after(
                b->plan,
                pat_plan_copy(b->plan, in_piece(b, sum, p), in_piece(b, pat_result(0), p), piece_bytes(b, p)),
                made);
    }
}

/* ---- Down the chain ---- */

static void pass_on(build *b)
{
    int awaited[PAT_RECV_WINDOW];
    for (int p = 0; p < b->pieces; p++) {
        const int here = receive(b, b->from, pat_result(0), p, awaited);
        pat_plan_after(b->plan, here, b->free_at[p]);
        if (b->to >= 0)
            pat_plan_after(b->plan, pat_plan_send(b->plan, b->to, piece_at(b, p), piece_bytes(b, p)), here);
    }
}

void pat_converge_chain(pat_plan *plan, const pat_job *job, int rank)
{
    int *by_arrival = pat_part_by_arrival(plan, job);
    if (!by_arrival)
        return;
    build b = {.plan = plan, .job = job, .rank = rank, .pieces = pat_converge_chain_pieces(job)};
    climb(&b);
    stand_in_chain(&b, by_arrival);
    free(by_arrival);
    add_up(&b, pat_converge_begin(plan, job));
    if (b.from >= 0)
        pass_on(&b);
}

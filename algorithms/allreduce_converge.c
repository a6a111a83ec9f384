/*
 * allreduce_converge.c — all-reduce in which every rank joins a share of the vector, the smaller the later the rank is expected.
 *
 * What:     the vector is cut into shares, one for each rank. A rank that calls sends each other rank what that one joins, and
 *           who has all contributions to a piece of its share sends the sum to all others. Contributions are taken in before the
 *           call, so that the last rank's is the only one that is missed in the end. Who is expected late has its own contribution
 *           to send when the others wait for it, so its share is smaller; a rank that is last alone joins next to nothing. Short
 *           vectors are not cut: each rank gets the other half's sum at every joint (converge_whole.c). Where
 *           one or two ranks come long after the others, the last one may join alone, and a chain takes the total to
 *           the others (converge_chain.c). Which way is the shortest is reckoned (converge_reckon.c).
 * Source:   none known. With all at once it is a direct reduce-scatter and all-gather.
 * Cost:     2 latencies, and what a vector takes on a link: once after the last of ranks that come far apart, 2 (P-1)/P times when
 *           all come at once, and in between by how many still have to send theirs when the last one calls; and up to half of P
 *           pieces. Not cut, log2(P) vectors and latencies. Pieces: they cost as much as they save, none longer than what MPI
 *           sends unasked, in full packets.
 * Memory:   a place for each other rank's contribution to the share: a vector or two. Not cut, log2(P) vectors.
 * Order:    the operands are in the order of ranks, and a tree over the ranks by number says what is joined with what, the same
 *           for all arrivals and for every byte: the bits depend on P alone, and an operation need not commute.
 * Limits:   a wrong prediction costs a vector's time or two. Where the vector is cut, each rank sends every other one about two
 *           messages at least.
 * Example:  P = 3, rank 2 last, one piece a share: ranks 0 and 1 join halves a and b.
 *           before the last call   0>1 (b0)   1>0 (a1)
 *           then                   2>0 (a2)   2>1 (b2)   0>1, 0>2 (a)   1>2, 1>0 (b)
 */
#include <errno.h>
#include <stdlib.h>

#include "converge.h"

/* Where headers begin to weigh, if the network's packets are not known. */
enum { LEAST_BYTES = 512 };

/* Times are reckoned in UNITS of what a vector takes on the link, and shares in so many parts of the vector. */
enum { UNITS = PAT_CONVERGE_UNITS, VECTOR = 1 << 30 };

/* ---- Pieces ---- */

/*
 * Ranks that join begin one after the other, since the last rank sends to one after the other: on average P/2 pieces' times late. And a
 * piece costs about a quarter of piece_ns, for few wait for it alone: four times P/2 waits where it cost all of it.
 */
static int64_t most_piece_bytes(const pat_job *job)
{
    return pat_converge_piece_bytes(job, 2 * (int64_t)job->num_ranks, LEAST_BYTES);
}

/* Messages that a vector is on a link: every share is one at least. */
static int64_t count_messages(const pat_job *job, int64_t piece_bytes)
{
    const int64_t pieces = job->block_bytes / piece_bytes;
    return pieces > job->num_ranks ? pieces : job->num_ranks;
}

/* ---- Shares ---- */

/* What a rank's link has to carry, in UNITS. */
typedef struct load {
    int64_t left; /* of its contribution, when the last rank calls */
    int64_t
        idle; /* until the first of its pieces is there, since the last rank sends to one after the other */
} load;

/*
 * The largest share x with which rank r is through within `time` after the last call. Out of its link go what is left of its
 * contribution, but for the share, and the sums of its share to P-1 others: idle + left * (1 - x) + (P-1) * x. In come what is left of
 * the others' contributions to its share, and the sums of all other shares: (all_left - left) * x + 1 - x.
 */
static int64_t largest_share(const load *rank, int num_ranks, int64_t all_left, int64_t time)
{
    const int64_t out = (num_ranks - 1) * (int64_t)UNITS - rank->left, in = all_left - rank->left - UNITS;
    int64_t share = VECTOR;
    if (out > 0)
        share = pat_part_least(share, (time - rank->idle - rank->left) * VECTOR / out);
    if (in > 0)
        share = pat_part_least(share, (time - UNITS) * VECTOR / in);
    return share > 0 ? share : 0;
}

/* All ranks' largest shares within `time`, together; in share[r], rank r's. */
static int64_t fill_shares(const load *loads, int num_ranks, int64_t all_left, int64_t time, int64_t *share)
{
    int64_t all = 0;
    for (int r = 0; r < num_ranks; r++)
        all += share[r] = largest_share(&loads[r], num_ranks, all_left, time);
    return all;
}

/* The least time in which the shares make a vector; share[r] becomes rank r's, not less than what is needed in all. */
static int64_t find_shares(const pat_job *job, int64_t piece_bytes, load *loads, int64_t *share)
{
    const int P = job->num_ranks, last = pat_converge_last(job, 0, P);
    int64_t all_left = 0, time = UNITS - 1; /* nobody is through before the last contribution is out */
    for (int r = 0; r < P; r++)
        all_left += loads[r].left = pat_converge_left(job, r, last);
    /* A piece's time, where one rank alone is late; none, where all are. */
    const int64_t turn = ((int64_t)P * UNITS - all_left) / ((P - 1) * count_messages(job, piece_bytes));
    for (int r = 0; r < P; r++)
        loads[r].idle = r == last ? 0 : turn * ((r - last - 1 + P) % P);
    for (int64_t step = 2 * (int64_t)UNITS; step > 0; step /= 2)
        if (fill_shares(loads, P, all_left, time + step, share) < VECTOR)
            time += step;
    fill_shares(loads, P, all_left, time + 1, share);
    return time + 1;
}

/* In at[r] comes how much rank r takes, in whatever parts. */
static void cut_shares(const pat_job *job, int64_t piece_bytes, pat_shares *shares)
{
    const int P = job->num_ranks;
    const int64_t elements = job->block_bytes / job->element_bytes;
    int64_t all = 0, before = 0;
    for (int r = 0; r < P; r++)
        all += shares->at[r];
    for (int r = 0; r <= P; r++) {
        const int64_t share = r < P ? shares->at[r] : 0;
        shares->at[r] = elements * before / all * job->element_bytes;
        before += share;
    }
    for (int r = 0; r < P; r++) {
        int64_t pieces = (shares->at[r + 1] - shares->at[r] + piece_bytes - 1) / piece_bytes;
        if (job->most_messages >
            0) /* a rank sends another its contributions to that one's share, and the sums of its own */
            pieces = pat_part_least(pieces, job->most_messages / 2);
        shares->pieces[r] = (int)pieces;
    }
}

/* ---- Which way ---- */

/* What the vector takes in pieces. */
static int64_t in_pieces_ns(const pat_job *job, int64_t piece_bytes)
{
    return pat_converge_vector_ns(job) + count_messages(job, piece_bytes) * pat_converge_piece_ns(job);
}

/* Two latencies; and what passes a link is a vector in pieces for each of UNITS in `time`. */
static int64_t by_shares_ns(const pat_job *job, int64_t piece_bytes, int64_t time)
{
    return 2 * job->alpha_ns + pat_converge_in_units(in_pieces_ns(job, piece_bytes), time);
}

/*
 * What shares take beyond that where they contend with the chain: the last sums come from all joiners at about the same time, a piece
 * from each through one link, where up to P-2 wait for one another. A quarter of that is waiting that shares allow for.
 */
static int64_t last_sums_ns(const pat_job *job, int64_t piece_bytes)
{
    return in_pieces_ns(job, piece_bytes) / count_messages(job, piece_bytes) * (job->num_ranks - 2) * 3 / 4;
}

/* One message after the other. */
static int64_t whole_ns(const pat_job *job)
{
    return pat_part_log_up(job->num_ranks) *
           (job->alpha_ns + pat_converge_piece_ns(job) + pat_converge_vector_ns(job));
}

void pat_allreduce_converge_build(pat_plan *plan, const pat_job *job, int rank)
{
    const size_t P = (size_t)job->num_ranks;
    pat_shares shares = {.at = malloc((P + 1) * sizeof(*shares.at)),
                         .pieces = malloc(P * sizeof(*shares.pieces))};
    load *loads = malloc(P * sizeof(*loads));
    if (shares.at && shares.pieces && loads) {
        const int64_t piece_bytes = most_piece_bytes(job);
        const int64_t time = find_shares(job, piece_bytes, loads, shares.at);
        const int64_t whole = whole_ns(job), chain = pat_converge_chain_ns(job),
                      by_shares = by_shares_ns(job, piece_bytes, time);
        const bool goes_whole = job->block_bytes <= pat_part_unasked(job);
        if (goes_whole && whole <= by_shares && whole <= chain) {
            pat_converge_whole(plan, job, rank);
        } else if (chain <= by_shares + last_sums_ns(job, piece_bytes)) {
            pat_converge_chain(plan, job, rank);
        } else {
            cut_shares(job, piece_bytes, &shares);
            pat_converge_by_shares(plan, job, rank, &shares);
        }
    } else {
        plan->error = ENOMEM;
    }
    free(shares.at);
    free(shares.pieces);
    free(loads);
}

/* Pieces of a vector go out to those that join them, at least one to each rank, and sums come back. */
void pat_allreduce_converge_formula(pat_formula *formula, const pat_job *job)
{
    const int others = job->num_ranks - 1;
    const int64_t pieces = pat_part_segments(job);
    const int64_t messages = pieces > job->num_ranks ? pieces : job->num_ranks;
    pat_part_add(formula, 1, 2 * others * messages / job->num_ranks,
                 2 * others * job->block_bytes / job->num_ranks);
}

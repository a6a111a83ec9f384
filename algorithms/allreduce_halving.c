/*
 * allreduce_halving.c — every rank makes the sum of a part of the vector, and then all parts are handed round.
 *
 * What:     the vector is cut in P parts, and halving.c gives every rank the sum of one. Then its steps are gone back: where a rank has sent the
 *           farther half it now gets the sums of that half, and where it has joined it hands on all that it has.
 * Source:   Rabenseifner's (Thakur, Rabenseifner, Gropp 2005), by halves that any number of ranks has.
 * Cost:     2 (P-1)/P of the vector, the least there can be, as round the ring, but in 2 log2(P) steps. With several ranks a node only a rank's part of it goes over
 *           the network for each of the other nodes.
 * Memory:   the vector, nearly.
 * Order:    the operation must commute. It follows from P, the count and the nodes; all ranks get the same bits.
 * Limits:   nodes with different numbers of ranks are not heeded. With fewer elements than ranks some parts are empty, and are not sent.
 * Example:  P = 3, parts a to c: 0>2 c, 1>0 a, 2>1 b | 0>1 b, 1>2 c, 2>0 a | 0>2 a, 1>0 b, 2>1 c | 0>1 a, 1>2 b, 2>0 c.
 */
#include "halving.h"
#include "parts.h"

enum { NONE = -1 };

/* Of a message with part k: it waits for `before`, unless it does already, because a part beside that one needs the same. Returns what it waits for. */
static int wait_once(const pat_halving *h, int message, int k, int before, int last)
{
    if (pat_halving_length(h, k) == 0 || before == last)
        return last;
    pat_plan_after(h->plan, message, before);
    return before;
}

/* The sums of the nearer parts, up to `end`, go back to where the others' came from. */
static void hand_back(const pat_halving *h, int nearer, int end)
{
    const int back = h->job->num_ranks - nearer;
    int64_t bytes;
    for (int i = 0, count; i < end; i += count) {
        count = pat_halving_side_by_side(h, h->place, i, end, &bytes);
        if (bytes == 0)
            continue;
        const int send = pat_plan_send(h->plan, pat_halving_rank(h, back), pat_halving_start(h, i), bytes);
        for (int k = i, last = NONE; k < i + count; k++)
            last = wait_once(h, send, k, h->sums[k].here, last);
    }
}

static void take_back(const pat_halving *h, int nearer, int all)
{
    const int from = (h->place + nearer) % h->job->num_ranks;
    int64_t bytes;
    for (int i = 0, count; i < all - nearer; i += count) {
        count = pat_halving_side_by_side(h, from, i, all - nearer, &bytes);
        if (bytes == 0)
            continue;
        const int recv = pat_plan_recv(h->plan, h->rank_at[from], pat_halving_start(h, nearer + i), bytes);
        for (int k = nearer + i, last = NONE; k < nearer + i + count; k++) {
            /* Not before the own contribution has been read there. */
            last = wait_once(h, recv, k, h->sums[k].read, last);
            h->sums[k].here = recv;
        }
    }
}

/* The own part's sum is at `sum`. */
static void hand_round(const pat_halving *h, pat_address sum)
{
    const int64_t own = pat_halving_length(h, 0);
    if (own > 0) {
        h->sums[0].here = pat_plan_copy(h->plan, sum, pat_result(pat_halving_start(h, 0)), own);
        pat_plan_after(h->plan, h->sums[0].here, h->sums[0].node);
    }
    for (int s = h->steps - 1; s >= 0; s--) {
        hand_back(h, h->nearer[s], h->all[s] - h->nearer[s]);
        take_back(h, h->nearer[s], h->all[s]);
    }
}

void pat_allreduce_halving_build(pat_plan *plan, const pat_job *job, int rank)
{
    (void)rank;
    pat_halving_vector(plan, job, hand_round);
}

void pat_allreduce_halving_formula(pat_formula *formula, const pat_job *job)
{
    pat_halving_formula(formula, job, job->block_bytes, 2, 0);
}

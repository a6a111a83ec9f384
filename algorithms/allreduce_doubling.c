/*
 * allreduce_doubling.c — recursive doubling: in every step two ranks exchange what they have and both join it.
 *
 * What:     in step s those exchange whole vectors whose numbers differ in bit s. Numbers are ranks; but when P is no
 *           power of two, the first ranks pair off, so that a power of two is left: the even one of a pair hands its vector
 *           to the odd one, which has the pair's number, and gets the result from it in the end.
 * Source:   the usual one (Thakur, Rabenseifner, Gropp 2005).
 * Cost:     log2(P) steps of a vector each; two more when P is no power of two.
 * Memory:   one vector: what comes in is received where the rank's sum is not, in the result or in the scratch.
 * Order:    the operands are in the order of ranks, and neighbours are joined first, so that an operation need not commute.
 * Example:  P = 3. "0>1 (0)": rank 0's vector.  0>1 (0) | 1<>2 (01, 2) | 1>0 (012).
 */
#include "parts.h"

/* The rank's sum so far, and the two places that take turns. */
typedef struct sum {
    pat_address at, other;
} sum;

static void send_sum(pat_plan *plan, const sum *mine, int peer)
{
    pat_plan_in_step(plan, pat_plan_send_from(plan, peer, mine->at, plan->block_bytes));
}

/* What a peer has sent is joined in a step of its own; lower ranks stand on the left. */
static void receive_and_join(pat_plan *plan, sum *mine, int peer)
{
    const sum before = *mine;
    pat_plan_in_step(plan, pat_plan_recv_to(plan, peer, mine->other, plan->block_bytes));
    if (peer > plan->rank)
        *mine = (sum){before.other, before.at};
    pat_plan_next_step(plan);
    pat_plan_in_step(plan, pat_plan_reduce(plan, mine->other, mine->at, plan->block_bytes));
}

void pat_allreduce_doubling_build(pat_plan *plan, const pat_job *job, int rank)
{
    const int64_t bytes = job->block_bytes;
    int power = 1;
    while (2 * power <= job->num_ranks)
        power *= 2;
    const int more = job->num_ranks - power; /* so many pairs of ranks are one */
    const bool paired = rank < 2 * more;

    pat_plan_next_step(plan);
    pat_part_arrive(plan, job, rank);
    pat_plan_next_step(plan);
    sum mine = {.at = pat_result(0)};
    if (paired && rank % 2 == 0) {
        send_sum(plan, &mine, rank + 1);
        pat_plan_next_step(plan);
        pat_plan_in_step(plan, pat_plan_recv(plan, rank + 1, 0, bytes));
        return;
    }
    mine.other = pat_plan_scratch(plan, bytes);
    if (paired)
        receive_and_join(plan, &mine, rank - 1);
    const int number = paired ? rank / 2 : rank - more;
    for (int bit = 1; bit < power; bit *= 2) {
        const int other = number ^ bit, peer = other < more ? 2 * other + 1 : other + more;
        pat_plan_next_step(plan);
        send_sum(plan, &mine, peer);
        receive_and_join(plan, &mine, peer);
    }
    if (mine.at.space != PAT_SPACE_RESULT) {
        pat_plan_next_step(plan);
        pat_plan_in_step(plan, pat_plan_copy(plan, mine.at, pat_result(0), bytes));
    }
    if (paired) {
        pat_plan_next_step(plan);
        pat_plan_in_step(plan, pat_plan_send(plan, rank - 1, 0, bytes));
    }
}

void pat_allreduce_doubling_formula(pat_formula *formula, const pat_job *job)
{
    const int doublings = pat_part_log_down(job->num_ranks),
              more = pat_part_log_up(job->num_ranks) - doublings,
              steps = doublings + 2 * more; /* two more for the ranks beyond the power of two */
    pat_part_add(formula, 1, steps, steps * job->block_bytes);
}

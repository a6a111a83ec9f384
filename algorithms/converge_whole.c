/*
 * converge_whole.c — short vectors: at every joint of the tree each rank of one half gets the other half's sum from a rank of that.
 *
 * Of two halves the right one has as many ranks as the left one, or one more. The i-th ranks of both exchange; the one that is left
 * over gets the first one's sum, and nobody needs its own. What comes in is received before the rank's call, so that who comes
 * last finds all sums; then log2(P) messages are left until all ranks have what it brings.
 */
#include "converge.h"

enum { MOST_LEVELS = 32 };

/* A joint of the tree on a rank's way from its own vector to the total. */
typedef struct joint {
    int from, to; /* the ranks that are joined */
} joint;

/* The rank's sum so far: where it is, which node has made it, and the messages that take it from there. */
typedef struct sum {
    pat_address at;
    int made, here, sends[2], num_sends;
} sum;

/* The rank's joints, the whole tree first. Returns how many. */
static int joints_of(int num_ranks, int rank, joint *joints)
{
    int count = 0;
    for (int from = 0, to = num_ranks; to - from > 1;) {
        const int middle = pat_converge_middle(from, to);
        joints[count++] = (joint){from, to};
        *(rank < middle ? &to : &from) = middle;
    }
    return count;
}

static void send_sum(pat_plan *plan, sum *mine, int peer, int64_t bytes)
{
    const int send = pat_plan_send_from(plan, peer, mine->at, bytes);
    pat_plan_after(plan, send, mine->made);
    mine->sends[mine->num_sends++] = send;
}

/* Waits for what has made the sum, and for the messages that read it, which have waited for that themselves. */
static void after_sends(pat_plan *plan, int node, const sum *mine)
{
    if (mine->num_sends == 0)
        pat_plan_after(plan, node, mine->made);
    for (int i = 0; i < mine->num_sends; i++)
        pat_plan_after(plan, node, mine->sends[i]);
}

/* REDUCE leaves the sum where its right operand was: in what has come in, or where the rank's own sum must not be read any more. */
static void join(pat_plan *plan, sum *mine, pat_address in, int here, bool is_left, int64_t bytes)
{
    const pat_address left = is_left ? in : mine->at, right = is_left ? mine->at : in;
    const int joined = pat_plan_reduce(plan, left, right, bytes);
    pat_plan_after(plan, joined, here);
    if (is_left)
        after_sends(plan, joined, mine);
    else
        pat_plan_after(plan, joined, mine->made);
    *mine = (sum){.at = right, .made = joined, .here = here};
}

/* In *left is kept what the rank had in the result when its sum left that. */
static void pass_joint(pat_plan *plan, sum *mine, sum *left, int rank, joint j, int64_t bytes)
{
    const int middle = pat_converge_middle(j.from, j.to), num_left = middle - j.from;
    const bool is_left = rank >= middle; /* the other half is */
    const int place = is_left ? rank - middle : rank - j.from;
    const int partner = is_left ? j.from + place % num_left : middle + place;
    const pat_address in = pat_plan_scratch(plan, bytes);
    const int here = pat_plan_recv_to(plan, partner, in, bytes);
    pat_plan_after(plan, here, mine->here);
    if (place < num_left)
        send_sum(plan, mine, partner, bytes);
    if (!is_left && middle + place + num_left < j.to)
        send_sum(plan, mine, middle + place + num_left, bytes);
    if (mine->at.space == PAT_SPACE_RESULT)
        *left = *mine;
    join(plan, mine, in, here, is_left, bytes);
}

void pat_converge_whole(pat_plan *plan, const pat_job *job, int rank)
{
    joint joints[MOST_LEVELS];
    const int64_t bytes = job->block_bytes;
    sum mine = {.here = -1, .at = pat_result(0), .made = pat_converge_begin(plan, job)}, left = mine;
    for (int j = joints_of(job->num_ranks, rank, joints); j-- > 0;)
        pass_joint(plan, &mine, &left, rank, joints[j], bytes);
    if (mine.at.space == PAT_SPACE_RESULT)
        return;
    const int home = pat_plan_copy(plan, mine.at, pat_result(0), bytes);
    pat_plan_after(plan, home, mine.made);
    for (int i = 0; i < left.num_sends; i++)
        pat_plan_after(plan, home, left.sends[i]);
}

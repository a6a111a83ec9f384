/*
 * bdr.c — BDR, background disseminated ring.
 *
 * What:     the time between the first predicted arrival and the last is counted in steps of tau, the
 *           one-way time of a block: these are the pre-steps. In each, a rank that has arrived sends its
 *           own block to one more rank, first to its left neighbour, then to the one left of that, and so
 *           on. What is left to deliver when the last rank arrives goes round the ring; a block that the
 *           pre-steps took to n ranks leaves it n steps early. A rank's receives before its first send
 *           need no call of its own: the background thread takes them.
 * Source:   Proficz 2021, listing 2; its `rstep` and `sstep` belong to the rank that receives or sends.
 * Cost:     each rank receives P-1 messages of one block and all ranks together send P(P-1); at most P-1
 *           steps in the ring. A wholly wrong prediction costs up to P-2 steps more than the ring.
 *           Building: the schedule of all ranks has to be followed, about P*P messages; steps in which no
 *           message can be scheduled are leapt over, so the number of pre-steps costs nothing.
 * Memory:   none beyond the result.
 * Sends:    those of the pre-steps end when the receiver has them (pat_plan_send_sync). A step is the
 *           time of one block; short messages would all set out at once, each as slow as all together.
 * Limits:   within a step the slowest rank chooses its receiver first; of equal arrivals the higher rank
 *           counts as the later one. With all arrivals within one tau it is the ring.
 * Example:  P = 4, arrivals (2, 0, 0, 0) tau, so two pre-steps. "1>3 (1)": rank 1 sends 3 block 1.
 *           pre-step 0   1>0 (1)   2>1 (2)   3>2 (3)
 *           pre-step 1   1>3 (1)   2>0 (2)   3>1 (3)
 *           ring 0       0>1 (0)   1>2 (1)   2>3 (2)   3>0 (3)
 *           ring 1       1>2 (0)
 *           ring 2       2>3 (0)
 *           Rank 0 receives blocks 1 and 2 before its first send: these two are early. It exits at 3 tau,
 *           the others at 4, 5, 5; in the plain ring everybody exits at 5.
 */
#include <errno.h>
#include <stdlib.h>

#include "parts.h"

/* Steps are unsigned because the difference of two far-off times need not fit a signed number. */
#define NEVER UINT64_MAX

typedef struct sender {
    uint64_t pre_steps;   /* the rank arrives this many steps before the last one */
    uint64_t receives_at; /* the last pre-step in which it receives something */
    int sent;             /* ranks that have its block after the pre-steps so far */
    int next;             /* in the list of those that have arrived and are not done */
} sender;

/* One rank's part of one step; `to` or `from` -1: it does not send or receive. */
typedef struct own_step {
    int to, send_block, from, recv_block;
    bool sync; /* the send ends when the receiver has it */
} own_step;

static void add_step(pat_plan *plan, const pat_job *job, int rank, bool *arrived, own_step step)
{
    int64_t bytes = job->block_bytes;
    if (step.to < 0 && step.from < 0)
        return;
    /* The first send ends the background part: ARRIVE joins the step before, and the rest waits for it. */
    if (step.to >= 0 && !*arrived) {
        if (plan->step < 0)
            pat_plan_next_step(plan);
        pat_part_arrive(plan, job, rank);
        *arrived = true;
    }
    pat_plan_next_step(plan);
    if (step.to >= 0) {
        int64_t at = step.send_block * bytes;
        pat_plan_in_step(plan, step.sync ? pat_plan_send_sync(plan, step.to, at, bytes)
                                         : pat_plan_send(plan, step.to, at, bytes));
    }
    if (step.from >= 0)
        pat_plan_in_step(plan, pat_plan_recv(plan, step.from, step.recv_block * bytes, bytes));
}

static void count_pre_steps(const pat_job *job, const int *order, sender *senders)
{
    int P = job->num_ranks;
    for (int r = 0; r < P; r++) {
        uint64_t ahead = 0;
        if (job->arrival_ns)
            ahead = (uint64_t)job->arrival_ns[order[P - 1]] - (uint64_t)job->arrival_ns[r];
        senders[r] = (sender){.pre_steps = ahead / (uint64_t)job->tau_ns, .receives_at = NEVER};
    }
}

static void add_pre_steps(pat_plan *plan, const pat_job *job, int rank, const int *order, sender *senders,
                          bool *arrived)
{
    int P = job->num_ranks;
    uint64_t num_steps = senders[order[0]].pre_steps;
    int num_known = 0; /* order[0 .. num_known-1] have arrived by step s */
    int head = -1;     /* those of them with something left to send, slowest first */
    for (uint64_t s = 0; s < num_steps; s++) {
        for (; num_known < P && senders[order[num_known]].pre_steps >= num_steps - s; num_known++) {
            senders[order[num_known]].next = head;
            head = order[num_known];
        }
        if (head < 0) {
            if (num_known == P)
                break;
            /* Nobody has anything to send until the next rank arrives. */
            s = num_steps - senders[order[num_known]].pre_steps - 1;
            continue;
        }
        own_step step = {.to = -1, .from = -1, .sync = true};
        for (int *link = &head; *link >= 0;) {
            int r = *link;
            int to = (r - 1 - senders[r].sent + P) % P;
            if (senders[to].receives_at != s) {
                senders[to].receives_at = s;
                senders[r].sent++;
                if (r == rank) {
                    step.to = to;
                    step.send_block = r;
                }
                if (to == rank)
                    step.from = step.recv_block = r;
            }
            if (senders[r].sent == P - 1)
                *link = senders[r].next;
            else
                link = &senders[r].next;
        }
        add_step(plan, job, rank, arrived, step);
    }
}

static void add_ring(pat_plan *plan, const pat_job *job, int rank, const sender *senders, bool *arrived)
{
    int P = job->num_ranks;
    int left = (rank + P - 1) % P;
    for (int j = 0; j < P - 1; j++) {
        own_step step = {.to = -1, .from = -1};
        step.send_block = (rank - j + P) % P;
        step.recv_block = (left - j + P) % P;
        if (senders[step.send_block].sent + j < P - 1)
            step.to = (rank + 1) % P;
        if (senders[step.recv_block].sent + j < P - 1)
            step.from = left;
        add_step(plan, job, rank, arrived, step);
    }
}

void pat_bdr_build(pat_plan *plan, const pat_job *job, int rank)
{
    if (job->tau_ns < 1) {
        plan->error = EINVAL;
        return;
    }
    int *order = pat_part_by_arrival(plan, job);
    sender *senders = malloc((size_t)job->num_ranks * sizeof *senders);
    if (!senders)
        plan->error = ENOMEM;
    if (order && senders) {
        bool arrived = false;
        count_pre_steps(job, order, senders);
        add_pre_steps(plan, job, rank, order, senders, &arrived);
        add_ring(plan, job, rank, senders, &arrived);
    }
    free(senders);
    free(order);
}

/* When all call at once it is the ring. */
void pat_bdr_formula(pat_formula *formula, const pat_job *job)
{
    pat_ring_formula(formula, job);
}

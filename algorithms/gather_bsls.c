/*
 * gather_bsls.c — BSLS, background sorted linear synchronized gather to rank 0: a gather of its own, and the first half
 * of bslb.
 *
 * What:     rank 0 takes the others in the order of their predicted arrivals. It signals one; that rank,
 *           once it has arrived, answers with the short first part of its block, which says that the rest
 *           is ready, and then sends the rest. When all of it is in, rank 0 signals the next. Signals and
 *           receives do not wait for rank 0's own call: its background thread collects while it computes.
 * Source:   Proficz 2021, section 3.2, which takes it from the author's earlier work on gather and
 *           scatter.
 * Cost:     per rank other than 0: one control message to it and two messages from it, one block
 *           together. P-1 rounds at rank 0, each of three latencies and one block.
 * Memory:   none beyond the result.
 * Limits:   one sender at a time, on purpose: no contention. A rank predicted first that comes last holds
 *           up all. The paper does not give the short part's size: here 64 bytes, which any transport
 *           sends without a handshake; smaller blocks have no second part.
 * Example:  P = 4, arrivals (0, 30, 10, 20): rank 0 serves 2, 3, 1.
 *           0>2 signal   2>0 short   2>0 rest
 *           0>3 signal   3>0 short   3>0 rest
 *           0>1 signal   1>0 short   1>0 rest
 *           Rank 0's steps: {signal, short}, {rest} for each; ARRIVE and COPY join the last one.
 *           The others' steps: {await, ARRIVE, COPY}, {short}, {rest}.
 */
#include <errno.h>
#include <stdlib.h>

#include "parts.h"

enum { SHORT_BYTES = 64 };

typedef struct arrival {
    int64_t at_ns;
    int rank;
} arrival;

static int compare(const void *a, const void *b)
{
    const arrival *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->rank < y->rank ? -1 : 1;
}

int *pat_part_by_arrival(pat_plan *plan, const pat_job *job)
{
    size_t ranks = (size_t)job->num_ranks;
    int *order = malloc(ranks * sizeof *order);
    arrival *arrivals = malloc(ranks * sizeof *arrivals);
    if (order && arrivals) {
        for (int r = 0; r < job->num_ranks; r++)
            arrivals[r] = (arrival){.at_ns = job->arrival_ns ? job->arrival_ns[r] : 0, .rank = r};
        qsort(arrivals, ranks, sizeof *arrivals, compare);
        for (int r = 0; r < job->num_ranks; r++)
            order[r] = arrivals[r].rank;
    } else {
        plan->error = ENOMEM;
        free(order);
        order = NULL;
    }
    free(arrivals);
    return order;
}

static void collect(pat_plan *plan, const pat_job *job, int64_t first_bytes)
{
    int *order = pat_part_by_arrival(plan, job);
    for (int i = 0; order && i < job->num_ranks; i++) {
        int r = order[i];
        if (r == 0)
            continue;
        int64_t at = r * job->block_bytes;
        pat_plan_next_step(plan);
        pat_plan_in_step(plan, pat_plan_signal(plan, r));
        pat_plan_in_step(plan, pat_plan_recv(plan, r, at, first_bytes));
        if (first_bytes < job->block_bytes) {
            pat_plan_next_step(plan);
            pat_plan_in_step(plan, pat_plan_recv(plan, r, at + first_bytes, job->block_bytes - first_bytes));
        }
    }
    free(order);
    /* In the last step, so that whatever follows the gather waits for rank 0's call as well. */
    pat_part_arrive(plan, job, 0);
}

static void deliver(pat_plan *plan, const pat_job *job, int rank, int64_t first_bytes)
{
    int64_t at = rank * job->block_bytes;
    pat_plan_next_step(plan);
    pat_plan_in_step(plan, pat_plan_await(plan, 0));
    pat_part_arrive(plan, job, rank);
    pat_plan_next_step(plan);
    pat_plan_in_step(plan, pat_plan_send(plan, 0, at, first_bytes));
    if (first_bytes < job->block_bytes) {
        pat_plan_next_step(plan);
        pat_plan_in_step(plan, pat_plan_send(plan, 0, at + first_bytes, job->block_bytes - first_bytes));
    }
}

void pat_gather_bsls_build(pat_plan *plan, const pat_job *job, int rank)
{
    const int64_t first_bytes = pat_part_least(job->block_bytes, SHORT_BYTES);
    if (rank == 0)
        collect(plan, job, first_bytes);
    else
        deliver(plan, job, rank, first_bytes);
}

/* For each block a signal, the short first part, and the rest, if there is one. */
void pat_gather_bsls_formula(pat_formula *formula, const pat_job *job)
{
    const int blocks = job->num_ranks - 1, messages = job->block_bytes > SHORT_BYTES ? 3 : 2;
    pat_part_add(formula, 1, messages * blocks, blocks * job->block_bytes);
}

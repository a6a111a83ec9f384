/*
 * halving.c — see halving.h.
 *
 * What:     at first a rank has to do with the parts of all ranks, counted from its own on. In each step it sends the farther half of those it has
 *           to do with, as it has joined them so far, to the rank that half begins with, and joins what comes in to the nearer half, until only its
 *           own part is left. Places across N nodes are halved in whole rounds of the nodes first, inside nodes; then there are N parts left.
 * Source:   the all-gather of Bruck et al. (1997) run backwards; Traeff (2024) has it so.
 * Cost:     of P parts P-1 go out and P-1 come in, the least there can be, in log2(P) steps, rounded up, whatever P is. With L ranks on each of N nodes
 *           N-1 of them come over the network, in log2(N) steps after log2(L).
 * Memory:   P-2 parts.
 * Order:    the operation must commute. It follows from P and the nodes, and is the same in every run on such nodes.
 * Limits:   nodes with different numbers of ranks are not heeded. Parts share a message only as far as MPI sends it without asking, since what is asked for
 *           is on its way later, and only ends when it is there.
 * Example:  P = 5, rank 0, parts a to e: de >3, ab from 2 | c >2, a from 3 | b >1, a from 4.
 */
#include "halving.h"

#include <errno.h>
#include <stdlib.h>

#include "parts.h"

enum { NONE = -1 };

/* What MPI surely sends without asking. */
static int64_t unasked(const pat_job *job)
{
    return job->eager_bytes > 0 ? job->eager_bytes : PAT_UNASKED_BYTES;
}

/* ---- Places ------------------------------------------------------------------------------------------- */

static void stand_by_number(pat_halving *h)
{
    h->num_nodes = 1;
    for (int p = 0; p < h->job->num_ranks; p++)
        h->rank_at[p] = p;
}

/*
 * Count the nodes. node[i]: the number of the rank's at place i of the job's order, as nodes are met there. Returns how many ranks each node has; 1 where
 * they have not as many.
 */
static int ranks_a_node(const pat_job *job, int *node, int *num_nodes)
{
    int first = 0; /* how many ranks the first node has */
    *num_nodes = 0;
    for (int i = 0; i < job->num_ranks; i++) {
        int before = i - 1; /* most ranks are on the node of the one before */
        while (before >= 0 && job->node_of[before] != job->node_of[i])
            before--;
        node[i] = before < 0 ? (*num_nodes)++ : node[before];
        first += node[i] == 0;
    }
    return first * *num_nodes == job->num_ranks ? first : 1;
}

/* As ranks stand in the job's order they take places on their nodes in turn. Returns false where some node has more than others. */
static bool take_places(pat_halving *h, const int *node, int each, int *taken)
{
    const pat_job *job = h->job;
    for (int i = 0; i < job->num_ranks; i++) {
        if (taken[node[i]] == each)
            return false;
        h->rank_at[taken[node[i]]++ * h->num_nodes + node[i]] = job->order ? job->order[i] : i;
    }
    return true;
}

/* Returns false where there is no memory. */
static bool stand_across(pat_halving *h)
{
    const pat_job *job = h->job;
    const size_t ranks = (size_t)job->num_ranks;
    int *node = malloc(ranks * sizeof(*node)), *taken = calloc(ranks, sizeof(*taken));
    const bool room = node && taken;
    const int each = room ? ranks_a_node(job, node, &h->num_nodes) : 1;
    const bool across = each > 1 && h->num_nodes > 1 && take_places(h, node, each, taken);
    free(node);
    free(taken);
    if (!across)
        stand_by_number(h);
    return room;
}

static void find_steps(pat_halving *h)
{
    h->steps = 0;
    for (int all = h->job->num_ranks, nearer; all > 1; all = nearer) {
        const int unit = all > h->num_nodes ? h->num_nodes : 1;
        nearer = (all / unit + 1) / 2 * unit;
        h->all[h->steps] = all;
        h->nearer[h->steps] = nearer;
        h->steps++;
    }
}

bool pat_halving_begin(pat_halving *h)
{
    const size_t ranks = (size_t)h->job->num_ranks;
    h->most_bytes = unasked(h->job);
    h->rank_at = malloc(ranks * sizeof(*h->rank_at));
    h->sums = malloc(ranks * sizeof(*h->sums));
    bool room = h->rank_at && h->sums;
    if (room && h->job->node_of)
        room = stand_across(h);
    else if (room)
        stand_by_number(h);
    if (!room) {
        h->plan->error = ENOMEM;
        return false;
    }
    while (h->rank_at[h->place] != h->plan->rank)
        h->place++;
    find_steps(h);
    for (size_t i = 0; i < ranks; i++)
        h->sums[i] = (pat_sum){.node = NONE, .here = NONE, .read = NONE};
    return true;
}

void pat_halving_end(pat_halving *h)
{
    free(h->rank_at);
    free(h->sums);
}

int pat_halving_rank(const pat_halving *h, int i)
{
    return h->rank_at[(h->place + i) % h->job->num_ranks];
}

/* The part of the rank i places on from place `from`. */
static int part_of(const pat_halving *h, int from, int i)
{
    const int place = (from + i) % h->job->num_ranks;
    return h->by_place ? place : h->rank_at[place];
}

static int64_t length_of(const pat_halving *h, int part)
{
    return h->start(h->job, part + 1) - h->start(h->job, part);
}

int64_t pat_halving_start(const pat_halving *h, int i)
{
    return h->start(h->job, part_of(h, h->place, i));
}

int64_t pat_halving_length(const pat_halving *h, int i)
{
    return length_of(h, part_of(h, h->place, i));
}

/* ---- Messages ----------------------------------------------------------------------------------------- */

int pat_halving_side_by_side(const pat_halving *h, int from, int i, int end, int64_t *bytes)
{
    int count = 1, last = part_of(h, from, i);
    *bytes = length_of(h, last);
    for (; i + count < end; count++) {
        const int part = part_of(h, from, i + count);
        if (part != last + 1 || *bytes + length_of(h, part) > h->most_bytes)
            break;
        *bytes += length_of(h, part);
        last = part;
    }
    return count;
}

/* The same of sums, which lie side by side too where one step has brought them: the same steps on all ranks. */
static int one_message(const pat_halving *h, int from, int i, int end, int64_t *bytes)
{
    const int group = h->sums[i].group;
    int same = i + 1, count = 1;
    while (same < end && h->sums[same].group == group)
        same++;
    if (group == 0)
        return pat_halving_side_by_side(h, from, i, same, bytes);
    *bytes = length_of(h, part_of(h, from, i));
    for (; i + count < same; count++) {
        const int64_t length = length_of(h, part_of(h, from, i + count));
        if (*bytes + length > h->most_bytes)
            break;
        *bytes += length;
    }
    return count;
}

static pat_address address_of(const pat_halving *h, int i)
{
    const pat_sum *s = &h->sums[i];
    return s->group == 0 ? (pat_address){.space = h->space, .offset = pat_halving_start(h, i)}
                         : (pat_address){.space = PAT_SPACE_SCRATCH, .offset = s->offset};
}

static void send_farther(const pat_halving *h, int nearer, int all)
{
    int64_t bytes;
    for (int i = nearer, count; i < all; i += count) {
        count = one_message(h, h->place, i, all, &bytes);
        if (bytes == 0)
            continue;
        const int send = pat_plan_send_from(h->plan, pat_halving_rank(h, nearer), address_of(h, i), bytes);
        if (h->sums[i].group == 0)
            pat_plan_after(h->plan, send, h->begun);
        for (int k = i; k < i + count; k++) {
            pat_plan_after(h->plan, send, h->sums[k].node);
            if (h->sums[k].group == 0)
                h->sums[k].read = send;
        }
    }
}

/* What has come in to `to` is joined with the k-th sum. */
static void join(const pat_halving *h, int k, int recv, pat_address to)
{
    pat_sum *s = &h->sums[k];
    const int64_t bytes = pat_halving_length(h, k);
    if (bytes == 0)
        return;
    const int joined = pat_plan_reduce(h->plan, address_of(h, k), to, bytes);
    pat_plan_after(h->plan, joined, recv);
    pat_plan_after(h->plan, joined, s->node);
    if (s->group == 0)
        s->read = joined;
    s->node = joined;
}

/* Is one of these sums still what the rank contributes? */
static bool reads_own(const pat_halving *h, int k, int end)
{
    for (; k < end; k++)
        if (h->sums[k].group == 0 && pat_halving_length(h, k) > 0)
            return true;
    return false;
}

/* What comes in is joined with the nearer sums, at `to`. */
static void join_nearer(const pat_halving *h, int nearer, int all, pat_address to, int group)
{
    const int back = h->job->num_ranks - nearer, from = (h->place + back) % h->job->num_ranks;
    int64_t bytes;
    pat_address at = to;
    for (int i = nearer, count; i < all; i += count) {
        int recv = NONE;
        count = one_message(h, from, i, all, &bytes);
        if (bytes > 0) {
            const bool own = reads_own(h, i - nearer, i - nearer + count);
            recv = pat_plan_recv_to(h->plan, h->rank_at[from], at, bytes);
            pat_plan_after(h->plan, recv, own ? h->begun : h->arrive);
        }
        for (int k = i - nearer; k < i - nearer + count; k++) {
            join(h, k, recv, at);
            at.offset += pat_halving_length(h, k);
        }
    }
    /* Only now: the groups so far say how the sender has cut its messages. */
    for (int k = 0; k < all - nearer; k++) {
        h->sums[k].group = group;
        h->sums[k].offset = to.offset;
        to.offset += pat_halving_length(h, k);
    }
}

void pat_halving_build(const pat_halving *h, pat_address last)
{
    for (int s = 0; s < h->steps; s++) {
        const int all = h->all[s], nearer = h->nearer[s];
        int64_t bytes = 0;
        for (int k = 0; nearer > 1 && k < all - nearer; k++)
            bytes += pat_halving_length(h, k);
        send_farther(h, nearer, all);
        join_nearer(h, nearer, all, nearer > 1 ? pat_plan_scratch(h->plan, bytes) : last, s + 1);
    }
}

static int64_t start_of_part(const pat_job *job, int part)
{
    return pat_cut(job->block_bytes, job->element_bytes, job->num_ranks, part);
}

void pat_halving_vector(pat_plan *plan, const pat_job *job,
                        void (*finish)(const pat_halving *halving, pat_address sum))
{
    pat_halving h = {.plan = plan,
                     .job = job,
                     .space = PAT_SPACE_RESULT,
                     .start = start_of_part,
                     .by_place = true,
                     .arrive = pat_plan_arrive(plan)};
    h.begun = pat_plan_copy(plan, pat_own(0), pat_result(0), job->block_bytes);
    pat_plan_after(plan, h.begun, h.arrive);
    if (pat_halving_begin(&h)) {
        const pat_address sum = pat_plan_scratch(plan, pat_halving_length(&h, 0));
        pat_halving_build(&h, sum);
        finish(&h, sum);
    }
    pat_halving_end(&h);
}

void pat_halving_formula(pat_formula *formula, const pat_job *job, int64_t vector_bytes, int phases, int more)
{
    const int steps = phases * pat_part_log_up(job->num_ranks) + more;
    const int64_t ranks = job->num_ranks, bytes = (ranks - 1) * vector_bytes / ranks;
    const int latencies = vector_bytes / ranks > unasked(job) ? 3 : 1;
    pat_part_add(formula, 1, latencies * steps, (phases + (more > 0)) * bytes);
}

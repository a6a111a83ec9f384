/*
 * plan.c — builds a plan node by node and, once it is complete, sorts out what depends on what.
 * Must never call MPI, read a clock or use floating point: see plan.h.
 *
 * Errors are sticky: after the first one every call does nothing and pat_plan_finish reports it, so that an
 * algorithm reads like the algorithm and not like error handling.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

/* A space is no longer, so that every offset fits into an address. */
#define MOST_BYTES ((INT64_C(1) << 61) - 1)

static void fail(pat_plan *plan, int error)
{
    if (!plan->error)
        plan->error = error;
}

/* Room for one more element of `size` bytes. Returns the possibly moved array, NULL after an error. */
static void *grow(pat_plan *plan, void *array, int used, int *capacity, size_t size)
{
    if (used < *capacity)
        return array;
    int wanted = *capacity ? 2 * *capacity : 64;
    void *moved = wanted > 0 ? realloc(array, (size_t)wanted * size) : NULL;
    if (!moved) {
        fail(plan, ENOMEM);
        return NULL;
    }
    *capacity = wanted;
    return moved;
}

void pat_plan_init(pat_plan *plan, int num_ranks, int rank, int64_t block_bytes)
{
    *plan = (pat_plan){.num_ranks = num_ranks,
                       .rank = rank,
                       .block_bytes = block_bytes,
                       .own_bytes = block_bytes,
                       .step = -1};
    if (num_ranks < 1 || rank < 0 || rank >= num_ranks || block_bytes < 0 ||
        block_bytes > MOST_BYTES / num_ranks) {
        fail(plan, EINVAL);
        return;
    }
    plan->sent_to = calloc((size_t)num_ranks, sizeof *plan->sent_to);
    plan->recv_from = calloc((size_t)num_ranks, sizeof *plan->recv_from);
    if (!plan->sent_to || !plan->recv_from)
        fail(plan, ENOMEM);
}

/* What only building needs. A plan without it is finished and takes no more nodes. */
static void drop_scaffold(pat_plan *plan)
{
    free(plan->sent_to);
    free(plan->recv_from);
    free(plan->prev_group);
    free(plan->cur_group);
    plan->sent_to = plan->recv_from = plan->prev_group = plan->cur_group = NULL;
    plan->num_prev = plan->cap_prev = plan->num_cur = plan->cap_cur = 0;
}

static int add_node(pat_plan *plan, pat_node node)
{
    if (!plan->error && !plan->sent_to)
        fail(plan, EINVAL);
    if (plan->error)
        return -1;
    pat_node *nodes = grow(plan, plan->nodes, plan->num_nodes, &plan->cap_nodes, sizeof *nodes);
    if (!nodes)
        return -1;
    plan->nodes = nodes;
    node.step = PAT_STEP_FREE;
    nodes[plan->num_nodes] = node;
    return plan->num_nodes++;
}

static int64_t space_bytes(const pat_plan *plan, enum pat_space space)
{
    if (space == PAT_SPACE_SCRATCH)
        return plan->scratch_bytes;
    return space == PAT_SPACE_OWN ? plan->own_bytes : plan->num_ranks * plan->block_bytes;
}

static bool whole_elements(const pat_plan *plan, int64_t bytes)
{
    return plan->element_bytes == 0 || bytes % plan->element_bytes == 0;
}

static bool range_ok(const pat_plan *plan, pat_address at, int64_t length)
{
    const int64_t total = space_bytes(plan, at.space);
    return at.offset >= 0 && length >= 0 && at.offset <= total && length <= total - at.offset &&
           whole_elements(plan, at.offset) && whole_elements(plan, length);
}

/* `length` 0 is a control message here; that a user message is never empty is for the callers to see to. */
static int add_message(pat_plan *plan, enum pat_node_kind kind, int peer, pat_address at, int64_t length)
{
    if (plan->error)
        return -1;
    if (peer < 0 || peer >= plan->num_ranks || peer == plan->rank || !range_ok(plan, at, length)) {
        fail(plan, EINVAL);
        return -1;
    }
    pat_node node = {.kind = kind, .peer = peer, .length = length};
    if (kind == PAT_NODE_SEND)
        node.from = at;
    else
        node.to = at;
    int number = add_node(plan, node);
    if (number >= 0) {
        int *counter = kind == PAT_NODE_SEND ? plan->sent_to : plan->recv_from;
        plan->nodes[number].match = counter[peer]++;
    }
    return number;
}

int pat_plan_arrive(pat_plan *plan)
{
    return add_node(plan, (pat_node){.kind = PAT_NODE_ARRIVE, .peer = -1, .match = -1});
}

/* Both ranges there, the second one may be written, and they have no byte in common. */
static bool ranges_ok(const pat_plan *plan, pat_address from, pat_address to, int64_t length)
{
    return range_ok(plan, from, length) && range_ok(plan, to, length) && to.space != PAT_SPACE_OWN &&
           !pat_overlap(from, to, length);
}

static int add_local(pat_plan *plan, enum pat_node_kind kind, pat_address from, pat_address to,
                     int64_t length)
{
    if (!plan->error && !ranges_ok(plan, from, to, length))
        fail(plan, EINVAL);
    return add_node(
        plan, (pat_node){.kind = kind, .peer = -1, .match = -1, .from = from, .to = to, .length = length});
}

int pat_plan_copy(pat_plan *plan, pat_address from, pat_address to, int64_t length)
{
    return add_local(plan, PAT_NODE_COPY, from, to, length);
}

int pat_plan_reduce(pat_plan *plan, pat_address from, pat_address to, int64_t length)
{
    if (plan->element_bytes == 0)
        fail(plan, EINVAL);
    return add_local(plan, PAT_NODE_REDUCE, from, to, length);
}

int pat_plan_send_from(pat_plan *plan, int peer, pat_address from, int64_t length)
{
    if (length <= 0)
        fail(plan, EINVAL);
    return add_message(plan, PAT_NODE_SEND, peer, from, length);
}

int pat_plan_send(pat_plan *plan, int peer, int64_t offset, int64_t length)
{
    return pat_plan_send_from(plan, peer, pat_result(offset), length);
}

int pat_plan_send_sync(pat_plan *plan, int peer, int64_t offset, int64_t length)
{
    int node = pat_plan_send(plan, peer, offset, length);
    if (node >= 0)
        plan->nodes[node].sync = true;
    return node;
}

int pat_plan_send_unordered(pat_plan *plan, int peer, int64_t offset, int64_t length)
{
    int node = pat_plan_send(plan, peer, offset, length);
    if (node >= 0)
        plan->nodes[node].unordered = true;
    return node;
}

int pat_plan_recv_to(pat_plan *plan, int peer, pat_address to, int64_t length)
{
    if (length <= 0 || to.space == PAT_SPACE_OWN)
        fail(plan, EINVAL);
    return add_message(plan, PAT_NODE_RECV, peer, to, length);
}

int pat_plan_recv(pat_plan *plan, int peer, int64_t offset, int64_t length)
{
    return pat_plan_recv_to(plan, peer, pat_result(offset), length);
}

int pat_plan_signal(pat_plan *plan, int peer)
{
    return add_message(plan, PAT_NODE_SEND, peer, pat_result(0), 0);
}

int pat_plan_await(pat_plan *plan, int peer)
{
    return add_message(plan, PAT_NODE_RECV, peer, pat_result(0), 0);
}

void pat_plan_carry_arrivals(pat_plan *plan)
{
    plan->carries = true;
}

void pat_plan_reduces(pat_plan *plan, int64_t element_bytes)
{
    if (element_bytes < 1 || plan->num_nodes > 0 || plan->block_bytes % element_bytes != 0)
        fail(plan, EINVAL);
    else
        plan->element_bytes = element_bytes;
}

void pat_plan_personal(pat_plan *plan)
{
    plan->own_bytes = plan->num_ranks * plan->block_bytes;
}

pat_address pat_plan_scratch(pat_plan *plan, int64_t bytes)
{
    const pat_address begin = {.space = PAT_SPACE_SCRATCH, .offset = plan->scratch_bytes};
    if (bytes < 0 || bytes > MOST_BYTES - plan->scratch_bytes || !whole_elements(plan, bytes))
        fail(plan, EINVAL);
    else
        plan->scratch_bytes += bytes;
    return begin;
}

void pat_plan_after(pat_plan *plan, int node, int before)
{
    if (plan->error || before < 0)
        return;
    if (node >= plan->num_nodes || before >= node) {
        fail(plan, EINVAL);
        return;
    }
    pat_edge *edges = grow(plan, plan->edges, plan->num_edges, &plan->cap_edges, sizeof *edges);
    if (!edges)
        return;
    plan->edges = edges;
    edges[plan->num_edges++] = (pat_edge){.from = before, .to = node};
}

/* The place of the group's node of this kind in the group, or -1. */
static int group_find(const pat_plan *plan, enum pat_node_kind kind)
{
    for (int i = 0; i < plan->num_cur; i++)
        if (plan->nodes[plan->cur_group[i]].kind == kind)
            return i;
    return -1;
}

void pat_plan_next_step(pat_plan *plan)
{
    if (plan->error || (plan->num_cur == 0 && plan->step >= 0))
        return;
    /* A COPY beside ARRIVE waits for it: whoever waits for the COPY need not wait for ARRIVE as well. */
    int arrive = group_find(plan, PAT_NODE_ARRIVE);
    if (arrive >= 0 && group_find(plan, PAT_NODE_COPY) >= 0)
        plan->cur_group[arrive] = plan->cur_group[--plan->num_cur];

    int *group = plan->prev_group;
    int capacity = plan->cap_prev;
    plan->prev_group = plan->cur_group;
    plan->num_prev = plan->num_cur;
    plan->cap_prev = plan->cap_cur;
    plan->cur_group = group;
    plan->num_cur = 0;
    plan->cap_cur = capacity;
    plan->step++;
}

void pat_plan_in_step(pat_plan *plan, int node)
{
    if (plan->error)
        return;
    if (plan->step < 0 || node < 0 || node >= plan->num_nodes || plan->nodes[node].step != PAT_STEP_FREE) {
        fail(plan, EINVAL);
        return;
    }
    /* The application's call waits for nobody, and a COPY that joins its step for the call alone. */
    enum pat_node_kind kind = plan->nodes[node].kind;
    bool waits =
        kind != PAT_NODE_ARRIVE && !(kind == PAT_NODE_COPY && group_find(plan, PAT_NODE_ARRIVE) >= 0);
    for (int i = 0; waits && i < plan->num_prev; i++)
        pat_plan_after(plan, node, plan->prev_group[i]);
    int *group = grow(plan, plan->cur_group, plan->num_cur, &plan->cap_cur, sizeof *group);
    if (!group)
        return;
    plan->cur_group = group;
    group[plan->num_cur++] = node;
    plan->nodes[node].step = plan->step;
}

int pat_plan_block_of(const pat_plan *plan, int64_t offset)
{
    if (!plan->starts)
        return (int)(offset / plan->block_bytes);
    int low = 0, high = plan->num_ranks - 1; /* the last block that begins at or before it */
    while (low < high) {
        const int middle = low + (high - low + 1) / 2;
        if (plan->starts[middle] <= offset)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Successors of every node, and how many it waits for. */
static bool link_nodes(pat_plan *plan)
{
    size_t nodes = (size_t)plan->num_nodes;
    free(plan->succ);
    free(plan->succ_at);
    free(plan->num_preds);
    plan->succ = malloc(((size_t)plan->num_edges + 1) * sizeof *plan->succ);
    plan->succ_at = calloc(nodes + 2, sizeof *plan->succ_at);
    plan->num_preds = calloc(nodes, sizeof *plan->num_preds);
    if (!plan->succ || !plan->succ_at || !plan->num_preds)
        return false;
    /* Counted two places up, so that after filling in, each start has moved to where it belongs. */
    int *start = plan->succ_at + 1;
    for (int e = 0; e < plan->num_edges; e++)
        start[plan->edges[e].from + 1]++;
    for (size_t i = 0; i < nodes; i++)
        start[i + 1] += start[i];
    for (int e = 0; e < plan->num_edges; e++) {
        plan->succ[start[plan->edges[e].from]++] = plan->edges[e].to;
        plan->num_preds[plan->edges[e].to]++;
    }
    return true;
}

/* Early is what no path from ARRIVE leads to; one pass will do, because edges lead upwards. */
static void mark_early(pat_plan *plan)
{
    plan->num_early = 0;
    plan->has_control = false;
    for (int i = 0; i < plan->num_nodes; i++)
        plan->nodes[i].early = plan->nodes[i].kind != PAT_NODE_ARRIVE;
    for (int i = 0; i < plan->num_nodes; i++) {
        const pat_node *node = &plan->nodes[i];
        if (node->early)
            plan->num_early++;
        else
            for (int s = plan->succ_at[i]; s < plan->succ_at[i + 1]; s++)
                plan->nodes[plan->succ[s]].early = false;
        if (pat_is_message(node) && node->length == 0)
            plan->has_control = true;
    }
}

int pat_plan_finish(pat_plan *plan)
{
    drop_scaffold(plan);
    int arrivals = 0;
    for (int i = 0; i < plan->num_nodes; i++)
        arrivals += plan->nodes[i].kind == PAT_NODE_ARRIVE;
    if (arrivals != 1)
        fail(plan, EINVAL);
    for (int e = 0; e < plan->num_edges && !plan->error; e++) {
        const pat_edge *edge = &plan->edges[e];
        if (edge->from < 0 || edge->from >= edge->to || edge->to >= plan->num_nodes ||
            plan->nodes[edge->to].kind == PAT_NODE_ARRIVE)
            fail(plan, EINVAL);
    }
    if (!plan->error && !link_nodes(plan))
        fail(plan, ENOMEM);
    if (!plan->error)
        mark_early(plan);
    return plan->error;
}

void pat_plan_free(pat_plan *plan)
{
    drop_scaffold(plan);
    free(plan->nodes);
    free(plan->edges);
    free(plan->succ);
    free(plan->succ_at);
    free(plan->num_preds);
    free(plan->starts);
    *plan = (pat_plan){.step = -1};
}

int64_t pat_plan_recv_bytes(const pat_plan *plan, int64_t *early_bytes)
{
    int64_t bytes = 0, early = 0;
    for (int i = 0; i < plan->num_nodes; i++) {
        const pat_node *node = &plan->nodes[i];
        if (node->kind != PAT_NODE_RECV)
            continue;
        bytes += node->length;
        if (node->early)
            early += node->length;
    }
    if (early_bytes)
        *early_bytes = early;
    return bytes;
}

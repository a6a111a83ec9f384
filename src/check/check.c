/*
 * check.c — see check.h: says why plans are refused, and calls the parts of the checker one after the other. Every rule
 * holds on all orders of events or the plans are refused: nothing is tried out on one order and taken for proven, and
 * nothing a plan says about itself (early flags, match numbers) is believed.
 *
 * The graph that is checked is the one that the engine and the model follow: succ, succ_at and num_preds.
 */
#include "check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "check_parts.h"

/* ---- Reasons ---- */

static const char *const space_names[] = {"own ", "", "scratch "};

const char *pat_check_name(const check *c, int64_t byte)
{
    static _Thread_local char names[2][48];
    static _Thread_local int used;
    int space = NUM_SPACES - 1;
    while (byte < c->base[space])
        space--;
    used = !used;
    snprintf(names[used], sizeof(names[used]), "%sbyte %lld", space_names[space],
             (long long)(byte - c->base[space]));
    return names[used];
}

static const char *range_name(char *text, size_t size, pat_address at, int64_t length)
{
    snprintf(text, size, "%sbytes %lld to %lld", space_names[at.space], (long long)at.offset,
             (long long)(at.offset + length - 1));
    return text;
}

/* What the node does, in words. */
static void describe_act(char *text, size_t size, const pat_node *n)
{
    const bool send = n->kind == PAT_NODE_SEND;
    char range[64], other[64];
    if (n->kind == PAT_NODE_ARRIVE)
        snprintf(text, size, "ARRIVE");
    else if (n->kind == PAT_NODE_NONE)
        snprintf(text, size, "NONE, nothing to or from %d", n->peer);
    else if (pat_is_message(n))
        snprintf(text, size, "%s %s %s %d", send ? "SEND" : "RECV",
                 n->length == 0 ? "a signal"
                                : range_name(range, sizeof(range), pat_node_address(n), n->length),
                 send ? "to" : "from", n->peer);
    else
        snprintf(text, size, "%s of %s to %s", n->kind == PAT_NODE_COPY ? "COPY" : "REDUCE",
                 range_name(range, sizeof(range), n->from, n->length),
                 range_name(other, sizeof(other), n->to, n->length));
}

static int describe(char *text, size_t size, const pat_plan *plan, int node)
{
    char act[192], step[32] = "";
    describe_act(act, sizeof(act), &plan->nodes[node]);
    if (plan->nodes[node].step >= 0)
        snprintf(step, sizeof(step), ", step %d", plan->nodes[node].step);
    return snprintf(text, size, "rank %d, node %d (%s%s): ", plan->rank, node, act, step);
}

int pat_check_refuse(const check *c, int rank, int node, const char *format, ...)
{
    if (c->why_size == 0)
        return EINVAL;
    int used = node >= 0 ? describe(c->why, c->why_size, &c->plans[rank], node) : 0;
    if (used < 0 || (size_t)used >= c->why_size)
        return EINVAL;
    va_list args;
    va_start(args, format);
    vsnprintf(c->why + used, c->why_size - (size_t)used, format, args);
    va_end(args);
    return EINVAL;
}

/* ---- Together ---- */

static int number_nodes(check *c)
{
    size_t nodes = 0;
    for (int r = 0; r < c->num_ranks; r++) {
        const pat_plan *p = &c->plans[r];
        if (p->error || p->num_nodes < 1 || !p->nodes || !p->succ || !p->succ_at || !p->num_preds)
            return pat_check_refuse(c, r, -1, "rank %d: the plan is not finished", r);
        c->first[r] = (int)nodes;
        nodes += (size_t)p->num_nodes;
        c->max_nodes = p->num_nodes > c->max_nodes ? p->num_nodes : c->max_nodes;
    }
    if (nodes > INT32_MAX || (size_t)c->num_ranks * (size_t)c->num_ranks > INT32_MAX)
        return ENOMEM;
    c->num_nodes = (int)nodes;
    return 0;
}

static int reserve(check *c)
{
    const size_t lanes = (size_t)c->num_ranks * (size_t)c->num_ranks;
    c->first = malloc((size_t)c->num_ranks * sizeof(*c->first));
    int error = c->first ? number_nodes(c) : ENOMEM;
    if (error)
        return error;
    const size_t nodes = (size_t)c->num_nodes;
    c->owner = malloc(nodes * sizeof(*c->owner));
    c->missing = malloc(nodes * sizeof(*c->missing));
    c->lane_at = malloc(lanes * sizeof(*c->lane_at));
    c->lane_count = calloc(lanes, sizeof(*c->lane_count));
    c->lane_low = calloc(lanes, sizeof(*c->lane_low));
    c->send = malloc(nodes * sizeof(*c->send));
    c->partner = malloc(nodes * sizeof(*c->partner));
    c->state = malloc(nodes);
    c->queue = malloc(nodes * sizeof(*c->queue));
    if (!c->owner || !c->missing || !c->lane_at || !c->lane_count || !c->lane_low || !c->send ||
        !c->partner || !c->state || !c->queue)
        return ENOMEM;
    for (int r = 0; r < c->num_ranks; r++)
        for (int i = 0; i < c->plans[r].num_nodes; i++)
            c->owner[c->first[r] + i] = r;
    return 0;
}

static int check_all(check *c)
{
    int error = reserve(c);
    for (int r = 0; !error && r < c->num_ranks; r++)
        error = pat_check_shape(c, r);
    if (error)
        return error;
    c->base[PAT_SPACE_RESULT] = c->plans[0].own_bytes;
    c->base[PAT_SPACE_SCRATCH] = c->plans[0].own_bytes + c->plans[0].block_bytes * c->num_ranks;
    error = pat_check_match(c);
    if (!error)
        error = pat_check_windows(c);
    if (!error)
        error = pat_check_order(c);
    if (!error)
        error = pat_check_finish(c);
    if (!error)
        error = pat_check_values(c);
    return error ? error : pat_check_front_first(c);
}

int pat_check(const pat_plan *plans, int num_ranks, const pat_collective *collective, char *why,
              size_t why_size)
{
    check c = {.plans = plans,
               .num_ranks = num_ranks,
               .collective = collective,
               .why = why,
               .why_size = why ? why_size : 0};
    if (c.why_size > 0)
        why[0] = '\0';
    int error = num_ranks < 1 ? pat_check_refuse(&c, -1, -1, "%d ranks", num_ranks) : check_all(&c);
    free(c.first);
    free(c.owner);
    free(c.missing);
    free(c.lane_at);
    free(c.lane_count);
    free(c.lane_low);
    free(c.send);
    free(c.partner);
    free(c.state);
    free(c.queue);
    return error;
}

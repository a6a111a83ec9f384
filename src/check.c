/*
 * check.c — see check.h. Every rule below holds on all orders of events or the plans are refused: nothing is
 * tried out on one order and taken for proven, and nothing a plan says about itself (early flags, match
 * numbers) is believed.
 *
 * The graph that is checked is the one that the engine and the model follow: succ, succ_at and num_preds.
 */
#include "check_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reasons ---- */

static int describe(char *text, size_t size, const pat_plan *plan, int node)
{
    const pat_node *n = &plan->nodes[node];
    const char *control = n->length == 0 ? " a signal" : "";
    char step[32] = "";
    if (n->step >= 0)
        snprintf(step, sizeof(step), ", step %d", n->step);
    int used = snprintf(text, size, "rank %d, node %d", plan->rank, node);
    if (used < 0 || (size_t)used >= size)
        return used;
    text += used;
    size -= (size_t)used;
    int more = 0;
    if (n->kind == PAT_NODE_ARRIVE)
        more = snprintf(text, size, " (ARRIVE%s): ", step);
    else if (n->kind == PAT_NODE_COPY)
        more =
            snprintf(text, size, " (COPY of bytes %lld to %lld%s): ", (long long)pat_node_address(n).offset,
                     (long long)(pat_node_address(n).offset + n->length - 1), step);
    else if (n->kind == PAT_NODE_NONE)
        more = snprintf(text, size, " (NONE, nothing to or from %d%s): ", n->peer, step);
    else if (*control)
        more = snprintf(text, size, " (%s%s %s %d%s): ", n->kind == PAT_NODE_SEND ? "SEND" : "RECV", control,
                        n->kind == PAT_NODE_SEND ? "to" : "from", n->peer, step);
    else
        more = snprintf(
            text, size, " (%s bytes %lld to %lld %s %d%s): ", n->kind == PAT_NODE_SEND ? "SEND" : "RECV",
            (long long)pat_node_address(n).offset, (long long)(pat_node_address(n).offset + n->length - 1),
            n->kind == PAT_NODE_SEND ? "to" : "from", n->peer, step);
    return more < 0 ? more : used + more;
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

/* ---- Each plan by itself ---- */

static int check_node_shape(const check *c, int r, int i)
{
    const pat_plan *p = &c->plans[r];
    const pat_node *n = &p->nodes[i];
    int64_t total = pat_plan_block_start(p, c->op == PAT_OP_BCAST ? 1 : p->num_ranks);
    switch (n->kind) {
    case PAT_NODE_ARRIVE:
        if (n->length != 0)
            return pat_check_refuse(c, -1, -1, "rank %d, node %d: ARRIVE names bytes", r, i);
        break;
    case PAT_NODE_NONE:
        if (!p->starts || n->length != 0)
            return pat_check_refuse(c, -1, -1, "rank %d, node %d: a message of nothing, but %s", r, i,
                                    n->length ? "it names bytes" : "all blocks are alike");
        break;
    case PAT_NODE_COPY:
        if (n->from.space != PAT_SPACE_OWN || n->to.space != PAT_SPACE_RESULT ||
            (n->length > 0 && n->to.offset - n->from.offset != pat_plan_block_start(p, r)))
            return pat_check_refuse(
                c, -1, -1,
                "rank %d, node %d: bytes that are not this rank's own, or not to where they belong", r, i);
        if (c->op == PAT_OP_BCAST && r > 0)
            return pat_check_refuse(c, -1, -1, "rank %d, node %d: COPY, but only rank 0 has the message", r,
                                    i);
        break;
    case PAT_NODE_SEND:
    case PAT_NODE_RECV:
        if (n->peer < 0 || n->peer >= c->num_ranks || n->peer == r)
            return pat_check_refuse(c, -1, -1, "rank %d, node %d: peer %d is not another rank of %d", r, i,
                                    n->peer, c->num_ranks);
        if (pat_node_address(n).space != PAT_SPACE_RESULT)
            return pat_check_refuse(c, -1, -1, "rank %d, node %d: bytes outside the result", r, i);
        break;
    default:
        return pat_check_refuse(c, -1, -1, "rank %d, node %d: unknown kind %d", r, i, (int)n->kind);
    }
    const int64_t offset = pat_node_address(n).offset;
    if (offset < 0 || n->length < 0 || offset > total || n->length > total - offset)
        return pat_check_refuse(
            c, -1, -1, "rank %d, node %d: offset %lld, length %lld is outside the result's %lld bytes", r, i,
            (long long)offset, (long long)n->length, (long long)total);
    if (n->step < PAT_STEP_FREE || n->step >= p->num_nodes)
        return pat_check_refuse(c, -1, -1, "rank %d, node %d: step %d cannot be, the plan has %d nodes", r, i,
                                n->step, p->num_nodes);
    return 0;
}

/* Edges lead upwards, so that one pass in the order of the numbers visits a node after all it waits for. */
static int check_edges(const check *c, int r)
{
    const pat_plan *p = &c->plans[r];
    int *preds = c->missing + c->first[r];
    if (p->succ_at[0] != 0 || p->succ_at[p->num_nodes] != p->num_edges)
        return pat_check_refuse(c, r, -1, "rank %d: successors of the nodes are not those of the edges", r);
    memset(preds, 0, (size_t)p->num_nodes * sizeof(*preds));
    for (int i = 0; i < p->num_nodes; i++) {
        if (p->succ_at[i + 1] < p->succ_at[i] || p->succ_at[i + 1] > p->num_edges)
            return pat_check_refuse(c, r, i, "its list of successors is broken");
        for (int s = p->succ_at[i]; s < p->succ_at[i + 1]; s++) {
            if (p->succ[s] <= i || p->succ[s] >= p->num_nodes)
                return pat_check_refuse(c, r, i, "its successor %d is not a later node", p->succ[s]);
            preds[p->succ[s]]++;
        }
    }
    for (int i = 0; i < p->num_nodes; i++)
        if (preds[i] != p->num_preds[i])
            return pat_check_refuse(c, r, i, "said to wait for %d nodes, waits for %d", p->num_preds[i],
                                    preds[i]);
    return 0;
}

static int check_plan(const check *c, int r)
{
    const pat_plan *p = &c->plans[r], *model = &c->plans[0];
    if (p->num_ranks != c->num_ranks || p->rank != r || p->block_bytes != model->block_bytes)
        return pat_check_refuse(
            c, r, -1, "plan %d is for rank %d of %d with blocks of %lld bytes, not rank %d of %d with %lld",
            r, p->rank, p->num_ranks, (long long)p->block_bytes, r, c->num_ranks,
            (long long)model->block_bytes);
    if (!p->starts != !model->starts ||
        (p->starts && memcmp(p->starts, model->starts, ((size_t)c->num_ranks + 1) * sizeof(*p->starts)) != 0))
        return pat_check_refuse(c, r, -1, "rank %d: its blocks are not as long as those of rank 0's plan", r);
    if (p->carries != model->carries)
        return pat_check_refuse(c, r, -1, "rank %d: its messages %s arrival times, those of rank 0 %s", r,
                                p->carries ? "carry" : "carry no", model->carries ? "do" : "do not");
    int num_arrive = 0;
    for (int i = 0; i < p->num_nodes; i++) {
        int error = check_node_shape(c, r, i);
        if (error)
            return error;
        num_arrive += p->nodes[i].kind == PAT_NODE_ARRIVE;
    }
    if (num_arrive != 1)
        return pat_check_refuse(c, r, -1, "rank %d: %d ARRIVE nodes, not one", r, num_arrive);
    return check_edges(c, r);
}

/* ---- Messages ---- */

static const pat_node *node_at(const check *c, int node)
{
    return &c->plans[c->owner[node]].nodes[node - c->first[c->owner[node]]];
}

static int count_messages(const check *c)
{
    int num_ranks = c->num_ranks;
    int *sent = c->lane_low, *received = c->lane_count;
    for (int r = 0; r < num_ranks; r++)
        for (int i = 0; i < c->plans[r].num_nodes; i++) {
            const pat_node *n = &c->plans[r].nodes[i];
            if (!pat_is_message(n))
                continue;
            int *count = n->kind == PAT_NODE_SEND ? &sent[r * num_ranks + n->peer]
                                                  : &received[n->peer * num_ranks + r];
            if (n->match != (*count)++)
                return pat_check_refuse(c, r, i, "numbered %d of its pair, but is number %d", n->match,
                                        *count - 1);
        }
    for (int l = 0; l < num_ranks * num_ranks; l++)
        if (sent[l] != received[l])
            return pat_check_refuse(c, -1, -1, "rank %d sends %d messages to rank %d, which receives %d",
                                    l / num_ranks, sent[l], l % num_ranks, received[l]);
    return 0;
}

static int match_messages(check *c)
{
    int num_ranks = c->num_ranks, at = 0, error = count_messages(c);
    if (error)
        return error;
    for (int l = 0; l < num_ranks * num_ranks; l++) {
        c->lane_at[l] = at;
        at += c->lane_count[l];
        c->lane_low[l] = 0;
    }
    for (int r = 0; r < num_ranks; r++)
        for (int i = 0; i < c->plans[r].num_nodes; i++) {
            const pat_node *n = &c->plans[r].nodes[i];
            if (n->kind == PAT_NODE_SEND)
                c->send[c->lane_at[r * num_ranks + n->peer] + n->match] = c->first[r] + i;
        }
    for (int r = 0; r < num_ranks; r++)
        for (int i = 0; i < c->plans[r].num_nodes; i++) {
            const pat_node *n = &c->plans[r].nodes[i];
            if (n->kind != PAT_NODE_RECV)
                continue;
            int other = c->send[c->lane_at[n->peer * num_ranks + r] + n->match];
            const pat_node *o = &c->plans[n->peer].nodes[other - c->first[n->peer]];
            if (n->to.offset != o->from.offset || n->length != o->length)
                return pat_check_refuse(c, r, i, "rank %d's node %d sends offset %lld, length %lld instead",
                                        n->peer, other - c->first[n->peer], (long long)o->from.offset,
                                        (long long)o->length);
            if (o->unordered != node_at(c, c->send[c->lane_at[n->peer * num_ranks + r]])->unordered)
                return pat_check_refuse(c, r, i, "rank %d sends both ordered and unordered messages to it",
                                        n->peer);
            c->partner[c->first[r] + i] = other;
            c->partner[other] = c->first[r] + i;
        }
    return 0;
}

static bool is_successor(const check *c, int from, int to)
{
    int r = c->owner[from];
    const pat_plan *p = &c->plans[r];
    for (int s = p->succ_at[from - c->first[r]]; s < p->succ_at[from - c->first[r] + 1]; s++)
        if (c->first[r] + p->succ[s] == to)
            return true;
    return false;
}

static bool begins_block(const pat_plan *p, int64_t offset)
{
    return offset == pat_plan_block_start(p, pat_plan_block_of(p, offset));
}

/* What unordered sends bring is awaited as PAT_RECV_WINDOW says, no later and no sooner: see plan.h. */
static int check_windows(const check *c)
{
    for (int l = 0; l < c->num_ranks * c->num_ranks; l++) {
        int64_t end = -1;
        int place = 0; /* of a piece in its block */
        for (int k = 0; k < c->lane_count[l]; k++) {
            int recv = c->partner[c->send[c->lane_at[l] + k]], r = c->owner[recv];
            const pat_node *n = node_at(c, recv);
            if (!node_at(c, c->send[c->lane_at[l] + k])->unordered)
                break;
            place = n->to.offset == end && !begins_block(&c->plans[r], n->to.offset) ? place + 1 : 0;
            end = n->to.offset + n->length;
            bool waits = place >= PAT_RECV_WINDOW;
            if (c->plans[r].num_preds[recv - c->first[r]] != waits ||
                (waits && !is_successor(c, c->partner[c->send[c->lane_at[l] + k - PAT_RECV_WINDOW]], recv)))
                return pat_check_refuse(c, r, recv - c->first[r],
                                        "does not wait for just the piece %d before it", PAT_RECV_WINDOW);
        }
    }
    return 0;
}

/*
 * Of two messages in a row from one rank to another, those of one step, and pieces of one block, go front
 * first. The result would be right without it, but the receiver could pass on less early; and a plan with two
 * of its pieces mixed up is not the plan that was meant.
 */
static int check_front_first(const check *c)
{
    for (int l = 0; l < c->num_ranks * c->num_ranks; l++) {
        const pat_plan *p = &c->plans[l / c->num_ranks];
        for (int k = 1; k < c->lane_count[l]; k++) {
            int node = c->send[c->lane_at[l] + k] - c->first[p->rank];
            const pat_node *b = &p->nodes[node];
            const pat_node *a = &p->nodes[c->send[c->lane_at[l] + k - 1] - c->first[p->rank]];
            if (a->length == 0 || b->length == 0 || b->from.offset >= a->from.offset + a->length)
                continue;
            bool one_step = a->step == b->step && !b->unordered;
            if (one_step || pat_plan_block_of(p, a->from.offset) == pat_plan_block_of(p, b->from.offset))
                return pat_check_refuse(
                    c, p->rank, node, "goes after bytes %lld to %lld, which lie behind it",
                    (long long)a->from.offset, (long long)(a->from.offset + a->length - 1));
        }
    }
    return 0;
}

/* ---- All plans together: does everything finish? ---- */

enum { READY = 1, POSTED = 2, DONE = 4 };

/*
 * Post one end of a message. With synchronous sends it completes, for both, when both ends are posted: the
 * worst that MPI may do, and the only case in which no buffer hides a deadlock.
 */
static void post(const check *c, int node, int *tail)
{
    int other = c->partner[node];
    c->state[node] |= POSTED;
    if (c->state[other] & POSTED) {
        c->state[node] |= DONE;
        c->state[other] |= DONE;
        c->queue[(*tail)++] = node;
        c->queue[(*tail)++] = other;
    }
}

static void make_ready(const check *c, int node, int *tail)
{
    const pat_node *n = node_at(c, node);
    c->state[node] |= READY;
    if (!pat_is_message(n)) {
        c->state[node] |= DONE;
        c->queue[(*tail)++] = node;
    } else if (n->kind == PAT_NODE_RECV || n->unordered ||
               n->match - c->lane_low[c->owner[node] * c->num_ranks + n->peer] < PAT_SEND_WINDOW) {
        post(c, node, tail);
    }
}

/* The engine's window: a send is posted when all of its pair up to PAT_SEND_WINDOW before it are complete. */
static void advance_window(const check *c, int lane, int *tail)
{
    const int *send = c->send + c->lane_at[lane];
    int low = c->lane_low[lane], old_end = low + PAT_SEND_WINDOW;
    while (low < c->lane_count[lane] && c->state[send[low]] & DONE)
        low++;
    c->lane_low[lane] = low;
    for (int k = old_end; k < c->lane_count[lane] && k < low + PAT_SEND_WINDOW; k++)
        if ((c->state[send[k]] & (READY | POSTED)) == READY)
            post(c, send[k], tail);
}

/*
 * One run proves all orders: no receive takes a message from just anyone, so whatever can happen stays
 * possible until it happens and takes nothing from anything else. The set of nodes that complete is then the
 * same on every order. ARRIVE completes by itself: every application calls sometime, whatever the others do.
 */
static int check_finish(const check *c)
{
    int head = 0, tail = 0;
    memset(c->state, 0, (size_t)c->num_nodes);
    for (int node = 0; node < c->num_nodes; node++) {
        c->missing[node] = c->plans[c->owner[node]].num_preds[node - c->first[c->owner[node]]];
        if (c->missing[node] == 0)
            make_ready(c, node, &tail);
    }
    while (head < tail) {
        int node = c->queue[head++], r = c->owner[node], i = node - c->first[r];
        const pat_plan *p = &c->plans[r];
        if (p->nodes[i].kind == PAT_NODE_SEND)
            advance_window(c, r * c->num_ranks + p->nodes[i].peer, &tail);
        for (int s = p->succ_at[i]; s < p->succ_at[i + 1]; s++)
            if (--c->missing[c->first[r] + p->succ[s]] == 0)
                make_ready(c, c->first[r] + p->succ[s], &tail);
    }
    if (tail == c->num_nodes)
        return 0;
    for (int node = 0; node < c->num_nodes; node++) {
        int r = c->owner[node];
        if (!pat_is_message(node_at(c, node)) || (c->state[node] & (READY | DONE)) != READY)
            continue;
        int other = c->partner[node];
        if (!(c->state[other] & READY))
            return pat_check_refuse(c, r, node - c->first[r], "deadlock, rank %d never gets to its node %d",
                                    c->owner[other], other - c->first[c->owner[other]]);
    }
    return pat_check_refuse(c, -1, -1, "deadlock, %d of %d nodes never complete", c->num_nodes - tail,
                            c->num_nodes);
}

/* ---- Together ---- */

static int reserve(check *c)
{
    size_t num_ranks = (size_t)c->num_ranks, nodes = 0;
    c->first = malloc(num_ranks * sizeof(*c->first));
    if (!c->first)
        return ENOMEM;
    for (int r = 0; r < c->num_ranks; r++) {
        const pat_plan *p = &c->plans[r];
        if (p->error || p->num_nodes < 1 || !p->nodes || !p->succ || !p->succ_at || !p->num_preds)
            return pat_check_refuse(c, r, -1, "rank %d: the plan is not finished", r);
        c->first[r] = (int)nodes;
        nodes += (size_t)p->num_nodes;
        c->max_nodes = p->num_nodes > c->max_nodes ? p->num_nodes : c->max_nodes;
    }
    if (nodes > INT32_MAX || num_ranks * num_ranks > INT32_MAX)
        return ENOMEM;
    c->num_nodes = (int)nodes;
    size_t lanes = num_ranks * num_ranks;
    c->owner = malloc(nodes * sizeof(*c->owner));
    c->missing = malloc(nodes * sizeof(*c->missing));
    c->lane_at = malloc(lanes * sizeof(*c->lane_at));
    c->lane_count = calloc(lanes, sizeof(*c->lane_count));
    c->lane_low = calloc(lanes, sizeof(*c->lane_low));
    c->send = malloc(nodes * sizeof(*c->send));
    c->partner = malloc(nodes * sizeof(*c->partner));
    c->low = malloc(nodes * sizeof(*c->low));
    c->high = malloc(nodes * sizeof(*c->high));
    c->step_at = malloc(((size_t)c->max_nodes + 2) * sizeof(*c->step_at));
    c->step_nodes = malloc((size_t)c->max_nodes * sizeof(*c->step_nodes));
    c->awaits = malloc((size_t)c->max_nodes * sizeof(*c->awaits));
    c->state = malloc(nodes);
    c->queue = malloc(nodes * sizeof(*c->queue));
    if (!c->owner || !c->missing || !c->lane_at || !c->lane_count || !c->lane_low || !c->send ||
        !c->partner || !c->low || !c->high || !c->step_at || !c->step_nodes || !c->awaits || !c->state ||
        !c->queue)
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
        error = check_plan(c, r);
    if (!error)
        error = match_messages(c);
    if (!error)
        error = check_windows(c);
    if (!error)
        error = pat_check_cut_intervals(c);
    if (error)
        return error;
    c->sets =
        malloc((size_t)c->max_nodes * (c->set_words + (size_t)(c->max_nodes + 63) / 64) * sizeof(*c->sets));
    c->have = malloc(c->set_words * sizeof(*c->have));
    if (!c->sets || !c->have)
        return ENOMEM;
    for (int r = 0; !error && r < c->num_ranks; r++)
        error = pat_check_flow(c, r);
    if (!error)
        error = check_finish(c);
    return error ? error : check_front_first(c);
}

int pat_check(const pat_plan *plans, int num_ranks, enum pat_op op, char *why, size_t why_size)
{
    check c = {.plans = plans, .num_ranks = num_ranks, .op = op, .why = why, .why_size = why ? why_size : 0};
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
    free(c.table_key);
    free(c.table_index);
    free(c.points);
    free(c.low);
    free(c.high);
    free(c.sets);
    free(c.have);
    free(c.step_at);
    free(c.step_nodes);
    free(c.awaits);
    free(c.state);
    free(c.queue);
    return error;
}
/*
 * check_messages.c — the part of the checker that looks at the messages between ranks: both ends of each, the windows that
 * they go through, and whether everything finishes. Must never take one order of events for all.
 */
#include "check_parts.h"

#include <string.h>

/* ---- Both ends ---- */

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

static int match_ends(const check *c, int r, int i)
{
    const pat_node *n = &c->plans[r].nodes[i];
    const int lane = n->peer * c->num_ranks + r, other = c->send[c->lane_at[lane] + n->match];
    const pat_node *o = pat_check_node(c, other);
    if (n->length != o->length)
        return pat_check_refuse(c, r, i, "rank %d's node %d sends %lld bytes instead", n->peer,
                                other - c->first[n->peer], (long long)o->length);
    if (c->plans[r].carries && pat_check_byte(c, n->to) != pat_check_byte(c, o->from))
        return pat_check_refuse(c, r, i, "carries arrivals, but rank %d's node %d sends other bytes", n->peer,
                                other - c->first[n->peer]);
    if (o->unordered != pat_check_node(c, c->send[c->lane_at[lane]])->unordered)
        return pat_check_refuse(c, r, i, "rank %d sends both ordered and unordered messages to it", n->peer);
    c->partner[c->first[r] + i] = other;
    c->partner[other] = c->first[r] + i;
    return 0;
}

int pat_check_match(check *c)
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
    for (int r = 0; r < num_ranks && !error; r++)
        for (int i = 0; i < c->plans[r].num_nodes && !error; i++)
            if (c->plans[r].nodes[i].kind == PAT_NODE_RECV)
                error = match_ends(c, r, i);
    return error;
}

/* ---- Windows, and what goes first ---- */

static bool is_successor(const check *c, int from, int to)
{
    int r = c->owner[from];
    const pat_plan *p = &c->plans[r];
    for (int s = p->succ_at[from - c->first[r]]; s < p->succ_at[from - c->first[r] + 1]; s++)
        if (c->first[r] + p->succ[s] == to)
            return true;
    return false;
}

static bool begins_block(const pat_plan *p, pat_address at)
{
    return at.space == PAT_SPACE_RESULT &&
           at.offset == pat_plan_block_start(p, pat_plan_block_of(p, at.offset));
}

static bool is_whole_block(const pat_plan *p, const pat_node *n)
{
    return begins_block(p, n->to) &&
           pat_plan_block_start(p, pat_plan_block_of(p, n->to.offset) + 1) == n->to.offset + n->length;
}

static bool waits_for_call(const check *c, int recv)
{
    const pat_plan *p = &c->plans[c->owner[recv]];
    int arrive = 0;
    while (arrive < p->num_nodes && p->nodes[arrive].kind != PAT_NODE_ARRIVE)
        arrive++;
    return arrive < p->num_nodes && is_successor(c, c->first[c->owner[recv]] + arrive, recv);
}

/* What unordered sends bring is awaited as PAT_RECV_WINDOW says, no later and no sooner, or in the call alone: see plan.h. */
int pat_check_windows(const check *c)
{
    for (int l = 0; l < c->num_ranks * c->num_ranks; l++) {
        int64_t end = -1;
        int place = 0; /* of a piece in its block */
        bool was_in_call = false;
        for (int k = 0; k < c->lane_count[l]; k++) {
            int recv = c->partner[c->send[c->lane_at[l] + k]], r = c->owner[recv];
            const pat_node *n = pat_check_node(c, recv);
            if (!pat_check_node(c, c->send[c->lane_at[l] + k])->unordered)
                break;
            place = pat_check_byte(c, n->to) == end && !begins_block(&c->plans[r], n->to) ? place + 1 : 0;
            end = pat_check_byte(c, n->to) + n->length;
            const bool in_call = !n->early && is_whole_block(&c->plans[r], n),
                       waits = place >= PAT_RECV_WINDOW;
            if (k > 0 && in_call != was_in_call) /* what can move early would wait behind what cannot */
                return pat_check_refuse(c, r, recv - c->first[r],
                                        "this message waits for the call, or not, and the one before it from "
                                        "that rank is not alike");
            was_in_call = in_call;
            if (c->plans[r].num_preds[recv - c->first[r]] != (in_call || waits) ||
                (in_call && !waits_for_call(c, recv)) ||
                (!in_call && waits &&
                 !is_successor(c, c->partner[c->send[c->lane_at[l] + k - PAT_RECV_WINDOW]], recv)))
                return pat_check_refuse(c, r, recv - c->first[r],
                                        "does not wait for just the piece %d before it, or just for the call",
                                        PAT_RECV_WINDOW);
        }
    }
    return 0;
}

/*
 * Of two messages in a row from one rank to another, those of one step, and pieces of one block, go front
 * first. The result would be right without it, but the receiver could pass on less early; and a plan with two
 * of its pieces mixed up is not the plan that was meant. What is reduced has no
 * front: a ring that reduces begins at a different piece on every rank.
 */
static bool wrong_way_round(const pat_plan *p, const pat_node *a, const pat_node *b)
{
    if (a->length == 0 || b->length == 0 || a->from.space != b->from.space ||
        b->from.offset >= a->from.offset + a->length)
        return false;
    if (a->step == b->step && !b->unordered)
        return true;
    return a->from.space == PAT_SPACE_RESULT &&
           pat_plan_block_of(p, a->from.offset) == pat_plan_block_of(p, b->from.offset);
}

int pat_check_front_first(const check *c)
{
    for (int l = 0; l < c->num_ranks * c->num_ranks && !c->collective->reduces; l++) {
        const pat_plan *p = &c->plans[l / c->num_ranks];
        for (int k = 1; k < c->lane_count[l]; k++) {
            const int node = c->send[c->lane_at[l] + k];
            const pat_node *a = pat_check_node(c, c->send[c->lane_at[l] + k - 1]);
            if (wrong_way_round(p, a, pat_check_node(c, node)))
                return pat_check_refuse(c, p->rank, node - c->first[p->rank],
                                        "goes after bytes %lld to %lld, which lie behind it",
                                        (long long)a->from.offset,
                                        (long long)(a->from.offset + a->length - 1));
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
    const pat_node *n = pat_check_node(c, node);
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
int pat_check_finish(const check *c)
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
        if (!pat_is_message(pat_check_node(c, node)) || (c->state[node] & (READY | DONE)) != READY)
            continue;
        int other = c->partner[node];
        if (!(c->state[other] & READY))
            return pat_check_refuse(c, r, node - c->first[r], "deadlock, rank %d never gets to its node %d",
                                    c->owner[other], other - c->first[c->owner[other]]);
    }
    return pat_check_refuse(c, -1, -1, "deadlock, %d of %d nodes never complete", c->num_nodes - tail,
                            c->num_nodes);
}

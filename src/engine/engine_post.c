/*
 * engine_post.c — what the nodes of a plan do: messages are posted, own bytes copied, elements reduced; and what becomes ready when
 * one is complete.
 */
#include "engine_parts.h"

#include <errno.h>
#include <string.h>

#include "clock.h"

/*
 * Own bytes may be in their place in the result already (see pat_exec_arrive), so they are for nothing but to be copied
 * there; a block for each rank never is. Blocks have a place each, and a vector that is reduced takes the whole of the result.
 */
static bool can_run(const pat_plan *p, const pat_node *n)
{
    const bool reads = n->kind == PAT_NODE_COPY || n->kind == PAT_NODE_REDUCE || n->kind == PAT_NODE_SEND;
    if (n->from.space != PAT_SPACE_OWN || !reads || n->length == 0 || pat_plan_is_personal(p))
        return true;
    return n->kind == PAT_NODE_COPY && n->to.space == PAT_SPACE_RESULT &&
           n->to.offset - n->from.offset == (p->element_bytes > 0 ? 0 : pat_plan_block_start(p, p->rank));
}

int pat_exec_build_queues(pat_exec *e)
{
    const pat_plan *p = e->plan;
    int at = 0;
    for (int i = 0; i < p->num_nodes; i++)
        if (p->nodes[i].kind == PAT_NODE_SEND) {
            e->queues[p->nodes[i].peer].count++;
            e->queues[p->nodes[i].peer].unordered = p->nodes[i].unordered;
        }
    for (int r = 0; r < p->num_ranks; r++) {
        e->queues[r].nodes = e->queue_nodes + at;
        at += e->queues[r].count;
    }
    for (int i = 0; i < p->num_nodes; i++) {
        const pat_node *n = &p->nodes[i];
        if (!can_run(p, n))
            return ENOTSUP;
        if (!pat_is_message(n))
            continue;
        if (n->match >= e->num_tags)
            return EINVAL;
        if (n->kind == PAT_NODE_SEND && n->unordered != e->queues[n->peer].unordered)
            return EINVAL;
        if (n->kind == PAT_NODE_SEND && !n->unordered)
            e->queues[n->peer].nodes[n->match] = i;
    }
    return 0;
}

static void note_start(const pat_exec *e, int node)
{
    if (e->spans)
        e->spans[node].start_ns = pat_clock_local_ns();
}

static void note_end(const pat_exec *e, int node)
{
    if (!e->spans)
        return;
    e->spans[node].end_ns = pat_clock_local_ns();
    if (e->spans[node].start_ns == 0)
        e->spans[node].start_ns = e->spans[node].end_ns;
}

/* It waits for the call. */
void pat_exec_defer(pat_exec *e, int node)
{
    e->state[node] = DEFERRED;
    e->num_deferred++;
}

void pat_exec_make_ready(pat_exec *e, int node)
{
    e->state[node] = READY;
    e->ready[e->ready_tail++] = node;
}

/* The plan's rank as the communicator counts. */
static int real_rank(const pat_exec *e, int peer)
{
    return peer < e->plan->num_ranks - e->root ? peer + e->root : peer - (e->plan->num_ranks - e->root);
}

bool pat_exec_is_mate(const pat_exec *e, int peer)
{
    return e->wire.mates.bells && e->wire.mates.mate_of[real_rank(e, peer)] >= 0;
}

void pat_exec_complete(pat_exec *e, int node)
{
    const pat_plan *p = e->plan;
    const pat_node *n = &p->nodes[node];
    if (n->kind == PAT_NODE_SEND && e->state[node] == ACTIVE) {
        e->queues[n->peer].num_active--;
        e->num_sending -= !pat_exec_is_mate(e, n->peer);
    }
    if (n->length > 0 && e->state[node] == ACTIVE)
        e->num_data--;
    e->state[node] = DONE;
    note_end(e, node);
    e->num_done++;
    if (n->kind == PAT_NODE_RECV && n->length > 0 && !e->voided) {
        e->stats.bytes_received += n->length;
        if (!e->arrived)
            e->stats.bytes_early += n->length;
    }
    if (e->voided)
        return; /* a voided round has no order any more: its control messages are all ready already */
    for (int s = p->succ_at[node]; s < p->succ_at[node + 1]; s++)
        if (--e->missing[p->succ[s]] == 0)
            pat_exec_make_ready(e, p->succ[s]);
}

/* Where in its space's memory a byte lies. */
static int64_t place_of(const pat_exec *e, pat_address at)
{
    if (at.space != e->rotated)
        return at.offset;
    return at.offset < e->wrap - e->shift ? at.offset + e->shift : at.offset - (e->wrap - e->shift);
}

void pat_exec_move_home(pat_exec *e, int node)
{
    const pat_node *n = &e->plan->nodes[node];
    if (!e->in_landing[node])
        return;
    if (e->landing != e->home) {
        memcpy(e->home + n->to.offset, e->landing + n->to.offset, (size_t)n->length);
        e->stats.bytes_copied += n->length;
    }
    e->in_landing[node] = false;
}

/*
 * A message's bytes; those of the result at `base`. They may go on at the beginning of their space, and, where the plan carries them, the
 * word of those whose blocks end there goes with them.
 */
static pat_message_data data_of(const pat_exec *e, const pat_node *n, char *base)
{
    const pat_address at = pat_node_address(n);
    const int64_t offset = at.offset, start = place_of(e, at);
    const bool carries = e->carried && at.space == PAT_SPACE_RESULT;
    pat_message_data data = {{NULL, NULL}, {(int)n->length, 0}};
    if (n->length == 0)
        return data;
    base = at.space == PAT_SPACE_OWN       ? (char *)(uintptr_t)e->own
           : at.space == PAT_SPACE_SCRATCH ? e->scratch
                                           : base;
    const int first = carries ? pat_plan_block_of(e->plan, offset) : 0;
    int ends = 0;
    while (carries && first + ends < e->plan->num_ranks &&
           pat_plan_block_start(e->plan, first + ends + 1) <= offset + n->length)
        ends++;
    data.at[0] = base + start;
    if (ends > 0) {
        data.at[1] = (char *)&e->carried[first];
        data.bytes[1] = ends * (int)sizeof(*e->carried);
    } else if (at.space == e->rotated && n->length > e->wrap - start) {
        data.at[1] = base;
        data.bytes[0] = (int)(e->wrap - start);
        data.bytes[1] = (int)n->length - data.bytes[0];
    }
    return data;
}

/* The node's message is posted. */
static void note_posted(pat_exec *e, int node)
{
    e->state[node] = ACTIVE;
    note_start(e, node);
    e->num_data += e->plan->nodes[node].length > 0;
}

int pat_exec_post_recv(pat_exec *e, int node)
{
    const pat_node *n = &e->plan->nodes[node];
    if (n->length > 0 && !e->arrived) {
        const bool to_result = n->to.space == PAT_SPACE_RESULT;
        if ((to_result && !e->landing) || e->landed + n->length > e->budget) {
            pat_exec_defer(e, node);
            return MPI_SUCCESS;
        }
        e->in_landing[node] = to_result;
        e->landed += n->length;
    }
    const pat_message_data data = data_of(e, n, e->arrived ? e->home : e->landing);
    note_posted(e, node);
    return pat_wire_recv(&e->wire, node, real_rank(e, n->peer), n->match, &data);
}

static void put_waiting(queue *q, int node)
{
    int at = q->num_waiting++;
    for (int up; at > 0 && (up = (at - 1) / 2, node < q->nodes[up]); at = up)
        q->nodes[at] = q->nodes[up];
    q->nodes[at] = node;
}

static int take_waiting(queue *q)
{
    int top = q->nodes[0], last = q->nodes[--q->num_waiting], at = 0;
    for (int down; (down = 2 * at + 1) < q->num_waiting; at = down) {
        if (down + 1 < q->num_waiting && q->nodes[down + 1] < q->nodes[down])
            down++;
        if (last < q->nodes[down])
            break;
        q->nodes[at] = q->nodes[down];
    }
    q->nodes[at] = last;
    return top;
}

static int post_send(pat_exec *e, int node)
{
    const pat_node *n = &e->plan->nodes[node];
    queue *q = &e->queues[n->peer];
    /* Stays READY: its queue posts it when there is room. */
    if (n->unordered && q->num_active >= PAT_SEND_WINDOW) {
        put_waiting(q, node);
        return MPI_SUCCESS;
    }
    if (!n->unordered && n->match >= q->low + PAT_SEND_WINDOW)
        return MPI_SUCCESS;
    const pat_message_data data = data_of(e, n, e->arrived ? e->home : e->landing);
    note_posted(e, node);
    q->num_active++;
    e->num_sending += !pat_exec_is_mate(e, n->peer);
    return pat_wire_send(&e->wire, node, real_rank(e, n->peer), n->match, &data, n->sync);
}

bool pat_exec_is_held_up(const pat_exec *e, int peer)
{
    const queue *q = &e->queues[peer];
    return q->num_active > 0 && (q->num_waiting > 0 || !q->unordered);
}

/* A send is complete: the window of its queue may have moved on. */
int pat_exec_advance_queue(pat_exec *e, int peer)
{
    queue *q = &e->queues[peer];
    while (q->unordered && q->num_waiting > 0 && q->num_active < PAT_SEND_WINDOW) {
        int node = take_waiting(q), rc = e->state[node] == READY ? post_send(e, node) : MPI_SUCCESS;
        if (rc != MPI_SUCCESS)
            return rc;
    }
    if (q->unordered)
        return MPI_SUCCESS;
    int old_end = q->low + PAT_SEND_WINDOW;
    while (q->low < q->count && e->state[q->nodes[q->low]] == DONE)
        q->low++;
    for (int m = old_end; m < q->count && m < q->low + PAT_SEND_WINDOW; m++)
        if (e->state[q->nodes[m]] == READY) {
            int rc = post_send(e, q->nodes[m]);
            if (rc != MPI_SUCCESS)
                return rc;
        }
    return MPI_SUCCESS;
}

/* Where the bytes are once the rank has arrived; own ones may be where they belong in the result. */
static char *address(const pat_exec *e, pat_address at)
{
    char *base = at.space == PAT_SPACE_SCRATCH ? e->scratch
                 : at.space == PAT_SPACE_OWN   ? (char *)e->own
                                               : e->home;
    return base + place_of(e, at);
}

static int reduce(const pat_exec *e, const pat_node *n)
{
    return PMPI_Reduce_local(address(e, n->from), address(e, n->to),
                             (int)(n->length / e->plan->element_bytes), e->element, e->op);
}

/* What a rank scatters to itself in place is there already. */
static void copy(pat_exec *e, char *to, const char *from, int64_t length)
{
    if (to == from || length == 0)
        return;
    memcpy(to, from, (size_t)length);
    e->stats.bytes_copied += length;
}

/*
 * A COPY or a REDUCE. Before the call the result has no address and the operation is not known, so what needs them waits; only
 * messages may land early.
 */
static int run_local(pat_exec *e, int node)
{
    const pat_node *n = &e->plan->nodes[node];
    int rc = MPI_SUCCESS;
    if (!e->arrived && (n->kind == PAT_NODE_REDUCE || n->from.space == PAT_SPACE_RESULT ||
                        n->to.space == PAT_SPACE_RESULT)) {
        pat_exec_defer(e, node);
        return rc;
    }
    if (n->kind == PAT_NODE_REDUCE)
        rc = reduce(e, n);
    else if (n->from.space != PAT_SPACE_OWN || e->own)
        copy(e, address(e, n->to), address(e, n->from), n->length);
    pat_exec_complete(e, node);
    return rc;
}

int pat_exec_post_ready(pat_exec *e)
{
    while (e->ready_head < e->ready_tail) {
        int node = e->ready[e->ready_head++], rc = MPI_SUCCESS;
        const pat_node *n = &e->plan->nodes[node];
        if (e->state[node] != READY)
            continue; /* its queue has sent it already: both became possible with the same completion */
        switch (n->kind) {
        case PAT_NODE_ARRIVE:
            break;
        case PAT_NODE_COPY:
        case PAT_NODE_REDUCE:
            rc = run_local(e, node);
            break;
        case PAT_NODE_SEND:
            rc = post_send(e, node);
            break;
        case PAT_NODE_RECV:
            rc = pat_exec_post_recv(e, node);
            break;
        case PAT_NODE_NONE:
            pat_exec_complete(e, node);
            break;
        }
        if (rc != MPI_SUCCESS)
            return rc;
    }
    return MPI_SUCCESS;
}

int pat_exec_finish_message(pat_exec *e, int node)
{
    if (e->plan->nodes[node].kind == PAT_NODE_RECV && e->arrived && !e->voided)
        pat_exec_move_home(e, node);
    pat_exec_complete(e, node);
    return e->plan->nodes[node].kind == PAT_NODE_SEND ? pat_exec_advance_queue(e, e->plan->nodes[node].peer)
                                                      : MPI_SUCCESS;
}

/*
 * engine.c — see engine.h. A node becomes ready when all its predecessors are complete, is posted as a
 * non-blocking message, and completes when MPI says so. Nothing here waits for another rank.
 */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "wire.h"

enum node_state { WAITING, READY, DEFERRED, ACTIVE, DONE };

/*
 * Sends to one peer. Ordered ones: `nodes` in match order, those below `low` are complete. Unordered ones: a binary
 * heap of those that wait for room, lowest number first.
 */
typedef struct lane {
    int *nodes;
    int count, low;
    bool unordered;
    int num_active, num_waiting;
} lane;

struct pat_exec {
    const pat_plan *plan;
    int num_tags;
    unsigned char *state;
    bool *in_landing; /* RECV: its bytes are, or will be, in the landing place and not at home */
    int *missing;     /* predecessors not yet complete */
    int *ready;       /* queue: every node passes through once */
    int ready_head, ready_tail;
    lane *lanes; /* per peer */
    int *lane_nodes;
    pat_wire wire; /* messages in flight; a message's owner is its node */
    int num_sending, num_done, num_deferred;
    int num_data; /* of the active ones, those with user bytes */
    bool arrived, voided;
    char *home, *landing, *scratch;
    MPI_Datatype element; /* what op takes: see pat_exec_reduces */
    MPI_Op op;
    int num_forwards; /* while the landing place changes: messages in flight that are older than the new one */
    int root;         /* the plan counts ranks from this one */
    int64_t shift,
        wrap; /* result-space byte i is shift bytes further on, and from wrap on at the beginning */
    pat_carried *carried; /* one per rank, as they come along with the blocks; NULL: the plan carries none */
    const char *own;
    int64_t budget, landed;
    pat_exec_stats stats;
    pat_span *spans; /* per node; NULL: not noted */
};

/*
 * Own bytes may be in their place in the result already (see pat_exec_arrive), so they are for nothing but to be copied
 * there. Blocks have a place each, and a vector that is reduced takes the whole of the result.
 */
static bool can_run(const pat_plan *p, const pat_node *n)
{
    const int64_t home = p->element_bytes > 0 ? 0 : pat_plan_block_start(p, p->rank);
    const bool reads = n->kind == PAT_NODE_COPY || n->kind == PAT_NODE_REDUCE || n->kind == PAT_NODE_SEND;
    if (!reads || n->length == 0 || n->from.space != PAT_SPACE_OWN)
        return true;
    return n->kind == PAT_NODE_COPY && n->to.space == PAT_SPACE_RESULT &&
           n->to.offset - n->from.offset == home;
}

static int build_lanes(pat_exec *e)
{
    const pat_plan *p = e->plan;
    int at = 0;
    for (int i = 0; i < p->num_nodes; i++)
        if (p->nodes[i].kind == PAT_NODE_SEND) {
            e->lanes[p->nodes[i].peer].count++;
            e->lanes[p->nodes[i].peer].unordered = p->nodes[i].unordered;
        }
    for (int r = 0; r < p->num_ranks; r++) {
        e->lanes[r].nodes = e->lane_nodes + at;
        at += e->lanes[r].count;
    }
    for (int i = 0; i < p->num_nodes; i++) {
        const pat_node *n = &p->nodes[i];
        if (!can_run(p, n))
            return ENOTSUP;
        if (!pat_is_message(n))
            continue;
        if (n->match >= e->num_tags)
            return EINVAL;
        if (n->kind == PAT_NODE_SEND && n->unordered != e->lanes[n->peer].unordered)
            return EINVAL;
        if (n->kind == PAT_NODE_SEND && !n->unordered)
            e->lanes[n->peer].nodes[n->match] = i;
    }
    return 0;
}

int pat_exec_create(pat_exec **exec, const pat_plan *plan, MPI_Comm comm, pat_tags tags)
{
    size_t n = (size_t)plan->num_nodes;
    pat_exec *e = calloc(1, sizeof(*e));
    *exec = NULL;
    if (!e)
        return ENOMEM;
    e->plan = plan;
    e->wrap = INT64_MAX;
    e->num_tags = tags.count;
    e->state = calloc(n, sizeof(*e->state));
    e->in_landing = calloc(n, sizeof(*e->in_landing));
    e->missing = malloc(n * sizeof(*e->missing));
    e->ready = malloc(n * sizeof(*e->ready));
    e->lanes = calloc((size_t)plan->num_ranks, sizeof(*e->lanes));
    e->lane_nodes = malloc(n * sizeof(*e->lane_nodes));
    const bool wired = pat_wire_make(&e->wire, comm, tags.first, plan->num_nodes);
    e->element = MPI_DATATYPE_NULL;
    e->op = MPI_OP_NULL;
    e->scratch = plan->scratch_bytes > 0 ? malloc((size_t)plan->scratch_bytes) : NULL;
    e->carried = plan->carries ? calloc((size_t)plan->num_ranks, sizeof(*e->carried)) : NULL;
    bool ok = e->state && e->in_landing && e->missing && e->ready && e->lanes && e->lane_nodes && wired &&
              (e->carried || !plan->carries) && (e->scratch || plan->scratch_bytes == 0);
    int error = ok ? build_lanes(e) : ENOMEM;
    if (error) {
        pat_exec_free(e);
        return error;
    }
    for (int i = 0; i < plan->num_nodes; i++) {
        e->missing[i] = plan->num_preds[i];
        if (plan->num_preds[i] == 0 && plan->nodes[i].kind != PAT_NODE_ARRIVE) {
            e->state[i] = READY;
            e->ready[e->ready_tail++] = i;
        }
    }
    *exec = e;
    return 0;
}

const char *pat_exec_reason(int error)
{
    if (error == ENOTSUP)
        return "the engine does not run one of its nodes";
    return error == ENOMEM ? "no memory" : "too many messages";
}

void pat_exec_reduces(pat_exec *e, MPI_Datatype element, MPI_Op op)
{
    e->element = element;
    e->op = op;
}

void pat_exec_rotate(pat_exec *e, int root, int64_t shift, int64_t result_bytes)
{
    e->root = root;
    e->shift = shift;
    e->wrap = result_bytes;
}

void pat_exec_free(pat_exec *e)
{
    if (!e)
        return;
    free(e->state);
    free(e->in_landing);
    free(e->missing);
    free(e->ready);
    free(e->lanes);
    free(e->lane_nodes);
    pat_wire_free(&e->wire);
    free(e->carried);
    free(e->scratch);
    free(e->spans);
    free(e);
}

bool pat_exec_exposed(const pat_exec *e)
{
    for (int i = 0; e && i < e->wire.num; i++)
        if (pat_wire_is_open(&e->wire, i) && e->plan->nodes[e->wire.owner[i]].length > 0)
            return true;
    return false;
}

int pat_exec_trace(pat_exec *e)
{
    e->spans = calloc((size_t)e->plan->num_nodes, sizeof(*e->spans));
    return e->spans ? 0 : ENOMEM;
}

const pat_span *pat_exec_spans(const pat_exec *e)
{
    return e->spans;
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
static void defer(pat_exec *e, int node)
{
    e->state[node] = DEFERRED;
    e->num_deferred++;
}

static void make_ready(pat_exec *e, int node)
{
    e->state[node] = READY;
    e->ready[e->ready_tail++] = node;
}

static void complete(pat_exec *e, int node)
{
    const pat_plan *p = e->plan;
    const pat_node *n = &p->nodes[node];
    if (n->kind == PAT_NODE_SEND && e->state[node] == ACTIVE) {
        e->lanes[n->peer].num_active--;
        e->num_sending--;
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
            make_ready(e, p->succ[s]);
}

/* Where a byte of the result space lies in the result. */
static int64_t at_home(const pat_exec *e, int64_t offset)
{
    return offset < e->wrap - e->shift ? offset + e->shift : offset - (e->wrap - e->shift);
}

/* The plan's rank as the communicator counts. */
static int real_rank(const pat_exec *e, int peer)
{
    return peer < e->plan->num_ranks - e->root ? peer + e->root : peer - (e->plan->num_ranks - e->root);
}

static void move_home(pat_exec *e, int node)
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
 * A message's bytes in the result at `base`, which may go on at its beginning, and, where the plan carries them, the
 * word of those whose blocks end there.
 */
static pat_piece data_of(const pat_exec *e, const pat_node *n, char *base)
{
    const int64_t offset = pat_node_address(n).offset, start = at_home(e, offset);
    pat_piece data = {{NULL, NULL}, {(int)n->length, 0}};
    if (n->length == 0)
        return data;
    if (pat_node_address(n).space == PAT_SPACE_SCRATCH) {
        data.at[0] = e->scratch + offset;
        return data;
    }
    const int first = e->carried ? pat_plan_block_of(e->plan, offset) : 0;
    int ends = 0;
    while (e->carried && first + ends < e->plan->num_ranks &&
           pat_plan_block_start(e->plan, first + ends + 1) <= offset + n->length)
        ends++;
    data.at[0] = base + start;
    if (ends > 0) {
        data.at[1] = (char *)&e->carried[first];
        data.bytes[1] = ends * (int)sizeof(*e->carried);
    } else if (n->length > e->wrap - start) {
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

static int post_recv(pat_exec *e, int node)
{
    const pat_node *n = &e->plan->nodes[node];
    if (n->length > 0 && !e->arrived) {
        const bool to_result = n->to.space == PAT_SPACE_RESULT;
        if ((to_result && !e->landing) || e->landed + n->length > e->budget) {
            defer(e, node);
            return MPI_SUCCESS;
        }
        e->in_landing[node] = to_result;
        e->landed += n->length;
    }
    const pat_piece data = data_of(e, n, e->arrived ? e->home : e->landing);
    note_posted(e, node);
    return pat_wire_recv(&e->wire, node, real_rank(e, n->peer), n->match, &data);
}

static void put_waiting(lane *l, int node)
{
    int at = l->num_waiting++;
    for (int up; at > 0 && (up = (at - 1) / 2, node < l->nodes[up]); at = up)
        l->nodes[at] = l->nodes[up];
    l->nodes[at] = node;
}

static int take_waiting(lane *l)
{
    int top = l->nodes[0], last = l->nodes[--l->num_waiting], at = 0;
    for (int down; (down = 2 * at + 1) < l->num_waiting; at = down) {
        if (down + 1 < l->num_waiting && l->nodes[down + 1] < l->nodes[down])
            down++;
        if (last < l->nodes[down])
            break;
        l->nodes[at] = l->nodes[down];
    }
    l->nodes[at] = last;
    return top;
}

static int post_send(pat_exec *e, int node)
{
    const pat_node *n = &e->plan->nodes[node];
    lane *l = &e->lanes[n->peer];
    /* Stays READY: its lane posts it when there is room. */
    if (n->unordered && l->num_active >= PAT_SEND_WINDOW) {
        put_waiting(l, node);
        return MPI_SUCCESS;
    }
    if (!n->unordered && n->match >= l->low + PAT_SEND_WINDOW)
        return MPI_SUCCESS;
    const pat_piece data = data_of(e, n, e->arrived ? e->home : e->landing);
    note_posted(e, node);
    l->num_active++;
    e->num_sending++;
    return pat_wire_send(&e->wire, node, real_rank(e, n->peer), n->match, &data, n->sync);
}

/* A send is complete: the window of its lane may have moved on. */
static int advance_lane(pat_exec *e, int peer)
{
    lane *l = &e->lanes[peer];
    while (l->unordered && l->num_waiting > 0 && l->num_active < PAT_SEND_WINDOW) {
        int node = take_waiting(l), rc = e->state[node] == READY ? post_send(e, node) : MPI_SUCCESS;
        if (rc != MPI_SUCCESS)
            return rc;
    }
    if (l->unordered)
        return MPI_SUCCESS;
    int old_end = l->low + PAT_SEND_WINDOW;
    while (l->low < l->count && e->state[l->nodes[l->low]] == DONE)
        l->low++;
    for (int m = old_end; m < l->count && m < l->low + PAT_SEND_WINDOW; m++)
        if (e->state[l->nodes[m]] == READY) {
            int rc = post_send(e, l->nodes[m]);
            if (rc != MPI_SUCCESS)
                return rc;
        }
    return MPI_SUCCESS;
}

/* Where the bytes are once the rank has arrived; own ones may be where they belong in the result. */
static char *address(const pat_exec *e, pat_address at)
{
    if (at.space == PAT_SPACE_SCRATCH)
        return e->scratch + at.offset;
    return at.space == PAT_SPACE_OWN ? (char *)e->own + at.offset : e->home + at_home(e, at.offset);
}

static int reduce(const pat_exec *e, const pat_node *n)
{
    return PMPI_Reduce_local(address(e, n->from), address(e, n->to),
                             (int)(n->length / e->plan->element_bytes), e->element, e->op);
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
        defer(e, node);
        return rc;
    }
    if (n->kind == PAT_NODE_REDUCE) {
        rc = reduce(e, n);
    } else if (n->from.space != PAT_SPACE_OWN || e->own) {
        memcpy(address(e, n->to), address(e, n->from), (size_t)n->length);
        e->stats.bytes_copied += n->length;
    }
    complete(e, node);
    return rc;
}

static int post_ready(pat_exec *e)
{
    while (e->ready_head < e->ready_tail) {
        int node = e->ready[e->ready_head++], rc = MPI_SUCCESS;
        const pat_node *n = &e->plan->nodes[node];
        if (e->state[node] != READY)
            continue; /* its lane has sent it already: both became possible with the same completion */
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
            rc = post_recv(e, node);
            break;
        case PAT_NODE_NONE:
            complete(e, node);
            break;
        }
        if (rc != MPI_SUCCESS)
            return rc;
    }
    return MPI_SUCCESS;
}

static int finish_request(pat_exec *e, int node)
{
    if (e->plan->nodes[node].kind == PAT_NODE_RECV && e->arrived && !e->voided)
        move_home(e, node);
    complete(e, node);
    return e->plan->nodes[node].kind == PAT_NODE_SEND ? advance_lane(e, e->plan->nodes[node].peer)
                                                      : MPI_SUCCESS;
}

int pat_exec_progress(pat_exec *e, bool *moved)
{
    int rc = post_ready(e), count = 0;
    if (rc != MPI_SUCCESS)
        return rc;
    while (e->wire.num > 0) {
        rc = pat_wire_test(&e->wire, &count);
        if (rc != MPI_SUCCESS)
            return rc;
        if (count == 0)
            break;
        *moved = true;
        for (int i = 0; i < count; i++) {
            rc = finish_request(e, e->wire.owner[e->wire.over[i]]);
            if (rc != MPI_SUCCESS)
                return rc;
        }
        rc = post_ready(e);
        if (rc != MPI_SUCCESS)
            return rc;
        pat_wire_compact(&e->wire);
    }
    return MPI_SUCCESS;
}

void pat_exec_land(pat_exec *e, char *landing, int64_t budget)
{
    e->landing = landing;
    e->budget = budget;
}

int pat_exec_arrive(pat_exec *e, char *home, const char *own, const pat_carried *mine)
{
    bool moved;
    int rc = pat_exec_progress(e, &moved); /* what is already here came before the call */
    if (rc != MPI_SUCCESS)
        return rc;
    e->arrived = true;
    e->home = home;
    e->own = own;
    if (e->carried)
        e->carried[e->plan->rank] = *mine;
    e->ready_head = e->ready_tail = 0; /* drained by the progress above; makes room for the deferred ones */
    int arrive = -1;
    for (int i = 0; i < e->plan->num_nodes; i++) {
        if (e->plan->nodes[i].kind == PAT_NODE_ARRIVE)
            arrive = i;
        else if (e->state[i] == DEFERRED)
            make_ready(e, i);
        else if (e->state[i] == DONE)
            move_home(e, i);
    }
    e->num_deferred = 0;
    complete(e, arrive);
    return post_ready(e);
}

int pat_exec_void(pat_exec *e)
{
    const pat_plan *p = e->plan;
    e->voided = true;
    for (int i = 0; i < e->wire.num; i++) {
        int node = e->wire.owner[i];
        if (p->nodes[node].length == 0 || p->nodes[node].kind != PAT_NODE_RECV)
            continue;
        int rc = pat_wire_cancel_wait(&e->wire, i);
        if (rc != MPI_SUCCESS)
            return rc;
        complete(e, node);
    }
    pat_wire_compact(&e->wire);
    e->ready_head = e->ready_tail = 0;
    for (int i = 0; i < p->num_nodes; i++) {
        const pat_node *n = &p->nodes[i];
        if (e->state[i] == DONE || e->state[i] == ACTIVE)
            continue;
        if (pat_is_message(n) && n->length == 0)
            make_ready(e, i);
        else
            complete(e, i);
    }
    for (int r = 0; r < p->num_ranks; r++) {
        int rc = advance_lane(e, r);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    return post_ready(e);
}

/* Is the index-th message in flight a receive into the landing place? */
static bool lands(const pat_exec *e, int index)
{
    int node = e->wire.owner[index];
    return e->plan->nodes[node].kind == PAT_NODE_RECV && e->in_landing[node];
}

int pat_exec_unland(pat_exec *e)
{
    bool moved;
    int rc = pat_exec_progress(e, &moved);
    for (int i = 0; i < e->wire.num && rc == MPI_SUCCESS; i++)
        if (lands(e, i))
            rc = pat_wire_cancel(&e->wire, i);
    return rc;
}

/* Test a receive that was cancelled: what has come in for it after all stays, else it is to be posted again. */
static int test_cancelled(pat_exec *e, int index, bool *done)
{
    const int node = e->wire.owner[index];
    bool over, cancelled;
    int rc = pat_wire_test_one(&e->wire, index, &over, &cancelled);
    *done = *done && over;
    if (rc != MPI_SUCCESS || !over)
        return rc;
    if (cancelled) {
        e->in_landing[node] = false;
        e->landed -= e->plan->nodes[node].length;
        e->num_data--;
        defer(e, node);
    } else {
        complete(e, node);
    }
    return rc;
}

/* No receive is under way into the old place: move what is there and post the others for the new one. */
static int change_landing(pat_exec *e, char *landing, int64_t budget)
{
    const pat_plan *p = e->plan;
    int rc = MPI_SUCCESS;
    pat_wire_compact(&e->wire);
    e->num_forwards = e->wire.num;
    for (int i = 0; i < p->num_nodes; i++)
        if (e->state[i] == DONE && e->in_landing[i]) {
            const pat_node *n = &p->nodes[i];
            memcpy(landing + n->to.offset, e->landing + n->to.offset, (size_t)n->length);
            e->stats.bytes_copied += n->length;
        }
    e->landing = landing;
    e->budget = budget > e->landed ? budget : e->landed;
    for (int i = 0; i < p->num_nodes && rc == MPI_SUCCESS; i++)
        if (e->state[i] == DEFERRED && p->nodes[i].kind == PAT_NODE_RECV) {
            e->num_deferred--;
            rc = post_recv(e, i);
        }
    return rc;
}

/* Test a message that was under way when the landing place changed: a forward may still read from the old one. */
static int test_forward(pat_exec *e, int index, bool *done)
{
    const int node = e->wire.owner[index];
    bool over, cancelled;
    if (e->plan->nodes[node].kind != PAT_NODE_SEND || e->plan->nodes[node].length == 0)
        return MPI_SUCCESS;
    int rc = pat_wire_test_one(&e->wire, index, &over, &cancelled);
    *done = *done && over;
    if (rc == MPI_SUCCESS && over)
        complete(e, node);
    return rc;
}

int pat_exec_reland(pat_exec *e, char *landing, int64_t budget, bool *done)
{
    int rc = MPI_SUCCESS;
    *done = true;
    if (e->landing != landing) {
        for (int i = 0; i < e->wire.num && rc == MPI_SUCCESS; i++)
            if (pat_wire_is_open(&e->wire, i) && lands(e, i))
                rc = test_cancelled(e, i, done);
        if (rc == MPI_SUCCESS && *done)
            rc = change_landing(e, landing, budget);
        if (rc != MPI_SUCCESS || !*done)
            return rc;
    }
    for (int i = 0; i < e->num_forwards && rc == MPI_SUCCESS; i++)
        if (pat_wire_is_open(&e->wire, i))
            rc = test_forward(e, i, done);
    if (rc == MPI_SUCCESS && *done) {
        pat_wire_compact(&e->wire);
        for (int r = 0; r < e->plan->num_ranks && rc == MPI_SUCCESS; r++)
            rc = advance_lane(e, r);
    }
    return rc == MPI_SUCCESS ? post_ready(e) : rc;
}

bool pat_exec_done(const pat_exec *e)
{
    return e->num_done == e->plan->num_nodes;
}

bool pat_exec_expects_early(const pat_exec *e)
{
    return !e->arrived && e->num_data > 0;
}

bool pat_exec_sending(const pat_exec *e)
{
    return e->num_sending > 0;
}

int pat_exec_num_in_flight(const pat_exec *e)
{
    return e->wire.num;
}

bool pat_exec_receiving(const pat_exec *e, int index, int *peer, int64_t *bytes)
{
    const pat_node *n = &e->plan->nodes[e->wire.owner[index]];
    *peer = n->peer;
    *bytes = n->length;
    return n->kind == PAT_NODE_RECV && n->length > 0;
}

int64_t pat_exec_landed(const pat_exec *e)
{
    return e->landed;
}

const pat_carried *pat_exec_carried(const pat_exec *e)
{
    return e->carried;
}

pat_exec_stats pat_exec_get_stats(const pat_exec *e)
{
    return e->stats;
}

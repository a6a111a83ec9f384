/*
 * engine.c — see engine.h. A node becomes ready when all its predecessors are complete, is posted as a
 * non-blocking message, and completes when MPI says so. Nothing here waits for another rank.
 */
#include "engine.h"

#include <errno.h>
#include <stdlib.h>

#include "engine_parts.h"

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
    e->queues = calloc((size_t)plan->num_ranks, sizeof(*e->queues));
    e->queue_nodes = malloc(n * sizeof(*e->queue_nodes));
    const bool wired = pat_wire_make(&e->wire, comm, tags.first, plan->num_nodes);
    e->element = MPI_DATATYPE_NULL;
    e->op = MPI_OP_NULL;
    e->scratch = plan->scratch_bytes > 0 ? malloc((size_t)plan->scratch_bytes) : NULL;
    e->carried = plan->carries ? calloc((size_t)plan->num_ranks, sizeof(*e->carried)) : NULL;
    bool ok = e->state && e->in_landing && e->missing && e->ready && e->queues && e->queue_nodes && wired &&
              (e->carried || !plan->carries) && (e->scratch || plan->scratch_bytes == 0);
    int error = ok ? pat_exec_build_queues(e) : ENOMEM;
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

void pat_exec_rotate(pat_exec *e, int root, enum pat_space space, int64_t shift, int64_t bytes)
{
    e->root = root;
    e->rotated = space;
    e->shift = shift;
    e->wrap = bytes;
}

void pat_exec_wake(pat_exec *e, const pat_mates *mates)
{
    e->wire.mates = *mates;
}

void pat_exec_reach(pat_exec *e, pat_contacts contacts, int me)
{
    e->wire.contacts = contacts;
    e->wire.me = me;
}

void pat_exec_free(pat_exec *e)
{
    if (!e)
        return;
    free(e->state);
    free(e->in_landing);
    free(e->missing);
    free(e->ready);
    free(e->queues);
    free(e->queue_nodes);
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

/* asks_mpi: else only what MPI has taken in already counts. */
static int move_on(pat_exec *e, bool asks_mpi, bool *moved)
{
    int count = 0, rc = pat_exec_post_ready(e);
    if (rc != MPI_SUCCESS || e->wire.num == 0)
        return rc;
    rc = pat_wire_test(&e->wire, asks_mpi, &count);
    for (int i = 0; i < count && rc == MPI_SUCCESS; i++)
        rc = pat_exec_finish_message(e, e->wire.owner[e->wire.over[i]]);
    if (rc != MPI_SUCCESS || count == 0)
        return rc;
    *moved = true;
    rc = pat_exec_post_ready(e);
    if (rc == MPI_SUCCESS)
        pat_wire_compact(&e->wire);
    return rc;
}

int pat_exec_progress(pat_exec *e, bool *moved)
{
    return move_on(e, true, moved);
}

int pat_exec_progress_known(pat_exec *e, bool *moved)
{
    return move_on(e, false, moved);
}

void pat_exec_land(pat_exec *e, char *landing, int64_t budget)
{
    e->landing = landing;
    e->budget = budget;
}

int pat_exec_arrive(pat_exec *e, char *home, const char *own, const pat_carried *mine)
{
    bool moved;
    /* What MPI has told of came before the call. It is not asked for more: the others wait for what this rank contributes. */
    int rc = move_on(e, false, &moved);
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
            pat_exec_make_ready(e, i);
        else if (e->state[i] == DONE)
            pat_exec_move_home(e, i);
    }
    e->num_deferred = 0;
    pat_exec_complete(e, arrive);
    return pat_exec_post_ready(e);
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
        pat_exec_complete(e, node);
    }
    pat_wire_compact(&e->wire);
    e->ready_head = e->ready_tail = 0;
    for (int i = 0; i < p->num_nodes; i++) {
        const pat_node *n = &p->nodes[i];
        if (e->state[i] == DONE || e->state[i] == ACTIVE)
            continue;
        if (pat_is_message(n) && n->length == 0)
            pat_exec_make_ready(e, i);
        else
            pat_exec_complete(e, i);
    }
    for (int r = 0; r < p->num_ranks; r++) {
        int rc = pat_exec_advance_queue(e, r);
        if (rc != MPI_SUCCESS)
            return rc;
    }
    return pat_exec_post_ready(e);
}

bool pat_exec_done(const pat_exec *e)
{
    return e->num_done == e->plan->num_nodes;
}

bool pat_exec_arrived(const pat_exec *e)
{
    return e->arrived;
}

bool pat_exec_only_early(const pat_exec *e)
{
    for (int i = 0; i < e->plan->num_nodes; i++)
        if ((e->state[i] == ACTIVE || e->state[i] == DONE) && !e->plan->nodes[i].early)
            return false;
    return true;
}

bool pat_exec_share_tags(const pat_exec *a, const pat_exec *b)
{
    return a->wire.first_tag < b->wire.first_tag + b->num_tags &&
           b->wire.first_tag < a->wire.first_tag + a->num_tags;
}

bool pat_exec_expects_early(const pat_exec *e)
{
    return !e->arrived && e->num_data > 0;
}

bool pat_exec_sending(const pat_exec *e)
{
    return e->num_sending > 0;
}

bool pat_exec_only_receives(const pat_exec *e)
{
    for (int i = 0; i < e->wire.num; i++)
        if (e->plan->nodes[e->wire.owner[i]].kind != PAT_NODE_RECV)
            return false;
    return e->num_done + e->wire.num == e->plan->num_nodes;
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

bool pat_exec_awaits_mates(const pat_exec *e)
{
    for (int i = 0; i < e->wire.num; i++) {
        const int node = e->wire.owner[i], peer = e->plan->nodes[node].peer;
        const bool is_awaited = e->plan->succ_at[node + 1] > e->plan->succ_at[node];
        if (pat_exec_is_mate(e, peer) &&
            (!pat_wire_is_lent(&e->wire, i) || is_awaited || pat_exec_is_held_up(e, peer)))
            return true;
    }
    return false;
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

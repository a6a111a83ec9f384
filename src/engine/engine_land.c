/*
 * engine_land.c — early data changes its landing place: see pat_exec_unland and pat_exec_reland.
 */
#include "engine.h"

#include <string.h>

#include "engine_parts.h"

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
        pat_exec_defer(e, node);
    } else {
        pat_exec_complete(e, node);
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
            rc = pat_exec_post_recv(e, i);
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
        pat_exec_complete(e, node);
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
            rc = pat_exec_advance_queue(e, r);
    }
    return rc == MPI_SUCCESS ? pat_exec_post_ready(e) : rc;
}

/*
 * check_shape.c — the part of the checker that looks at each plan by itself, node by node and edge by edge: what makes no
 * sense whatever the other nodes do. Nothing that a plan says about itself is believed.
 */
#include "check_parts.h"

#include <string.h>

/* For a node that must not be described, because what it says of itself makes no sense. */
#define REFUSE(format, ...) pat_check_refuse(c, -1, -1, "rank %d, node %d: " format, r, i, __VA_ARGS__)

static int check_range(const check *c, int r, int i, pat_address at, int64_t length)
{
    static const char *const whose[] = {"its own", "the result's", "the scratch's"};
    const pat_plan *p = &c->plans[r];
    const int64_t total = at.space == PAT_SPACE_OWN      ? pat_collective_own_bytes(c->collective, p)
                          : at.space == PAT_SPACE_RESULT ? pat_collective_result_bytes(c->collective, p)
                                                         : p->scratch_bytes;
    if ((int)at.space >= NUM_SPACES)
        return REFUSE("unknown space %d", (int)at.space);
    if (at.offset < 0 || length < 0 || at.offset > total || length > total - at.offset)
        return REFUSE("offset %lld, length %lld is outside %s %lld bytes", (long long)at.offset,
                      (long long)length, whose[at.space], (long long)total);
    if (p->element_bytes > 0 && (at.offset % p->element_bytes != 0 || length % p->element_bytes != 0))
        return REFUSE("offset %lld, length %lld cuts an element of %lld bytes", (long long)at.offset,
                      (long long)length, (long long)p->element_bytes);
    return 0;
}

static int check_kind(const check *c, int r, int i)
{
    const pat_plan *p = &c->plans[r];
    const pat_node *n = &p->nodes[i];
    switch (n->kind) {
    case PAT_NODE_ARRIVE:
        return n->length == 0 ? 0 : REFUSE("%s", "ARRIVE names bytes");
    case PAT_NODE_NONE:
        if (p->starts && n->length == 0)
            return 0;
        return REFUSE("a message of nothing, but %s", n->length ? "it names bytes" : "all blocks are alike");
    case PAT_NODE_REDUCE:
        if (!c->collective->reduces || p->element_bytes < 1)
            return REFUSE("%s", "REDUCE, but nothing is to be reduced");
        return 0;
    case PAT_NODE_COPY:
        return 0;
    case PAT_NODE_SEND:
    case PAT_NODE_RECV:
        if (n->peer < 0 || n->peer >= c->num_ranks || n->peer == r)
            return REFUSE("peer %d is not another rank of %d", n->peer, c->num_ranks);
        return 0;
    }
    return REFUSE("unknown kind %d", (int)n->kind);
}

static int check_node(const check *c, int r, int i)
{
    const pat_plan *p = &c->plans[r];
    const pat_node *n = &p->nodes[i];
    int error = check_kind(c, r, i);
    if (!error && n->length < 0)
        error = REFUSE("length %lld", (long long)n->length);
    if (!error && pat_check_reads(n))
        error = check_range(c, r, i, n->from, n->length);
    if (!error && pat_check_writes(n))
        error = check_range(c, r, i, n->to, n->length);
    if (error)
        return error;
    if (pat_check_writes(n) && n->to.space == PAT_SPACE_OWN)
        return REFUSE("%s", "writes what the rank contributes");
    if (pat_check_writes(n) && pat_check_reads(n) && pat_overlap(n->from, n->to, n->length))
        return REFUSE("%s", "writes bytes that it reads");
    if (n->step < PAT_STEP_FREE || n->step >= p->num_nodes)
        return REFUSE("step %d cannot be, the plan has %d nodes", n->step, p->num_nodes);
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

/* All ranks' plans must be of one collective. */
static int check_alike(const check *c, int r)
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
    if (p->element_bytes != model->element_bytes)
        return pat_check_refuse(c, r, -1, "rank %d: its elements have %lld bytes, those of rank 0 %lld", r,
                                (long long)p->element_bytes, (long long)model->element_bytes);
    if (p->element_bytes > 0 && (p->carries || p->starts))
        return pat_check_refuse(c, r, -1, "rank %d: it reduces blocks that %s", r,
                                p->carries ? "carry arrival times" : "are not alike");
    return 0;
}

int pat_check_shape(const check *c, int r)
{
    const pat_plan *p = &c->plans[r];
    int num_arrive = 0, error = check_alike(c, r);
    for (int i = 0; i < p->num_nodes && !error; i++) {
        error = check_node(c, r, i);
        num_arrive += p->nodes[i].kind == PAT_NODE_ARRIVE;
    }
    if (error)
        return error;
    if (num_arrive != 1)
        return pat_check_refuse(c, r, -1, "rank %d: %d ARRIVE nodes, not one", r, num_arrive);
    return check_edges(c, r);
}

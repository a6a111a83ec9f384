/*
 * plan_fit.c — changes a plan that was built for ranks by number and blocks of one length to the order that ranks really
 * stand in, and to the lengths that blocks really have. Must never call MPI, read a clock or use floating point: see plan.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

static void refuse(pat_plan *plan, int error)
{
    if (!plan->error)
        plan->error = error;
}

/* The bytes lie in block b of the result: now in that of order[b]. */
static void reorder(pat_plan *plan, const int *order, pat_address *address, int64_t length)
{
    if (address->space != PAT_SPACE_RESULT || length == 0)
        return;
    const int64_t block = address->offset / plan->block_bytes, at = address->offset % plan->block_bytes;
    if (at + length > plan->block_bytes)
        refuse(plan, EINVAL);
    else
        address->offset = order[block] * plan->block_bytes + at;
}

void pat_plan_reorder(pat_plan *plan, const int *order)
{
    if (plan->element_bytes > 0 || pat_plan_is_personal(plan))
        refuse(plan, EINVAL);
    for (int i = 0; i < plan->num_nodes && !plan->error; i++) {
        pat_node *node = &plan->nodes[i];
        if (node->peer >= 0)
            node->peer = order[node->peer];
        reorder(plan, order, &node->from, node->length);
        reorder(plan, order, &node->to, node->length);
    }
    plan->rank = order[plan->rank];
    plan->root = order[plan->root];
}

/* Where byte `offset` of blocks that are all as long as the longest lies once each has its own length: at a block's end what is beyond it. */
static int64_t fitted(const pat_plan *plan, const int64_t *starts, int64_t offset)
{
    const int64_t block = offset / plan->block_bytes, at = offset % plan->block_bytes;
    if (block >= plan->num_ranks)
        return starts[plan->num_ranks];
    const int64_t length = starts[block + 1] - starts[block];
    return starts[block] + (at < length ? at : length);
}

/* The lengths that blocks really have. */
typedef struct lengths {
    const int64_t *starts, *own_starts;
} lengths;

static int64_t fitted_in(const pat_plan *plan, const lengths *real, enum pat_space space, int64_t offset)
{
    if (space != PAT_SPACE_OWN)
        return fitted(plan, real->starts, offset);
    if (real->own_starts)
        return fitted(plan, real->own_starts, offset);
    const int64_t own = real->starts[plan->rank + 1] - real->starts[plan->rank];
    return offset < own ? offset : own;
}

/* The bytes from an address on. Returns how many of them are left. */
static int64_t fit_range(const pat_plan *plan, const lengths *real, pat_address *address, int64_t length)
{
    const int64_t end = fitted_in(plan, real, address->space, address->offset + length);
    address->offset = fitted_in(plan, real, address->space, address->offset);
    return length > 0 ? end - address->offset : 0;
}

static void fit_node(pat_plan *plan, const lengths *real, pat_node *node)
{
    const int64_t length = node->length, in = fit_range(plan, real, &node->to, length),
                  out = fit_range(plan, real, &node->from, length);
    node->length = node->kind == PAT_NODE_SEND ? out : in;
    if (node->kind == PAT_NODE_COPY && in != out)
        refuse(plan, EINVAL);
    else if (pat_is_message(node) && length > 0 && node->length == 0)
        *node = (pat_node){.kind = PAT_NODE_NONE, .peer = node->peer, .match = -1, .step = node->step};
    else if (pat_is_message(node)) /* both sides have lost the same messages */
        node->match = (node->kind == PAT_NODE_SEND ? plan->sent_to : plan->recv_from)[node->peer]++;
}

static bool starts_ok(const pat_plan *plan, const int64_t *starts)
{
    bool ok = starts[0] == 0;
    for (int b = 0; b < plan->num_ranks && ok; b++)
        ok = starts[b] <= starts[b + 1] && starts[b + 1] - starts[b] <= plan->block_bytes;
    return ok;
}

void pat_plan_fit(pat_plan *plan, const int64_t *starts, const int64_t *own_starts)
{
    const size_t size = ((size_t)plan->num_ranks + 1) * sizeof *starts;
    const bool personal = pat_plan_is_personal(plan);
    if (plan->error)
        return;
    if (!plan->sent_to || plan->starts || plan->scratch_bytes > 0 || plan->element_bytes > 0 ||
        (own_starts != NULL) != personal || !starts_ok(plan, starts) ||
        (personal && !starts_ok(plan, own_starts)))
        refuse(plan, EINVAL);
    else if (!(plan->starts = malloc(size)))
        refuse(plan, ENOMEM);
    if (plan->error)
        return;
    memcpy(plan->starts, starts, size);
    for (int b = 0; b < plan->num_ranks; b++) {
        plan->sent_to[b] = plan->recv_from[b] = 0;
        plan->carries = plan->carries && starts[b] < starts[b + 1];
    }
    for (int i = 0; i < plan->num_nodes && plan->block_bytes > 0; i++)
        fit_node(plan, &(lengths){starts, own_starts}, &plan->nodes[i]);
}

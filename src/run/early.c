/*
 * early.c — see early.h.
 */
#include "early.h"

#include <sys/mman.h>

#include "runtime.h"

void pat_early_release(pat_lane *lane)
{
    atomic_fetch_sub(&pat_rt.early_reserved, lane->reserved);
    lane->reserved = 0;
    lane->landed_in_holder = false;
    /* Blocks of many rounds and communicators must not add up beyond the cap. */
    if (lane->stage && atomic_load(&pat_rt.stage_bytes) > pat_rt.config.mem_bytes)
        madvise(lane->stage, lane->stage_size, MADV_DONTNEED);
}

/* Take up to `wanted` bytes of PAT_MEM until pat_early_release. */
static int64_t reserve(pat_lane *lane, int64_t wanted)
{
    int64_t taken = atomic_fetch_add(&pat_rt.early_reserved, wanted);
    int64_t left = pat_rt.config.mem_bytes - taken;
    int64_t got = left <= 0 ? 0 : left < wanted ? left : wanted;
    atomic_fetch_sub(&pat_rt.early_reserved, wanted - got);
    lane->reserved += got;
    return got;
}

static bool make_stage(pat_lane *lane, const pat_plan *plan)
{
    const int64_t before = (int64_t)lane->stage_size;
    const int blocks = pat_collective_blocks(pat_collective_of(lane->op), plan->num_ranks);
    bool made = pat_comm_buffer(&lane->stage, &lane->stage_size, (size_t)pat_plan_block_start(plan, blocks));
    atomic_fetch_add(&pat_rt.stage_bytes, (int64_t)lane->stage_size - before);
    return made;
}

/* Does early data go to the result, or only to scratch? */
static bool lands_in_result(const pat_plan *plan)
{
    for (int i = 0; i < plan->num_nodes; i++) {
        const pat_node *n = &plan->nodes[i];
        if (n->early && n->kind == PAT_NODE_RECV && n->length > 0 && n->to.space == PAT_SPACE_RESULT)
            return true;
    }
    return false;
}

/*
 * The program may want the holder's buffer back (PAT_Request_free) while another rank, which has no room left, waits for just this program. So from
 * there only messages may be passed on that the MPI library takes at once. In a plan that has longer ones blocks come in elsewhere.
 */
static bool can_be_lent(const pat_comm *c, const pat_plan *plan)
{
    for (int i = 0; i < plan->num_nodes; i++) {
        const pat_node *n = &plan->nodes[i];
        if (!n->early || n->kind != PAT_NODE_SEND || n->from.space != PAT_SPACE_RESULT || n->length == 0)
            continue;
        const int first = pat_plan_block_of(plan, n->from.offset),
                  last = pat_plan_block_of(plan, n->from.offset + n->length - 1);
        const int64_t along = plan->carries ? (last - first + 1) * (int64_t)sizeof(pat_carried) : 0;
        if (n->sync || n->length + along > c->taken_bytes)
            return false;
    }
    return true;
}

void pat_early_land(pat_comm *c, pat_lane *lane)
{
    const pat_round *round = lane->prepared;
    const pat_call *open = c->hold.open;
    int64_t early;
    if (open && c->hold.op == lane->op && open->recv_plain &&
        pat_blocks_same(pat_blocks_of(open), pat_blocks_of_plan(round->plan), c->size) &&
        can_be_lent(c, round->plan)) {
        pat_exec_land(round->exec, open->recvbuf, INT64_MAX);
        lane->landed_in_holder = true;
        return;
    }
    pat_plan_recv_bytes(round->plan, &early);
    /* A round that nobody has announced may be long in coming: it leaves half of the memory to others. */
    const int64_t most = pat_rt.config.mem_bytes / 2;
    if (!pat_comm_estimates(c, pat_plan_cache_algorithm(round->plan)) && early > most)
        early = most;
    const int64_t got = reserve(lane, early);
    if (got == 0)
        return;
    if (!lands_in_result(round->plan))
        pat_exec_land(round->exec, NULL, got);
    else if (make_stage(lane, round->plan))
        pat_exec_land(round->exec, lane->stage, got);
}

int pat_early_leave_holder(pat_comm *c, pat_lane *lane)
{
    pat_exec *exec = lane->prepared->exec;
    int64_t early;
    bool done = false;
    pat_rest rest = pat_runtime_rest_begin();
    if (!make_stage(lane, lane->prepared->plan))
        return pat_error(MPI_ERR_NO_MEM, "no memory for %lld bytes of early data",
                         (long long)pat_exec_landed(exec));
    pat_plan_recv_bytes(lane->prepared->plan, &early);
    const int64_t got = reserve(lane, early);
    pthread_rwlock_wrlock(&pat_rt.driving);
    int rc = pat_exec_unland(exec);
    pthread_rwlock_unlock(&pat_rt.driving);
    while (rc == MPI_SUCCESS && !done) {
        bool moved = false;
        pthread_rwlock_rdlock(&pat_rt.driving);
        rc = pat_comm_pass_on(c, true, &moved); /* who is to take a forward in may wait for that first */
        if (rc == MPI_SUCCESS)
            rc = pat_exec_reland(exec, lane->stage, got, &done);
        pthread_rwlock_unlock(&pat_rt.driving);
        if (rc == MPI_SUCCESS && !done)
            pat_runtime_rest(&rest, moved);
    }
    /* What has landed beyond what PAT_MEM gives has landed all the same: it is counted. */
    const int64_t beyond = pat_exec_landed(exec) - lane->reserved;
    if (beyond > 0) {
        atomic_fetch_add(&pat_rt.early_reserved, beyond);
        lane->reserved += beyond;
    }
    return rc;
}

int pat_early_forget(pat_comm *c, pat_lane *lane)
{
    /* After an error its messages may still be under way: then it stays. */
    if (!pat_round_is(lane->prepared, PAT_ROUND_EARLY) || c->failure.code != MPI_SUCCESS)
        return MPI_SUCCESS;
    int rc = pat_comm_ended(c, pat_round_void(lane->prepared));
    if (rc == MPI_SUCCESS)
        pat_round_end(lane->prepared);
    pat_early_release(lane);
    return rc;
}

/*
 * A round prepared without estimates has no control messages, so each rank may make one when it likes. Forgotten it may
 * be only between calls, when no rank has called it: then nobody has sent it anything.
 */
int pat_early_drop_ahead(pat_comm *c, pat_lane *lane)
{
    return lane->prepared->plan && pat_comm_ahead(c, pat_plan_cache_algorithm(lane->prepared->plan))
               ? pat_early_forget(c, lane)
               : MPI_SUCCESS;
}

int pat_early_new_epoch(pat_comm *c, pat_lane *lane)
{
    int rc = pat_early_drop_ahead(c, lane);
    lane->epoch++;
    return rc;
}

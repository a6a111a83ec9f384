/*
 * rooted.c — see rooted.h. Plans count ranks from the root, so rank r of a plan is rank (r + root) mod P here. What a
 * rank holds of the result lies where the application wants it, or, on ranks that only pass it on, in a buffer of ours.
 */
#include "rooted.h"

#include <errno.h>
#include <limits.h>

#include "calibration.h"
#include "epoch.h"
#include "error.h"
#include "runtime.h"
#include "select.h"
#include "wait.h"

bool pat_rooted_fits(const pat_comm *c, enum pat_op op, int64_t bytes)
{
    /* A gather's messages hold many blocks, and MPI counts their bytes in an int. */
    const int blocks = pat_collective_blocks(pat_collective_of(op), c->size);
    return bytes > 0 && bytes <= (blocks > 1 ? INT_MAX / blocks : PAT_MAX_BLOCK);
}

static int make(pat_comm *c, pat_lane *lane, const pat_algorithm *alg, const pat_call *call)
{
    const pat_members members = pat_comm_members(c);
    pat_job job = pat_comm_job(c, lane, call->block_bytes);
    job.order = job.node_of = NULL; /* ranks stand as they are counted from the root */
    job.together = false;           /* it makes no difference here */
    job.segment_bytes =
        pat_collective_of(alg->op)->all_give ? PAT_FIRST_BYTES : pat_segment_bytes(call->block_bytes);
    pat_comm_explain_plan(c, lane, alg, &job);
    return pat_round_make(lane->current, &members, alg, &job, (c->rank - call->root + c->size) % c->size,
                          c->call_tags);
}

/* Up to which byte of the result this rank holds something of it. */
static int64_t result_end(const pat_plan *plan)
{
    int64_t end = 0;
    for (int i = 0; i < plan->num_nodes; i++) {
        const pat_address at = pat_node_address(&plan->nodes[i]);
        if (at.offset + plan->nodes[i].length > end)
            end = at.offset + plan->nodes[i].length;
    }
    return end;
}

static int buffer(pat_lane *lane, int64_t bytes, char **out)
{
    if (!pat_comm_buffer(&lane->pack, &lane->pack_size, (size_t)bytes))
        return pat_error(MPI_ERR_NO_MEM, "no memory for %lld bytes that are packed or passed on",
                         (long long)bytes);
    *out = lane->pack;
    return MPI_SUCCESS;
}

/* This rank's own bytes go to `place`: MPI packs them, or, where *own is set, the plan copies them. */
static int bring_own(const pat_comm *c, const pat_call *call, char *place, const char **own)
{
    if (call->in_place && call->recv_plain)
        return MPI_SUCCESS;
    if (!call->in_place && call->send_plain) {
        *own = call->sendbuf;
        return MPI_SUCCESS;
    }
    atomic_fetch_add_explicit(&pat_rt.bytes_copied, call->block_bytes, memory_order_relaxed);
    return pat_call_pack_own(call, c->own, c->rank, place);
}

/* Where the result is, and where in it the own block. */
static int place_gather(const pat_comm *c, pat_lane *lane, const pat_call *call, char **home,
                        const char **own)
{
    const int root = call->root;
    const int64_t bytes = call->block_bytes, total = bytes * c->size;
    const int rank = lane->current->plan->rank;
    int rc = MPI_SUCCESS;
    if (rank == 0) { /* the root: blocks in the order of the communicator's ranks */
        *home = call->recvbuf;
        if (!call->recv_plain)
            rc = buffer(lane, total, home);
        pat_exec_rotate(lane->current->exec, root, root * bytes, total);
        return rc != MPI_SUCCESS ? rc : bring_own(c, call, *home + root * bytes, own);
    }
    /* Elsewhere the own block comes first, and after it those that are passed on. */
    const int64_t held = result_end(lane->current->plan) - rank * bytes;
    pat_exec_rotate(lane->current->exec, root, total - rank * bytes, total);
    if (held == bytes && call->send_plain) { /* it is only read */
        *home = (char *)(uintptr_t)call->sendbuf;
        return MPI_SUCCESS;
    }
    rc = buffer(lane, held, home);
    return rc != MPI_SUCCESS ? rc : bring_own(c, call, *home, own);
}

static int place_bcast(const pat_comm *c, pat_lane *lane, const pat_call *call, char **home)
{
    pat_exec_rotate(lane->current->exec, call->root, 0, call->block_bytes);
    *home = call->recvbuf;
    if (call->recv_plain)
        return MPI_SUCCESS;
    int rc = buffer(lane, call->block_bytes, home);
    const char *own = NULL;
    return rc == MPI_SUCCESS && c->rank == call->root ? bring_own(c, call, *home, &own) : rc;
}

static int begin(pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    char *home = NULL;
    const char *own = NULL;
    pat_lane *lane = &c->lanes[alg->op];
    int rc = make(c, lane, alg, call);
    if (rc == MPI_SUCCESS)
        rc = pat_collective_of(alg->op)->all_give ? place_gather(c, lane, call, &home, &own)
                                                  : place_bcast(c, lane, call, &home);
    return rc == MPI_SUCCESS ? pat_round_arrive(lane->current, home, own, NULL) : rc;
}

static bool under_way(const pat_comm *c)
{
    return pat_round_is(c->rooted->current, PAT_ROUND_RUNNING) || pat_credits_hold(&c->credits);
}

/* While this rank waits, others may need what else it has under way here. */
static int look(pat_comm *c, bool *moved)
{
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = pat_round_look(c->rooted->current, moved);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc == MPI_SUCCESS ? pat_epoch_look(c, moved) : rc;
}

static int finish(pat_comm *c, const pat_call *call)
{
    int rc = MPI_SUCCESS;
    pat_lane *lane = c->rooted;
    pat_exec_stats stats = pat_exec_get_stats(lane->current->exec);
    const pat_collective *row = pat_collective_of(lane->op);
    const pat_plan *plan = lane->current->plan;
    const int blocks = pat_collective_blocks(row, c->size);
    const bool gives_alone = !row->all_give && pat_collective_gives(row, plan);
    if (!call->recv_plain && pat_collective_gets(row, plan) && !gives_alone) {
        rc = pat_call_unpack(call, c->own, blocks > 1 ? call->root : -1, blocks, lane->pack);
        stats.bytes_copied += call->block_bytes * blocks;
    }
    pat_runtime_count_data(&stats);
    pat_round_end(lane->current);
    c->rooted = NULL;
    return rc;
}

/* A round that breaks off stays where it is: messages may still be under way. */
static int run(pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    int rc = pat_comm_failed(c);
    if (rc != MPI_SUCCESS)
        return rc;
    pat_credits_count(&c->credits,
                      call->block_bytes * pat_collective_blocks(pat_collective_of(alg->op), c->size));
    pthread_rwlock_rdlock(&pat_rt.driving);
    rc = begin(c, call, alg);
    pthread_rwlock_unlock(&pat_rt.driving);
    c->rooted = &c->lanes[alg->op];
    if (rc == MPI_SUCCESS)
        rc = pat_wait_while(c, under_way, look);
    if (rc == MPI_SUCCESS)
        rc = finish(c, call);
    if (rc == MPI_SUCCESS)
        rc = pat_credits_pass(&c->credits);
    return pat_comm_ended(c, rc);
}

const pat_algorithm *pat_rooted_choose(pat_comm *c, const pat_algorithm *alg, int64_t bytes)
{
    pat_comm_lock(c);
    alg = pat_select_rooted(c, alg, bytes);
    pat_comm_unlock(c);
    return alg;
}

int pat_rooted_run(pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    pat_comm_lock(c);
    int rc = run(c, call, alg);
    /* The thread has left the communicator alone meanwhile. */
    bool more = pat_credits_wake(&c->credits) || pat_epoch_goes_on(c);
    pat_comm_unlock(c);
    if (more && pat_rt.thread)
        pat_thread_kick(pat_rt.thread);
    return rc;
}

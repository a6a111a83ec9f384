/*
 * rooted.c — see rooted.h.
 */
#include "rooted.h"

#include "bring.h"
#include "calibration.h"
#include "epoch.h"
#include "runtime.h"
#include "select.h"
#include "wait.h"

/* Not the lane's round and memory: a request may have these, on some ranks still and on others no more. */
static pat_work work_of(pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    return (pat_work){alg->op, &c->alone, call, &c->alone_pack};
}

static bool has_root(enum pat_op op)
{
    return pat_collective_of(op)->rooted;
}

/* Where there is no root, all ranks are counted by number. */
static int make_round(pat_comm *c, const pat_work *work, const pat_algorithm *alg)
{
    if (has_root(alg->op))
        return pat_bring_rooted(c, work, alg, &c->link, pat_segment_bytes(work->call->block_bytes),
                                c->call_tags);
    const pat_members members = pat_comm_members(c);
    pat_lane *lane = &c->lanes[alg->op];
    pat_job job = pat_comm_job(c, lane, &c->link, work->call->block_bytes);
    job.together = false; /* it makes no difference to what moves in the call alone */
    job.element_bytes = work->call->element_bytes;
    pat_comm_explain_plan(c, lane, alg, &job);
    return pat_round_make(work->round, &members, alg, &job, c->rank, c->call_tags);
}

static int begin(pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    char *home;
    const char *own;
    const pat_work work = work_of(c, call, alg);
    int rc = make_round(c, &work, alg);
    if (rc == MPI_SUCCESS)
        rc = has_root(alg->op) ? pat_bring_rooted_buffers(c, &work, &home, &own)
                               : pat_bring_buffers(c, &work, &home, &own);
    if (rc == MPI_SUCCESS && call->element_bytes > 0)
        pat_exec_reduces(c->alone.exec, call->recvtype, call->op);
    return rc == MPI_SUCCESS ? pat_round_arrive(&c->alone, home, own, NULL) : rc;
}

static bool under_way(const pat_comm *c)
{
    return pat_round_is(&c->alone, PAT_ROUND_RUNNING) || pat_credits_hold(&c->credits);
}

/* While this rank waits, others may need what else it has under way here. */
static int look(pat_comm *c, bool *moved)
{
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = pat_round_look(&c->alone, moved);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc == MPI_SUCCESS ? pat_epoch_look(c, moved) : rc;
}

static int finish(pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    const pat_work work = work_of(c, call, alg);
    int rc = pat_bring_back(c, &work);
    pat_round_end(&c->alone);
    c->rooted = false;
    return rc;
}

/* A round that breaks off stays where it is: messages may still be under way. Without a root ranks are kept together by the call itself. */
static int run(pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    int rc = pat_comm_failed(c);
    if (rc != MPI_SUCCESS)
        return rc;
    if (has_root(alg->op))
        pat_credits_count(&c->credits,
                          call->block_bytes * pat_collective_blocks(pat_collective_of(alg->op), c->size));
    pthread_rwlock_rdlock(&pat_rt.driving);
    rc = begin(c, call, alg);
    pthread_rwlock_unlock(&pat_rt.driving);
    c->rooted = true;
    if (rc == MPI_SUCCESS)
        rc = pat_wait_while(c, under_way, look);
    if (rc == MPI_SUCCESS)
        rc = finish(c, call, alg);
    if (rc == MPI_SUCCESS && has_root(alg->op))
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

/*
 * api.c — the public calls but for the persistent form: arguments are judged here, the work is done
 * elsewhere.
 */
#include "pat.h"

#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "comm.h"
#include "epoch.h"
#include "error.h"
#include "fail.h"
#include "request.h"
#include "rooted.h"
#include "runtime.h"
#include "select.h"

/* ---- The library's life ------------------------------------------------------------------------------- */

static int mpi_must_be_up(const char *who)
{
    int up, down;
    PMPI_Initialized(&up);
    PMPI_Finalized(&down);
    if (!up)
        return pat_error(MPI_ERR_OTHER, "%s: call MPI_Init_thread first", who);
    if (down)
        return pat_error(MPI_ERR_OTHER, "%s: MPI_Finalize was already called", who);
    return MPI_SUCCESS;
}

static int must_be_started(const char *who)
{
    if (atomic_load(&pat_rt.started))
        return MPI_SUCCESS;
    return pat_error(MPI_ERR_OTHER, "%s: the library is not started, call PAT_Init first", who);
}

int PAT_Init(void)
{
    int rc = mpi_must_be_up("PAT_Init");
    if (rc != MPI_SUCCESS)
        return rc;
    if (!atomic_load(&pat_rt.started))
        rc = pat_runtime_init();
    else if (pat_rt.hosted && !pat_rt.invited)
        pat_rt.patience = 0; /* the drop-in has started it, and this program means what it calls */
    else
        return pat_error(MPI_ERR_OTHER, "PAT_Init: the library is already started");
    pat_rt.invited = rc == MPI_SUCCESS;
    return rc;
}

int PAT_Finalize(void)
{
    int rc = must_be_started("PAT_Finalize");
    if (rc == MPI_SUCCESS)
        rc = mpi_must_be_up("PAT_Finalize");
    if (rc == MPI_SUCCESS && pat_rt.hosted && !pat_rt.invited)
        rc = pat_error(MPI_ERR_OTHER, "PAT_Finalize: the library is not started, call PAT_Init first");
    if (rc != MPI_SUCCESS)
        return rc;
    pat_rt.invited = false;
    return pat_rt.hosted ? MPI_SUCCESS : pat_runtime_shutdown(); /* the drop-in goes on to MPI_Finalize */
}

int PAT_Get_version(int *major, int *minor, int *patch)
{
    if (!major || !minor || !patch)
        return pat_error(MPI_ERR_ARG, "PAT_Get_version: a null pointer");
    *major = PAT_VERSION_MAJOR;
    *minor = PAT_VERSION_MINOR;
    *patch = PAT_VERSION_PATCH;
    return MPI_SUCCESS;
}

/* ---- Milestones --------------------------------------------------------------------------------------- */

int PAT_ProcessingStart(void)
{
    int rc = must_be_started("PAT_ProcessingStart");
    if (rc != MPI_SUCCESS)
        return rc;
    pthread_mutex_lock(&pat_rt.lock);
    pat_milestone_start(&pat_rt.milestone, pat_clock_local_ns());
    pthread_mutex_unlock(&pat_rt.lock);
    return MPI_SUCCESS;
}

static int milestone_verdict(enum pat_milestone_error error, const char *who, double percent, double last)
{
    switch (error) {
    case PAT_MILESTONE_OK:
        return MPI_SUCCESS;
    case PAT_MILESTONE_NO_START:
        return pat_error(MPI_ERR_OTHER, "%s: call PAT_ProcessingStart first", who);
    case PAT_MILESTONE_RANGE:
        return pat_error(MPI_ERR_ARG, "%s: percent is %g; accepted: more than 0 and less than 100", who,
                         percent);
    case PAT_MILESTONE_NOT_INCREASING:
        return pat_error(MPI_ERR_ARG,
                         "%s: percent is %g; accepted: more than %g, that of the last PAT_Edge of this phase",
                         who, percent, last);
    }
    return MPI_ERR_INTERN;
}

int PAT_Edge(double percent)
{
    int rc = must_be_started("PAT_Edge");
    if (rc != MPI_SUCCESS)
        return rc;
    bool tell = false;
    pthread_mutex_lock(&pat_rt.lock);
    bool first = !pat_rt.milestone.have_estimate;
    double last = pat_rt.milestone.percent;
    enum pat_milestone_error error = pat_milestone_edge(&pat_rt.milestone, percent, pat_clock_local_ns());
    if (error == PAT_MILESTONE_OK && first && pat_rt.last && pat_rt.thread &&
        atomic_load(&pat_rt.alg[PAT_OP_ALLGATHER])->uses_arrivals) {
        atomic_store(&pat_rt.last->edge_arrival_ns, pat_rt.milestone.estimate_ns + pat_rt.clock.offset_ns);
        atomic_store(&pat_rt.last->edge, true);
        tell = true;
    }
    pthread_mutex_unlock(&pat_rt.lock);
    if (tell)
        pat_thread_kick(pat_rt.thread);
    return milestone_verdict(error, "PAT_Edge", percent, last);
}

int PAT_ProcessingEnd(void)
{
    int rc = must_be_started("PAT_ProcessingEnd");
    if (rc != MPI_SUCCESS)
        return rc;
    pthread_mutex_lock(&pat_rt.lock);
    enum pat_milestone_error error = pat_milestone_end(&pat_rt.milestone, pat_clock_local_ns());
    pthread_mutex_unlock(&pat_rt.lock);
    return milestone_verdict(error, "PAT_ProcessingEnd", 0, 0);
}

/* ---- All-gather --------------------------------------------------------------------------------------- */

int PAT_UseAlg(const char *name)
{
    int rc = must_be_started("PAT_UseAlg");
    if (rc != MPI_SUCCESS)
        return rc;
    const pat_algorithm *alg = name ? pat_algorithm_find(name) : NULL;
    if (!pat_algorithm_is_whole(alg))
        alg = NULL;
    int mine[2], most[2];
    mine[0] = alg ? (int)(alg - pat_algorithm_at(0)) : -1;
    mine[1] = -mine[0];
    rc = pat_runtime_agree(mine, most, 2);
    if (rc != MPI_SUCCESS)
        return pat_fail(MPI_COMM_WORLD, rc);
    if (!alg)
        return pat_error(
            MPI_ERR_ARG,
            "PAT_UseAlg: unknown algorithm \"%s\"; accepted: %s; for PAT_Bcast %s; for PAT_Gather %s",
            name ? name : "(null)", pat_algorithm_names(PAT_OP_ALLGATHER), pat_algorithm_names(PAT_OP_BCAST),
            pat_algorithm_names(PAT_OP_GATHER));
    if (most[0] != -most[1])
        return pat_error(MPI_ERR_ARG, "PAT_UseAlg: the ranks named different algorithms; this one \"%s\"",
                         name);
    if (alg->op != PAT_OP_ALLGATHER) /* nothing is ever under way between calls */
        atomic_store(&pat_rt.alg[alg->op], alg);
    if (alg == atomic_load(&pat_rt.alg[alg->op]))
        return MPI_SUCCESS;
    bool busy;
    rc = pat_runtime_settle(&busy);
    if (rc != MPI_SUCCESS)
        return pat_fail(MPI_COMM_WORLD, rc);
    if (busy)
        return pat_error(MPI_ERR_REQUEST,
                         "PAT_UseAlg: a request is started on some rank; call PAT_Wait first");
    rc = pat_runtime_use(alg);
    return rc == MPI_SUCCESS ? rc : pat_fail(MPI_COMM_WORLD, rc);
}

/* The call as a plan. Only what is the same on all ranks decides whether we get here. */
static int run_by_plan(pat_comm *c, const pat_call *call, const pat_algorithm *alg, pat_outcome *outcome)
{
    pthread_mutex_lock(&c->lock);
    const int64_t told = c->num_spreads;
    int rc;
    if (pat_request_started(
            c->holder)) /* by what the program did: how far the round has come differs from rank to rank */
        rc = pat_error(MPI_ERR_REQUEST,
                       "PAT_Allgather: a request is started on this communicator; call PAT_Wait first");
    else
        rc = pat_epoch_begin(c, call, alg);
    if (rc == MPI_SUCCESS) {
        c->by_request = false;
        rc = pat_epoch_wait(c);
        if (outcome && told > 0 && c->num_spreads > told) { /* the first call has made the state as well */
            outcome->late = c->late;
            outcome->native_ns = pat_select_native_ns(c, call->mean_bytes);
        }
        pat_select_learn(c);
    }
    pthread_mutex_unlock(&c->lock);
    pat_runtime_used(c);
    if (pat_comm_ahead(c, alg))
        pat_thread_kick(pat_rt.thread); /* it prepares the next round */
    return rc == MPI_SUCCESS ? rc : pat_fail(call->comm, rc);
}

/* What is in use for all-gathers; NULL where a call here cannot be any but the MPI library's. */
static const pat_algorithm *allgather_in_use(MPI_Datatype type, MPI_Comm comm)
{
    const pat_algorithm *alg = atomic_load_explicit(&pat_rt.alg[PAT_OP_ALLGATHER], memory_order_acquire);
    if (!alg || !atomic_load(&pat_rt.started))
        return NULL;
    if (comm != MPI_COMM_NULL && type != MPI_DATATYPE_NULL && (alg->build || alg->chooses))
        return alg;
    pat_runtime_count(pat_algorithm_native(PAT_OP_ALLGATHER));
    return NULL;
}

/*
 * Nothing that a choice could gain: neither look at the arguments nor make a state for the communicator. Only what is the
 * same on all ranks counts; what MPI would reject it gets. `items`: in all blocks of `num_ranks`.
 */
static bool is_small(const pat_algorithm *alg, int64_t items, int num_ranks, MPI_Datatype type)
{
    int type_size = 0;
    return alg->chooses && (!pat_rt.all_threads || PMPI_Type_size(type, &type_size) != MPI_SUCCESS ||
                            pat_select_is_small(num_ranks, items * type_size / num_ranks));
}

/* An all-gather that `call` describes, or NULL: one that is left to the MPI library. */
static bool allgather(const pat_algorithm *alg, const pat_call *call, MPI_Comm comm, pat_outcome *outcome,
                      int *rc)
{
    pat_comm *c = NULL;
    const bool ours = call && call->block_bytes > 0 && call->block_bytes <= PAT_MAX_BLOCK;
    *rc = ours ? pat_comm_get(comm, &c) : MPI_SUCCESS;
    if (*rc != MPI_SUCCESS) {
        *rc = pat_fail(comm, *rc);
        return true;
    }
    alg = pat_select(c, alg, c ? call->mean_bytes : 0);
    pat_runtime_count(alg);
    if (c && alg->build) {
        if (outcome)
            outcome->alg = alg;
        *rc = run_by_plan(c, call, alg, outcome);
        return true;
    }
    if (c)
        pat_select_passed_on(c, call->mean_bytes);
    return false;
}

bool pat_allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm, pat_outcome *outcome, int *rc)
{
    pat_call call;
    int size = 1;
    const pat_algorithm *alg = allgather_in_use(recvtype, comm);
    if (!alg)
        return false;
    const bool ours =
        recvcount > 0 && PMPI_Comm_size(comm, &size) == MPI_SUCCESS &&
        !is_small(alg, (int64_t)recvcount * size, size, recvtype) &&
        pat_call_describe(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    return allgather(alg, ours ? &call : NULL, comm, outcome, rc);
}

bool pat_allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm,
                    pat_outcome *outcome, int *rc)
{
    int rank = 0, size = 0, inter = 1;
    int64_t items = 0;
    const pat_algorithm *alg = allgather_in_use(recvtype, comm);
    if (!alg)
        return false;
    /* Between groups there are as many counts as the other one has ranks. */
    const bool known = recvcounts && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter &&
                       PMPI_Comm_size(comm, &size) == MPI_SUCCESS &&
                       PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && size > 1;
    for (int r = 0; r < size && known; r++)
        items += recvcounts[r] > 0 ? recvcounts[r] : 0;
    if (!known || items == 0 || is_small(alg, items, size, recvtype))
        return allgather(alg, NULL, comm, outcome, rc);
    pat_call call;
    int64_t *starts = malloc(((size_t)size + 1) * sizeof(*starts));
    if (!starts) {
        *rc = pat_fail(comm, pat_error(MPI_ERR_NO_MEM, "no memory for the lengths of %d blocks", size));
        return true;
    }
    const bool ours = pat_call_describe_v(&call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                          recvtype, comm, rank, size, starts);
    const bool run = allgather(alg, ours ? &call : NULL, comm, outcome, rc);
    free(starts);
    return run;
}

int PAT_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm)
{
    int rc;
    if (pat_allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, NULL, &rc))
        return rc;
    rc = PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    if (rc != MPI_SUCCESS)
        pat_error_clear(); /* MPI's verdict: the detail of an earlier error of ours does not belong to it */
    return rc;
}

int PAT_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    int rc;
    if (pat_allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm, NULL, &rc))
        return rc;
    rc = PMPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, comm);
    if (rc != MPI_SUCCESS)
        pat_error_clear();
    return rc;
}

/* ---- Operations with a root ----------------------------------------------------------------------------- */

/*
 * The call as a plan, where that can be. Only what is the same on all ranks decides: `described` is false on ranks whose
 * arguments are wrong. Returns whether it has run, with the error code in *rc.
 */
static bool rooted_by_plan(const pat_algorithm *alg, bool described, const pat_call *call, int root,
                           pat_outcome *outcome, int *rc)
{
    pat_comm *c = NULL;
    const bool ours = described && call->block_bytes > 0 && call->block_bytes <= PAT_MAX_BLOCK;
    *rc = ours ? pat_comm_get(call->comm, &c) : MPI_SUCCESS;
    if (*rc != MPI_SUCCESS) {
        *rc = pat_fail(call->comm, *rc);
        return true;
    }
    if (c && pat_rooted_fits(c, alg->op, call->block_bytes) && root >= 0 && root < c->size)
        alg = pat_rooted_choose(c, alg, call->block_bytes);
    else
        alg = pat_algorithm_native(alg->op);
    pat_runtime_count(alg);
    if (!alg->build)
        return false;
    if (outcome)
        outcome->alg = alg;
    *rc = pat_rooted_run(c, call, alg, root);
    if (*rc != MPI_SUCCESS)
        *rc = pat_fail(call->comm, *rc);
    return true;
}

/* What is in use for the operation; NULL where nothing but the MPI library can be meant. */
static const pat_algorithm *in_use(enum pat_op op, MPI_Comm comm)
{
    const pat_algorithm *alg = atomic_load_explicit(&pat_rt.alg[op], memory_order_acquire);
    if (!alg || !atomic_load(&pat_rt.started))
        return NULL;
    int inter = 0;
    if (comm != MPI_COMM_NULL && (alg->build || (alg->chooses && pat_rt.calibration)) &&
        PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && !inter)
        return alg; /* between groups some arguments are of no significance and must not be looked at */
    pat_runtime_count(pat_algorithm_native(op));
    return NULL;
}

bool pat_bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, pat_outcome *outcome,
               int *rc)
{
    pat_call call;
    const pat_algorithm *alg = in_use(PAT_OP_BCAST, comm);
    return alg && rooted_by_plan(alg, pat_call_describe_one(&call, buffer, count, datatype, comm), &call,
                                 root, outcome, rc);
}

bool pat_gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm, pat_outcome *outcome, int *rc)
{
    int rank;
    pat_call call;
    const pat_algorithm *alg = in_use(PAT_OP_GATHER, comm);
    if (!alg || PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
        return false;
    const bool described = rank == root ? pat_call_describe(&call, sendbuf, sendcount, sendtype, recvbuf,
                                                            recvcount, recvtype, comm)
                                        : pat_call_describe_send(&call, sendbuf, sendcount, sendtype, comm);
    return rooted_by_plan(alg, described, &call, root, outcome, rc);
}

int PAT_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    int rc;
    if (pat_bcast(buffer, count, datatype, root, comm, NULL, &rc))
        return rc;
    rc = PMPI_Bcast(buffer, count, datatype, root, comm);
    if (rc != MPI_SUCCESS)
        pat_error_clear();
    return rc;
}

int PAT_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
               MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    int rc;
    if (pat_gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, NULL, &rc))
        return rc;
    rc = PMPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);
    if (rc != MPI_SUCCESS)
        pat_error_clear();
    return rc;
}

/* ---- Counters ----------------------------------------------------------------------------------------- */

int PAT_Get_counters(PAT_Counters *out)
{
    if (!out)
        return pat_error(MPI_ERR_ARG, "PAT_Get_counters: a null pointer");
    memset(out, 0, sizeof(*out));
    int rc = must_be_started("PAT_Get_counters");
    if (rc != MPI_SUCCESS)
        return rc;
    for (int i = 0; i < pat_algorithm_count(); i++) {
        if (!pat_algorithm_is_whole(pat_algorithm_at(i)))
            continue;
        out->alg_name[out->num_algs] = pat_algorithm_at(i)->name;
        out->alg_calls[out->num_algs] = atomic_load(&pat_rt.alg_calls[i]);
        out->calls += out->alg_calls[out->num_algs++];
    }
    out->bytes_received = atomic_load(&pat_rt.bytes_received);
    out->bytes_early = atomic_load(&pat_rt.bytes_early);
    out->bytes_copied = atomic_load(&pat_rt.bytes_copied);
    out->wait_ns = atomic_load(&pat_rt.wait_ns);
    out->plans_void = atomic_load(&pat_rt.plans_void);
    if (pat_rt.thread)
        pat_thread_usage(pat_rt.thread, &out->thread_cpu_ns, &out->thread_wakeups);
    return MPI_SUCCESS;
}

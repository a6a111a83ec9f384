/*
 * api.c — the public calls but for the collectives: the library's life, milestones, which algorithm is in use, counters. The collectives: collectives.c.
 */
#include "pat.h"

#include <stdio.h>
#include <string.h>

#include "announce.h"
#include "collective.h"
#include "comm.h"
#include "error.h"
#include "explain.h"
#include "fail.h"
#include "life.h"
#include "link.h"
#include "runtime.h"
#include "settle.h"

/* ---- The library's life ------------------------------------------------------------------------------- */

static int mpi_must_be_up(const char *who)
{
    int up, down;
    pat_error_begin();
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
    pat_error_begin();
    if (atomic_load(&pat_rt.started))
        return MPI_SUCCESS;
    return pat_error(MPI_ERR_OTHER, "%s: the library is not started, call PAT_Init first", who);
}

/* The program has started MPI itself: what the drop-in does for UCX before that, it has to do, too. */
static void explain_ucx(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (pat_rt.config.explain && rank == 0 && pat_rt.thread && pat_link_ucx_spins())
        pat_explain_ucx(PAT_LINK_UCX_LOCK);
}

int PAT_Init(void)
{
    int rc = mpi_must_be_up("PAT_Init");
    if (rc != MPI_SUCCESS)
        return rc;
    if (!atomic_load(&pat_rt.started)) {
        rc = pat_error_end(pat_life_begin());
        if (rc == MPI_SUCCESS)
            explain_ucx();
    } else if (pat_rt.hosted && !pat_rt.invited)
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
    return pat_rt.hosted ? MPI_SUCCESS
                         : pat_error_end(pat_life_end()); /* the drop-in goes on to MPI_Finalize */
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

static void tell_milestone(int64_t now_ns, double percent)
{
    if (pat_rt.milestone_told)
        pat_rt.milestone_told(now_ns, percent);
}

int PAT_ProcessingStart(void)
{
    int rc = must_be_started("PAT_ProcessingStart");
    if (rc != MPI_SUCCESS)
        return rc;
    pthread_mutex_lock(&pat_rt.lock);
    const int64_t now_ns = pat_clock_local_ns();
    pat_milestone_start(&pat_rt.milestone, now_ns);
    pthread_mutex_unlock(&pat_rt.lock);
    tell_milestone(now_ns, 0);
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
    const int64_t now_ns = pat_clock_local_ns();
    double last = pat_rt.milestone.percent;
    enum pat_milestone_error error = pat_milestone_edge(&pat_rt.milestone, percent, now_ns);
    if (error == PAT_MILESTONE_OK) {
        atomic_store(&pat_rt.edged, true);
        tell = pat_announce_edge(now_ns);
    }
    pthread_mutex_unlock(&pat_rt.lock);
    if (tell)
        pat_thread_kick(pat_rt.thread);
    if (error == PAT_MILESTONE_OK)
        tell_milestone(now_ns, percent);
    return milestone_verdict(error, "PAT_Edge", percent, last);
}

int PAT_ProcessingEnd(void)
{
    int rc = must_be_started("PAT_ProcessingEnd");
    if (rc != MPI_SUCCESS)
        return rc;
    pthread_mutex_lock(&pat_rt.lock);
    const int64_t now_ns = pat_clock_local_ns();
    enum pat_milestone_error error = pat_milestone_end(&pat_rt.milestone, now_ns);
    pthread_mutex_unlock(&pat_rt.lock);
    if (error == PAT_MILESTONE_OK)
        tell_milestone(now_ns, 100);
    return milestone_verdict(error, "PAT_ProcessingEnd", 0, 0);
}

/* ---- Algorithms --------------------------------------------------------------------------------------- */

static int unknown_algorithm(const char *name)
{
    char accepted[1024];
    snprintf(accepted, sizeof(accepted), "%s", pat_algorithm_names((enum pat_op)0));
    for (int op = 1; op < PAT_NUM_OPS; op++) {
        const size_t used = strlen(accepted);
        snprintf(accepted + used, sizeof(accepted) - used, "; for PAT_%s %s",
                 pat_collective_of((enum pat_op)op)->mpi + strlen("MPI_"),
                 pat_algorithm_names((enum pat_op)op));
    }
    return pat_error(MPI_ERR_ARG, "PAT_UseAlg: unknown algorithm \"%s\"; accepted: %s",
                     name ? name : "(null)", accepted);
}

int PAT_UseAlg(const char *name)
{
    int rc = must_be_started("PAT_UseAlg");
    if (rc != MPI_SUCCESS)
        return rc;
    const pat_algorithm *alg = name ? pat_algorithm_find(name) : NULL;
    int mine[2], most[2];
    mine[0] = alg ? (int)(alg - pat_algorithm_at(0)) : -1;
    mine[1] = -mine[0];
    rc = pat_runtime_agree(mine, most, 2);
    if (rc != MPI_SUCCESS)
        return pat_fail(MPI_COMM_WORLD, rc);
    if (!alg)
        return unknown_algorithm(name);
    if (most[0] != -most[1])
        return pat_error(MPI_ERR_ARG, "PAT_UseAlg: the ranks named different algorithms; this one \"%s\"",
                         name);
    if (!pat_collective_of(alg->op)->moves_early) /* nothing is ever under way between calls */
        atomic_store(&pat_rt.alg[alg->op], alg);
    if (alg == atomic_load(&pat_rt.alg[alg->op]))
        return MPI_SUCCESS;
    bool busy = false;
    rc = pat_settle(alg, &busy);
    if (busy)
        return pat_error(MPI_ERR_REQUEST,
                         "PAT_UseAlg: a request is started on some rank; call PAT_Wait first");
    return rc == MPI_SUCCESS ? rc : pat_fail(MPI_COMM_WORLD, rc);
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
        out->alg_name[out->num_algs] = pat_algorithm_at(i)->name;
        out->alg_calls[out->num_algs] = atomic_load(&pat_rt.alg_calls[i]);
        out->calls += out->alg_calls[out->num_algs++];
    }
    out->bytes_received = atomic_load(&pat_rt.bytes_received);
    out->bytes_early = atomic_load(&pat_rt.bytes_early);
    out->bytes_copied = atomic_load(&pat_rt.bytes_copied);
    out->wait_ns = atomic_load(&pat_rt.wait_ns);
    out->plans_void = atomic_load(&pat_rt.plans_void);
    out->estimates = atomic_load(&pat_rt.estimates);
    out->estimates_off_ns = atomic_load(&pat_rt.estimates_off_ns);
    if (pat_rt.thread)
        pat_thread_usage(pat_rt.thread, &out->thread_cpu_ns, &out->thread_wakeups);
    return MPI_SUCCESS;
}

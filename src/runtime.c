/*
 * runtime.c — see runtime.h.
 */
#include "runtime.h"

/* Where it can be had, a writer goes first: callers that look without pause must not keep one out. */
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#define DRIVING_INITIALIZER PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#else
#define DRIVING_INITIALIZER PTHREAD_RWLOCK_INITIALIZER
#endif

pat_runtime pat_rt = {.lock = PTHREAD_MUTEX_INITIALIZER, .driving = DRIVING_INITIALIZER};

void pat_runtime_reset(void)
{
    for (int i = 0; i < PAT_MAX_ALGS; i++)
        atomic_store(&pat_rt.alg_calls[i], 0);
    atomic_store(&pat_rt.bytes_received, 0);
    atomic_store(&pat_rt.bytes_early, 0);
    atomic_store(&pat_rt.bytes_copied, 0);
    atomic_store(&pat_rt.wait_ns, 0);
    atomic_store(&pat_rt.plans_void, 0);
    atomic_store(&pat_rt.early_reserved, 0);
}

bool pat_runtime_estimates(void)
{
    bool any = false;
    for (int op = 0; op < PAT_NUM_OPS; op++)
        any = any || atomic_load(&pat_rt.alg[op])->uses_arrivals;
    return any;
}

void pat_runtime_used(struct pat_comm *c)
{
    pthread_mutex_lock(&pat_rt.lock);
    pat_rt.last = c;
    pthread_mutex_unlock(&pat_rt.lock);
}

void pat_runtime_drive_others(void)
{
    pat_visit visit = {.reliable = false};
    if (!pat_rt.thread && pat_rt.visit_all)
        pat_rt.visit_all(NULL, &visit);
}

int pat_runtime_agree(const int *mine, int *most, int count)
{
    MPI_Request request;
    int done = 0;
    int rc = PMPI_Iallreduce(mine, most, count, MPI_INT, MPI_MAX, pat_rt.world, &request);
    while (rc == MPI_SUCCESS && !done) {
        rc = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        pat_runtime_drive_others();
    }
    return rc;
}

/*
 * runtime.c — see runtime.h.
 */
#include "runtime.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error.h"
#include "pace.h"

/* Where it can be had, a writer goes first: callers that look without pause must not keep one out. */
#ifdef PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#define DRIVING_INITIALIZER PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
#else
#define DRIVING_INITIALIZER PTHREAD_RWLOCK_INITIALIZER
#endif

pat_runtime pat_rt = {.lock = PTHREAD_MUTEX_INITIALIZER,
                      .keep = PTHREAD_MUTEX_INITIALIZER,
                      .keeps_lock = PTHREAD_MUTEX_INITIALIZER,
                      .driving = DRIVING_INITIALIZER,
                      .time = {.lock = PTHREAD_MUTEX_INITIALIZER}};

void pat_runtime_reset(void)
{
    for (int i = 0; i < PAT_MAX_ALGS; i++)
        atomic_store(&pat_rt.alg_calls[i], 0);
    atomic_store(&pat_rt.bytes_received, 0);
    atomic_store(&pat_rt.bytes_early, 0);
    atomic_store(&pat_rt.bytes_copied, 0);
    atomic_store(&pat_rt.wait_ns, 0);
    atomic_store(&pat_rt.plans_void, 0);
    atomic_store(&pat_rt.estimates, 0);
    atomic_store(&pat_rt.estimates_off_ns, 0);
    atomic_store(&pat_rt.early_reserved, 0);
}

bool pat_runtime_estimates(void)
{
    bool any = false;
    for (int op = 0; op < PAT_NUM_OPS; op++)
        any = any || atomic_load(&pat_rt.alg[op])->uses_arrivals;
    return any;
}

void pat_runtime_drive_others(void)
{
    pat_visit visit = {.told = {false, false}};
    if (!pat_rt.thread && pat_rt.visit_all)
        pat_rt.visit_all(NULL, &visit);
}

pat_rest pat_runtime_rest_begin(void)
{
    return (pat_rest){.moved_ns = pat_clock_local_ns()};
}

void pat_runtime_rest(pat_rest *rest, bool moved)
{
    const int64_t now_ns = pat_clock_local_ns();
    rest->idle = moved ? 0 : rest->idle + 1;
    if (moved)
        rest->moved_ns = now_ns;
    if (pat_pace_at_once(rest->idle, pat_rt.looks))
        return;
    rest->idle = 0;
    pat_runtime_drive_others();
    const int64_t nap_ns = pat_rt.config.wait_spin ? 0 : pat_pace_nap_ns(false, now_ns - rest->moved_ns);
    const struct timespec nap = {.tv_sec = 0, .tv_nsec = (long)nap_ns}; /* less than a second */
    if (nap_ns == 0)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

/* Where MPI reads and writes while ranks agree. */
typedef struct pat_agreement {
    int mine[2], most[2];
    MPI_Request request;
    bool failed;
    struct pat_agreement *next; /* of those that are kept */
} pat_agreement;

int pat_runtime_keep_world(MPI_Comm world)
{
    pat_rt.world = world;
    pat_rt.world_stays = false;
    pat_rt.agreement = calloc(1, sizeof(*pat_rt.agreement));
    return pat_rt.agreement ? MPI_SUCCESS : pat_error(MPI_ERR_NO_MEM, "PAT_Init: no memory");
}

void pat_runtime_forget_world(void)
{
    pat_agreement *a = pat_rt.agreement;
    if (a && a->failed) {
        a->next = pat_rt.kept_agreements;
        pat_rt.kept_agreements = a;
    } else {
        free(a);
        if (!pat_rt.world_stays)
            PMPI_Comm_free(&pat_rt.world);
    }
    pat_rt.agreement = NULL;
    pat_rt.world = MPI_COMM_NULL;
}

int pat_runtime_agree(const int *mine, int *most, int count)
{
    pat_agreement *a = pat_rt.agreement;
    pat_rest rest = pat_runtime_rest_begin();
    int done = 0;
    if (a->failed)
        return pat_error(MPI_ERR_OTHER, "the ranks of MPI_COMM_WORLD could not agree on something before");
    memcpy(a->mine, mine, (size_t)count * sizeof(*mine));
    int rc = PMPI_Iallreduce(a->mine, a->most, count, MPI_INT, MPI_MAX, pat_rt.world, &a->request);
    while (rc == MPI_SUCCESS && !done) {
        rc = PMPI_Test(&a->request, &done, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS && !done)
            pat_runtime_rest(&rest, false);
    }
    a->failed = rc != MPI_SUCCESS;
    memcpy(most, a->most, (size_t)count * sizeof(*most));
    return rc;
}

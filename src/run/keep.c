/*
 * keep.c — see keep.h.
 */
#include "keep.h"

#include <search.h>
#include <stdlib.h>

#include "ahead.h"
#include "comm_local.h"
#include "error.h"
#include "nbc.h"
#include "runtime.h"
#include "wire.h"

typedef struct kept {
    MPI_Request request;
    pat_comm *c; /* its own */
    pat_pending *p;
} kept;

/* Handles are numbers or addresses, as the MPI library has it: both have an order here. */
static int by_request(const void *a, const void *b)
{
    const kept *x = a, *y = b;
    return (x->request > y->request) - (x->request < y->request);
}

/* With the lock. */
static kept *find(MPI_Request request)
{
    const kept wanted = {.request = request};
    kept **found = tfind(&wanted, &pat_rt.keeps, by_request);
    return found ? *found : NULL;
}

static void drop(kept *k)
{
    if (k && k->c)
        pat_comm_end_own(k->c);
    if (k && k->p)
        pat_pending_unref(k->p);
    free(k);
}

/* From now on it is found by its request. One that is there with the same handle MPI has freed unasked, as Open MPI 4 does after an error. */
static bool enter(kept *k)
{
    kept *stale = NULL;
    pthread_mutex_lock(&pat_rt.keeps_lock);
    kept **entered = tsearch(k, &pat_rt.keeps, by_request);
    if (entered && *entered != k) {
        stale = *entered;
        *entered = k;
    } else if (entered) {
        atomic_fetch_add(&pat_rt.num_keeps, 1);
    }
    pthread_mutex_unlock(&pat_rt.keeps_lock);
    drop(stale);
    return entered != NULL;
}

/* What it stands for is there; now the request. */
static int make_request(kept *k)
{
    pat_pending *p = k->p;
    p->self = k->c->contact.rank[k->c->rank];
    p->tag = pat_comm_own_tag(k->c);
    int rc = pat_wire_await_self(pat_rt.world, p->self, p->tag, &p->request);
    if (rc != MPI_SUCCESS)
        return rc;
    k->request = p->request;
    if (enter(k))
        return MPI_SUCCESS;
    PMPI_Request_free(&p->request);
    return pat_error(MPI_ERR_NO_MEM, "no memory for a persistent request");
}

/* No longer found by its request. */
static kept *leave(MPI_Request request)
{
    pthread_mutex_lock(&pat_rt.keeps_lock);
    kept *k = find(request);
    if (k) {
        tdelete(k, &pat_rt.keeps, by_request);
        atomic_fetch_sub(&pat_rt.num_keeps, 1);
    }
    pthread_mutex_unlock(&pat_rt.keeps_lock);
    return k;
}

/* All that a rank does for itself; NULL: it cannot. */
static kept *prepare(pat_call *call, const pat_nbc_way *way)
{
    /* There is one start at a time. */
    const int num_slots = pat_ahead_may(way->alg, way->rival) ? PAT_ALL_SLOTS : 1;
    int size;
    kept *k = calloc(1, sizeof(*k));
    const bool made = k && PMPI_Comm_size(call->comm, &size) == MPI_SUCCESS &&
                      pat_pending_make_kept(call, way->alg, size, &k->p) == MPI_SUCCESS &&
                      (k->c = pat_comm_begin_own(call->comm, num_slots)) && make_request(k) == MPI_SUCCESS;
    if (made) {
        k->p->link = way->link;
        k->p->rival = way->rival;
        k->p->runs = way->alg;
        return k;
    }
    drop(k);
    pat_error_begin();
    return NULL;
}

int pat_keep_make(pat_call *call, const pat_nbc_way *way, bool able, MPI_Request *request)
{
    const MPI_Comm comm = call->comm;
    kept *k = able ? prepare(call, way) : NULL;
    bool all;
    *request = MPI_REQUEST_NULL;
    const int rc = pat_comm_agree_own(k ? k->c : NULL, comm, &all);
    if (rc == MPI_SUCCESS && all) {
        *request = k->request;
        return MPI_SUCCESS;
    }
    if (k) {
        leave(k->request);
        PMPI_Request_free(&k->request);
        drop(k);
    }
    return rc;
}

bool pat_keep_move(MPI_Comm comm, const pat_algorithm *native, MPI_Request *request)
{
    enum { MOST = 64 };
    kept *k = atomic_load(&pat_rt.num_keeps) < MOST ? calloc(1, sizeof(*k)) : NULL;
    const bool made = k && (k->p = pat_pending_make_kept_by_mpi(*request)) &&
                      (k->c = pat_comm_begin_own(comm, 0)) && make_request(k) == MPI_SUCCESS;
    if (made) {
        k->p->runs = native;
        pat_comm_list_own(k->c);
        *request = k->request;
        return true;
    }
    if (k && k->p)
        k->p->mpis[0] = MPI_REQUEST_NULL; /* it stays the caller's */
    drop(k);
    pat_error_begin();
    return false;
}

bool pat_keep_any(void)
{
    return atomic_load_explicit(&pat_rt.num_keeps, memory_order_relaxed) > 0;
}

int pat_keep_start(MPI_Request request, pat_hiding *hiding)
{
    if (!pat_keep_any())
        return MPI_SUCCESS;
    pthread_mutex_lock(&pat_rt.keeps_lock);
    const kept *k = find(request);
    pthread_mutex_unlock(&pat_rt.keeps_lock);
    if (!k)
        return MPI_SUCCESS;
    const int rc = pat_nbc_start_again(k->c, k->p, hiding);
    pat_runtime_count(k->p->runs);
    return rc;
}

void pat_keep_free(MPI_Request request)
{
    if (!pat_keep_any())
        return;
    drop(leave(request));
}

static void end_one(void *of)
{
    kept *k = of;
    k->c = NULL;
    drop(k);
}

void pat_keep_end(void)
{
    tdestroy(pat_rt.keeps, end_one);
    pat_rt.keeps = NULL;
    atomic_store(&pat_rt.num_keeps, 0);
}

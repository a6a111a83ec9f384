/*
 * pending.c — see pending.h.
 */
#include "pending.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "error.h"
#include "runtime.h"
#include "wire.h"

/* What MPI asks about a request that is complete. A collective has no source, no tag and no count. */
static int query(void *extra, MPI_Status *status)
{
    const pat_pending *p = extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return atomic_load(&p->code);
}

/* In MPI_Wait and so on. MPICH 4.0 takes no call of MPI from here but those above. */
static int let_go(void *extra)
{
    pat_pending_unref(extra);
    return MPI_SUCCESS;
}

/* MPI does not allow a collective to be cancelled. */
static int cancel(void *extra, int complete)
{
    (void)extra;
    return complete ? MPI_SUCCESS : MPI_ERR_REQUEST;
}

static void free_types(pat_pending *p)
{
    if (p->keeps_send && p->call.sendtype != MPI_DATATYPE_NULL)
        PMPI_Type_free(&p->call.sendtype);
    if (p->keeps_recv && p->call.recvtype != MPI_DATATYPE_NULL)
        PMPI_Type_free(&p->call.recvtype);
    p->keeps_send = p->keeps_recv = false;
}

void pat_pending_release(pat_pending *p)
{
    free_types(p);
    free(p->call.kept);
    free(p->lists);
    p->lists = NULL;
    if (p->pack.at)
        munmap(p->pack.at, p->pack.size);
    p->call.kept = NULL;
    p->pack = (pat_pack){NULL, 0};
}

/*
 * Of types that are plain only the bytes count, once the call has been described; but where blocks are packed that lie in place the type is asked
 * once more. Those of a reduction are predefined.
 */
static int keep_types(pat_pending *p)
{
    static const MPI_Datatype none; /* of a rank that receives nothing */
    pat_call *call = &p->call;
    int rc = MPI_SUCCESS;
    p->keeps_recv = (!call->recv_plain || (call->in_place && call->element_bytes == 0)) &&
                    call->recvtype != none && call->recvtype != MPI_DATATYPE_NULL;
    if (p->keeps_recv)
        rc = pat_call_keep_type(&call->recvtype);
    p->keeps_send = rc == MPI_SUCCESS && !call->in_place && !call->send_plain;
    if (p->keeps_send)
        rc = pat_call_keep_type(&call->sendtype);
    return rc;
}

/* MPI wants them to stay as they are, but MPI libraries read them in the call alone, so that a program may do without that and not notice. */
static int keep_lists(pat_pending *p, int num_ranks)
{
    const int **lists[] = {&p->call.got.counts, &p->call.got.displs, &p->call.sent.counts,
                           &p->call.sent.displs};
    const size_t size = (size_t)num_ranks * sizeof(*p->lists);
    if (!p->call.got.counts && !p->call.sent.counts)
        return MPI_SUCCESS;
    p->lists = malloc(4 * size);
    if (!p->lists)
        return pat_error(MPI_ERR_NO_MEM, "no memory for the counts of %d ranks", num_ranks);
    for (int i = 0; i < 4; i++)
        if (*lists[i])
            *lists[i] = memcpy(p->lists + i * num_ranks, *lists[i], size);
    return MPI_SUCCESS;
}

static int make(pat_call *call, const pat_algorithm *alg, int num_ranks, bool is_kept, pat_pending **out)
{
    pat_pending *p = calloc(1, sizeof(*p));
    *out = NULL;
    if (!p)
        return pat_error(MPI_ERR_NO_MEM, "no memory for a non-blocking call");
    p->call = *call;
    p->alg = alg;
    p->is_kept = is_kept;
    p->ended = true;
    atomic_store(&p->refs, is_kept ? 1 : 2);
    int rc = keep_types(p);
    if (rc == MPI_SUCCESS)
        rc = keep_lists(p, num_ranks);
    if (rc == MPI_SUCCESS && !is_kept)
        rc = PMPI_Grequest_start(query, let_go, cancel, p, &p->request);
    if (rc != MPI_SUCCESS) {
        free_types(p);
        free(p->lists);
        free(p);
        return rc;
    }
    call->kept = NULL;
    *out = p;
    return MPI_SUCCESS;
}

int pat_pending_make(pat_call *call, const pat_algorithm *alg, int num_ranks, pat_pending **out)
{
    return make(call, alg, num_ranks, false, out);
}

int pat_pending_make_kept(pat_call *call, const pat_algorithm *alg, int num_ranks, pat_pending **out)
{
    return make(call, alg, num_ranks, true, out);
}

static pat_pending *make_by_mpi(MPI_Request mpis, bool is_kept)
{
    pat_pending *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->by_mpi = true;
    p->mpis[0] = mpis;
    p->slot = -1;
    p->number = -1;
    p->is_kept = is_kept;
    p->ended = true;
    atomic_store(&p->refs, is_kept ? 1 : 2);
    return p;
}

pat_pending *pat_pending_make_by_mpi(MPI_Request mpis)
{
    pat_pending *p = make_by_mpi(mpis, false);
    if (!p || PMPI_Grequest_start(query, let_go, cancel, p, &p->request) == MPI_SUCCESS)
        return p;
    free(p);
    return NULL;
}

pat_pending *pat_pending_make_kept_by_mpi(MPI_Request mpis)
{
    return make_by_mpi(mpis, true);
}

bool pat_pending_test_by_mpi(pat_pending *p, bool asks_mpi, int *code)
{
    int over = 0, places[2];
    *code = MPI_SUCCESS;
    if (!asks_mpi && pat_wire_test_known(pat_rt.world, 1, p->mpis, &over, places) == MPI_SUCCESS)
        return over > 0;
    /* Of several requests MPI says only that one of them has failed. Open MPI keeps that one, but a persistent one is not under way any more. */
    if (p->mpis[0] == MPI_REQUEST_NULL || (!asks_mpi && p->is_kept))
        *code = MPI_ERR_OTHER;
    else
        *code = PMPI_Test(&p->mpis[0], &over, MPI_STATUS_IGNORE);
    return over || *code != MPI_SUCCESS;
}

/*
 * The receive that the program waits for is complete. After an error it gets more than it has room for, which is an error of its own: whoever waits gets that, but MPI asks the error handler of the library's communicator, which
 * returns. So where errors of the program's are fatal this one is at once.
 */
static void tell_self(const pat_pending *p, int code)
{
    const bool fails = code != MPI_SUCCESS;
    MPI_Errhandler handler;
    if (fails && PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler) == MPI_SUCCESS) {
        if (handler == MPI_ERRORS_ARE_FATAL)
            PMPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
        PMPI_Errhandler_free(&handler);
    }
    pat_wire_tell_self(pat_rt.world, p->self, p->tag, fails);
}

static void count(const pat_pending *p, int by)
{
    atomic_fetch_add(&pat_rt.num_pending, by);
    if (p->by_mpi)
        atomic_fetch_add(&pat_rt.num_moved, by);
}

void pat_pending_begin(pat_pending *p)
{
    p->ended = false;
    count(p, 1);
}

void pat_pending_give_up(pat_pending *p)
{
    if (!p->ended)
        count(p, -1);
}

void pat_pending_end(pat_pending *p, int code)
{
    if (p->ended)
        return;
    count(p, -1);
    p->ended = true;
    atomic_store(&p->code, code);
    if (p->is_kept) {
        tell_self(p, code);
        return;
    }
    if (code == MPI_SUCCESS) /* else MPI may still use it */
        pat_pending_release(p);
    PMPI_Grequest_complete(p->request);
}

void pat_pending_unref(pat_pending *p)
{
    if (atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    if (p->is_kept && atomic_load(&p->code) == MPI_SUCCESS)
        pat_pending_release(p);
    if (p->is_kept && p->by_mpi && p->ended && p->mpis[0] != MPI_REQUEST_NULL)
        PMPI_Request_free(&p->mpis[0]);
    free(p);
}

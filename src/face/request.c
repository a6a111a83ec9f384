/*
 * request.c — persistent requests: Init, Open, Start, Wait, Request_free. Between Open and Wait of an all-gather the
 * receive buffer is the library's, so early data lands where it is wanted and nothing is copied. All other collectives are non-blocking calls
 * (starts.h) that are made again and again.
 */
#include <stdlib.h>
#include <string.h>

#include "announce.h"
#include "arrivals.h"
#include "describe.h"
#include "epoch.h"
#include "error.h"
#include "fail.h"
#include "pace.h"
#include "pat.h"
#include "runtime.h"
#include "select.h"
#include "starts.h"

enum request_state { CLOSED, OPEN, STARTED };

struct pat_request {
    const pat_face *face; /* with `args` and `next` all that a non-blocking call is made of */
    pat_args args;
    pat_any *next;
    MPI_Datatype kept[2]; /* types of `args` that are the library's */
    bool early;           /* an all-gather: its data may come in before PAT_Start */
    pat_call call;        /* with `early` */
    pat_comm *c;          /* with `early`; NULL: left to the MPI library */
    enum request_state state;
    bool by_mpi; /* STARTED: as a non-blocking call, by mpi_request */
    MPI_Request mpi_request;
};

static pat_lane *lane_of(const struct pat_request *r)
{
    return &r->c->lanes[r->face->op];
}

/* A started request's buffer belongs to its own round: the next one's early data must not land there. */
static void set_state(struct pat_request *r, enum request_state state)
{
    r->state = state;
    if (!r->c)
        return;
    if (state != CLOSED)
        r->c->hold = (pat_hold){.request = r,
                                .started = state == STARTED,
                                .op = r->face->op,
                                .open = state == OPEN ? &r->call : NULL};
    else if (r->c->hold.request == r)
        r->c->hold = (pat_hold){0};
}

static void let_go(struct pat_request *r)
{
    int down;
    PMPI_Finalized(&down);
    for (int i = 0; i < 2 && !down; i++)
        if (r->kept[i] != MPI_DATATYPE_NULL)
            PMPI_Type_free(&r->kept[i]);
    free(r);
}

static int keep(MPI_Datatype *type, MPI_Datatype *kept)
{
    if (*type == MPI_DATATYPE_NULL) /* a wrong argument, of which MPI tells at the start */
        return MPI_SUCCESS;
    *kept = *type;
    const int rc = pat_call_keep_type(kept);
    *type = *kept;
    return rc;
}

/* Only what means something on this rank is looked at. A reduction needs the very type that the program has given, and who the root is between groups is the MPI library's business. */
static int prepare(struct pat_request *r)
{
    pat_args *a = &r->args;
    const pat_collective *row = pat_collective_of(r->face->op);
    int rank;
    if (row->reduces || r->face->kind == PAT_ARGS_NOTHING || (row->rooted && pat_comm_is_inter(a->comm)))
        return MPI_SUCCESS;
    int rc = PMPI_Comm_rank(a->comm, &rank);
    if (rc != MPI_SUCCESS)
        return rc;
    const bool buffer = r->face->kind == PAT_ARGS_BUFFER, elsewhere = row->rooted && rank != a->root,
               sends = !buffer && a->sendbuf != MPI_IN_PLACE && !(elsewhere && row->personal),
               gets = buffer || (a->recvbuf != MPI_IN_PLACE && !(elsewhere && !row->personal));
    if (sends)
        rc = keep(&a->sendtype, &r->kept[0]);
    return rc == MPI_SUCCESS && gets ? keep(&a->recvtype, &r->kept[1]) : rc;
}

/* An all-gather holds its communicator's state from the beginning, for its early data. */
static int prepare_early(struct pat_request *r)
{
    bool ours;
    /* Before types are kept, since those that are are committed. Arguments of this kind need no memory. */
    pat_describe(r->face, &r->args, &r->call, &ours);
    if (!ours)
        return pat_error(MPI_ERR_ARG,
                         "PAT_Allgather_init: a count below 0 (send %d, receive %d), a buffer or datatype "
                         "that is null, a datatype not committed, or sizes of send and receive that differ",
                         (int)r->args.sendcount, (int)r->args.recvcount);
    int rc = prepare(r);
    if (rc != MPI_SUCCESS)
        return rc;
    r->call.sendtype = r->args.sendtype; /* what lies in memory is the same */
    r->call.recvtype = r->args.recvtype;
    rc = pat_comm_get(r->args.comm, false, false, &r->c);
    if (rc == MPI_SUCCESS && r->c)
        pat_comm_ref(r->c);
    return rc;
}

static int make(const pat_face *face, const pat_args *args, pat_any *next, PAT_Request *request)
{
    const char *name = face->mpi + strlen("MPI_");
    pat_error_begin();
    if (!request)
        return pat_error(MPI_ERR_ARG, "PAT_%s_init: request is a null pointer", name);
    *request = PAT_REQUEST_NULL;
    if (!atomic_load(&pat_rt.started))
        return pat_error(MPI_ERR_OTHER, "PAT_%s_init: call PAT_Init first", name);
    if (args->comm == MPI_COMM_NULL)
        return pat_fail(MPI_COMM_WORLD, pat_error(MPI_ERR_COMM, "PAT_%s_init: comm is MPI_COMM_NULL", name));
    struct pat_request *r = calloc(1, sizeof(*r));
    if (!r)
        return pat_fail(args->comm, pat_error(MPI_ERR_NO_MEM, "PAT_%s_init: no memory", name));
    *r = (struct pat_request){.face = face,
                              .early = face == &pat_face_allgather,
                              .args = *args,
                              .next = next,
                              .kept = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL},
                              .mpi_request = MPI_REQUEST_NULL};
    const int rc = r->early ? prepare_early(r) : prepare(r);
    if (rc != MPI_SUCCESS) {
        let_go(r);
        return pat_fail(args->comm, rc);
    }
    *request = r;
    return MPI_SUCCESS;
}

#define TAKE(name, lower, upper, op, kind, parameters, arguments, bytes)                                     \
    int PAT_##name##_init(LIST parameters, PAT_Request *request)                                             \
    {                                                                                                        \
        const pat_args args = {LIST arguments};                                                              \
        return make(&pat_face_##lower, &args, (pat_any *)PMPI_I##lower, request);                            \
    }
#define BEGUN TAKE
#define START(lower, upper, parameters, arguments, bytes)
#define ARGUMENT(x) .x = x
#include "faces_c.h"
#include "faces.h"

/* Common checks; on success the communicator's lock is held when there is one. */
static int request_enter(PAT_Request r, const char *who)
{
    pat_error_begin();
    if (!r)
        return pat_error(MPI_ERR_REQUEST, "%s: the request is PAT_REQUEST_NULL", who);
    if (!atomic_load(&pat_rt.started))
        return pat_error(MPI_ERR_OTHER, "%s: the library is not started", who);
    if (!r->c)
        return MPI_SUCCESS;
    pat_comm_lock(r->c);
    if (pat_comm_is_dead(r->c)) {
        pat_comm_unlock(r->c);
        return pat_error(MPI_ERR_COMM, "%s: the request's communicator was freed", who);
    }
    return MPI_SUCCESS;
}

static void request_leave(PAT_Request r)
{
    if (r->c)
        pat_comm_unlock(r->c);
}

static int open_locked(PAT_Request r, const char *who)
{
    if (r->c && r->c->hold.request && r->c->hold.request != r)
        return pat_error(MPI_ERR_REQUEST, "%s: another request is open or started on this communicator", who);
    set_state(r, OPEN);
    return MPI_SUCCESS;
}

/* What a round of this request runs with, alike on all ranks. */
static const pat_algorithm *algorithm_of(PAT_Request r)
{
    return pat_select(r->c, atomic_load(&pat_rt.alg[r->face->op]), r->call.block_bytes, false, NULL);
}

int PAT_Open(PAT_Request r)
{
    int rc = request_enter(r, "PAT_Open");
    if (rc != MPI_SUCCESS)
        return rc;
    rc = r->state == CLOSED ? open_locked(r, "PAT_Open")
                            : pat_error(MPI_ERR_REQUEST, "PAT_Open: the request is already %s",
                                        r->state == OPEN ? "open" : "started");
    bool ahead = rc == MPI_SUCCESS && r->c && pat_comm_ahead(r->c, algorithm_of(r));
    request_leave(r);
    if (ahead)
        pat_thread_kick(pat_rt.thread); /* early data may come in now */
    return rc;
}

/* Not an all-gather. What fails has gone to the communicator's error handler. */
static int start_call(struct pat_request *r)
{
    r->by_mpi = true;
    const int rc = pat_starts_run(r->face, &r->args, r->next, &r->mpi_request, false, NULL);
    set_state(r, rc == MPI_SUCCESS ? STARTED : CLOSED);
    return rc;
}

/* How long it takes says nothing: the program does something else meanwhile. */
static int begin_round(pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    c->lanes[alg->op].mine = (pat_carried){0};
    return pat_epoch_begin(c, call, alg);
}

static int start_locked(PAT_Request r)
{
    const pat_call *call = &r->call;
    bool moved;
    if (r->state == STARTED)
        return pat_error(MPI_ERR_REQUEST, "PAT_Start: the request is already started");
    r->by_mpi = false;
    if (!r->early)
        return start_call(r);
    int rc = open_locked(r, "PAT_Start");
    if (rc == MPI_SUCCESS && r->c)
        rc = pat_comm_failed(r->c);
    if (rc == MPI_SUCCESS && r->c)
        rc = pat_comm_ended(r->c, pat_select_hear(r->c));
    if (rc != MPI_SUCCESS) {
        if (r->state == OPEN)
            set_state(r, CLOSED);
        return rc;
    }
    const pat_algorithm *alg = algorithm_of(r);
    /* Without a thread on every rank nobody would move a plan on while the application is busy elsewhere. */
    const bool by_mpi = !r->c || !r->c->background || !alg->build || call->block_bytes == 0 ||
                        call->block_bytes > PAT_MAX_BLOCK;
    if (by_mpi && r->c) /* what was prepared for a plan comes in elsewhere from now on */
        rc = pat_epoch_release_holder(r->c);
    if (rc != MPI_SUCCESS) {
        set_state(r, CLOSED);
        return rc;
    }
    set_state(r, STARTED);
    r->by_mpi = by_mpi;
    if (r->by_mpi || !lane_of(r)->by_estimates)
        pat_runtime_count(alg);
    if (r->by_mpi && r->c && call->block_bytes > 0 && atomic_load(&pat_rt.alg[r->face->op])->chooses &&
        !lane_of(r)->by_estimates)
        pat_select_passed_on(r->c, lane_of(r), call->block_bytes, false);
    if (r->by_mpi)
        rc = r->face->start(r->next, &r->args, &r->mpi_request);
    else
        rc = begin_round(r->c, call, alg);
    if (!r->by_mpi)
        lane_of(r)->by_request = true;
    if (rc == MPI_SUCCESS && !r->by_mpi)
        rc = pat_epoch_progress(r->c, &moved);
    if (rc != MPI_SUCCESS)
        set_state(r, CLOSED);
    return rc;
}

int PAT_Start(PAT_Request r)
{
    int rc = request_enter(r, "PAT_Start");
    if (rc != MPI_SUCCESS)
        return rc;
    rc = start_locked(r);
    bool ours = rc == MPI_SUCCESS && !r->by_mpi;
    /* The thread drives the round, or takes in elsewhere what was prepared for it, while the application does something else. */
    const bool more = ours || (rc == MPI_SUCCESS && r->c && pat_epoch_goes_on(r->c));
    request_leave(r);
    if (ours)
        pat_announce_called(r->c);
    if (more && pat_rt.thread)
        pat_thread_kick(pat_rt.thread);
    if (!r->early)
        return rc;
    return rc == MPI_SUCCESS || r->by_mpi || rc == MPI_ERR_REQUEST ? pat_error_end(rc)
                                                                   : pat_fail(r->call.comm, rc);
}

int PAT_Wait(PAT_Request r)
{
    int rc = MPI_SUCCESS;
    pat_error_begin();
    if (!r)
        return pat_error(MPI_ERR_REQUEST, "PAT_Wait: the request is PAT_REQUEST_NULL");
    if (r->c)
        pat_comm_lock(r->c);
    bool alive = r->c && !pat_comm_is_dead(r->c);
    if (r->state == STARTED) {
        if (r->by_mpi) { /* the background thread may need the communicator meanwhile */
            request_leave(r);
            rc = PMPI_Wait(&r->mpi_request, MPI_STATUS_IGNORE);
            if (r->c)
                pat_comm_lock(r->c);
        } else if (alive) /* else its round ended when the communicator or the library went */
        {
            rc = pat_epoch_wait(r->c);
            pat_select_learn(r->c, lane_of(r));
            if (rc == MPI_SUCCESS)
                pat_arrivals_heard(r->c, lane_of(r), false);
        }
        set_state(r, CLOSED);
        if (alive && !r->by_mpi)
            lane_of(r)->open_by_ns = pat_pace_open(pat_clock_local_ns(), true);
    }
    const bool more = alive && pat_epoch_goes_on(r->c); /* an Edge, or another collective's next round */
    request_leave(r);
    if (more && pat_rt.thread)
        pat_thread_kick(pat_rt.thread);
    return rc == MPI_SUCCESS || r->by_mpi ? pat_error_end(rc) : pat_fail(r->call.comm, rc);
}

int PAT_Request_free(PAT_Request *request)
{
    pat_error_begin();
    if (!request || !*request)
        return pat_error(MPI_ERR_REQUEST, "PAT_Request_free: the request is %s",
                         request ? "PAT_REQUEST_NULL" : "a null pointer");
    PAT_Request r = *request;
    int rc = MPI_SUCCESS;
    if (r->c)
        pat_comm_lock(r->c);
    bool alive = r->c && !pat_comm_is_dead(r->c);
    if (r->state == STARTED) /* also when its communicator is gone: PAT_Wait then returns at once */
        rc = pat_error(MPI_ERR_REQUEST, "PAT_Request_free: the request is started, call PAT_Wait first");
    else if (alive && r->c->hold.request == r)
        rc = pat_epoch_release_holder(r->c);
    const bool more = alive && pat_epoch_goes_on(r->c); /* what was prepared comes in elsewhere from now on */
    if (r->c)
        pat_comm_unlock(r->c);
    if (more && pat_rt.thread)
        pat_thread_kick(pat_rt.thread);
    if (rc != MPI_SUCCESS)
        return pat_error_end(rc);
    if (r->c)
        pat_comm_unref(r->c);
    let_go(r);
    *request = PAT_REQUEST_NULL;
    return MPI_SUCCESS;
}

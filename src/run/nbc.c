/*
 * nbc.c — see nbc.h.
 */
#include "nbc.h"

#include "ahead.h"
#include "bring.h"
#include "calibration.h"
#include "comm_local.h"
#include "error.h"
#include "pace.h"
#include "runtime.h"

/* The thread wakes for each segment of a broadcast, so they are as long as MPI sends without asking. */
int64_t pat_nbc_segment_bytes(int64_t message)
{
    const int64_t least = pat_segment_bytes(message);
    return least < PAT_FIRST_BYTES ? PAT_FIRST_BYTES : least;
}

static pat_work work_of(pat_pending *p)
{
    return (pat_work){p->alg->op, &p->round, &p->call, &p->pack};
}

/* Is it not yet known how all are reached? Or is there something with the same tags, of what was started before? */
static bool has_to_queue(pat_comm *c, const pat_pending *p)
{
    bool by_slot;
    if (!c->contact.known || pat_ahead_has_to_queue(c, p, &by_slot))
        return true;
    for (const pat_pending *other = c->pending; by_slot && other != p; other = other->next)
        if (other->slot == p->slot)
            return true;
    return false;
}

static int make(pat_comm *c, pat_pending *p, const pat_work *work, pat_tags tags)
{
    const pat_members members = pat_comm_members(c);
    pat_lane *lane = &c->lanes[p->alg->op];
    const pat_link link = pat_comm_link_local(c, p->link);
    pat_job job = pat_comm_job_local(c, lane, &link, pat_blocks_of(&p->call));
    if (pat_collective_of(p->alg->op)->rooted)
        return pat_bring_rooted(c, work, p->alg, &link, pat_nbc_segment_bytes(p->call.block_bytes), tags);
    job.own_starts = p->call.own_starts;
    job.carries = p->carries;
    pat_comm_explain_plan(c, lane, p->runs, &job);
    return pat_round_make(&p->round, &members, p->runs, &job, c->rank, tags);
}

/* The call's round begins: at the start, or when its tags are free. */
static int begin(pat_comm *c, pat_pending *p)
{
    char *home;
    const char *own;
    bool made;
    const pat_tags tags = pat_ahead_begin(c, p, &made);
    const pat_work work = work_of(p);
    int rc = made ? MPI_SUCCESS : make(c, p, &work, tags);
    if (rc == MPI_SUCCESS)
        rc = pat_collective_of(p->alg->op)->rooted ? pat_bring_rooted_buffers(c, &work, &home, &own)
                                                   : pat_bring_buffers(c, &work, &home, &own);
    if (rc != MPI_SUCCESS)
        return rc;
    if (p->call.element_bytes > 0)
        pat_exec_reduces(p->round.exec, p->call.recvtype, p->call.op);
    p->mine.arrival_ns = pat_timekeeper_now_ns(&pat_rt.time);
    return pat_round_arrive(&p->round, home, own, &p->mine);
}

static int finish(pat_comm *c, pat_pending *p)
{
    const pat_work work = work_of(p);
    int rc = pat_bring_back(c, &work);
    pat_ahead_ended(c, p);
    pat_round_end(&p->round);
    return rc;
}

/* How long this process has waited in MPI is only known where MPI says that it looks for messages. */
static void begin_hiding(pat_pending *p, pat_hiding *hiding)
{
    if (!hiding || !pat_rt.joined)
        return;
    p->hiding = hiding;
    p->started_ns = pat_clock_local_ns();
    p->in_mpi_ns = atomic_load_explicit(&pat_rt.in_mpi_ns, memory_order_relaxed);
}

/* Several threads may have waited at once. */
static void add_hiding(const pat_pending *p)
{
    if (!p->hiding)
        return;
    const int64_t under_way = pat_clock_local_ns() - p->started_ns,
                  in_mpi = atomic_load_explicit(&pat_rt.in_mpi_ns, memory_order_relaxed) - p->in_mpi_ns;
    atomic_fetch_add_explicit(&p->hiding->calls, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&p->hiding->under_way_ns, under_way, memory_order_relaxed);
    atomic_fetch_add_explicit(&p->hiding->in_mpi_ns, in_mpi < under_way ? in_mpi : under_way,
                              memory_order_relaxed);
}

typedef int look_at_round(pat_round *round, bool *moved);

/* *over: its result is there; or, where the MPI library runs it, that has failed, as *code says, which is nobody else's error. */
static int look_at(pat_comm *c, pat_pending *p, look_at_round *look, bool *moved, bool *over, int *code)
{
    int rc = MPI_SUCCESS;
    *over = false;
    *code = MPI_SUCCESS;
    if (p->by_mpi) {
        *over = pat_pending_test_by_mpi(p, look == pat_round_look, code);
        return MPI_SUCCESS;
    }
    if (pat_round_is(&p->round, PAT_ROUND_EMPTY)) {
        if (has_to_queue(c, p))
            return MPI_SUCCESS;
        *moved = true;
        rc = begin(c, p);
    }
    if (rc == MPI_SUCCESS)
        rc = look(&p->round, moved);
    if (rc == MPI_SUCCESS && pat_round_is(&p->round, PAT_ROUND_OVER)) {
        *over = true;
        rc = finish(c, p);
    }
    return rc;
}

/* Calls that the MPI library runs go on where something of this library's has failed. */
static bool goes_on(const pat_comm *c, const pat_pending *p)
{
    return p->by_mpi || c->failure.code == MPI_SUCCESS;
}

static int look_at_all(pat_comm *c, look_at_round *look, bool *moved)
{
    const bool failed = c->failure.code != MPI_SUCCESS;
    bool prepares = false;
    int rc = failed ? MPI_SUCCESS : pat_comm_look_local(c, look == pat_round_look, moved);
    for (pat_pending **at = &c->pending; *at && rc == MPI_SUCCESS;) {
        pat_pending *p = *at;
        int code;
        bool over = false;
        if (goes_on(c, p))
            rc = look_at(c, p, look, moved, &over, &code);
        if (rc == MPI_SUCCESS && over) {
            *moved = true;
            *at = p->next;
            atomic_store(&c->idle, !c->pending && c->ahead.number == 0); /* its next round may be made */
            pat_comm_opens(c);
            prepares = prepares || p->number >= 0;
            if (code == MPI_SUCCESS)
                add_hiding(p);
            pat_pending_end(p, code);
            pat_pending_unref(p);
        } else {
            at = &p->next;
        }
    }
    if (prepares && pat_rt.thread && !pat_thread_is_self() && pat_ahead_is_due(c))
        pat_thread_kick(pat_rt.thread);
    return failed ? MPI_SUCCESS : pat_comm_ended(c, rc);
}

int pat_nbc_look_driving(pat_comm *c, bool *moved)
{
    return look_at_all(c, pat_round_look, moved);
}

int pat_nbc_look_known(pat_comm *c, bool *moved)
{
    return look_at_all(c, pat_round_look_known, moved);
}

int pat_nbc_look(pat_comm *c, bool *moved)
{
    if (!c->pending)
        return MPI_SUCCESS;
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = pat_nbc_look_driving(c, moved);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

bool pat_nbc_under_way(const pat_comm *c)
{
    bool any = false;
    for (const pat_pending *p = c->pending; p && !any; p = p->next)
        any = goes_on(c, p);
    return any;
}

bool pat_nbc_moves_only(const pat_comm *c)
{
    bool only = true;
    for (const pat_pending *p = c->pending; p && only; p = p->next)
        only = p->by_mpi || !goes_on(c, p);
    return only && pat_nbc_under_way(c);
}

bool pat_nbc_sending(const pat_comm *c)
{
    for (const pat_pending *p = c->pending; p; p = p->next)
        if (p->by_mpi || (goes_on(c, p) &&
                          pat_round_sending(&p->round))) /* what MPI does for its own calls nobody knows */
            return true;
    return false;
}

void pat_nbc_fail(pat_comm *c)
{
    if (c->failure.code == MPI_SUCCESS)
        return;
    for (pat_pending *p = c->pending; p; p = p->next)
        if (!goes_on(c, p))
            pat_pending_end(p, c->failure.code);
}

/* ---- The start ---------------------------------------------------------------------------------------- */

/* It is in the list: whoever drives the communicator moves it on. May be over afterwards. */
static void enter(pat_comm *c, pat_pending *p, pat_hiding *hiding)
{
    pat_pending **end = &c->pending;
    bool moved;
    pat_pending_begin(p);
    begin_hiding(p, hiding);
    while (*end)
        end = &(*end)->next;
    *end = p;
    c->driven_ns = 0;
    atomic_store(&c->idle, false);
    if (p->by_mpi) /* MPI has begun it, and has just looked */
        return;
    pat_comm_ended(c, pat_ahead_started(c, p)); /* what fails here, and below, the request tells */
    pat_nbc_look(c, &moved);
}

static int start(pat_comm *c, pat_call *call, pat_nbc_way *way, pat_hiding *hiding, MPI_Request *request)
{
    pat_pending *p;
    int rc = pat_comm_failed(c);
    /* An error here is the communicator's: the others wait for what this rank does not start. */
    if (rc == MPI_SUCCESS)
        rc = pat_comm_ended(c, pat_comm_tell_local(c));
    if (rc == MPI_SUCCESS)
        rc = pat_comm_ended(c, pat_pending_make(call, way->alg, c->size, &p));
    if (rc != MPI_SUCCESS)
        return rc;
    p->link = way->link;
    p->rival = way->rival;
    *request = p->request;
    atomic_fetch_add(&p->refs, 1); /* it may be over at once */
    enter(c, p, hiding);
    way->alg = p->runs;
    pat_pending_unref(p);
    return MPI_SUCCESS;
}

static int start_again(pat_comm *c, pat_pending *p, pat_hiding *hiding)
{
    if (!p->ended)
        return pat_error(MPI_ERR_REQUEST, "a persistent request is started that is under way");
    int rc = pat_comm_failed(c);
    if (rc == MPI_SUCCESS && p->by_mpi)
        rc = PMPI_Start(&p->mpis[0]);
    if (rc != MPI_SUCCESS) { /* whoever waits for it all the same is told */
        pat_pending_begin(p);
        pat_pending_end(p, rc);
        return rc;
    }
    p->next = NULL;
    p->hiding = NULL;
    atomic_fetch_add(&p->refs, 1);
    enter(c, p, hiding);
    return MPI_SUCCESS;
}

/*
 * Has this rank nothing to do any more for a call but to receive a few bytes, which MPI takes in whenever it is called? Calls with one length for all ranks that are so short are left to the
 * MPI library; here only this rank knows.
 */
static bool is_settled(const pat_comm *c, const pat_pending *p)
{
    const int64_t sent = p->call.own_starts ? p->call.own_starts[c->size] : 0;
    return p->call.pairs && sent < PAT_SMALL_BYTES && p->call.starts[c->size] < PAT_SMALL_BYTES &&
           pat_round_is(&p->round, PAT_ROUND_RUNNING) && pat_exec_only_receives(p->round.exec);
}

/* What somebody has to do for the calls that are under way. */
typedef struct needs {
    bool plan;   /* move on a plan */
    bool by_mpi; /* move on what the MPI library runs */
    bool end;    /* see that a plan is over */
} needs;

static needs needs_of(const pat_comm *c)
{
    needs n = {false, false, false};
    for (const pat_pending *p = c->pending; p; p = p->next)
        if (p->by_mpi)
            n.by_mpi = true;
        else if (!goes_on(c, p))
            continue;
        else if (is_settled(c, p))
            n.end = true;
        else
            n.plan = true;
    return n;
}

/* The caller has the lock, which is given back. */
static void leave_to_thread(pat_comm *c)
{
    pat_nbc_fail(c);
    const needs n = needs_of(c);
    pat_comm_unlock(c);
    atomic_store_explicit(&pat_rt.looked_ns, 0,
                          memory_order_relaxed); /* the program goes on now, for all that is known */
    if (n.plan && pat_rt.crowded)
        pat_thread_kick(pat_rt.thread);
    else if (n.plan || n.by_mpi)
        pat_thread_kick_later(pat_rt.thread, pat_pace_call_started_ns(pat_rt.crowded));
    else if (n.end)
        pat_thread_kick_later(pat_rt.thread, pat_pace_call_settled_ns());
}

int pat_nbc_start(pat_comm *c, pat_call *call, pat_nbc_way *way, pat_hiding *hiding, MPI_Request *request)
{
    pat_comm_lock(c);
    const int rc = start(c, call, way, hiding, request);
    leave_to_thread(c);
    return rc;
}

/*
 * While one is under way MPI moves all, and each costs a test in every look. So of a program that has hundreds of them under way at once only some are known here.
 */
enum { MOST_MOVED = 16 };

static int num_moved(const pat_comm *c)
{
    int num = 0;
    for (const pat_pending *p = c->pending; p; p = p->next)
        num += p->by_mpi;
    return num;
}

void pat_nbc_move(pat_comm *c, MPI_Request *request, pat_hiding *hiding)
{
    if (*request == MPI_REQUEST_NULL)
        return;
    pat_comm_lock(c);
    pat_pending *p = num_moved(c) < MOST_MOVED ? pat_pending_make_by_mpi(*request) : NULL;
    if (p) {
        *request = p->request;
        enter(c, p, hiding);
    }
    leave_to_thread(c);
}

int pat_nbc_start_again(pat_comm *c, pat_pending *p, pat_hiding *hiding)
{
    pat_comm_lock(c);
    const int rc = start_again(c, p, hiding);
    leave_to_thread(c);
    return rc;
}

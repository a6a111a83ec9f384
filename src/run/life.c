/*
 * life.c — see life.h: start and stop of the library, the background thread's round through the communicators,
 * settling.
 */
#include "life.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "epoch.h"
#include "error.h"
#include "explain.h"
#include "machine.h"
#include "nodes.h"
#include "pace.h"
#include "place.h"
#include "runtime.h"
#include "select.h"
#include "trace.h"
#include "visit.h"
#include "wait.h"

/* ---- The background thread ---------------------------------------------------------------------------- */

/*
 * One visit: to every communicator. References keep them in memory; the runtime's lock is not held while
 * one is driven, so that milestones never wait for a message.
 */
static void background_work(void *arg, pat_visit *visit)
{
    (void)arg;
    visit->next_ns = PAT_NEVER;
    visit->watch = visit->sending = visit->moved = visit->drove = false;
    pthread_mutex_lock(&pat_rt.lock);
    pat_comm *c = pat_rt.comms;
    if (c)
        c->refs++;
    pthread_mutex_unlock(&pat_rt.lock);
    while (c) {
        pat_visit_comm(c, visit);
        pthread_mutex_lock(&pat_rt.lock);
        pat_comm *after = c->listed ? c->next : NULL;
        if (after)
            after->refs++;
        bool cut_short =
            !c->listed; /* freed meanwhile, and whatever came after it perhaps too: start again */
        pthread_mutex_unlock(&pat_rt.lock);
        pat_comm_unref(c);
        if (cut_short) {
            visit->next_ns = pat_clock_local_ns();
            return;
        }
        c = after;
    }
    /* MPI may have taken in for one communicator what was looked for on another. */
    if (visit->moved && visit->next_ns != PAT_NEVER) {
        int64_t soon = pat_pace_soon(pat_clock_local_ns());
        visit->next_ns = soon < visit->next_ns ? soon : visit->next_ns;
    }
}

/* ---- Settling ----------------------------------------------------------------------------------------- */

/* Apply one step to every communicator until none says it wants more. */
static int for_all(int (*step)(pat_comm *c, bool *done), bool failed_too)
{
    int rc = MPI_SUCCESS;
    bool all_done;
    do {
        all_done = true;
        for (pat_comm *c = pat_rt.comms; c && rc == MPI_SUCCESS; c = c->next) {
            bool done = true;
            pthread_mutex_lock(&c->lock);
            if (c->usable && !c->dead && (failed_too || c->failure.code == MPI_SUCCESS) && !c->idle_settled)
                rc = step(c, &done);
            if (done)
                c->idle_settled = true;
            pthread_mutex_unlock(&c->lock);
            all_done = all_done && done;
        }
    } while (!all_done && rc == MPI_SUCCESS);
    for (pat_comm *c = pat_rt.comms; c; c = c->next) {
        pthread_mutex_lock(&c->lock);
        c->idle_settled = false;
        pthread_mutex_unlock(&c->lock);
    }
    return rc;
}

static int finish_calls(pat_comm *c, bool *done)
{
    bool moved;
    int rc = pat_epoch_progress(c, &moved);
    *done = c->phase == PAT_IDLE;
    return rc;
}

static int begin_settling(pat_comm *c, bool *done)
{
    *done = true;
    return c->background ? pat_epoch_settle_begin(c) : MPI_SUCCESS;
}

static int step_settling(pat_comm *c, bool *done)
{
    *done = true;
    return c->background ? pat_epoch_settle_step(c, done) : MPI_SUCCESS;
}

int pat_life_settle(bool *busy)
{
    int mine[2] = {0, 0}, any[2]; /* contributed to an exchange; a request is started */
    for (pat_comm *c = pat_rt.comms; c; c = c->next) {
        pthread_mutex_lock(&c->lock);
        mine[0] |= pat_epoch_withdraw_edge(c);
        mine[1] |= c->hold.started;
        pthread_mutex_unlock(&c->lock);
    }
    int rc = pat_runtime_agree(mine, any, 2);
    if (rc != MPI_SUCCESS)
        return rc;
    if (busy) {
        *busy = any[1];
        if (*busy)
            return MPI_SUCCESS;
    }
    if (any[1])
        rc = for_all(finish_calls, false);
    if (rc != MPI_SUCCESS || !any[0])
        return rc;
    rc = for_all(begin_settling, false);
    return rc == MPI_SUCCESS ? for_all(step_settling, false) : rc;
}

int pat_life_use(const pat_algorithm *alg)
{
    int rc = MPI_SUCCESS;
    pat_rt.patience = 0;
    atomic_store(&pat_rt.alg[alg->op], alg);
    for (pat_comm *c = pat_rt.comms; c; c = c->next) {
        pthread_mutex_lock(&c->lock);
        if (c->usable && !c->dead) {
            int rc_comm = pat_epoch_new_algorithm(c, alg->op);
            rc = rc != MPI_SUCCESS ? rc : rc_comm;
        }
        pthread_mutex_unlock(&c->lock);
    }
    if (pat_rt.thread)
        pat_thread_kick(pat_rt.thread);
    return rc;
}

/* Settle a communicator that is about to go, if its epoch may have begun. */
static int settle_one(pat_comm *c)
{
    bool done = false;
    int rc = MPI_SUCCESS;
    pthread_mutex_lock(&c->lock);
    if (c->usable && !c->dead)
        rc = pat_epoch_wait(c);
    if (rc == MPI_SUCCESS && c->usable && !c->dead && c->background && pat_runtime_estimates() &&
        !pat_rt.settled) {
        atomic_store(&c->foreground, true);
        rc = pat_epoch_settle_begin(c);
        while (rc == MPI_SUCCESS && !done) {
            rc = pat_epoch_settle_step(c, &done);
            if (rc == MPI_SUCCESS)
                pat_runtime_drive_others();
        }
        atomic_store(&c->foreground, false);
    }
    pthread_mutex_unlock(&c->lock);
    return rc;
}

/* ---- The end of a communicator ------------------------------------------------------------------------- */

static bool credits_under_way(const pat_comm *c)
{
    return pat_credits_under_way(&c->credits);
}

static int look_at_credits(pat_comm *c, bool *moved)
{
    return pat_credits_look(&c->credits, moved);
}

/*
 * MPI_Comm_free and the end of the library both come here, on every member. No error is returned: the state is gone all the same, and MPI
 * would keep an attribute that leads nowhere. What has failed on the communicator was returned by the calls on it.
 */
static int end_comm(MPI_Comm comm, int keyval, void *attr, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    pat_comm *c = attr;
    const int64_t start_ns = pat_clock_local_ns();
    pthread_mutex_lock(&c->lock);
    atomic_store(&c->credits.watched, false);
    int rc = pat_wait_while(c, credits_under_way, look_at_credits),
        rc_sample = c->failure.code == MPI_SUCCESS ? pat_select_hear(c) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = rc_sample;
    pthread_mutex_unlock(&c->lock);
    settle_one(c);

    pat_comm_unlist(c);
    pthread_mutex_lock(&c->lock);
    pat_epoch_drop_ahead(c);
    c->dead = true;
    c->hold = (pat_hold){0};
    pthread_mutex_unlock(&c->lock);
    if (!pat_comm_stays(c)) {
        PMPI_Comm_free(&c->own);
        if (c->sample.comm != MPI_COMM_NULL)
            PMPI_Comm_free(&c->sample.comm);
    }
    pat_comm_unref(c);
    if (!pat_rt.settled) /* else it belongs to the end of the library */
        atomic_fetch_add(&pat_rt.state_ns, pat_clock_local_ns() - start_ns);
    return MPI_SUCCESS;
}

/* ---- Start and stop ----------------------------------------------------------------------------------- */

static int end_trace(void)
{
    int rc = pat_rt.trace ? pat_trace_close(pat_rt.trace) : MPI_SUCCESS;
    pat_rt.trace = NULL;
    return rc;
}

/* Its members have all started it, and each now looks after what it has to pass on. */
static int end_credits(pat_comm *c, bool *done)
{
    bool moved;
    int rc = pat_credits_look(&c->credits, &moved);
    *done = !pat_credits_under_way(&c->credits) || rc != MPI_SUCCESS;
    return rc;
}

static void forget_machine(void)
{
    free(pat_rt.calibration);
    free(pat_rt.node_of);
    pat_rt.calibration = NULL;
    pat_rt.node_of = NULL;
}

/* All but the attribute of MPI_COMM_SELF, which its own callback may not delete. */
static int shut_down(void)
{
    int rc = pat_life_settle(NULL);
    if (rc == MPI_SUCCESS)
        rc = for_all(end_credits, true);
    pat_rt.settled = true;
    if (pat_rt.thread) {
        pat_thread_stop(pat_rt.thread);
        pat_rt.thread = NULL;
    }
    while (pat_rt.comms) { /* in the order they were made: the same on all members */
        pat_comm *c = pat_rt.comms;
        int rc_free = PMPI_Comm_delete_attr(c->user, pat_rt.comm_keyval);
        if (rc == MPI_SUCCESS)
            rc = rc_free;
        if (pat_rt.comms == c)
            break; /* MPI would not let go of it */
    }
    atomic_store(&pat_rt.started, false);
    forget_machine();
    PMPI_Comm_free_keyval(&pat_rt.comm_keyval);
    PMPI_Comm_free_keyval(&pat_rt.calls_keyval);
    pat_runtime_forget_world();
    return rc;
}

static int finalize_hook(MPI_Comm comm, int keyval, void *attr, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)attr;
    (void)extra;
    if (!atomic_load(&pat_rt.started)) /* pat_life_end has done it all */
        return MPI_SUCCESS;
#ifndef OPEN_MPI
    /* MPICH's MPI_Finalize goes without its locks from here on: this thread has to be the only one. */
    if (pat_rt.thread)
        pat_thread_stop(pat_rt.thread);
    pat_rt.thread = NULL;
#endif
    int rc = shut_down();
    end_trace(); /* an error here would end the program: a trace is not worth that */
    PMPI_Comm_free_keyval(&pat_rt.self_keyval); /* goes with the last attribute, which is this one */
    return rc;
}

static bool find_algorithm(enum pat_op op, const pat_algorithm **alg)
{
    const pat_config *c = &pat_rt.config;
    *alg = pat_algorithm_find(c->alg[op]);
    if (pat_algorithm_is_whole(*alg) && (*alg)->op == op)
        return true;
    pat_error(MPI_ERR_ARG, "%s=\"%s\": accepted: %s", c->alg_setting[op], c->alg[op],
              pat_algorithm_names(op));
    return false;
}

static int read_settings(int rank, const pat_algorithm *alg[PAT_NUM_OPS])
{
    char why[256] = "";
    if (pat_config_read(&pat_rt.config, pat_config_env, why, sizeof(why)) != 0)
        return pat_error(MPI_ERR_ARG, "%s", why);
    for (int op = 0; op < PAT_NUM_OPS; op++)
        if (!find_algorithm((enum pat_op)op, &alg[op]))
            return MPI_ERR_ARG;
    return pat_rt.config.trace[0] ? pat_trace_open(&pat_rt.trace, pat_rt.config.trace, rank) : MPI_SUCCESS;
}

/*
 * All ranks must start alike. Each says whether it could begin (rc: what has come of that so far), whether its settings are good and what
 * they are; anything else than one mind is an error everywhere, so that nobody is left waiting.
 */
static int agree_on_settings(int rank, int rc, const pat_algorithm *alg[PAT_NUM_OPS])
{
    int64_t mine[5], most[5];
    const bool begun = rc == MPI_SUCCESS;
    if (begun)
        rc = read_settings(rank, alg);
    const bool good = rc == MPI_SUCCESS;
    uint64_t digest = good ? pat_config_digest(&pat_rt.config) : 0;
    mine[0] = good ? 0 : begun ? 1 : 2;
    mine[1] = (int64_t)(digest >> 32);
    mine[2] = -mine[1];
    mine[3] = (int64_t)(digest & 0xffffffffu);
    mine[4] = -mine[3];
    const int rc_agree = PMPI_Allreduce(mine, most, 5, MPI_INT64_T, MPI_MAX, pat_rt.world);
    if (!good)
        return rc;
    if (rc_agree != MPI_SUCCESS)
        return rc_agree;
    if (most[0])
        return most[0] == 1
                   ? pat_error(MPI_ERR_ARG, "PAT_Init: another rank's PAT_* settings are malformed")
                   : pat_error(MPI_ERR_OTHER, "PAT_Init: another rank could not begin; its error says why");
    if (most[1] != -most[2] || most[3] != -most[4])
        return pat_error(MPI_ERR_ARG,
                         "PAT_Init: the ranks' PAT_* settings differ; set them alike on every rank, for "
                         "example with mpirun -x");
    return MPI_SUCCESS;
}

/* Where ranks are, and a thread on each: collective. */
static int start_thread(void)
{
    MPI_Comm node;
    pat_place_view *view;
    int level;
    int rc = pat_nodes_find(pat_rt.world, &node, &pat_rt.node_of);
    if (rc != MPI_SUCCESS)
        return rc;
    rc = pat_place_ask(pat_rt.world, node, pat_rt.config.thread_pin, &view);
    PMPI_Comm_free(&node);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Query_thread(&level);
    if (level >= MPI_THREAD_MULTIPLE && pat_rt.config.background)
        pat_rt.thread = pat_thread_start(background_work, NULL, view);
    if (!pat_rt.thread)
        pat_place_forget(view);
    int mine = pat_rt.thread != NULL, all = 0; /* without one this rank simply has no early part */
    rc = PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, pat_rt.world);
    pat_rt.all_threads = all;
    if (rc != MPI_SUCCESS && pat_rt.thread) {
        pat_thread_stop(pat_rt.thread);
        pat_rt.thread = NULL;
    }
    return rc;
}

/* What hangs on communicators. MPI_Finalize deletes what hangs on MPI_COMM_SELF first of all. */
static int make_keys(void)
{
    pat_rt.comm_keyval = pat_rt.calls_keyval = pat_rt.self_keyval = MPI_KEYVAL_INVALID;
    int rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_comm, &pat_rt.comm_keyval, NULL);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &pat_rt.calls_keyval,
                                     NULL);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_hook, &pat_rt.self_keyval, NULL);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_set_attr(MPI_COMM_SELF, pat_rt.self_keyval, &pat_rt);
    return rc == MPI_SUCCESS
               ? rc
               : pat_error(rc, "PAT_Init: the MPI library refuses an attribute of a communicator");
}

static void free_keys(void)
{
    int *const keys[] = {&pat_rt.comm_keyval, &pat_rt.calls_keyval, &pat_rt.self_keyval};
    void *attr;
    int found = 0;
    if (pat_rt.self_keyval != MPI_KEYVAL_INVALID &&
        PMPI_Comm_get_attr(MPI_COMM_SELF, pat_rt.self_keyval, &attr, &found) == MPI_SUCCESS && found)
        PMPI_Comm_delete_attr(MPI_COMM_SELF, pat_rt.self_keyval);
    for (int i = 0; i < 3; i++)
        if (*keys[i] != MPI_KEYVAL_INVALID)
            PMPI_Comm_free_keyval(keys[i]);
}

/* The shortest of so many round trips is hardly ever one that was disturbed. */
enum { CLOCK_ROUNDS = 10 };

int pat_life_begin(void)
{
    const pat_algorithm *alg[PAT_NUM_OPS];
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm world;
    int rc = PMPI_Comm_split(MPI_COMM_WORLD, 0, rank, &world);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    int rc_world = pat_runtime_keep_world(world);
    rc = make_keys();
    if (rc == MPI_SUCCESS)
        rc = rc_world;
    rc = agree_on_settings(rank, rc, alg);
    if (rc == MPI_SUCCESS && rank == 0 && (pat_rt.config.explain || pat_config_env("PAT_RUN")))
        pat_explain_strays();
    if (rc == MPI_SUCCESS && pat_rt.config.calibration[0])
        rc = pat_machine_calibration(pat_rt.world, &pat_rt.config, &pat_rt.calibration);
    if (rc == MPI_SUCCESS)
        rc = pat_clock_sync(&pat_rt.clock, pat_rt.world, CLOCK_ROUNDS);
    if (rc == MPI_SUCCESS) {
        pat_runtime_reset();
        for (int op = 0; op < PAT_NUM_OPS; op++)
            atomic_store(&pat_rt.alg[op], alg[op]);
        pat_rt.settled = false;
        pat_rt.visit_all = background_work;
        pat_rt.milestone = (pat_milestone){0};
        rc = start_thread();
    }
    if (rc != MPI_SUCCESS) {
        if (pat_rt.trace)
            pat_trace_drop(pat_rt.trace, pat_rt.config.trace, rank);
        pat_rt.trace = NULL;
        forget_machine();
        free_keys();
        pat_runtime_forget_world();
        return rc;
    }
    if (pat_rt.trace) {
        pat_trace_begin(pat_rt.trace, pat_rt.traced);
        pat_rt.traced = true;
    }
    if (pat_rt.config.explain && rank == 0 && !pat_rt.all_threads) {
        int size;
        PMPI_Comm_size(pat_rt.world, &size);
        pat_explain_left(size, PAT_WHY_NO_THREAD);
    }
    atomic_store(&pat_rt.started, true);
    return MPI_SUCCESS;
}

int pat_life_end(void)
{
    int rc = shut_down(), rc_trace = end_trace();
    if (rc == MPI_SUCCESS)
        rc = rc_trace;
    PMPI_Comm_delete_attr(MPI_COMM_SELF, pat_rt.self_keyval);
    PMPI_Comm_free_keyval(&pat_rt.self_keyval);
    return rc;
}

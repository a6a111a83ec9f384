/*
 * life.c — see life.h.
 */
#include "life.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "ensure.h"
#include "error.h"
#include "explain.h"
#include "bells_meet.h"
#include "keep.h"
#include "leave.h"
#include "machine.h"
#include "in_mpi.h"
#include "nodes.h"
#include "place.h"
#include "runtime.h"
#include "settle.h"
#include "trace.h"
#include "visit.h"

static int end_trace(void)
{
    int rc = pat_rt.trace ? pat_trace_close(pat_rt.trace) : MPI_SUCCESS;
    pat_rt.trace = NULL;
    return rc;
}

static void forget_machine(void)
{
    free(pat_rt.calibration);
    free(pat_rt.stored);
    free(pat_rt.node_of);
    pat_reach_free(pat_rt.reach);
    pat_rt.reach = NULL;
    pat_bells_free(pat_rt.bells);
    pat_rt.calibration = NULL;
    pat_rt.stored = NULL;
    pat_rt.num_stored = 0;
    pat_rt.node_of = NULL;
    pat_rt.bells = NULL;
}

/*
 * Nobody measures clocks any more, and no message of that is under way. Where it has failed on some rank before the end there is no waiting for
 * it, and what is under way keeps its communicator; an error in the end itself, which is returned, leaves the others waiting until
 * this program ends. *earlier: an error from before. The end of the library begins with this: all ranks come here, since nothing has been waited for yet
 * that a rank with an error might not do.
 */
static int stop_clock(int *earlier)
{
    static const char text[] =
        "the clocks of the ranks were not measured again to the end: an MPI function has failed there";
    *earlier = MPI_SUCCESS;
    if (!pat_rt.all_threads)
        return MPI_SUCCESS;
    const int failed = pat_timekeeper_stop(&pat_rt.time), here = failed != MPI_SUCCESS;
    int any = 1;
    bool done = false;
    int rc = pat_runtime_agree(&here, &any, 1);
    pat_rest rest = pat_runtime_rest_begin();
    if (rc != MPI_SUCCESS)
        return rc;
    while (rc == MPI_SUCCESS && !any && !done) {
        rc = pat_timekeeper_end(&pat_rt.time, &done);
        if (!done)
            pat_runtime_rest(&rest, false);
    }
    if (!done)
        atomic_store(&pat_rt.world_stays, true);
    if (here)
        *earlier = pat_error(failed, "%s", text);
    return rc == MPI_SUCCESS ? rc : pat_error(rc, "%s", text);
}

/* All but the attribute of MPI_COMM_SELF, which its own callback may not delete. *rc_clock: an error that has spoilt no result. */
static int shut_down(int *rc_clock)
{
    int rc = stop_clock(rc_clock);
    if (rc == MPI_SUCCESS) {
        rc = pat_settle(NULL, NULL);
        const int rc_started = pat_settle_started();
        rc = rc != MPI_SUCCESS ? rc : rc_started;
    }
    pat_rt.settled = true;
    if (pat_rt.thread) {
        pat_thread_stop(pat_rt.thread);
        pat_rt.thread = NULL;
    }
    pat_in_mpi_leave();
    while (
        pat_rt
            .comms) { /* in the order they were made: the same on all members, but for those that wait for nobody here */
        pat_comm *c = pat_rt.comms;
        if (c->leave != PAT_LEAVE_NOT || atomic_load(&c->freed) || c->of_request) {
            pat_leave_free(c);
            continue;
        }
        int rc_free =
            PMPI_Comm_delete_attr(c->user, pat_comm_is_local(c) ? pat_rt.local_keyval : pat_rt.comm_keyval);
        if (rc == MPI_SUCCESS)
            rc = rc_free;
        if (pat_rt.comms == c)
            break; /* MPI would not let go of it */
    }
    atomic_store(&pat_rt.started, false);
    pat_keep_end();
    PAT_ENSURE(pat_rt.comms || pat_rt.kept ||
               (atomic_load(&pat_rt.num_pending) == 0 && atomic_load(&pat_rt.num_moved) == 0));
    forget_machine();
    PMPI_Comm_free_keyval(&pat_rt.comm_keyval);
    PMPI_Comm_free_keyval(&pat_rt.local_keyval);
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
    int rc_clock;
    int rc = shut_down(&rc_clock);
    end_trace(); /* an error here would end the program: neither a trace nor rc_clock is worth that */
    PMPI_Comm_free_keyval(&pat_rt.self_keyval); /* goes with the last attribute, which is this one */
    return rc;
}

static bool find_algorithm(enum pat_op op, const pat_algorithm **alg)
{
    const pat_config *c = &pat_rt.config;
    *alg = pat_algorithm_find(c->alg[op]);
    if (*alg && (*alg)->op == op)
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

/* On rank 0: may there be a calibration in the store? Its names alone are looked at, and by no other rank. */
static bool look_in_store(void)
{
    char path[PAT_STORE_PATH], why[256];
    if (!pat_store_find(pat_config_env, path, sizeof(path)))
        return false;
    const enum pat_store_state state = pat_store_look(path, why, sizeof(why));
    if (state == PAT_STORE_UNTRUSTED && pat_rt.config.explain)
        pat_explain_not_taken(NULL, path, why);
    return state == PAT_STORE_HOLDS;
}

/*
 * All ranks must start alike. Each says whether it could begin (rc: what has come of that so far), whether its settings are good and what
 * they are; anything else than one mind is an error everywhere, so that nobody is left waiting. *store: rank 0 says that there may be a
 * calibration in the store.
 */
static int agree_on_settings(int rank, int rc, const pat_algorithm *alg[PAT_NUM_OPS], bool *store)
{
    int64_t mine[6], most[6];
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
    mine[5] = good && rank == 0 && pat_rt.config.calibration_sought && look_in_store();
    const int rc_agree = PMPI_Allreduce(mine, most, 6, MPI_INT64_T, MPI_MAX, pat_rt.world);
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
    *store = most[5] != 0;
    return MPI_SUCCESS;
}

/*
 * The calibrations of this machine, from the store, where it holds any: collective. Where all ranks are on one node auto goes by none
 * (pat_comm_chooses_here), and nothing is read.
 */
static int find_stored(int rank, bool store)
{
    const pat_store_listener listener = {pat_explain_not_taken, NULL};
    bool one_node = true;
    int size;
    PMPI_Comm_size(pat_rt.world, &size);
    for (int r = 1; r < size; r++)
        one_node = one_node && pat_rt.node_of[r] == pat_rt.node_of[0];
    if (!store || !pat_comm_chooses_here(one_node, false))
        return MPI_SUCCESS;
    return pat_machine_stored(pat_rt.world, rank == 0 && pat_rt.config.explain ? &listener : NULL,
                              &pat_rt.stored, &pat_rt.num_stored);
}

/* From the start on. Before that nothing is wrong by much, and most short programs are over. */
static const int64_t FIRST_LOOK_AT_CLOCK_NS = 1000000000;

/* A thread on each rank: collective. */
static int start_thread(MPI_Comm node, const pat_clock_tree *clocks)
{
    pat_place_view *view;
    int level, size;
    PMPI_Comm_size(pat_rt.world, &size);
    int rc = pat_place_ask(pat_rt.world, node, pat_rt.config.thread_pin, &view);
    if (rc != MPI_SUCCESS)
        return rc;
    const int64_t look_ns = size > 1 ? pat_clock_local_ns() + FIRST_LOOK_AT_CLOCK_NS : PAT_NEVER;
    PMPI_Query_thread(&level);
    pat_rt.crowded = pat_place_is_crowded(view);
    if (level >= MPI_THREAD_MULTIPLE && pat_rt.config.background) {
        pat_in_mpi_join();
        pat_rt.thread = pat_thread_start(pat_visit_all, NULL, look_ns, view, pat_rt.bells);
    }
    if (!pat_rt.thread)
        pat_place_forget(view);
    /* Is there one (without, this rank simply has no early part); negated, so that the least is the latest rank's, when clocks are to be
     * measured again; what MPI sends without asking; and does it call this library. */
    int64_t mine[4] = {pat_rt.thread != NULL, -pat_timekeeper_now_ns(&pat_rt.time) - FIRST_LOOK_AT_CLOCK_NS,
                       pat_link_eager_bytes(), pat_rt.joined},
            least[4] = {0};
    rc = PMPI_Allreduce(mine, least, 4, MPI_INT64_T, MPI_MIN, pat_rt.world);
    pat_rt.all_threads = least[0];
    pat_rt.all_joined = least[3];
    pat_rt.eager_bytes = least[2] == INT_MAX ? 0 : (int)least[2];
    if (rc == MPI_SUCCESS && pat_rt.all_threads) {
        pat_timekeeper_track(&pat_rt.time, pat_rt.world, clocks, -least[1]);
        if (pat_clock_local_ns() >= look_ns) /* it may have looked already, and found nothing to measure */
            pat_thread_kick(pat_rt.thread);
    }
    if (rc != MPI_SUCCESS && pat_rt.thread) {
        pat_thread_stop(pat_rt.thread);
        pat_rt.thread = NULL;
    }
    return rc;
}

/* What is known of messages where the ranks are, and who moves data early: collective. node: of the ranks of this node. */
static int look_around(int rank, bool store, MPI_Comm node, const pat_clock_tree *clocks)
{
    int rc = find_stored(rank, store);
    if (rc == MPI_SUCCESS)
        rc = pat_bells_meet(node, &pat_rt.bells);
    /*
     * What MPI takes at once it goes on to take at once; where that is not known, segments of broadcasts. Without bells nobody would be told
     * that his data has been copied.
     */
    const int inside = pat_link_eager_inside_bytes(), least = inside == INT_MAX ? PAT_SEGMENT_BYTES : inside;
    if (rc == MPI_SUCCESS)
        rc = pat_reach_find(node, pat_rt.bells && pat_rt.config.single_copy, least, &pat_rt.reach);
    if (rc == MPI_SUCCESS)
        rc = start_thread(node, clocks);
    return rc;
}

/* What hangs on communicators. MPI_Finalize deletes what hangs on MPI_COMM_SELF first of all. */
static int make_keys(void)
{
    pat_rt.comm_keyval = pat_rt.local_keyval = pat_rt.calls_keyval = pat_rt.self_keyval = MPI_KEYVAL_INVALID;
    int rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, pat_leave_comm_ends, &pat_rt.comm_keyval, NULL);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, pat_leave_comm_ends, &pat_rt.local_keyval, NULL);
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
    int *const keys[] = {&pat_rt.comm_keyval, &pat_rt.local_keyval, &pat_rt.calls_keyval,
                         &pat_rt.self_keyval};
    void *attr;
    int found = 0;
    if (pat_rt.self_keyval != MPI_KEYVAL_INVALID &&
        PMPI_Comm_get_attr(MPI_COMM_SELF, pat_rt.self_keyval, &attr, &found) == MPI_SUCCESS && found)
        PMPI_Comm_delete_attr(MPI_COMM_SELF, pat_rt.self_keyval);
    for (int i = 0; i < 4; i++)
        if (*keys[i] != MPI_KEYVAL_INVALID)
            PMPI_Comm_free_keyval(keys[i]);
}

/* The shortest of so many round trips is hardly ever one that was disturbed. */
enum { CLOCK_ROUNDS = 10 };

int pat_life_begin(void)
{
    const pat_algorithm *alg[PAT_NUM_OPS];
    bool store = false;
    pat_clock clock;
    pat_clock_tree clocks;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm world, node = MPI_COMM_NULL;
    int rc = PMPI_Comm_split(MPI_COMM_WORLD, 0, rank, &world);
    if (rc != MPI_SUCCESS)
        return rc;
    PMPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    int rc_world = pat_runtime_keep_world(world);
    rc = make_keys();
    if (rc == MPI_SUCCESS)
        rc = rc_world;
    rc = agree_on_settings(rank, rc, alg, &store);
    if (rc == MPI_SUCCESS && rank == 0 && (pat_rt.config.explain || pat_config_env("PAT_RUN")))
        pat_explain_strays();
    if (rc == MPI_SUCCESS && pat_rt.config.calibration[0])
        rc = pat_machine_calibration(pat_rt.world, &pat_rt.config, &pat_rt.calibration);
    if (rc == MPI_SUCCESS)
        rc = pat_nodes_find(pat_rt.world, &node, &pat_rt.node_of);
    if (rc == MPI_SUCCESS)
        rc = pat_clock_tree_find(&clocks, pat_rt.world, pat_rt.node_of);
    if (rc == MPI_SUCCESS)
        rc = pat_clock_sync(&clock, pat_rt.world, &clocks, CLOCK_ROUNDS);
    if (rc == MPI_SUCCESS) {
        pat_timekeeper_begin(&pat_rt.time, &clock);
        pat_runtime_reset();
        for (int op = 0; op < PAT_NUM_OPS; op++)
            atomic_store(&pat_rt.alg[op], alg[op]);
        pat_rt.settled = false;
        pat_rt.visit_all = pat_visit_all;
        pat_rt.looks = pat_link_looks();
        pat_rt.milestone = (pat_milestone){0};
        rc = look_around(rank, store, node, &clocks);
    }
    if (node != MPI_COMM_NULL)
        PMPI_Comm_free(&node);
    if (rc != MPI_SUCCESS) {
        if (pat_rt.trace)
            pat_trace_drop(pat_rt.trace, pat_rt.config.trace, rank);
        pat_rt.trace = NULL;
        pat_in_mpi_leave();
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
        pat_explain_left(size, PAT_WHY_NO_THREAD, false);
    }
    atomic_store(&pat_rt.started, true);
    return MPI_SUCCESS;
}

int pat_life_end(void)
{
    int rc_clock, rc = shut_down(&rc_clock), rc_trace = end_trace();
    if (rc == MPI_SUCCESS)
        rc = rc_trace != MPI_SUCCESS ? rc_trace : rc_clock;
    PMPI_Comm_delete_attr(MPI_COMM_SELF, pat_rt.self_keyval);
    PMPI_Comm_free_keyval(&pat_rt.self_keyval);
    return rc;
}

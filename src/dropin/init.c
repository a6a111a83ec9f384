/*
 * init.c — the library's life under the drop-in: it starts at the end of MPI_Init and ends at the beginning of
 * MPI_Finalize. A program must never fail because of us: what is wrong with our settings is said once, and the program runs
 * as if nothing were preloaded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "dropin.h"
#include "pat.h"
#include "report.h"
#include "life.h"
#include "link.h"
#include "runtime.h"

enum { CALLS_BEFORE_A_STATE = 3 };

pat_gate *pat_dropin_gate;

static void say(const char *what, const char *why)
{
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "pat: %s: %s\n", what, why);
}

/* How MPI is to be started, and what was done for it. */
typedef struct preparations {
    int level;         /* with which MPI_Init_thread is called; negative: MPI_Init is */
    bool set_ucx_lock; /* UCX's setting is this library's */
} preparations;

/*
 * UCX has a lock for all threads of a process, and spins while another one has it. The background thread may lose its processor with it, to ranks that share
 * the processor, and all of them wait for milliseconds. UCX reads the setting when MPI starts (with Open MPI 4 once more for the first window of one-sided communication, which comes too late for this).
 */
static bool set_ucx_lock(void)
{
    return !pat_link_ucx_lock_is_set() && setenv(PAT_LINK_UCX_LOCK, "y", 0) == 0;
}

/* level: what the program asks for; negative: it calls MPI_Init. What is wrong with the settings is said later. */
static preparations prepare(int level)
{
    pat_config config;
    char why[256];
    if (pat_config_read(&config, pat_config_env, why, sizeof(why)) != 0)
        return (preparations){level, false};
    if (config.state_signal)
        pat_rt.state_error = pat_state_catch(config.state_signal);
    if (!config.thread_level_keep)
        level = MPI_THREAD_MULTIPLE;
    return (preparations){level, config.background && level == MPI_THREAD_MULTIPLE && set_ucx_lock()};
}

/* Programs that this one starts from now on are not to have it by this library. */
static void tidy_up(const preparations *done)
{
    if (done->set_ucx_lock)
        unsetenv(PAT_LINK_UCX_LOCK);
}

static void begin_report(int64_t begin_ns)
{
    char what[400];
    const int error = pat_report_begin(begin_ns);
    const int own = error ? 0 : ((pat_dropin *)pat_rt.dropin)->trace_error;
    int worst = 0;
    if (error) {
        snprintf(what, sizeof(what), "PAT_REPORT=\"%s\": cannot be written: %s", pat_rt.config.report,
                 strerror(error));
        say(pat_rt.config.report[0] ? what : strerror(error), "the program runs without a report");
        return;
    }
    if (pat_rt.state_error)
        fprintf(stderr, "pat: PAT_SIGNAL: a rank will not answer: %s\n",
                pat_rt.state_error == EBUSY
                    ? "the program has taken the signal for itself; choose the other one"
                    : strerror(pat_rt.state_error));
    if (PMPI_Allreduce(&own, &worst, 1, MPI_INT, MPI_MAX, pat_rt.world) == MPI_SUCCESS && worst) {
        snprintf(what, sizeof(what), "PAT_TRACE: some ranks cannot write their calls: %s", strerror(worst));
        say(what, "the program runs without these");
    }
}

/* Are calls to be counted? A trace, and a signal, may be asked for on some ranks only. */
static bool are_counted(void)
{
    const int own = pat_rt.config.report[0] || pat_rt.config.trace[0] || pat_rt.config.state_signal;
    int any = 0;
    return PMPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, pat_rt.world) == MPI_SUCCESS && any;
}

static void watch(bool on)
{
    pat_dropin_watch(on);
    pat_dropin_watch_fortran(on);
    pat_dropin_watch_messages(on);
    pat_dropin_watch_messages_fortran(on);
    pat_dropin_watch_persistent(on);
    pat_dropin_watch_persistent_fortran(on);
    pat_dropin_watch_control(on);
}

/* Is some collective left to an algorithm that takes one of the others by when ranks arrive? */
static bool chooses_by_arrivals(void)
{
    bool any = false;
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        const pat_algorithm *alg = atomic_load(&pat_rt.alg[op]);
        any = any || (alg->chooses && alg->arrival_aware);
    }
    return any;
}

/* All ranks call. Settings are the same on all of them or an error on all of them (PAT_Init). */
static void start(void)
{
    if (pat_rt.tried)
        return;
    pat_rt.tried = true;
    const int64_t begin_ns = pat_clock_local_ns();
    int rc = pat_life_begin();
    if (rc != MPI_SUCCESS) {
        say(PAT_Error_string(rc), "the program runs without arrival-aware collectives");
        return;
    }
    pat_rt.hosted = true;
    pat_rt.patience = chooses_by_arrivals() ? CALLS_BEFORE_A_STATE : 0;
    pat_dropin_take();
    pat_dropin_take_fortran();
    pat_dropin_take_persistent();
    pat_dropin_take_persistent_fortran();
    if (are_counted())
        begin_report(begin_ns);
    if (pat_dropin_reports)
        watch(true);
    pat_stand_ins_begin();
    if (pat_stand_ins_have_scan())
        pat_dropin_take_scan(true);
}

static int init(int *argc, char ***argv, int level, int *provided)
{
    const preparations done = prepare(level);
    const int rc =
        done.level < 0 ? PAT_NEXT(Init)(argc, argv) : PAT_NEXT(Init_thread)(argc, argv, done.level, provided);
    tidy_up(&done);
    if (rc == MPI_SUCCESS)
        start();
    return rc;
}

int pat_dropin_init(int *argc, char ***argv)
{
    int provided;
    return init(argc, argv, -1, &provided);
}

int pat_dropin_init_thread(int *argc, char ***argv, int required, int *provided)
{
    return init(argc, argv, required, provided);
}

int pat_dropin_finalize(void)
{
    if (atomic_load(&pat_rt.started) && pat_rt.hosted) {
        if (pat_dropin_reports)
            watch(false);
        pat_dropin_take_starts(false);
        pat_dropin_take_starts_fortran(false);
        if (pat_stand_ins_have_scan())
            pat_dropin_take_scan(false);
        pat_stand_ins_end();
        struct pat_dropin *report = pat_report_end();
        const int64_t start_ns = pat_clock_local_ns();
        const int rc = pat_life_end();
        const int64_t end_ns = pat_clock_local_ns() - start_ns;
        pat_rt.hosted = false;
        if (rc != MPI_SUCCESS)
            say("shutting down", PAT_Error_string(rc));
        bool trace_is_whole = true;
        const int rc_report = report ? pat_report_write(report, end_ns, &trace_is_whole) : MPI_SUCCESS;
        if (rc_report != MPI_SUCCESS)
            say("no report", PAT_Error_string(rc_report));
        if (!trace_is_whole)
            say("PAT_TRACE", "on some ranks the disk has no room for all calls; pat-report says on which");
    }
    return PAT_NEXT(Finalize)();
}

/* ---- As the preloaded file calls them ------------------------------------------------------------------ */

static int enter_init(pat_gate_any *next, const void *site, int *argc, char ***argv)
{
    (void)next;
    (void)site;
    return pat_dropin_init(argc, argv);
}

static int enter_init_thread(pat_gate_any *next, const void *site, int *argc, char ***argv, int required,
                             int *provided)
{
    (void)next;
    (void)site;
    return pat_dropin_init_thread(argc, argv, required, provided);
}

static int enter_finalize(pat_gate_any *next, const void *site)
{
    (void)next;
    (void)site;
    return pat_dropin_finalize();
}

__attribute__((visibility("default"))) pat_gate_enter pat_gate_enter_library;

int pat_gate_enter_library(pat_gate *gate, const char *version, size_t size)
{
    if (strcmp(version, PAT_GATE_VERSION) != 0 || size != sizeof(*gate))
        return 1;
    pat_dropin_gate = gate;
    pat_dropin_set(PAT_WAY_C, PAT_CALL_Init, (pat_gate_any *)enter_init);
    pat_dropin_set(PAT_WAY_C, PAT_CALL_Init_thread, (pat_gate_any *)enter_init_thread);
    pat_dropin_set(PAT_WAY_C, PAT_CALL_Finalize, (pat_gate_any *)enter_finalize);
    pat_dropin_enter_fortran();
    return 0;
}

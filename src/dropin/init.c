/*
 * init.c — the library's life under the drop-in: it starts at the end of MPI_Init and ends at the beginning of
 * MPI_Finalize. A program must never fail because of us: what is wrong with our settings is said once, and the program runs
 * as if nothing were preloaded.
 */
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "dropin.h"
#include "pat.h"
#include "report.h"
#include "runtime.h"

enum { CALLS_BEFORE_A_STATE = 3 };

static void say(const char *what, const char *why)
{
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        fprintf(stderr, "pat: %s: %s\n", what, why);
}

static bool keeps_level(void)
{
    pat_config config;
    char why[256];
    return pat_config_read(&config, pat_config_env, why, sizeof(why)) != 0 || config.thread_level_keep;
}

static void begin_report(int64_t begin_ns)
{
    char what[400];
    const int error = pat_report_begin(begin_ns);
    if (!error)
        return;
    snprintf(what, sizeof(what), "PAT_REPORT=\"%s\": cannot be written: %s", pat_rt.config.report,
             strerror(error));
    say(what, "the program runs without a report");
}

/* All ranks call. Settings are the same on all of them or an error on all of them (PAT_Init). */
static void start(void)
{
    if (pat_rt.tried)
        return;
    pat_rt.tried = true;
    const int64_t begin_ns = pat_clock_local_ns();
    int rc = pat_runtime_init();
    if (rc != MPI_SUCCESS) {
        say(PAT_Error_string(rc), "the program runs without arrival-aware collectives");
        return;
    }
    pat_rt.hosted = true;
    pat_rt.patience = atomic_load(&pat_rt.alg[PAT_OP_ALLGATHER])->chooses ? CALLS_BEFORE_A_STATE : 0;
    if (pat_rt.config.report[0])
        begin_report(begin_ns);
}

int pat_dropin_init(int *argc, char ***argv)
{
    int provided;
    const int rc = keeps_level() ? PAT_NEXT(Init)(argc, argv)
                                 : PAT_NEXT(Init_thread)(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    if (rc == MPI_SUCCESS)
        start();
    return rc;
}

int pat_dropin_init_thread(int *argc, char ***argv, int required, int *provided)
{
    const int rc =
        PAT_NEXT(Init_thread)(argc, argv, keeps_level() ? required : MPI_THREAD_MULTIPLE, provided);
    if (rc == MPI_SUCCESS)
        start();
    return rc;
}

int pat_dropin_finalize(void)
{
    if (atomic_load(&pat_rt.started) && pat_rt.hosted) {
        struct pat_dropin *report = pat_report_end();
        const int64_t start_ns = pat_clock_local_ns();
        const int rc = pat_runtime_shutdown();
        const int64_t end_ns = pat_clock_local_ns() - start_ns;
        pat_rt.hosted = false;
        if (rc != MPI_SUCCESS)
            say("shutting down", PAT_Error_string(rc));
        const int rc_report = report ? pat_report_write(report, end_ns) : MPI_SUCCESS;
        if (rc_report != MPI_SUCCESS)
            say("no report", PAT_Error_string(rc_report));
    }
    return PAT_NEXT(Finalize)();
}

int MPI_Init(int *argc, char ***argv)
{
    return pat_dropin_init(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    return pat_dropin_init_thread(argc, argv, required, provided);
}

int MPI_Finalize(void)
{
    return pat_dropin_finalize();
}

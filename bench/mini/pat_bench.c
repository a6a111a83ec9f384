/*
 * pat_bench.c — the mini-benchmark's main program: who speaks, in which order things are set up and taken
 * down, and with which status it ends. Must never start measuring before it knows that its results can be
 * written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "bench_about.h"
#include "bench_choice.h"
#include "bench_csv.h"
#include "bench_file.h"
#include "bench_finalize.h"
#include "bench_json.h"
#include "bench_loop.h"
#include "bench_options.h"
#include "bench_paper.h"
#include "bench_wins.h"
#include "bench_draw.h"
#include "bench_plot.h"
#include "bench_report.h"
#include "bench_versus.h"
#include "tool_options.h"

typedef struct program {
    bench_options options;
    bench_table table;
    bench_settings settings;
    bench_run run;
    bench_net net;
    bench_about about;
    bool complete;
} program;

static int plot(const program *p)
{
    char why[512];
    const int figures = bench_plot_make(&p->table, p->options.versus, p->options.plot, why, sizeof(why));
    if (figures < 0)
        fprintf(stderr, "pat-bench: %s\n", why);
    else
        printf("# %d figures (SVG and PNG) in %s\n", figures, p->options.plot);
    return figures < 0;
}

static void print_tables(const program *p)
{
    bench_report_print(&p->table, stdout);
    if (p->options.versus)
        bench_versus_print(&p->table, p->options.versus, stdout);
    if (p->options.versus && pat_algorithm_find(p->options.versus)->chooses)
        bench_choice_print(&p->table, p->options.versus, stdout);
    if (!p->options.paper)
        return;
    bench_paper_print(&p->table, stdout);
    bench_wins_print_paper(stdout);
}

/* ---- Without ranks
 * --------------------------------------------------------------------------------------------- */

static int look_at_files(program *p)
{
    char why[512];
    for (int i = 0; i < p->options.num_from; i++)
        if (bench_results_read(&p->table, p->options.from[i], why, sizeof(why)) != 0) {
            fprintf(stderr, "pat-bench: --from: %s\n", why);
            return TOOL_BAD_INPUT;
        }
    if (p->options.plot && bench_dir_check(p->options.plot, why, sizeof(why)) != 0) {
        fprintf(stderr, "pat-bench: --plot: %s\n", why);
        return TOOL_BAD_INPUT;
    }
    print_tables(p);
    return p->options.plot && plot(p) ? TOOL_FAILED : 0;
}

/* ---- With ranks
 * ------------------------------------------------------------------------------------------------- */

/* Rank 0 only: everything about the input that can be wrong. Returns 0 or EINVAL with the text in o->error.
 */
static int check_input(program *p, int num_ranks)
{
    bench_options *o = &p->options;
    char why[400] = "";
    if (o->error[0] != '\0')
        return EINVAL;
    if (num_ranks < 2) {
        snprintf(o->error, sizeof(o->error),
                 "1 rank has nobody to wait for: start 2 to %d ranks, for example mpirun -n 4 pat-bench",
                 BENCH_MAX_RANKS);
        return EINVAL;
    }
    if (num_ranks > BENCH_MAX_RANKS) {
        snprintf(o->error, sizeof(o->error), "%d ranks: 2 to %d are accepted", num_ranks, BENCH_MAX_RANKS);
        return EINVAL;
    }
    for (int i = 0; i < o->num_counts; i++)
        if (bench_round_count(o->op, o->counts[i], num_ranks) == 0) {
            snprintf(o->error, sizeof(o->error),
                     "--count '%lld': at least one float for each of the %d ranks", (long long)o->counts[i],
                     num_ranks);
            return EINVAL;
        }
    const char *option = "";
    int rc = 0;
    if (o->csv && (rc = bench_file_check(o->csv, why, sizeof(why))) != 0)
        option = "--csv: ";
    else if (o->json && (rc = bench_file_check(o->json, why, sizeof(why))) != 0)
        option = "--json: ";
    else if (o->plot && (rc = bench_dir_check(o->plot, why, sizeof(why))) != 0)
        option = "--plot: ";
    else
        rc = bench_lab_read(&p->net.burst_bytes, &p->about.lab_check, why, sizeof(why));
    if (rc != 0)
        snprintf(o->error, sizeof(o->error), "%s%s", option, why);
    return rc ? EINVAL : 0;
}

static int write_results(program *p, char *why, size_t why_size)
{
    size_t length;
    int rc = 0;
    if (p->options.csv) {
        char *text = bench_csv_text(&p->table, &length);
        rc = text ? bench_file_write(p->options.csv, text, length, why, why_size) : ENOMEM;
        free(text);
    }
    if (rc == 0 && p->options.json) {
        char *text = bench_json_text(&p->table, &p->settings, p->complete, &length);
        rc = text ? bench_file_write(p->options.json, text, length, why, why_size) : ENOMEM;
        free(text);
    }
    return rc;
}

/* Cells that are done stay done, whatever ends the run later. */
static int after_cell(bench_run *run)
{
    return write_results(run->arg, run->why, sizeof(run->why));
}

static int measure_link(program *p)
{
    bench_link *link = &p->about.link;
    p->about.link_measured = !p->options.link_set;
    if (p->options.link_set) {
        p->net.lambda_ns = (int64_t)(p->options.link_latency_us * 1e3);
        p->net.beta_ps = (int64_t)(8e6 / p->options.link_mbit + 0.5);
    } else {
        const int rc = bench_link_measure(MPI_COMM_WORLD, p->net.node_of, p->net.num_nodes, link);
        if (rc != MPI_SUCCESS)
            return rc;
        p->net.lambda_ns = link->lambda_ns;
        p->net.beta_ps = (int64_t)(8e6 / link->mbit_median + 0.5);
    }
    if (p->net.beta_ps < 1)
        p->net.beta_ps = 1;
    return MPI_SUCCESS;
}

static void announce(program *p)
{
    char expected[32];
    bench_clock_text(expected, sizeof(expected), bench_loop_expected_ms(&p->run) / 1e3);
    bench_settings_print(&p->settings, stdout);
    printf("# expected to take about %s\n", expected);
    if (p->options.plot && !bench_plot_available())
        fprintf(
            stderr,
            "pat-bench: gnuplot is not on the PATH (Debian package gnuplot-nox): there will be no figures\n");
    fflush(stdout);
}

static void conclude(program *p)
{
    const char *clock = p->run.same_machine ? "one machine, one clock" : "offsets measured before every cell";
    bench_settings_add(&p->settings, "clock", "%s", clock);
    bench_settings_add(&p->settings, "clock_error_us", "%.2f", (double)p->run.clock_error_ns / 1e3);
    printf("#@clock=%s\n#@clock_error_us=%.2f\n", clock, (double)p->run.clock_error_ns / 1e3);
    print_tables(p);
    fflush(stdout);
}

/* Between PAT_Init and PAT_Finalize. Returns the status, the same on every rank. */
static int run_benchmark(program *p)
{
    bench_run *run = &p->run;
    int rc = measure_link(p);
    if (rc != MPI_SUCCESS) {
        if (run->rank == 0)
            fprintf(stderr, "pat-bench: measuring the link: %s\n", PAT_Error_string(rc));
        return TOOL_FAILED;
    }
    /* After PAT_Init, so that the library's thread is not given it: ranks wake within microseconds, not 50
     * late. */
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    run->options = &p->options;
    run->net = &p->net;
    run->table = &p->table;
    run->after_cell = after_cell;
    run->arg = p;
    if (run->rank == 0) {
        snprintf(p->table.lab_check, sizeof(p->table.lab_check), "%s", p->about.lab_check);
        bench_settings_fill(&p->settings, run, &p->about);
        announce(p);
        bench_progress_start(&run->progress, p->options.progress, bench_loop_expected_ms(run),
                             pat_clock_local_ns());
    }
    const int failed = bench_loop(run);
    if (run->rank == 0)
        bench_progress_end(&run->progress, pat_clock_local_ns());
    if (!failed && run->rank == 0) {
        p->complete = true;
        conclude(p);
        rc = write_results(p, run->why, sizeof(run->why));
    }
    if (run->rank == 0 && run->why[0] != '\0')
        fprintf(stderr, "pat-bench: %s\n", run->why);
    MPI_Bcast(&rc, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return failed || rc ? TOOL_FAILED : 0;
}

static int with_library(program *p)
{
    int *node_of = malloc((size_t)p->run.num_ranks * sizeof(*node_of));
    if (!node_of)
        MPI_Abort(MPI_COMM_WORLD, TOOL_FAILED);
    int status = TOOL_FAILED;
    int rc = bench_nodes_find(MPI_COMM_WORLD, node_of, &p->net.num_nodes, &p->net.ppn);
    p->net.num_ranks = p->run.num_ranks;
    p->net.node_of = node_of;
    if (rc == MPI_SUCCESS)
        rc = PAT_Init();
    if (rc == MPI_SUCCESS) {
        status = run_benchmark(p);
        rc = PAT_Finalize();
    } else {
        status = rc == MPI_ERR_ARG ? TOOL_BAD_INPUT : TOOL_FAILED; /* a malformed PAT_* variable */
    }
    if (rc != MPI_SUCCESS) {
        if (p->run.rank == 0)
            fprintf(stderr, "pat-bench: %s\n", PAT_Error_string(rc));
        status = status ? status : TOOL_FAILED;
    }
    free(node_of);
    return status;
}

static int with_mpi(program *p, int argc, char **argv)
{
    int status = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &p->about.thread_level);
    MPI_Comm_rank(MPI_COMM_WORLD, &p->run.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->run.num_ranks);
    /* Every rank does it: all have to know the sizes. */
    const bool sizes_known = bench_options_sizes(&p->options, p->run.num_ranks) == 0;
    if (p->run.rank == 0 && (check_input(p, p->run.num_ranks) != 0 || !sizes_known)) {
        fprintf(stderr, "pat-bench: %s\n", p->options.error);
        status = TOOL_BAD_INPUT;
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&p->net.burst_bytes, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (status == 0)
        status = with_library(p);
    bench_finalize(status);
    /* Only now, with MPI gone: this starts a process. Where bench_finalize does not come back, it has said that there is no picture. */
    if (status == 0 && p->run.rank == 0 && p->options.plot)
        plot(p);
    return status;
}

int main(int argc, char **argv)
{
    static program p; /* large, and zero */
    int status;
    const int launched_as = tool_launcher_rank();
    const bool speaks = launched_as <= 0;
    const int bad = bench_options_parse(&p.options, argc, argv, getenv("PAT_PROGRESS"));
    if (!bad && p.options.action == BENCH_HELP) {
        if (speaks)
            bench_options_help(stdout);
        status = 0;
    } else if (!bad && p.options.action == BENCH_VERSION) {
        if (speaks)
            puts("pat-bench " PAT_PROJECT_VERSION);
        status = 0;
    } else if (!bad && p.options.action == BENCH_FROM) {
        status = speaks ? look_at_files(&p) : 0;
    } else if (launched_as < 0) {
        /* No launcher, so one process: that is an error in any case, and MPI is not needed to say so. */
        check_input(&p, 1);
        fprintf(stderr, "pat-bench: %s\n", p.options.error);
        status = TOOL_BAD_INPUT;
    } else {
        status = with_mpi(&p, argc, argv);
    }
    bench_table_free(&p.table);
    bench_settings_free(&p.settings);
    bench_options_free(&p.options);
    return status;
}

/*
 * report.c — see report.h: adding up over ranks. Places are told apart by their names, which are the same on all ranks that run
 * the same program.
 */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "about.h"
#include "dropin.h"
#include "error.h"
#include "lateness.h"
#include "report_lines.h"
#include "runtime.h"
#include "source.h"

/* Of all ranks; 0: not known. */
static int count_nodes(MPI_Comm comm)
{
    MPI_Comm node;
    int rank, first = 0, all = 0;
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS)
        return 0;
    PMPI_Comm_rank(node, &rank);
    first = rank == 0;
    PMPI_Comm_free(&node);
    return PMPI_Allreduce(&first, &all, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS ? all : 0;
}

/* To be called on all ranks. Returns 0, or an error number of errno: what this rank was to write cannot be written. */
static int begin_trace(pat_dropin *d, int rank, int size)
{
    const char *dir = pat_rt.config.trace;
    const int64_t begin_ns = d->begin_ns + pat_timekeeper_offset_ns(&pat_rt.time, d->begin_ns);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t run = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec; /* rank 0's */
    if (PMPI_Bcast(&run, 1, MPI_INT64_T, 0, pat_rt.world) != MPI_SUCCESS)
        run = 0;
    const int error = dir[0] ? pat_events_to_file(&d->events, dir, rank, size, begin_ns, run) : 0;
    d->traced = dir[0] && !error;
    return error;
}

/* For who asks while the program runs: the debugging information is opened anew, and closed again. */
static void name_place(void *dropin, const void *place, char *text, int size)
{
    pat_sources *sources = pat_sources_open();
    pat_dropin_line(dropin, sources, place, text, size);
    pat_sources_close(sources);
    if (!text[0])
        pat_dropin_name(dropin, place, text, size);
}

int pat_report_begin(int64_t begin_ns)
{
    const int64_t start_ns = pat_clock_local_ns() - begin_ns;
    pat_dropin *d = malloc(sizeof(*d));
    int rank, size, error = d ? 0 : ENOMEM, worst = 0;
    PMPI_Comm_rank(pat_rt.world, &rank);
    PMPI_Comm_size(pat_rt.world, &size);
    if (d) {
        *d = (pat_dropin){.sites.lock = PTHREAD_MUTEX_INITIALIZER,
                          .python.lock = PTHREAD_MUTEX_INITIALIZER,
                          .begun.lock = PTHREAD_MUTEX_INITIALIZER,
                          .begin_ns = begin_ns,
                          .start_ns = start_ns,
                          .comm = MPI_COMM_NULL};
        if (rank == 0 && pat_rt.config.report[0])
            error = pat_report_place(pat_rt.config.report, &d->file);
    }
    if (PMPI_Allreduce(&error, &worst, 1, MPI_INT, MPI_MAX, pat_rt.world) != MPI_SUCCESS)
        worst = EIO;
    if (!worst && PMPI_Comm_split(pat_rt.world, 0, rank, &d->comm) != MPI_SUCCESS)
        worst = EIO;
    if (!worst) {
        PMPI_Comm_set_errhandler(d->comm, MPI_ERRORS_RETURN);
        d->nodes = count_nodes(d->comm);
        pat_stacks_begin(&d->stacks, pat_rt.config.stack_depth);
        const bool is_used = pat_rt.config.report[0] || pat_rt.config.trace[0];
        /* Without it lateness is not known, and nothing else is wrong. */
        pat_events_begin(&d->events, d->comm, is_used ? pat_rt.config.trace_mem_bytes : 0);
        d->trace_error = begin_trace(d, rank, size);
        pat_events_know_world(&d->events);
        d->state = (pat_state){.signal = pat_rt.config.state_signal,
                               .begin_ns = begin_ns,
                               .rank = rank,
                               .name = name_place,
                               .of = d};
        if (d->state.signal && !pat_rt.state_error)
            pat_rt.state_error = pat_state_begin(&d->state);
        pat_rt.dropin = d;
        pat_rt.milestone_told = pat_dropin_milestone;
        return 0;
    }
    if (d)
        free(d->file);
    free(d);
    return worst;
}

static int by_lateness(const void *a, const void *b)
{
    const pat_report_late *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

/* Of all ranks for which others have waited those for which they have longest. `all` is put in order. */
static void take_latest(pat_report_line *l, pat_report_late all[], int num)
{
    qsort(all, (size_t)num, sizeof(*all), by_lateness);
    for (int i = 0; i < PAT_REPORT_LATE; i++)
        l->late[i] = i < num ? all[i] : (pat_report_late){0};
}

/* Without memory nobody is named. */
static void fill_late(pat_report_line *l, const pat_site *s)
{
    pat_report_late *all = calloc((size_t)s->num_late + 1, sizeof(*all));
    for (int r = 0; r < s->num_late; r++) {
        l->late_calls += s->late[r].calls;
        if (all)
            all[r] = (pat_report_late){r, s->late[r].calls, s->late[r].ns};
    }
    if (all)
        take_latest(l, all, s->num_late);
    free(all);
}

static void fill(pat_report_line *l, const pat_site *s, pat_dropin *d)
{
    *l = (pat_report_line){.ranks = 1};
    PMPI_Comm_rank(d->comm, &l->rank);
    l->offset = pat_dropin_name(d, s->address, l->name, sizeof(l->name));
    snprintf(l->call, sizeof(l->call), "%s", s->call);
    l->sums = pat_sites_sums(s);
    memcpy(l->arrivals, s->arrivals, sizeof(l->arrivals));
    fill_late(l, s);
    l->best = s->best ? (int)(s->best - pat_algorithm_at(0)) : -1;
    l->best_ns = s->best_ns;
    l->took_ns = s->took_ns;
    l->whole_part = s->sums.time_ns > 0 ? (double)s->whole_ns / (double)s->sums.time_ns : 0;
}

static void add(pat_report_line *to, const pat_report_line *l)
{
    pat_site_sums *sum = &to->sums;
    const pat_site_sums *more = &l->sums;
    sum->calls += more->calls;
    sum->time_ns += more->time_ns;
    sum->bytes += more->bytes;
    sum->least_bytes = more->least_bytes < sum->least_bytes ? more->least_bytes : sum->least_bytes;
    sum->most_bytes = more->most_bytes > sum->most_bytes ? more->most_bytes : sum->most_bytes;
    for (int a = 0; a < PAT_MAX_ALGS; a++)
        sum->alg_calls[a] += more->alg_calls[a];
    for (int why = 0; why < PAT_NUM_WHYS; why++)
        sum->why_calls[why] += more->why_calls[why];
    for (int i = 0; i < PAT_SITE_MOCKS; i++)
        sum->mock_calls[i] += more->mock_calls[i];
    for (int why = 0; why < PAT_NUM_MOCK_WHYS; why++)
        sum->refused_calls[why] += more->refused_calls[why];
    sum->num_known += more->num_known;
    sum->waited_ns += more->waited_ns;
    sum->native_ns += more->native_ns;
    sum->plan_ns += more->plan_ns;
    sum->num_ended += more->num_ended;
    sum->under_way_ns += more->under_way_ns;
    sum->in_mpi_ns += more->in_mpi_ns;
    sum->messages += more->messages;
    sum->message_ns += more->message_ns;
    sum->num_met += more->num_met;
    sum->late_ns += more->late_ns;
    for (int i = 0; i < 2; i++)
        pat_imbalance_join(&to->arrivals[i], &l->arrivals[i]);
    to->late_calls += l->late_calls;
    if (to->best < 0) { /* rank 0 alone knows */
        to->best = l->best;
        to->best_ns = l->best_ns;
        to->took_ns = l->took_ns;
        to->whole_part = l->whole_part;
    }
}

static int by_name(const void *a, const void *b)
{
    const pat_report_line *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->call, y->call);
}

static int by_name_and_rank(const void *a, const void *b)
{
    const pat_report_line *x = a, *y = b;
    const int order = by_name(a, b);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Most time first. */
static int by_time(const void *a, const void *b)
{
    const pat_report_line *x = a, *y = b;
    return (x->sums.time_ns < y->sums.time_ns) - (x->sums.time_ns > y->sums.time_ns);
}

/* What ranks have told of whom they waited for, each of those for which it did longest, added up over the lines of a place. */
static void add_up_late(pat_report_line *to, const pat_report_line lines[], int num, pat_report_late all[],
                        int ranks)
{
    for (int r = 0; r < ranks; r++)
        all[r] = (pat_report_late){.rank = r};
    for (int i = 0; i < num; i++)
        for (int k = 0; k < PAT_REPORT_LATE; k++) {
            const pat_report_late *late = &lines[i].late[k];
            if (late->calls > 0 && late->rank < ranks) {
                all[late->rank].calls += late->calls;
                all[late->rank].ns += late->ns;
            }
        }
    take_latest(to, all, ranks);
}

/* qsort is not stable: lines of the same place are added up, wherever rank 0's own is among them. */
static int merge(pat_report_line *lines, int num, int ranks)
{
    pat_report_late *all = calloc((size_t)ranks, sizeof(*all));
    int kept = 0;
    if (num > 0)
        qsort(lines, (size_t)num, sizeof(*lines), by_name_and_rank);
    for (int i = 0, next; i < num; i = next) {
        pat_report_line sum = lines[i];
        for (next = i + 1; next < num && by_name(&lines[i], &lines[next]) == 0; next++) {
            add(&sum, &lines[next]);
            sum.ranks +=
                lines[next].rank != lines[next - 1].rank; /* one rank may have two places of one name */
        }
        if (all)
            add_up_late(&sum, &lines[i], next - i, all, ranks);
        lines[kept++] = sum;
    }
    free(all);
    if (kept > 0)
        qsort(lines, (size_t)kept, sizeof(*lines), by_time);
    return kept;
}

/* On rank 0 all ranks' lines, in one block of memory to be freed; NULL and an error code when there is none. */
static int collect(pat_dropin *d, MPI_Comm comm, pat_report_line **all, int *num_all)
{
    const pat_sites *sites = &d->sites;
    int rank, size, rc, mine = sites->num, total = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    pat_report_line *lines = calloc((size_t)mine + 1, sizeof(*lines));
    int *num = calloc(2 * (size_t)size, sizeof(*num)), *at = num + size;
    int ok = lines && num, all_ok = 0;
    for (int i = 0; i < mine && lines; i++)
        fill(&lines[i], &sites->sites[i], d);
    *all = NULL;
    rc = PMPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, comm);
    MPI_Datatype line = MPI_DATATYPE_NULL; /* in bytes there may be more than an int holds */
    if (rc == MPI_SUCCESS)
        rc = PMPI_Type_contiguous((int)sizeof(pat_report_line), MPI_BYTE, &line);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Type_commit(&line);
    if (rc == MPI_SUCCESS && all_ok)
        rc = PMPI_Gather(&mine, 1, MPI_INT, num, 1, MPI_INT, 0, comm);
    for (int r = 0; r < size && rank == 0 && num; r++) {
        at[r] = total;
        total += num[r];
    }
    *all = calloc((size_t)total + 1, sizeof(**all));
    ok = all_ok && *all != NULL;
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allreduce(&ok, &all_ok, 1, MPI_INT, MPI_MIN, comm);
    if (rc == MPI_SUCCESS && all_ok)
        rc = PMPI_Gatherv(lines, mine, line, *all, num, at, line, 0, comm);
    else if (rc == MPI_SUCCESS)
        rc = pat_error(MPI_ERR_NO_MEM, "no memory to collect the report");
    *num_all = total;
    if (line != MPI_DATATYPE_NULL)
        PMPI_Type_free(&line);
    free(lines);
    free(num);
    return rc;
}

/* Before the library forgets them. */
static void note_calibrations(pat_dropin *d)
{
    FILE *to = open_memstream(&d->calibrations, &d->calibrations_bytes);
    if (!to)
        return;
    if (pat_rt.calibration)
        fprintf(to, "%s%c", pat_rt.config.calibration, '\0');
    pthread_mutex_lock(&pat_rt.lock);
    for (int i = 0; i < pat_rt.num_stored; i++)
        if (pat_rt.stored[i].taken)
            fprintf(to, "%s%c", pat_rt.stored[i].path, '\0');
    pthread_mutex_unlock(&pat_rt.lock);
    if (fclose(to) != 0)
        d->calibrations_bytes = 0;
}

static void note_clock(pat_dropin *d)
{
    const pat_line line = pat_timekeeper_line(&pat_rt.time);
    d->clock_error_ns = pat_line_error_ns(&line, pat_clock_local_ns());
    d->clock_drift_ppb = (int64_t)(1e9 * (line.rate < 0 ? -line.rate : line.rate));
    d->clock_measured = atomic_load(&pat_rt.time.num_measured);
}

struct pat_dropin *pat_report_end(void)
{
    pat_dropin *d = pat_rt.dropin;
    const int here = 0;
    int all;
    int64_t wakeups;
    if (!d)
        return NULL;
    if (d->state.on)
        pat_state_enter(&d->state, "MPI_Finalize", NULL, pat_clock_local_ns());
    pat_rt.dropin = NULL;
    pat_rt.milestone_told = NULL;
    d->finish_ns = pat_clock_local_ns();
    d->finish_common_ns = d->finish_ns + pat_timekeeper_offset_ns(&pat_rt.time, d->finish_ns);
    note_calibrations(d);
    note_clock(d);
    pat_runtime_agree(&here, &all, 1); /* an error is the library's end's to tell */
    if (pat_rt.thread)
        pat_thread_usage(pat_rt.thread, &d->thread_ns, &wakeups);
    return d;
}

/* In the source, on rank 0: of its own places in a trace, and of all in the report. A place that is more than one line, only this rank knows of its own. */
static void find_lines(pat_dropin *d, pat_report *r)
{
    typedef struct known {
        char name[sizeof(r->lines->name)], line[sizeof(r->lines->source)];
    } known;
    pat_sources *sources = pat_sources_open();
    known *own = calloc((size_t)d->sites.num + 1, sizeof(*own));
    for (int i = 0; i < d->sites.num && own; i++) {
        const void *address = d->sites.sites[i].address;
        pat_dropin_line(d, sources, address, own[i].line, sizeof(own[i].line));
        pat_dropin_name(d, address, own[i].name, sizeof(own[i].name));
        if (own[i].line[0] && d->traced)
            pat_events_line(&d->events, i, own[i].line);
    }
    for (int i = 0; i < r->num; i++) {
        pat_report_line *l = &r->lines[i];
        pat_sources_line(sources, l->name, l->offset, l->source, sizeof(l->source));
        for (int k = 0; k < d->sites.num && own && l->offset == 0 && !l->source[0]; k++)
            if (strcmp(own[k].name, l->name) == 0)
                snprintf(l->source, sizeof(l->source), "%s", own[k].line);
    }
    free(own);
    pat_sources_close(sources);
}

/* On rank 0 where each rank runs, to be freed; NULL there without memory. */
static int gather_hosts(MPI_Comm comm, int ranks, pat_report_host **hosts)
{
    pat_report_host own = {""};
    int rank;
    PMPI_Comm_rank(comm, &rank);
    pat_about_host(own.name, sizeof(own.name));
    *hosts = rank == 0 ? calloc((size_t)ranks, sizeof(**hosts)) : NULL;
    int good = rank != 0 || *hosts != NULL, least;
    int rc = PMPI_Allreduce(&good, &least, 1, MPI_INT, MPI_MIN, comm);
    if (rc == MPI_SUCCESS && least)
        rc = PMPI_Gather(&own, sizeof(own), MPI_BYTE, *hosts, sizeof(own), MPI_BYTE, 0, comm);
    return rc;
}

/* What all ranks have counted, on rank 0. */
static int gather(pat_dropin *d, pat_report *r, int64_t end_ns)
{
    int64_t mine[] = {d->start_ns,        atomic_load(&pat_rt.state_ns), end_ns, d->thread_ns, 0,
                      d->events.num_lost, atomic_load(&d->num_off),      0};
    const int64_t clock[] = {d->clock_error_ns, d->clock_drift_ppb, d->clock_measured};
    int64_t sums[8] = {0}, most[3] = {0};
    pat_lateness_left left;
    const int rc_late = pat_lateness_find(&d->events, &d->sites, d->comm, d->nodes, &r->one_way, &left);
    mine[4] = left.calls;
    mine[7] = left.too_many;
    int worst = MPI_SUCCESS, rc = PMPI_Allreduce(&rc_late, &worst, 1, MPI_INT, MPI_MAX, d->comm);
    if (rc == MPI_SUCCESS) /* what follows is for all ranks or for none */
        rc = worst;
    if (rc == MPI_SUCCESS)
        rc = collect(d, d->comm, &r->lines, &r->num);
    if (rc == MPI_SUCCESS)
        rc = gather_hosts(d->comm, r->ranks, &r->hosts);
    if (rc == MPI_SUCCESS)
        rc = pat_report_gather_ranks(&d->sites, d->comm, r->ranks, &r->by_rank);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Reduce(mine, sums, 8, MPI_INT64_T, MPI_SUM, 0, d->comm);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Reduce(clock, most, 3, MPI_INT64_T, MPI_MAX, 0, d->comm);
    r->clocks = (pat_report_clocks){most[0], most[1], most[2]};
    r->costs = (pat_report_costs){sums[0], sums[1], sums[2], sums[3]};
    r->unmet_calls = sums[4];
    r->lost_calls = sums[5];
    r->off_calls = sums[6];
    r->too_many_calls = sums[7];
    return rc;
}

/* What is only known in the end. one_way is measured where that has not been done. */
static void complete_trace(pat_dropin *d, pat_one_way *one_way)
{
    enum { MOST_BYTES = 65536 };
    const int own = d->traced && d->events.num > 0;
    int any = 0;
    if (PMPI_Allreduce(&own, &any, 1, MPI_INT, MPI_MAX, d->comm) == MPI_SUCCESS && any && one_way->num == 0)
        pat_one_way_measure(one_way, d->comm, MOST_BYTES);
    for (int i = 0; i < one_way->num && d->traced; i++)
        pat_events_add_one_way(&d->events, one_way->bytes[i], one_way->ns[i]);
    if (d->traced)
        pat_dropin_trace_sums(d);
}

/* Returns whether all ranks that were to have written all calls. */
static bool end_trace(pat_dropin *d)
{
    const int error = pat_events_end(&d->events, d->finish_common_ns, d->clock_error_ns);
    int worst = 0;
    return PMPI_Allreduce(&error, &worst, 1, MPI_INT, MPI_MAX, d->comm) != MPI_SUCCESS || !worst;
}

int pat_report_write(struct pat_dropin *d, int64_t end_ns, bool *trace_is_whole)
{
    pat_report r = {.nodes = d->nodes,
                    .time_ns = d->finish_ns - d->begin_ns + end_ns,
                    .calibrations = d->calibrations,
                    .calibrations_bytes = d->calibrations_bytes};
    const bool wanted = pat_rt.config.report[0] != '\0';
    int rank;
    PMPI_Comm_rank(d->comm, &rank);
    PMPI_Comm_size(d->comm, &r.ranks);
    int rc = wanted ? gather(d, &r, end_ns) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && rank == 0) {
        r.num = merge(r.lines, r.num, r.ranks);
        find_lines(d, &r);
        rc = wanted ? pat_report_put(&r, d->file) : MPI_SUCCESS;
    }
    complete_trace(d, &r.one_way);
    *trace_is_whole = end_trace(d);
    pat_state_end(&d->state);
    free(r.lines);
    free(r.hosts);
    free(r.by_rank);
    pat_sites_clear(&d->sites);
    pat_begun_clear(&d->begun);
    pat_python_end(&d->python);
    pat_stacks_end(&d->stacks);
    PMPI_Comm_free(&d->comm);
    free(d->calibrations);
    free(d->file);
    free(d);
    return rc;
}

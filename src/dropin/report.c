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
        const bool is_used = pat_rt.config.report[0] || pat_rt.config.trace[0];
        /* Without it lateness is not known, and nothing else is wrong. */
        pat_events_begin(&d->events, d->comm, is_used ? pat_rt.config.trace_mem_bytes : 0);
        d->trace_error = begin_trace(d, rank, size);
        pat_events_know_world(&d->events);
        pat_rt.dropin = d;
        return 0;
    }
    if (d)
        free(d->file);
    free(d);
    return worst;
}

/* The name of a place, in C or Python, without its line in the source; returns its offset in the file. */
static int64_t name_of(pat_dropin *d, const void *address, char *text, int size)
{
    const char *in_python = pat_python_name(&d->python, address);
    if (!in_python)
        return pat_sites_name(address, text, size);
    snprintf(text, (size_t)size, "%s", in_python);
    return 0;
}

/* A call whose arguments MPI rejects never began: other ranks know nothing of it. */
static bool has_begun(int rc)
{
    static const int arguments[] = {MPI_ERR_COMM, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_BUFFER,
                                    MPI_ERR_ROOT, MPI_ERR_OP,    MPI_ERR_ARG};
    int error_class;
    if (rc == MPI_SUCCESS)
        return true;
    bool good = PMPI_Error_class(rc, &error_class) == MPI_SUCCESS;
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]) && good; i++)
        good = error_class != arguments[i];
    return good;
}

void pat_dropin_count(const pat_counted *told, int rc, int64_t bytes, const pat_outcome *outcome)
{
    pat_dropin *d = pat_rt.dropin;
    bool is_first;
    if (!d) /* MPI_Finalize was called meanwhile: wrong, but nothing to end a program for */
        return;
    if (atomic_load_explicit(&d->off, memory_order_relaxed)) {
        atomic_fetch_add_explicit(&d->num_off, 1, memory_order_relaxed);
        return;
    }
    const int64_t time_ns = pat_clock_local_ns() - told->start_ns;
    /* Python may be busy in another thread: nobody waits for it before the call. */
    const void *place = told->is_placed ? told->site : pat_dropin_place(told->site);
    const int site =
        pat_sites_add(&d->sites, place, told->call, bytes, time_ns, outcome, &told->came, &is_first);
    if (site < 0)
        return;
    if (is_first && d->traced) {
        char name[160];
        const int64_t offset = name_of(d, place, name, sizeof(name));
        pat_events_name(&d->events, site, name, told->call, offset);
    }
    if (has_begun(rc))
        pat_events_add(&d->events, told->comm,
                       &(pat_log_call){.start_ns = told->start_ns +
                                                   pat_timekeeper_offset_ns(&pat_rt.time, told->start_ns),
                                       .time_ns = time_ns,
                                       .bytes = bytes,
                                       .site = site,
                                       .root = told->root,
                                       .kind = rc == MPI_SUCCESS ? PAT_LOG_CALL : PAT_LOG_FAILED});
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
    l->offset = name_of(d, s->address, l->name, sizeof(l->name));
    snprintf(l->call, sizeof(l->call), "%s", s->call);
    l->sums = pat_sites_sums(s);
    memcpy(l->arrivals, s->arrivals, sizeof(l->arrivals));
    fill_late(l, s);
}

static void add(pat_report_line *to, const pat_report_line *l)
{
    pat_site_sums *sum = &to->sums;
    const pat_site_sums *more = &l->sums;
    to->ranks += l->ranks;
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
    sum->num_met += more->num_met;
    sum->late_ns += more->late_ns;
    for (int i = 0; i < 2; i++)
        pat_imbalance_join(&to->arrivals[i], &l->arrivals[i]);
    to->late_calls += l->late_calls;
}

static int by_name(const void *a, const void *b)
{
    const pat_report_line *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->call, y->call);
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
        qsort(lines, (size_t)num, sizeof(*lines), by_name);
    for (int i = 0, next; i < num; i = next) {
        pat_report_line sum = lines[i];
        for (next = i + 1; next < num && by_name(&lines[i], &lines[next]) == 0; next++)
            add(&sum, &lines[next]);
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
    pat_rt.dropin = NULL;
    d->finish_ns = pat_clock_local_ns();
    d->finish_common_ns = d->finish_ns + pat_timekeeper_offset_ns(&pat_rt.time, d->finish_ns);
    note_calibrations(d);
    note_clock(d);
    pat_runtime_agree(&here, &all, 1); /* an error is the library's end's to tell */
    if (pat_rt.thread)
        pat_thread_usage(pat_rt.thread, &d->thread_ns, &wakeups);
    return d;
}

/* In the source, on rank 0: of the report's places, and of its own in a trace. */
static void find_lines(pat_dropin *d, pat_report *r)
{
    pat_sources *sources = pat_sources_open();
    for (int i = 0; i < r->num; i++)
        pat_sources_line(sources, r->lines[i].name, r->lines[i].offset, r->lines[i].source,
                         sizeof(r->lines[i].source));
    for (int i = 0; i < d->sites.num && d->traced; i++) {
        char name[160], line[80];
        const int64_t offset = name_of(d, d->sites.sites[i].address, name, sizeof(name));
        pat_sources_line(sources, name, offset, line, sizeof(line));
        if (line[0])
            pat_events_line(&d->events, i, line);
    }
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
                      d->events.num_lost, atomic_load(&d->num_off)};
    const int64_t clock[] = {d->clock_error_ns, d->clock_drift_ppb, d->clock_measured};
    int64_t sums[7] = {0}, most[3] = {0};
    const int rc_late = pat_lateness_find(&d->events, &d->sites, d->comm, &r->one_way, &mine[4]);
    int worst = MPI_SUCCESS, rc = PMPI_Allreduce(&rc_late, &worst, 1, MPI_INT, MPI_MAX, d->comm);
    if (rc == MPI_SUCCESS) /* what follows is for all ranks or for none */
        rc = worst;
    if (rc == MPI_SUCCESS)
        rc = collect(d, d->comm, &r->lines, &r->num);
    if (rc == MPI_SUCCESS)
        rc = gather_hosts(d->comm, r->ranks, &r->hosts);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Reduce(mine, sums, 7, MPI_INT64_T, MPI_SUM, 0, d->comm);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Reduce(clock, most, 3, MPI_INT64_T, MPI_MAX, 0, d->comm);
    r->clocks = (pat_report_clocks){most[0], most[1], most[2]};
    r->costs = (pat_report_costs){sums[0], sums[1], sums[2], sums[3]};
    r->unmet_calls = sums[4];
    r->lost_calls = sums[5];
    r->off_calls = sums[6];
    return rc;
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
    *trace_is_whole = end_trace(d);
    free(r.lines);
    free(r.hosts);
    pat_sites_clear(&d->sites);
    pat_python_end(&d->python);
    PMPI_Comm_free(&d->comm);
    free(d->calibrations);
    free(d->file);
    free(d);
    return rc;
}

/*
 * imbalance_replay.c — the arrivals of a program that has left a trace, call by call, against any algorithm (imbalance.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_must.h"
#include "bench_stats.h"
#include "bench_wait.h"
#include "collective.h"
#include "imbalance_run.h"
#include "log_read.h"

enum { MOST_BYTES = 1 << 26 };

/* What is taken from a trace: of one place the calls on one communicator, or on several of as many members. */
typedef struct recorded {
    float *after_ns; /* of each call, of each of its ranks: how long after the first one it came */
    int num;         /* calls */
    double bytes, elapsed_ms, apart_ms; /* means; apart: from the first to the last arrival */
    char name[200];
} recorded;

static const char *function_of(const bench_form *f)
{
    if (f->is_barrier)
        return "MPI_Barrier";
    if (f->lists)
        return f->op == PAT_OP_GATHER    ? "MPI_Gatherv"
               : f->op == PAT_OP_SCATTER ? "MPI_Scatterv"
                                         : "MPI_Alltoallv";
    return f->op == PAT_OP_REDUCE_SCATTER ? "MPI_Reduce_scatter_block" : pat_collective_of(f->op)->mpi;
}

/* NULL: there is none of that function. */
static const bench_form *form_of(const char *function)
{
    for (int i = 0; bench_form_number(i); i++)
        if (strcmp(function_of(bench_form_number(i)), function) == 0)
            return bench_form_number(i);
    return NULL;
}

/* Can that call be made again? One that has failed cannot, nor one whose root is not known. */
static bool is_good(const pat_log *log, int comm, int64_t turn)
{
    const pat_log_event *e = pat_log_event_of(log, comm, 0, turn);
    const bench_form *f = form_of(log->sites[e->site].call);
    return f && !e->has_failed && e->after_ns >= 0 && (!pat_collective_of(f->op)->rooted || e->root >= 0);
}

/* Of each site how long ranks have waited there in calls that can be made again by as many ranks. */
static void weigh(const pat_log *log, int ranks, double wait_ns[])
{
    for (int c = 0; c < log->num_comms; c++)
        for (int64_t turn = 0; turn < log->comms[c].num_calls && log->comms[c].size == ranks; turn++)
            for (int m = 0; m < ranks && is_good(log, c, turn); m++) {
                const pat_log_event *e = pat_log_event_of(log, c, m, turn);
                wait_ns[e->site] += 1 + (e->wait_ns > 0 ? (double)e->wait_ns : 0);
            }
}

/* The place that is meant, or that with most waiting; negative: there is none. */
static int choose(const pat_log *log, const double wait_ns[], const imbalance_options *o)
{
    int best = -1;
    for (int s = 0; s < log->num_sites; s++)
        if (wait_ns[s] > 0 && form_of(log->sites[s].call) &&
            (!o->place || strcmp(o->place, pat_log_name(&log->sites[s])) == 0) &&
            (!o->form || form_of(log->sites[s].call) == o->form) && (best < 0 || wait_ns[s] > wait_ns[best]))
            best = s;
    return best;
}

/* Ranks may make one call from different places: one that any of them makes here is taken. */
static bool is_of(const pat_log *log, int comm, int64_t turn, int ranks, int site)
{
    bool any = false;
    for (int m = 0; m < ranks; m++)
        any = any || pat_log_event_of(log, comm, m, turn)->site == site;
    return any && is_good(log, comm, turn);
}

/* The rank that was the root is rank 0 here. */
static void take(const pat_log *log, int site, int ranks, int most, recorded *r)
{
    r->after_ns = bench_must_alloc((size_t)most * (size_t)ranks, sizeof(*r->after_ns));
    for (int c = 0; c < log->num_comms; c++)
        for (int64_t turn = 0; turn < log->comms[c].num_calls && log->comms[c].size == ranks && r->num < most;
             turn++) {
            if (!is_of(log, c, turn, ranks, site))
                continue;
            for (int m = 0; m < ranks; m++) {
                const pat_log_event *e = pat_log_event_of(log, c, m, turn);
                const int here = e->root > 0 ? (m - e->root + ranks) % ranks : m;
                r->after_ns[(size_t)r->num * (size_t)ranks + (size_t)here] = (float)e->after_ns;
                r->apart_ms += 1e-6 * (double)e->apart_ns;
                r->bytes += (double)e->bytes;
                r->elapsed_ms += 1e-6 * (double)e->time_ns;
            }
            r->num++;
        }
    r->bytes /= (double)r->num * ranks;
    r->elapsed_ms /= (double)r->num * ranks;
    r->apart_ms /= (double)r->num * ranks;
    snprintf(r->name, sizeof(r->name), "%s", pat_log_name(&log->sites[site]));
}

/* On rank 0. Returns NULL, or what is wrong. */
static const char *read_trace(imbalance_options *o, int ranks, recorded *r)
{
    static char why[1000];
    pat_log *log = pat_log_read(o->trace, why, sizeof(why));
    if (!log)
        return why;
    double *wait_ns = bench_must_alloc((size_t)log->num_sites + 1, sizeof(*wait_ns));
    weigh(log, ranks, wait_ns);
    const int site = choose(log, wait_ns, o);
    if (site < 0) {
        snprintf(why, sizeof(why),
                 "no call%s%s%s%s in '%s' that %d ranks have made together (the trace is of %d ranks)",
                 o->form ? " of " : "", o->form ? o->form->name : "", o->place ? " at " : "",
                 o->place ? o->place : "", o->trace, ranks, log->num_ranks);
    } else {
        o->form = form_of(log->sites[site].call);
        take(log, site, ranks, o->iterations, r);
    }
    const bool sized = site < 0 || o->num_bytes || r->bytes > 0 || o->form->is_barrier,
               fits = o->num_bytes || r->bytes <= MOST_BYTES;
    if (!sized || !fits)
        snprintf(why, sizeof(why), "the trace %s '%s': say it with --bytes",
                 sized ? "has more than 64M bytes for" : "does not say how many bytes move at", r->name);
    free(wait_ns);
    pat_log_free(log);
    return site < 0 || !sized || !fits ? why : NULL;
}

/* All ranks get what rank 0 has read. Returns false on all where there is nothing. */
static bool share(imbalance_options *o, int rank, int ranks, recorded *r)
{
    int64_t words[4] = {0};
    if (rank == 0) {
        const char *why = read_trace(o, ranks, r);
        if (why)
            fprintf(stderr, "pat-imbalance: %s\n", why);
        for (int i = 0; !why && bench_form_number(i); i++)
            if (bench_form_number(i) == o->form)
                memcpy(words, (int64_t[]){1, i, r->num, (int64_t)r->bytes}, sizeof(words));
    }
    MPI_Bcast(words, 4, MPI_INT64_T, 0, MPI_COMM_WORLD);
    if (!words[0])
        return false;
    o->form = bench_form_number((int)words[1]);
    r->num = (int)words[2];
    r->bytes = (double)words[3];
    if (rank > 0)
        r->after_ns = bench_must_alloc((size_t)r->num * (size_t)ranks, sizeof(*r->after_ns));
    for (int i = 0; i < r->num; i++)
        MPI_Bcast(r->after_ns + (size_t)i * (size_t)ranks, ranks, MPI_FLOAT, 0, MPI_COMM_WORLD);
    return true;
}

static void print(const imbalance_run *run, const recorded *r, const imbalance_cell cells[])
{
    const imbalance_options *o = run->o;
    printf("# %s at %s, %d ranks, %lld bytes, %d calls as they were recorded, which took %.4g ms then\n"
           "# Ranks came %.4g ms apart then, and %.4g now, in the mean\n"
           "# ms, means and their 95 %% intervals over calls; < and >: less or more than the first "
           "algorithm, beyond the\n"
           "# interval of the difference\n%-24s  %23s    %23s\n",
           o->form->name, r->name, run->size, (long long)imbalance_bytes(run), r->num, r->elapsed_ms,
           r->apart_ms, bench_mean(cells[0].wif, r->num, NULL) * 1e-6 * run->message_ns, "algorithm",
           "in the call", "past the last arrival");
    for (int a = 0; a < o->num_algs; a++)
        printf("%-24s  %9.3f +/- %7.3f %c    %9.3f +/- %7.3f %c\n", o->algs[a],
               bench_mean(cells[a].elapsed, r->num, NULL), bench_ci95(cells[a].elapsed, r->num),
               a ? imbalance_against(cells[a].elapsed, cells[0].elapsed, r->num) : ' ',
               bench_mean(cells[a].past, r->num, NULL), bench_ci95(cells[a].past, r->num),
               a ? imbalance_against(cells[a].past, cells[0].past, r->num) : ' ');
    for (int a = 0; a < o->num_algs && o->csv; a++)
        fprintf(o->csv, "%s,%s,%lld,%d,%s,%.9g,%.9g,%.9g,%.9g\n", o->form->name, r->name, (long long)r->bytes,
                r->num, o->algs[a], bench_mean(cells[a].elapsed, r->num, NULL),
                bench_ci95(cells[a].elapsed, r->num), bench_mean(cells[a].past, r->num, NULL),
                bench_ci95(cells[a].past, r->num));
}

bool imbalance_replay(imbalance_options *o)
{
    enum { WARM = 3 };
    imbalance_run run;
    imbalance_cell cells[IMBALANCE_MOST];
    recorded r = {.num = 0};
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!share(o, rank, size, &r))
        return false;
    if (o->num_algs == 0)
        imbalance_default_algs(o);
    imbalance_begin(&run, o, r.num);
    if (o->csv)
        fputs("call,place,bytes,calls,alg,elapsed_ms,elapsed_ci_ms,past_last_ms,past_last_ci_ms\n", o->csv);
    imbalance_take_bytes(&run, o->num_bytes ? o->bytes[0] : (int64_t)r.bytes);
    imbalance_make_cells(o, cells, r.num);
    for (int i = -WARM; i < r.num; i++) {
        const double late_ns = i < 0 ? 0 : (double)r.after_ns[(size_t)i * (size_t)size + (size_t)rank];
        for (int k = 0; k < o->num_algs; k++) {
            const int a = (i + WARM + k) % o->num_algs;
            const imbalance_times t = imbalance_call(&run, o->algs[a], late_ns);
            if (i < 0)
                continue;
            cells[a].elapsed[i] = t.elapsed_ms;
            cells[a].past[i] = t.past_ms;
            cells[a].wif[i] = t.wif;
        }
        bench_progress_step(&run.progress, i < 0 ? 0 : 1, o->form->name, pat_clock_local_ns());
    }
    if (rank == 0)
        print(&run, &r, cells);
    imbalance_tell_left(&run);
    imbalance_free_cells(o, cells);
    bench_buffers_free(&run.buffers);
    free(r.after_ns);
    imbalance_end(&run);
    return true;
}

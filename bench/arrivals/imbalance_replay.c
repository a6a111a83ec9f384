/*
 * imbalance_replay.c — the arrivals of a program that has left a trace, call by call, against any algorithm (imbalance.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_recorded.h"
#include "bench_stats.h"
#include "collective.h"
#include "imbalance_run.h"

enum { MOST_BYTES = 1 << 26 };

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

/* Can that call be made again? One whose root is not known cannot. */
static bool takes(const char *function, int root, const void *with)
{
    const imbalance_options *o = with;
    const bench_form *f = form_of(function);
    return f && (!o->form || f == o->form) && (!pat_collective_of(f->op)->rooted || root >= 0);
}

/* On rank 0. Returns NULL, or what is wrong. */
static const char *read_trace(imbalance_options *o, int ranks, bench_recorded *r)
{
    static char why[1000];
    const bench_recorded_wish wish = {.dir = o->trace,
                                      .place = o->place,
                                      .ranks = ranks,
                                      .most = o->iterations,
                                      .takes = takes,
                                      .with = o,
                                      .what = o->form ? o->form->name : NULL};
    if (!bench_recorded_read(r, &wish, why, sizeof(why)))
        return why;
    o->form = form_of(r->call);
    const bool sized = o->num_bytes || r->bytes > 0 || o->form->is_barrier,
               fits = o->num_bytes || r->bytes <= MOST_BYTES;
    if (sized && fits)
        return NULL;
    snprintf(why, sizeof(why), "the trace %s '%s': say it with --bytes",
             sized ? "has more than 64M bytes for" : "does not say how many bytes move at", r->name);
    return why;
}

/* All ranks get what rank 0 has read. Returns false on all where there is nothing. */
static bool share(imbalance_options *o, int rank, int ranks, bench_recorded *r)
{
    int ok = 1;
    if (rank == 0) {
        const char *why = read_trace(o, ranks, r);
        ok = !why;
        if (why) {
            fprintf(stderr, "pat-imbalance: %s\n", why);
            bench_recorded_free(r);
        }
    }
    MPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!ok)
        return false;
    bench_recorded_share(r, MPI_COMM_WORLD);
    o->form = form_of(r->call);
    return true;
}

static void print(const imbalance_run *run, const bench_recorded *r, const imbalance_cell cells[])
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
    bench_recorded r = {.num = 0};
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
        const double late_ns = i < 0 ? 0 : bench_recorded_late_ns(&r, i, rank);
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
    bench_recorded_free(&r);
    imbalance_end(&run);
    return true;
}

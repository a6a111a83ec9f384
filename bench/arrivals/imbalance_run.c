/*
 * imbalance_run.c — see imbalance_run.h.
 */
#include "imbalance_run.h"

#include <stdlib.h>
#include <string.h>

#include "bench_must.h"
#include "bench_stats.h"
#include "bench_wait.h"
#include "one_way.h"
#include "pat.h"
#include "runtime.h"

enum { SYNC_ROUNDS = 20 };

bool imbalance_is_native(const char *alg)
{
    const size_t length = strlen(alg), end = strlen("native");
    return length >= end && strcmp(alg + length - end, "native") == 0;
}

void imbalance_default_algs(imbalance_options *o)
{
    if (strcmp(o->form->name, "alltoall") == 0) {
        o->algs[o->num_algs++] = "alltoall_pairwise";
        o->algs[o->num_algs++] = "alltoall_linear";
    }
    o->algs[o->num_algs++] = pat_algorithm_native(o->form->op)->name;
}

void imbalance_begin(imbalance_run *r, const imbalance_options *o, double total_ms)
{
    pat_clock clock;
    *r = (imbalance_run){.o = o};
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->size);
    MUST(bench_clock_sync(&clock, MPI_COMM_WORLD, SYNC_ROUNDS, &r->same_machine));
    MUST(PAT_Get_counters(&r->before));
    bench_progress_start(&r->progress, r->rank == 0 ? o->progress : BENCH_PROGRESS_OFF, total_ms,
                         pat_clock_local_ns());
}

void imbalance_end(imbalance_run *r)
{
    bench_progress_end(&r->progress, pat_clock_local_ns());
}

void imbalance_take_bytes(imbalance_run *r, int64_t bytes)
{
    pat_one_way table;
    MUST(pat_one_way_measure(&table, MPI_COMM_WORLD, bytes));
    r->message_ns = pat_one_way_ns(&table, (double)bytes);
    if (bytes * r->size > INT32_MAX) {
        if (r->rank == 0)
            fprintf(stderr, "pat-imbalance: %lld bytes on %d ranks: accepted are 2G - 1 all together\n",
                    (long long)bytes, r->size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    bench_buffers_make(&r->buffers, (int)bytes);
}

void imbalance_use(const char *alg)
{
    if (!imbalance_is_native(alg))
        MUST(PAT_UseAlg(alg));
}

static double now_ns(const imbalance_run *r)
{
    return (double)(r->same_machine ? pat_clock_local_ns() : pat_timekeeper_now_ns(&pat_rt.time));
}

void imbalance_time(imbalance_run *r, const char *alg, double ns[2])
{
    ns[0] = now_ns(r);
    bench_call_run(&r->buffers, r->o->form, !imbalance_is_native(alg));
    ns[1] = now_ns(r);
}

static int64_t calls_of(const PAT_Counters *c, const char *alg)
{
    int64_t calls = 0;
    for (int i = 0; i < c->num_algs; i++)
        calls += strcmp(c->alg_name[i], alg) == 0 ? c->alg_calls[i] : 0;
    return calls;
}

void imbalance_tell_left(const imbalance_run *r)
{
    PAT_Counters now;
    MUST(PAT_Get_counters(&now));
    for (int a = 0; a < r->o->num_algs && r->rank == 0; a++)
        if (!imbalance_is_native(r->o->algs[a]) && !pat_algorithm_find(r->o->algs[a])->chooses &&
            calls_of(&now, r->o->algs[a]) == calls_of(&r->before, r->o->algs[a]))
            printf("# %s has run no call: the library has left all to the MPI library\n", r->o->algs[a]);
}

static void wait_ns(const imbalance_options *o, double ns)
{
    const int64_t until_ns = pat_clock_local_ns() + (int64_t)ns;
    if (!o->burns)
        bench_sleep_until(until_ns);
    while (pat_clock_local_ns() < until_ns)
        ;
}

imbalance_times imbalance_call(imbalance_run *r, const char *alg, double late_ns)
{
    double ns[2];
    imbalance_use(alg);
    bench_call_fill(&r->buffers, r->o->form);
    bench_wait_quietly(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    wait_ns(r->o, late_ns);
    imbalance_time(r, alg, ns);
    bench_call_check(&r->buffers, r->o->form);
    /* First and last arrival, last exit, and the time in the call. */
    double edges[3] = {-ns[0], ns[0], ns[1]}, took = ns[1] - ns[0], sum;
    MPI_Allreduce(MPI_IN_PLACE, edges, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&took, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (imbalance_times){.elapsed_ms = 1e-6 * sum / r->size,
                             .past_ms = 1e-6 * (edges[2] - edges[1]),
                             .wif = (edges[0] + edges[1]) / r->message_ns};
}

void imbalance_make_cells(const imbalance_options *o, imbalance_cell cells[], int num)
{
    for (int a = 0; a < o->num_algs; a++)
        cells[a] = (imbalance_cell){bench_must_alloc((size_t)num, sizeof(double)),
                                    bench_must_alloc((size_t)num, sizeof(double)),
                                    bench_must_alloc((size_t)num, sizeof(double))};
}

void imbalance_free_cells(const imbalance_options *o, imbalance_cell cells[])
{
    for (int a = 0; a < o->num_algs; a++) {
        free(cells[a].elapsed);
        free(cells[a].past);
        free(cells[a].wif);
    }
}

char imbalance_against(const double *x, const double *first, int num)
{
    const bench_paired less = bench_compare(first, x, num), more = bench_compare(x, first, num);
    return bench_is_above(&less) ? '<' : bench_is_above(&more) ? '>' : ' ';
}

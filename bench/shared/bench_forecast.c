/*
 * bench_forecast.c — see bench_forecast.h. Must never use a time that the algorithm itself took.
 */
#include "bench_forecast.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Above this many ranks the plans would take more memory than the figure is worth. */
enum { MAX_RANKS = 256 };

static int make_plans(const pat_algorithm *alg, const pat_job *job, pat_plan *plans, int *num)
{
    for (*num = 0; *num < job->num_ranks; ++*num) {
        int rc = pat_algorithm_plan(alg, job, *num, &plans[*num]);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static void free_plans(pat_plan *plans, int num)
{
    for (int r = 0; r < num; r++)
        pat_plan_free(&plans[r]);
    free(plans);
}

int bench_forecast_make(bench_forecast *f, const pat_algorithm *alg, const pat_job *job)
{
    *f = (bench_forecast){.job = *job};
    if (!alg || !alg->build || job->num_ranks > MAX_RANKS)
        return 0;
    f->alg = alg;
    if (alg->uses_arrivals)
        return 0;
    f->plans = calloc((size_t)job->num_ranks, sizeof(*f->plans));
    int rc = f->plans ? make_plans(alg, job, f->plans, &f->num_plans) : ENOMEM;
    if (rc != 0)
        bench_forecast_free(f);
    return rc;
}

void bench_forecast_free(bench_forecast *f)
{
    free_plans(f->plans, f->num_plans);
    *f = (bench_forecast){0};
}

static bench_times walk(const bench_forecast *f, const pat_plan *plans, const bench_net *net,
                        const int64_t *arrival_ns)
{
    const pat_cost cost = {.alpha_ns = f->beta_ps > 0 ? f->alpha_ns : f->job.alpha_ns,
                           .beta_ps = f->beta_ps > 0 ? f->beta_ps : net->beta_ps,
                           .eager_bytes = INT64_MAX};
    /* Every link lets its first bytes through at once; a chain of messages passes a full bucket at least once. */
    const int64_t credit_ns = net->burst_bytes * net->beta_ps / 1000;
    const int num = f->job.num_ranks;
    bench_times told = {NAN, NAN};
    int64_t *exit_ns = malloc((size_t)num * sizeof(*exit_ns)), last = INT64_MIN, last_exit = INT64_MIN;
    if (exit_ns && pat_model_walk(plans, num, arrival_ns, &cost, exit_ns, NULL) == 0) {
        told.elapsed_ns = 0;
        for (int r = 0; r < num; r++) {
            const int64_t out =
                exit_ns[r] - credit_ns > arrival_ns[r] ? exit_ns[r] - credit_ns : arrival_ns[r];
            told.elapsed_ns += (double)(out - arrival_ns[r]) / num;
            last = arrival_ns[r] > last ? arrival_ns[r] : last;
            last_exit = out > last_exit ? out : last_exit;
        }
        told.past_last_ns = (double)(last_exit - last);
    }
    free(exit_ns);
    return told;
}

bench_times bench_forecast_walk(const bench_forecast *f, const bench_net *net, const int64_t *arrival_ns)
{
    bench_times told = {NAN, NAN};
    /* The predictor gives every rank a link of its own: it has nothing to say where ranks share their node's. */
    if (!f->alg || (net->num_nodes > 1 && net->ppn > 1))
        return told;
    if (f->plans)
        return walk(f, f->plans, net, arrival_ns);
    pat_job job = f->job;
    pat_plan *plans = calloc((size_t)job.num_ranks, sizeof(*plans));
    int num = 0;
    job.arrival_ns = arrival_ns;
    if (plans && make_plans(f->alg, &job, plans, &num) == 0)
        told = walk(f, plans, net, arrival_ns);
    free_plans(plans, num);
    return told;
}

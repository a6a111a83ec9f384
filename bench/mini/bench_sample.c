/*
 * bench_sample.c — see bench_sample.h. Must never use a planned time where a measured one exists.
 */
#include "bench_sample.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "bench_bound.h"
#include "bench_stats.h"

static double ms(double ns)
{
    return ns / 1e6;
}

int64_t bench_tau_ns(const bench_net *net, int64_t block_bytes)
{
    int64_t tau =
        net->lambda_ns + block_bytes / 1000 * net->beta_ps + block_bytes % 1000 * net->beta_ps / 1000;
    return tau > 0 ? tau : 1;
}

/*
 * The bucket's credit shortens the link time of the last bytes of every chain of blocks; taken off the
 * latency it shortens each chain once. Where that makes a chain's end earlier than the rank's own arrival,
 * the arrival counts.
 */
static int64_t lambda_less_burst(const bench_net *net)
{
    return net->lambda_ns - net->burst_bytes * net->beta_ps / 1000;
}

/*
 * What several late ranks contribute has to go through the nodes' links one after the other; each node is one rank that
 * arrives with the last of its own. `room`: for twice the ranks. False: no memory.
 */
static bool by_nodes(const pat_collective *collective, const bench_net *net, int64_t block_bytes,
                     const int64_t *arrival_ns, int64_t *room, int64_t *last_exit_ns)
{
    int64_t last_ns;
    for (int k = 0; k < net->num_nodes; k++)
        room[k] = INT64_MIN;
    for (int r = 0; r < net->num_ranks; r++) {
        int64_t *at = &room[net->node_of[r]];
        *at = arrival_ns[r] > *at ? arrival_ns[r] : *at;
    }
    if (bench_bound_exits(collective, net->num_nodes, block_bytes, room, lambda_less_burst(net), net->beta_ps,
                          room + net->num_ranks, &last_ns) != 0)
        return false;
    *last_exit_ns = last_ns > *last_exit_ns ? last_ns : *last_exit_ns;
    return true;
}

double bench_bound_ns(enum pat_op op, const bench_net *net, int64_t block_bytes, const int64_t *arrival_ns,
                      int64_t *last_exit_ns)
{
    const pat_collective *collective = pat_collective_of(op);
    const int n = net->num_ranks;
    int64_t *arrival = malloc(2 * (size_t)n * sizeof(*arrival)), *exit_ns = arrival + n;
    double sum = 0;
    if (!arrival)
        return NAN;
    if (last_exit_ns)
        *last_exit_ns = INT64_MIN;
    for (int i = 0; i < n; i++) {
        /* This rank and all that reach it through its node's link; the others of its node it only waits for.
         */
        int num = 1;
        int64_t latest_here = arrival_ns[i];
        arrival[0] = arrival_ns[i];
        for (int k = 0; k < n; k++) {
            if (net->node_of[k] != net->node_of[i])
                arrival[num++] = arrival_ns[k];
            else if (arrival_ns[k] > latest_here)
                latest_here = arrival_ns[k];
        }
        int64_t last_ns;
        exit_ns[0] = arrival_ns[i];
        if (num > 1 && bench_bound_exits(collective, num, block_bytes, arrival, lambda_less_burst(net),
                                         net->beta_ps, exit_ns, &last_ns) != 0) {
            sum = NAN;
            break;
        }
        const int64_t out_ns = exit_ns[0] > latest_here ? exit_ns[0] : latest_here;
        sum += (double)(out_ns - arrival_ns[i]);
        if (last_exit_ns && out_ns > *last_exit_ns)
            *last_exit_ns = out_ns;
    }
    if (collective->reduces && last_exit_ns && !isnan(sum))
        sum = by_nodes(collective, net, block_bytes, arrival_ns, arrival, last_exit_ns) ? sum : NAN;
    free(arrival);
    return sum / n;
}

bench_sample bench_sample_make(enum pat_op op, const bench_report *reports, const bench_net *net,
                               int64_t block_bytes, const bench_forecast *ideal_ring,
                               const bench_forecast *own)
{
    const int n = net->num_ranks;
    bench_sample s = {.valid = true, .ran = reports[0].ran < 0 ? NULL : pat_algorithm_at(reports[0].ran)};
    int64_t first = INT64_MAX, last = INT64_MIN, last_exit = INT64_MIN;
    double elapsed = 0, slip = 0, thread_cpu = 0, waiting_cpu = 0, off = 0;
    int64_t estimates = 0;
    int64_t *arrival = malloc((size_t)n * sizeof(*arrival));
    for (int r = 0; r < n; r++) {
        const bench_report *rep = &reports[r];
        first = rep->arrival_ns < first ? rep->arrival_ns : first;
        last = rep->arrival_ns > last ? rep->arrival_ns : last;
        last_exit = rep->exit_ns > last_exit ? rep->exit_ns : last_exit;
        elapsed += (double)(rep->exit_ns - rep->arrival_ns);
        slip += (double)rep->slip_ns;
        thread_cpu += (double)rep->thread_cpu_ns;
        waiting_cpu += (double)rep->waiting_cpu_ns;
        s.bytes_received += rep->bytes_received;
        s.bytes_early += rep->bytes_early;
        estimates += rep->estimates;
        off += (double)rep->estimates_off_ns;
        if (arrival)
            arrival[r] = rep->arrival_ns;
    }
    s.elapsed_ms = ms(elapsed / n);
    s.slip_ms = ms(slip / n);
    s.announced = (double)estimates / n;
    s.estimate_off_ms = estimates > 0 ? ms(off / (double)estimates) : NAN;
    s.thread_cpu_ms = ms(thread_cpu / n);
    s.waiting_cpu_ms = ms(waiting_cpu / n);
    s.past_last_ms = ms((double)(last_exit - last));
    s.run_ms = ms((double)(last_exit - first));
    s.omega_ms = ms((double)(last - first));
    s.bound_ms = arrival ? ms(bench_bound_ns(op, net, block_bytes, arrival, &last_exit)) : NAN;
    s.bound_past_last_ms = isnan(s.bound_ms) ? NAN : ms((double)(last_exit - last));
    s.ideal_ring_ms = s.predicted_ms = s.predicted_past_last_ms = NAN;
    if (arrival && ideal_ring)
        s.ideal_ring_ms = ms(bench_forecast_walk(ideal_ring, net, arrival).elapsed_ns);
    if (arrival && own) {
        const bench_times told = bench_forecast_walk(own, net, arrival);
        s.predicted_ms = ms(told.elapsed_ns);
        s.predicted_past_last_ms = ms(told.past_last_ns);
    }
    free(arrival);
    return s;
}

/* Mean over the valid samples of the double at `offset` in the struct. */
static double mean_of(const bench_sample *samples, int num, size_t offset, double *scratch)
{
    for (int i = 0; i < num; i++)
        scratch[i] = samples[i].valid ? *(const double *)((const char *)&samples[i] + offset) : NAN;
    return bench_mean(scratch, num, NULL);
}

/* Of the same, a quantile over the samples that are valid and have a number; NaN: none has. */
static double off_quantile(const bench_sample *samples, int num, double share, double *scratch)
{
    int used = 0;
    for (int i = 0; i < num; i++)
        if (samples[i].valid && !isnan(samples[i].estimate_off_ms))
            scratch[used++] = samples[i].estimate_off_ms;
    return used > 0 ? bench_quantile(scratch, used, share) : NAN;
}

int bench_row_fill(bench_row *row, const bench_sample *samples, int num, const bench_net *net,
                   double flat_run_ms)
{
    double *scratch = calloc((size_t)num, sizeof(*scratch));
    row->iter_elapsed_ms = malloc((size_t)num * sizeof(*row->iter_elapsed_ms));
    row->iter_ran = malloc((size_t)num * sizeof(*row->iter_ran));
    if (!scratch || !row->iter_elapsed_ms || !row->iter_ran) {
        free(scratch);
        return ENOMEM;
    }
#define MEAN(field) mean_of(samples, num, offsetof(bench_sample, field), scratch)
    row->past_last_ms = MEAN(past_last_ms);
    row->run_ms = MEAN(run_ms);
    row->bound_ms = MEAN(bound_ms);
    row->bound_past_last_ms = MEAN(bound_past_last_ms);
    row->ideal_ring_ms = MEAN(ideal_ring_ms);
    row->predicted_ms = MEAN(predicted_ms);
    row->predicted_past_last_ms = MEAN(predicted_past_last_ms);
    row->slip_ms = MEAN(slip_ms);
    row->thread_cpu_ms = MEAN(thread_cpu_ms);
    row->waiting_cpu_ms = MEAN(waiting_cpu_ms);
    row->announced = MEAN(announced);
    row->estimate_off_ms = off_quantile(samples, num, 0.5, scratch);
    row->estimate_off_95_ms = off_quantile(samples, num, 0.95, scratch);
    const double omega = MEAN(omega_ms);
    row->elapsed_ms = MEAN(elapsed_ms);
#undef MEAN
    int64_t received = 0, early = 0;
    row->num_iters = num;
    for (int i = 0; i < num; i++) {
        row->iter_elapsed_ms[i] = scratch[i];
        row->iter_ran[i] = samples[i].valid ? samples[i].ran : NULL;
        if (!samples[i].valid)
            continue;
        row->iters++;
        received += samples[i].bytes_received;
        early += samples[i].bytes_early;
    }
    row->elapsed_ci_ms = bench_ci95(row->iter_elapsed_ms, num);
    row->tau_ms = ms((double)bench_tau_ns(net, row->segment_bytes));
    row->absorption_ms = flat_run_ms - row->run_ms + omega;
    row->imbalance_factor = omega / row->tau_ms;
    row->early_share = received > 0 ? (double)early / (double)received : 0;
    free(scratch);
    return 0;
}

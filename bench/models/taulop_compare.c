/*
 * taulop_compare.c — see taulop_compare.h. An operation is repeated with a meeting of all members after each, so that one does not
 * overlap with the next; what the meetings take by themselves is taken off.
 */
#include "taulop_compare.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_stats.h"

static const char *const op_names[PAT_NUM_NODE_OPS] = {
    "message", "message in a row",  "binomial broadcast", "tree broadcast", "binomial scatter",
    "ring",    "recursive doubling"};
static const enum pat_node_model shown[] = {PAT_TAULOP, PAT_TAULOP_WHOLE, PAT_LOGGP, PAT_LOGNP};
enum { NUM_SHOWN = 4, IN_A_ROW = 16 };

typedef struct operation {
    const taulop_way *way;
    enum pat_node_op op;
    int64_t bytes;
} operation;

static void meeting(taulop_member *m, void *arg)
{
    (void)arg;
    taulop_meet(m);
}

static void messages(taulop_member *m, const operation *o, int num)
{
    for (int i = 0; i < num && m->number < 2; i++) {
        char *own = taulop_cold(m, o->bytes);
        if (m->number == 0)
            o->way->send(m, 1, own, o->bytes);
        else
            o->way->receive(m, 0, own, o->bytes);
    }
}

static void once(taulop_member *m, void *arg)
{
    const operation *o = arg;
    if (o->op == PAT_NODE_MESSAGE)
        messages(m, o, 1);
    else if (o->op == PAT_NODE_STREAM)
        messages(m, o, IN_A_ROW);
    else
        o->way->collective(m, o->op, o->bytes);
    taulop_meet(m);
}

/* The longest message of the operation, or half of what a member ends up with. */
static int64_t longest(const taulop_member *m, enum pat_node_op op, int64_t bytes)
{
    const int blocks = op == PAT_NODE_SCATTER || op == PAT_NODE_RING || op == PAT_NODE_DOUBLING;
    return blocks ? m->num / 2 * bytes : bytes;
}

static void print_one(const operation *o, double took, const double *say)
{
    printf("%12lld bytes: %10.1f us, tau-Lop %10.1f, whole %10.1f, LogGP %10.1f, log_nP %10.1f\n",
           (long long)o->bytes, took, say[0], say[1], say[2], say[3]);
}

/* Microseconds of each operation at each length, NAN where it is not run, in each run. */
typedef struct taken {
    double us[PAT_NUM_NODE_OPS][PAT_MAX_TRANSFER_SIZES][TAULOP_MAX_RUNS];
} taken;

static void take_times(taulop_member *m, const taulop_plan *plan, const taulop_way *way, taken *took, int run)
{
    const double meetings = taulop_each_us(m, m->num, meeting, NULL);
    for (int op = 0; op < PAT_NUM_NODE_OPS; op++) {
        operation o = {way, (enum pat_node_op)op, plan->least_bytes};
        for (int i = 0; i < PAT_MAX_TRANSFER_SIZES; i++, o.bytes *= 2) {
            const bool runs = way->ops & 1u << op && longest(m, o.op, o.bytes) <= plan->most_bytes;
            took->us[op][i][run] = NAN;
            if (runs)
                took->us[op][i][run] = (taulop_each_us(m, m->num, once, &o) - meetings) /
                                       (o.op == PAT_NODE_STREAM ? IN_A_ROW : 1);
        }
    }
}

/* A line: the mean over lengths of each model's error. */
static void print_op(const taulop_plan *plan, const taulop_member *m, const pat_transfers *t, int op,
                     taken *took)
{
    double error[NUM_SHOWN] = {0}, say[NUM_SHOWN];
    operation o = {NULL, (enum pat_node_op)op, plan->least_bytes};
    int num = 0;
    for (; num < PAT_MAX_TRANSFER_SIZES && !isnan(took->us[op][num][0]); num++, o.bytes *= 2) {
        const double us = bench_median(took->us[op][num], plan->runs);
        for (int i = 0; i < NUM_SHOWN; i++) {
            say[i] = pat_node_us(t, shown[i], o.op, m->num, o.bytes);
            error[i] += fabs(say[i] / us - 1);
        }
        if (plan->each)
            print_one(&o, us, say);
    }
    if (num == 0)
        return;
    printf("%-20s %7d", op_names[op], m->num);
    for (int i = 0; i < NUM_SHOWN; i++)
        printf(" %7.1f %%", 100 * error[i] / num);
    puts("");
}

static void print_transfers(const pat_transfers *t)
{
    printf("# L(m, tau) and o(m, tau) in us\n%10s", "bytes");
    for (int k = 0; k < t->num_taus; k++)
        printf("   tau %4d", t->tau[k]);
    puts("");
    for (int i = 0; i < t->num_sizes; i++) {
        printf("%10lld", (long long)t->bytes[i]);
        for (int k = 0; k < t->num_taus; k++)
            printf(" %10.2f", t->us[k][i]);
        puts("");
    }
    printf("%10s", "o");
    for (int k = 0; k < t->num_taus; k++)
        printf(" %10.2f", t->overhead_us[k]);
    if (t->threshold_bytes)
        printf("   %.2f us more from %lld bytes on", t->protocol_us, (long long)t->threshold_bytes);
    puts("\n");
}

int taulop_compare(taulop_member *m, const taulop_plan *plan, const taulop_way *way)
{
    pat_transfers *t = calloc((size_t)plan->runs, sizeof(*t));
    taken *took = malloc(sizeof(*took));
    const bool good = t && took;
    for (int run = 0; good && run < plan->runs; run++) {
        taulop_measure(m, plan, way, &t[run]);
        take_times(m, plan, way, took, run);
    }
    if (good && m->number == 0) {
        taulop_median(t, plan->runs);
        print_transfers(t);
        printf("# mean relative error of what is foretold, messages of %lld to %lld bytes\n",
               (long long)plan->least_bytes, (long long)plan->most_bytes);
        printf("%-20s %7s %9s %9s %9s %9s\n", "operation", "ranks", "tau-Lop", "whole", "LogGP", "log_nP");
        for (int op = 0; op < PAT_NUM_NODE_OPS; op++)
            print_op(plan, m, t, op, took);
        puts("");
        fflush(stdout);
    }
    free(t);
    free(took);
    return good ? 0 : -1;
}

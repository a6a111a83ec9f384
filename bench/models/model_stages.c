/*
 * model_stages.c — see model_stages.h. Both get what pat-calibrate has measured as points, without the closing gather, so that they are
 * judged alike.
 */
#include "model_stages.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_fit.h"
#include "bench_stats.h"
#include "calibration.h"
#include "stages.h"
#include "tool_options.h"

enum { BY_FORM, BY_RULE, NUM_MODELS };

/* What the stage rule wants to know of the platform. Ranks of a node alone: then gamma is that of shared memory, and its messages the unit. */
static pat_stage_link link_of(const pat_calibration *c)
{
    const pat_gamma gamma = {c->gammas, c->num_gammas};
    pat_stage_link link = {.ranks_per_node = c->machine.ranks_per_node, .ratio = 1, .network = gamma};
    if (c->ratio > 0)
        link.ratio = c->ratio;
    else
        link.shared = gamma;
    return link;
}

/* A point as an equation. Returns 0 or an error number. */
static int row_of(bench_fit_row *row, const pat_calibration *c, const pat_stage_link *link,
                  const pat_point *p, int model)
{
    const pat_algorithm *alg = pat_algorithm_at(p->alg);
    const pat_job job = {
        .num_ranks = p->ranks, .block_bytes = p->bytes, .segment_bytes = pat_segment_bytes(p->bytes)};
    pat_form_cost cost = {.messages = 0};
    int error = 0;
    if (model == BY_RULE)
        error = pat_stages_bcast(&cost, alg, &job, link);
    else
        cost = pat_calibration_cost(c, alg, p->ranks, p->bytes);
    *row = (bench_fit_row){cost.messages, cost.bytes, p->us / 1e6};
    return error;
}

/* Of one algorithm and one model: the median error with all ranks, and with fewer; NaN where there are too few points. */
typedef struct judged {
    int points[2];
    double off[2];
} judged;

static int judge(judged *j, const pat_calibration *c, int alg, int model)
{
    const pat_stage_link link = link_of(c);
    bench_fit_row rows[PAT_MAX_POINTS];
    double off[PAT_MAX_POINTS];
    bench_fit fit = {.rank = 0};
    *j = (judged){.off = {NAN, NAN}};
    for (int fewer = 0; fewer < 2; fewer++) {
        int num = 0, error = 0;
        for (int i = 0; !error && i < c->num_points; i++)
            if (c->points[i].alg == alg && (c->points[i].ranks < c->ranks) == fewer)
                error = row_of(&rows[num++], c, &link, &c->points[i], model);
        if (!error && !fewer)
            error = bench_fit_hockney(&fit, rows, num);
        if (error)
            return error == EINVAL ? 0 : error; /* too few of them, or no tree */
        for (int i = 0; i < num; i++)
            off[i] =
                fabs((rows[i].messages * fit.alpha_s + rows[i].bytes * fit.beta_s) / rows[i].seconds - 1);
        j->points[fewer] = num;
        if (num > 0)
            j->off[fewer] = bench_median(off, num);
    }
    return 0;
}

static void print_off(double off)
{
    if (isnan(off))
        printf(" %11s", "-");
    else
        printf(" %9.1f %%", 100 * off);
}

static int print_algorithm(const pat_calibration *c, int alg)
{
    judged j[NUM_MODELS];
    for (int model = 0; model < NUM_MODELS; model++) {
        const int error = judge(&j[model], c, alg, model);
        if (error)
            return error;
    }
    printf("%-16s", pat_algorithm_at(alg)->name);
    for (int fewer = 0; fewer < 2; fewer++) {
        printf(" %7d", j[BY_RULE].points[fewer]);
        print_off(j[BY_FORM].off[fewer]);
        print_off(j[BY_RULE].off[fewer]);
    }
    putchar('\n');
    return 0;
}

int model_stages(const char *path)
{
    static const char *const columns = "points     formula        rule";
    pat_calibration c;
    char why[512];
    int error = 0;
    if (pat_calibration_read(&c, path, why, sizeof(why)) != 0) {
        fprintf(stderr, "pat-model: %s\n", why);
        return TOOL_BAD_INPUT;
    }
    if (c.ratio <= 0 && c.machine.ranks_per_node > 1 && c.machine.ranks_per_node < c.ranks) {
        fprintf(stderr,
                "pat-model: %s does not say how long a segment takes inside a node; pat-calibrate --again "
                "measures it\n",
                path);
        return TOOL_BAD_INPUT;
    }
    printf("# %d ranks, %d on a node", c.ranks, c.machine.ranks_per_node);
    if (c.ratio > 0)
        printf(", a segment %.2f times as long over the network", c.ratio);
    printf("; median error\n%-16s  all ranks: %-20s  fewer:\n%-16s %s  %s\n", "", "", "algorithm", columns,
           columns);
    for (int a = 0; !error && a < pat_algorithm_count(); a++)
        if (pat_algorithm_at(a)->op == PAT_OP_BCAST && pat_algorithm_at(a)->formula)
            error = print_algorithm(&c, a);
    if (error)
        fprintf(stderr, "pat-model: %s\n", strerror(error));
    return error ? TOOL_FAILED : 0;
}

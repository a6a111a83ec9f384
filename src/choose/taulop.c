/*
 * taulop.c — see taulop.h. A message through a shared buffer is two copies, the sender's and the receiver's: o + 2 L(m, tau),
 * where tau messages of the step run at once. An operation is the sum of its steps.
 */
#include "taulop.h"

/* The line through the two points next to `at`, or the two at that end. */
static double along(double at, double x0, double y0, double x1, double y1)
{
    return y0 + (y1 - y0) * (at - x0) / (x1 - x0);
}

static double by_size(const pat_transfers *t, int row, int64_t bytes)
{
    int i = 0;
    if (t->num_sizes < 2)
        return t->us[row][0];
    while (i < t->num_sizes - 2 && t->bytes[i + 1] < bytes)
        i++;
    return along((double)bytes, (double)t->bytes[i], t->us[row][i], (double)t->bytes[i + 1],
                 t->us[row][i + 1]);
}

double pat_transfer_us(const pat_transfers *t, int64_t bytes, int tau)
{
    int i = 0;
    double us = by_size(t, 0, bytes);
    while (i < t->num_taus - 2 && t->tau[i + 1] < tau)
        i++;
    if (t->num_taus > 1)
        us = along(tau, t->tau[i], by_size(t, i, bytes), t->tau[i + 1], by_size(t, i + 1, bytes));
    return us > 0 ? us : 0;
}

/* Latency and gap by least squares over the messages measured alone. */
static double loggp_us(const pat_transfers *t, int64_t bytes)
{
    double n = t->num_sizes, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
    for (int i = 0; i < t->num_sizes; i++) {
        const double x = (double)t->bytes[i], y = t->overhead_us + 2 * pat_transfer_us(t, t->bytes[i], 1);
        sum_x += x;
        sum_y += y;
        sum_xx += x * x;
        sum_xy += x * y;
    }
    const double spread = n * sum_xx - sum_x * sum_x;
    const double gap = spread > 0 ? (n * sum_xy - sum_x * sum_y) / spread : 0;
    return (sum_y - gap * sum_x) / n + gap * (double)bytes;
}

/* `tau` messages at once, each of so many bytes. */
static double step_us(const pat_transfers *t, enum pat_node_model model, int64_t bytes, int tau)
{
    if (model == PAT_LOGGP)
        return loggp_us(t, bytes);
    return t->overhead_us + 2 * pat_transfer_us(t, bytes, model == PAT_TAULOP ? tau : 1);
}

double pat_node_us(const pat_transfers *t, enum pat_node_model model, enum pat_node_op op, int ranks,
                   int64_t bytes)
{
    double us = 0;
    switch (op) {
    case PAT_NODE_MESSAGE:
        return step_us(t, model, bytes, 1);
    case PAT_NODE_BINOMIAL: /* in a step every rank that has it sends, as long as there is one that has not */
        for (int have = 1; have < ranks; have *= 2)
            us += step_us(t, model, bytes, have < ranks - have ? have : ranks - have);
        return us;
    case PAT_NODE_SCATTER: /* half of what a rank holds goes on; the last step is of single blocks */
        for (int have = 1, rest = ranks; have < ranks; have *= 2) {
            rest = (rest + 1) / 2;
            us += step_us(t, model, rest * bytes, have < ranks - have ? have : ranks - have);
        }
        return us;
    case PAT_NODE_RING:
        return (ranks - 1) * step_us(t, model, bytes, ranks);
    case PAT_NODE_DOUBLING:
        for (int have = 1; have < ranks; have *= 2)
            us += step_us(t, model, have * bytes, ranks);
        return us;
    }
    return us;
}

/*
 * taulop.c — see taulop.h. A message of k segments, each copied n times, goes in k+n-1 stages, and a stage takes as long as one copy
 * beside all others of that stage. An operation is the sum of its steps, a step so many messages at once. The numbers of
 * equations are those of the source.
 */
#include "taulop.h"

#include <math.h>

/* The line through the two points next to `at`, or the two at that end. */
static double along(double at, double x0, double y0, double x1, double y1)
{
    return y0 + (y1 - y0) * (at - x0) / (x1 - x0);
}

static double by_size(int num, const int64_t *sizes, const double *us, int64_t bytes)
{
    int i = 0;
    if (num < 2)
        return us[0];
    while (i < num - 2 && sizes[i + 1] < bytes)
        i++;
    return along((double)bytes, (double)sizes[i], us[i], (double)sizes[i + 1], us[i + 1]);
}

/* The lower one of the two measured numbers of copies that tau lies between, or of the last two. */
static int below_tau(const pat_transfers *t, int tau)
{
    int i = 0;
    while (i < t->num_taus - 2 && t->tau[i + 1] < tau)
        i++;
    return i;
}

double pat_transfer_us(const pat_transfers *t, int64_t bytes, int tau)
{
    const int i = below_tau(t, tau);
    double us = by_size(t->num_sizes, t->bytes, t->us[0], bytes);
    if (t->num_taus > 1)
        us = along(tau, t->tau[i], by_size(t->num_sizes, t->bytes, t->us[i], bytes), t->tau[i + 1],
                   by_size(t->num_sizes, t->bytes, t->us[i + 1], bytes));
    return us > 0 ? us : 0;
}

double pat_overhead_us(const pat_transfers *t, int64_t bytes, int tau)
{
    const int asks = t->threshold_bytes > 0 && bytes >= t->threshold_bytes, i = below_tau(t, tau);
    double us = t->overhead_us[0];
    if (t->num_taus > 1)
        us = along(tau, t->tau[i], t->overhead_us[i], t->tau[i + 1], t->overhead_us[i + 1]);
    return (us > 0 ? us : 0) + (asks ? t->protocol_us : 0);
}

static int64_t segments_of(const pat_transfers *t, int64_t bytes)
{
    const int64_t size = t->segment_bytes;
    return size > 0 && bytes > size ? (bytes + size - 1) / size : 1;
}

/* ---- LogGP and log_nP ----------------------------------------------------------------------------------- */

/*
 * Equations 1 and 2: latency and gap per byte by least squares of the relative error over the messages of one segment, and what every
 * further segment adds over the others.
 */
static double loggp_us(const pat_transfers *t, int64_t bytes, int in_stream)
{
    double weight = 0, sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
    for (int i = 0; i < t->num_alone; i++) {
        const double x = (double)t->alone_bytes[i], y = t->alone_us[i], w = 1 / (y * y);
        if (segments_of(t, t->alone_bytes[i]) > 1)
            continue;
        weight += w;
        sum_x += w * x;
        sum_y += w * y;
        sum_xx += w * x * x;
        sum_xy += w * x * y;
    }
    const double spread = weight * sum_xx - sum_x * sum_x;
    const double gap = spread > 1e-9 * weight * sum_xx ? (weight * sum_xy - sum_x * sum_y) / spread : 0;
    const double latency = weight > 0 ? (sum_y - gap * sum_x) / weight : 0;
    double more_xx = 0, more_xy = 0;
    for (int i = 0; i < t->num_alone; i++) {
        const double more = (double)(segments_of(t, t->alone_bytes[i]) - 1), w = 1 / t->alone_us[i];
        more_xx += more * w * more * w;
        more_xy += more * w * (t->alone_us[i] - latency - gap * (double)t->segment_bytes) * w;
    }
    const double segments = (double)segments_of(t, bytes), each = more_xx > 0 ? more_xy / more_xx : 0;
    if (in_stream && segments > 1)
        return segments * each;
    return latency + gap * (double)bytes / segments + (segments - 1) * each;
}

static double alone_us(const pat_transfers *t, enum pat_node_model model, int64_t bytes)
{
    return model == PAT_LOGGP ? loggp_us(t, bytes, 0)
                              : by_size(t->num_alone, t->alone_bytes, t->alone_us, bytes);
}

/* ---- Messages ------------------------------------------------------------------------------------------- */

/* `at_once` messages at once, each of so many bytes: equations 9 to 12 and, where they follow one another, 22. */
static double messages_us(const pat_transfers *t, enum pat_node_model model, int64_t bytes, int at_once)
{
    if (model == PAT_LOGGP || model == PAT_LOGNP)
        return alone_us(t, model, bytes);
    const double o = pat_overhead_us(t, bytes, at_once);
    if (model == PAT_TAULOP_WHOLE)
        return o + t->copies * pat_transfer_us(t, bytes, at_once);
    const int64_t k = segments_of(t, bytes), segment = bytes / k;
    const double beside_another = pat_transfer_us(t, segment, t->copies * at_once);
    if (model == PAT_TAULOP_AGAIN || t->copies == 1)
        return o + (double)k * beside_another;
    return o + 2 * pat_transfer_us(t, segment, at_once) + (double)(k - 1) * beside_another;
}

/* All of these ranks send one message and receive one: equation 17. */
static double exchange_us(const pat_transfers *t, enum pat_node_model model, int64_t bytes, int ranks)
{
    if (model == PAT_LOGGP || model == PAT_LOGNP || model == PAT_TAULOP_WHOLE)
        return messages_us(t, model, bytes, ranks);
    const int64_t k = segments_of(t, bytes);
    return pat_overhead_us(t, bytes, ranks) + (double)(t->copies * k) * pat_transfer_us(t, bytes / k, ranks);
}

/* ---- The tree of shared buffers -------------------------------------------------------------------------- */

enum { MAX_DEPTHS = 64 };

typedef struct tree {
    int num_depths;
    int all[MAX_DEPTHS], inner[MAX_DEPTHS]; /* ranks of that depth, and those of them that have children */
} tree;

static tree tree_of(int degree, int ranks)
{
    tree w = {.num_depths = 0};
    for (int64_t first = 0, num = 1; first < ranks && w.num_depths < MAX_DEPTHS; w.num_depths++) {
        const int64_t here = num < ranks - first ? num : ranks - first;
        const int64_t parents = (ranks - 2) / degree + 1; /* ranks 0 to parents - 1 have children */
        w.all[w.num_depths] = (int)here;
        w.inner[w.num_depths] = (int)(parents <= first ? 0 : parents - first < here ? parents - first : here);
        first += num;
        num *= degree;
    }
    return w;
}

/*
 * Copies into buffers and out of them in one stage, counted from 1. A segment comes to depth d in stage d+1. A rank that passes it on
 * copies it twice, so that the next segment comes two stages later; where only the root passes on, one stage later.
 */
static int copies_in_stage(const tree *w, int64_t stage, int64_t segments)
{
    const int period = w->num_depths > 2 ? 2 : 1;
    int copies = 0;
    for (int depth = 0; depth < w->num_depths; depth++) {
        const int64_t since = stage - depth - 1, before = since - 1;
        const int twice = depth > 0 && w->inner[depth] > 0;
        if (since >= 0 && since % period == 0 && since / period < segments)
            copies += twice || depth == 0 ? w->inner[depth] : w->all[depth];
        if (twice && before >= 0 && before % period == 0 && before / period < segments)
            copies += w->all[depth];
    }
    return copies;
}

static double tree_us(const pat_transfers *t, enum pat_node_model model, int ranks, int64_t bytes)
{
    const int64_t k = segments_of(t, bytes);
    double us = 0;
    if (ranks < 2)
        return 0;
    const tree w = tree_of(t->tree_degree, ranks);
    if (model == PAT_LOGGP || model == PAT_LOGNP)
        return w.num_depths * alone_us(t, model, bytes);
    for (int64_t stage = 1; stage <= 2 * k + w.num_depths; stage++) {
        const int copies = copies_in_stage(&w, stage, k);
        us += copies ? pat_transfer_us(t, bytes / k, copies) : 0;
    }
    return us;
}

double pat_node_us(const pat_transfers *t, enum pat_node_model model, enum pat_node_op op, int ranks,
                   int64_t bytes)
{
    double us = 0;
    switch (op) {
    case PAT_NODE_MESSAGE:
        return messages_us(t, model, bytes, 1);
    case PAT_NODE_STREAM:
        return model == PAT_LOGGP ? loggp_us(t, bytes, 1)
                                  : messages_us(t, model == PAT_TAULOP ? PAT_TAULOP_AGAIN : model, bytes, 1);
    case PAT_NODE_BINOMIAL: /* in a step every rank that has it sends, as long as there is one that has not */
        for (int have = 1; have < ranks; have *= 2)
            us += messages_us(t, model, bytes, have < ranks - have ? have : ranks - have);
        return us;
    case PAT_NODE_TREE:
        return tree_us(t, model, ranks, bytes);
    case PAT_NODE_SCATTER: /* half of what a rank holds goes on; the last step is of single blocks */
        for (int have = 1, rest = ranks; have < ranks; have *= 2) {
            rest = (rest + 1) / 2;
            us += messages_us(t, model, rest * bytes, have < ranks - have ? have : ranks - have);
        }
        return us;
    case PAT_NODE_RING:
        return (ranks - 1) * exchange_us(t, model, bytes, ranks);
    case PAT_NODE_DOUBLING:
        for (int have = 1; have < ranks; have *= 2)
            us += exchange_us(t, model, have * bytes, ranks);
        return us;
    case PAT_NUM_NODE_OPS:
        break;
    }
    return us;
}

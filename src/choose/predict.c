/*
 * predict.c — see predict.h. For each rank the median of the last five calls: one call in which another rank was disturbed changes
 * nothing, and three make a new regime. It is taken of what counts, the time before the last rank up to what a contribution takes: where
 * arrivals are random nearly every rank is nearly always further ahead than that, and so all are expected together, which a plan
 * loses least by.
 */
#include "predict.h"

#include <errno.h>
#include <stdlib.h>

enum {
    STEPS = 16,   /* of call_ns: differences below that are noise */
    MOST_GAP = 7, /* calls of which it is not known, between two of which it is */
    SURE = 4,     /* predictions that came true, or did not, before the gap grows */
    NEAR = 4      /* a prediction is true that is no farther off than this part of call_ns */
};

static int place_of(int64_t bytes)
{
    return (int)((uint64_t)bytes * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (PAT_PREDICTS - 1));
}

/* NULL where nothing is known of this length. */
static const pat_predict *find(const pat_predict *predicts, int64_t bytes)
{
    const pat_predict *p = &predicts[place_of(bytes)];
    return p->bytes == bytes && p->num > 0 ? p : NULL;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How long before the last one a rank is expected, no longer than call_ns and in steps of it. */
static int64_t expected_ahead(const pat_predict *p, int num_ranks, int rank, int64_t call_ns)
{
    const int num = p->num < PAT_PREDICT_CALLS ? p->num : PAT_PREDICT_CALLS;
    int64_t sorted[PAT_PREDICT_CALLS];
    for (int i = 0; i < num; i++) {
        const int64_t ahead = at_most(p->ahead_ns[(int64_t)i * num_ranks + rank], call_ns);
        int at = i;
        for (; at > 0 && sorted[at - 1] > ahead; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = ahead;
    }
    const int64_t step = call_ns / STEPS > 0 ? call_ns / STEPS : 1;
    return (sorted[num / 2] + step / 2) / step * step;
}

bool pat_predict_arrivals(const pat_predict *predicts, int64_t bytes, int num_ranks, int64_t call_ns,
                          int64_t *arrival_ns)
{
    const pat_predict *p = find(predicts, bytes);
    for (int r = 0; p && r < num_ranks; r++)
        arrival_ns[r] = -expected_ahead(p, num_ranks, r, call_ns);
    return p != NULL;
}

bool pat_predict_wants(const pat_predict *predicts, int64_t bytes)
{
    const pat_predict *p = find(predicts, bytes);
    return !p || p->left <= 0;
}

void pat_predict_pass(pat_predict *predicts, int64_t bytes)
{
    pat_predict *p = &predicts[place_of(bytes)];
    if (p->bytes == bytes && p->left > 0)
        p->left--;
}

/* Did the prediction come true? Not where there was none. */
static bool came_true(const pat_predict *p, int num_ranks, int64_t call_ns, const int64_t *arrival_ns,
                      int64_t last_ns)
{
    bool all_near = p->num > 0;
    for (int r = 0; r < num_ranks && all_near; r++) {
        const int64_t ahead = at_most(last_ns - arrival_ns[r], call_ns),
                      off = ahead - expected_ahead(p, num_ranks, r, call_ns);
        all_near = (off < 0 ? -off : off) <= call_ns / NEAR;
    }
    return all_near;
}

/* What has been right for long and is not any more is a change. What has been wrong for long is not worth asking for in each call. */
static void adapt(pat_predict *p, bool is_true)
{
    const bool changed = p->right >= SURE && !is_true;
    if (is_true)
        p->right = p->right > 0 ? p->right + 1 : 1;
    else
        p->right = p->right < 0 ? p->right - 1 : -1;
    if (changed)
        p->gap = 0;
    else if (p->right % SURE == 0)
        p->gap = (int)at_most(2 * p->gap + 1, MOST_GAP);
    if (p->right == INT16_MAX || p->right == -INT16_MAX)
        p->right /= 2;
    p->left = p->gap;
}

int pat_predict_note(pat_predict *predicts, int64_t bytes, int num_ranks, int64_t call_ns,
                     const int64_t *arrival_ns)
{
    pat_predict *p = &predicts[place_of(bytes)];
    int64_t last_ns = INT64_MIN;
    if (!p->ahead_ns && !(p->ahead_ns = malloc((size_t)num_ranks * PAT_PREDICT_CALLS * sizeof(*p->ahead_ns))))
        return ENOMEM;
    if (p->bytes != bytes)
        *p = (pat_predict){.bytes = bytes, .ahead_ns = p->ahead_ns};
    for (int r = 0; r < num_ranks; r++)
        last_ns = arrival_ns[r] > last_ns ? arrival_ns[r] : last_ns;
    adapt(p, came_true(p, num_ranks, call_ns, arrival_ns, last_ns));
    for (int r = 0; r < num_ranks; r++)
        p->ahead_ns[(int64_t)(p->num % PAT_PREDICT_CALLS) * num_ranks + r] = last_ns - arrival_ns[r];
    p->num++;
    if (p->num >= 2 * PAT_PREDICT_CALLS)
        p->num -= PAT_PREDICT_CALLS; /* so that it is never too large a number */
    return 0;
}

void pat_predict_free(pat_predict *predicts)
{
    for (int i = 0; i < PAT_PREDICTS; i++) {
        free(predicts[i].ahead_ns);
        predicts[i] = (pat_predict){0};
    }
}

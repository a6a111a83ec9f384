/*
 * predict.c — see predict.h. Where arrivals are random nearly every rank is nearly always further ahead of the last one than counts: then means
 * and the median err least, by which all are expected together, and that is what a plan loses least by.
 */
#include "predict.h"

#include <errno.h>
#include <stdlib.h>

enum {
    MEDIAN_CALLS = 5,
    FADES =
        32, /* an error counts for so many calls or so; if fewer, noise decides between two that are alike */
    CLEARLY = 32, /* this part of its errors another predictor must err less to be preferred */
    MOST_GAP = 7, /* calls of which it is not known, between two of which it is */
    SURE =
        4, /* predictions that came true before one that does not is a change; and calls before the gap grows */
    NEAR = 4 /* a prediction is true that is no farther off than this part of call_ns */
};

/* Where a length is kept; -1: nowhere. */
static int index_of(const pat_predict *predicts, int64_t bytes)
{
    for (int i = 0; i < PAT_PREDICTS; i++)
        if (predicts[i].num > 0 && predicts[i].bytes == bytes)
            return i;
    return -1;
}

const pat_predict *pat_predict_find(const pat_predict *predicts, int64_t bytes)
{
    const int at = index_of(predicts, bytes);
    return at < 0 ? NULL : &predicts[at];
}

/* The place of a length: its own, or else the one that has not been used for longest. */
static pat_predict *place_of(pat_predict *predicts, int64_t bytes)
{
    const int at = index_of(predicts, bytes);
    int oldest = 0;
    for (int i = 1; i < PAT_PREDICTS; i++)
        oldest = predicts[i].used < predicts[oldest].used ? i : oldest;
    return &predicts[at < 0 ? oldest : at];
}

/* A call of its length has been. */
static void use(const pat_predict *predicts, pat_predict *p)
{
    int64_t newest = 0;
    for (int i = 0; i < PAT_PREDICTS; i++)
        newest = predicts[i].used > newest ? predicts[i].used : newest;
    p->used = newest + 1;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- Predictors ------------------------------------------------------------------------------------------- */

/* How far ahead a rank was so many calls before the last one. */
static int64_t ahead_ago(const pat_predict *p, int ago, int num_ranks, int rank)
{
    const int row = (p->num - 1 - ago) % PAT_PREDICT_CALLS;
    return p->ahead_ns[(int64_t)row * num_ranks + rank];
}

static int kept(const pat_predict *p)
{
    return p->num < PAT_PREDICT_CALLS ? p->num : PAT_PREDICT_CALLS;
}

static int64_t median(const pat_predict *p, int num_ranks, int rank)
{
    const int num = (int)at_most(kept(p), MEDIAN_CALLS);
    int64_t sorted[MEDIAN_CALLS];
    for (int i = 0; i < num; i++) {
        const int64_t ahead = ahead_ago(p, i, num_ranks, rank);
        int at = i;
        for (; at > 0 && sorted[at - 1] > ahead; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = ahead;
    }
    return sorted[num / 2];
}

static int64_t mean(const pat_predict *p, int num_ranks, int rank)
{
    int64_t sum = 0;
    for (int i = 0; i < kept(p); i++)
        sum += ahead_ago(p, i, num_ranks, rank) / kept(p);
    return sum;
}

static int64_t fading_mean(const pat_predict *p, int num_ranks, int rank)
{
    int64_t sum = ahead_ago(p, kept(p) - 1, num_ranks, rank);
    for (int i = kept(p) - 2; i >= 0; i--)
        sum = sum / 2 + ahead_ago(p, i, num_ranks, rank) / 2;
    return sum;
}

int64_t pat_predict_ahead(const pat_predict *p, enum pat_predictor by, int num_ranks, int rank,
                          int64_t call_ns)
{
    const int ago = (int)by - PAT_PREDICT_AGO;
    const int64_t ahead = by == PAT_PREDICT_MEAN      ? mean(p, num_ranks, rank)
                          : by == PAT_PREDICT_FADING  ? fading_mean(p, num_ranks, rank)
                          : ago >= 0 && ago < kept(p) ? ahead_ago(p, ago, num_ranks, rank)
                                                      : median(p, num_ranks, rank);
    return at_most(ahead, call_ns);
}

static enum pat_predictor best(const pat_predict *p)
{
    int least = 0;
    for (int by = 1; by < PAT_NUM_PREDICTORS; by++)
        if (p->erred_ns[by] < p->erred_ns[least] - p->erred_ns[least] / CLEARLY)
            least = by;
    return (enum pat_predictor)least;
}

enum pat_predictor pat_predict_best(const pat_predict *predicts, int64_t bytes)
{
    const pat_predict *p = pat_predict_find(predicts, bytes);
    return p ? best(p) : PAT_PREDICT_MEDIAN;
}

bool pat_predict_arrivals(const pat_predict *predicts, int64_t bytes, int num_ranks, int64_t call_ns,
                          int64_t *arrival_ns)
{
    const pat_predict *p = pat_predict_find(predicts, bytes);
    for (int r = 0; p && r < num_ranks; r++)
        arrival_ns[r] = -pat_predict_ahead(p, best(p), num_ranks, r, call_ns);
    return p != NULL;
}

/* ---- How often -------------------------------------------------------------------------------------------- */

bool pat_predict_wants(const pat_predict *predicts, int64_t bytes)
{
    const pat_predict *p = pat_predict_find(predicts, bytes);
    return !p || p->left <= 0;
}

void pat_predict_pass(pat_predict *predicts, int64_t bytes)
{
    const int at = index_of(predicts, bytes);
    if (at < 0)
        return;
    use(predicts, &predicts[at]);
    if (predicts[at].left > 0)
        predicts[at].left--;
}

/*
 * What has been right for long and is not any more is a change. Else it is looked at less and less often: what is right goes on, and what is not
 * would not be by more looks. A pattern that comes again is lost where calls are left out.
 */
static void adapt(pat_predict *p, bool is_true)
{
    const bool changed = p->right >= SURE && !is_true;
    p->right = is_true ? (int)at_most(p->right + 1, SURE) : 0;
    p->since = changed ? 0 : p->since + 1;
    if (changed || best(p) > PAT_PREDICT_AGO)
        p->gap = 0;
    else if (p->since % SURE == 0)
        p->gap = (int)at_most(2 * p->gap + 1, MOST_GAP);
    if (p->since == SURE * SURE)
        p->since = 0;
    p->left = p->gap;
}

/* ---- What a call teaches ---------------------------------------------------------------------------------- */

/* A call that all ranks know of. */
typedef struct came {
    int num_ranks;
    int64_t call_ns, last_ns; /* what a contribution takes, and when the last rank came */
    const int64_t *arrival_ns;
} came;

/* By how much a predictor erred, of all ranks together; in *is_near, whether it was near for each. */
static int64_t error_of(const pat_predict *p, enum pat_predictor by, const came *call, bool *is_near)
{
    int64_t sum = 0;
    *is_near = true;
    for (int r = 0; r < call->num_ranks; r++) {
        const int64_t off = at_most(call->last_ns - call->arrival_ns[r], call->call_ns) -
                            pat_predict_ahead(p, by, call->num_ranks, r, call->call_ns);
        sum += off < 0 ? -off : off;
        *is_near = *is_near && (off < 0 ? -off : off) <= call->call_ns / NEAR;
    }
    return sum;
}

/* All predictors are judged. Did the prediction come true? */
static bool judge(pat_predict *p, const came *call)
{
    const enum pat_predictor said = best(p);
    bool came_true = false, is_near;
    for (int by = 0; by < PAT_NUM_PREDICTORS; by++) {
        const int64_t erred = error_of(p, (enum pat_predictor)by, call, &is_near);
        p->erred_ns[by] += erred - p->erred_ns[by] / FADES;
        if (by == (int)said)
            came_true = is_near;
    }
    return came_true;
}

int pat_predict_note(pat_predict *predicts, int64_t bytes, int num_ranks, int64_t call_ns,
                     const int64_t *arrival_ns)
{
    pat_predict *p = place_of(predicts, bytes);
    int64_t last_ns = INT64_MIN;
    if (!p->ahead_ns && !(p->ahead_ns = malloc((size_t)num_ranks * PAT_PREDICT_CALLS * sizeof(*p->ahead_ns))))
        return ENOMEM;
    if (p->bytes != bytes)
        *p = (pat_predict){.bytes = bytes, .ahead_ns = p->ahead_ns};
    use(predicts, p);
    for (int r = 0; r < num_ranks; r++)
        last_ns = arrival_ns[r] > last_ns ? arrival_ns[r] : last_ns;
    adapt(p, p->num > 0 && judge(p, &(came){num_ranks, call_ns, last_ns, arrival_ns}));
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

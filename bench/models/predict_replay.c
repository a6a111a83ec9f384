/*
 * predict_replay.c — see predict_replay.h. A rank's arrival is how long before the last one it comes, up to a block's time: what lies further
 * ahead makes no difference to a plan.
 */
#include "predict_replay.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict.h"

/* Made-up arrivals are in thousandths of a block's time. The first calls are not judged. */
enum { BLOCK = 1000, CALLS = 4000, WARMUP = 20, SMA_CALLS = 5 };

/* ---- Arrivals --------------------------------------------------------------------------------------------- */

typedef struct source {
    uint64_t state;
    int num_ranks, call;
} source;

/* Uniform from 0 to before `below`. */
static int64_t draw(source *s, int64_t below)
{
    s->state = s->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((s->state >> 33) % (uint64_t)below);
}

/* Ranks one after the other within four blocks' times. */
static int64_t place(const source *s, int rank)
{
    return 4 * BLOCK * rank / (s->num_ranks - 1);
}

static void steady(source *s, int64_t *arrival)
{
    for (int r = 0; r < s->num_ranks; r++)
        arrival[r] = place(s, r);
}

static void noisy(source *s, int64_t *arrival)
{
    for (int r = 0; r < s->num_ranks; r++)
        arrival[r] = place(s, r) + draw(s, BLOCK / 2) + draw(s, BLOCK / 2);
}

static void spikes(source *s, int64_t *arrival)
{
    steady(s, arrival);
    if (draw(s, 20) == 0)
        arrival[draw(s, s->num_ranks)] += 10 * BLOCK;
}

static void alternating(source *s, int64_t *arrival)
{
    for (int r = 0; r < s->num_ranks; r++)
        arrival[r] = draw(s, BLOCK / 8) + (s->call % 2 && r == s->num_ranks - 1 ? 4 * BLOCK : 0);
}

static void rotating(source *s, int64_t *arrival)
{
    for (int r = 0; r < s->num_ranks; r++)
        arrival[r] = draw(s, BLOCK / 8) + (s->call % 4 == r ? 4 * BLOCK : 0);
}

static void regimes(source *s, int64_t *arrival)
{
    for (int r = 0; r < s->num_ranks; r++)
        arrival[r] = draw(s, BLOCK / 8) + (s->call / 30 % s->num_ranks == r ? 4 * BLOCK : 0);
}

static void drifting(source *s, int64_t *arrival)
{
    const int at = s->call % 200, up = at < 100 ? at : 200 - at;
    for (int r = 0; r < s->num_ranks; r++)
        arrival[r] = draw(s, BLOCK / 16) + (r == 0 ? 2 * BLOCK * up / 100 : BLOCK);
}

static void at_random(source *s, int64_t *arrival)
{
    for (int r = 0; r < s->num_ranks; r++)
        arrival[r] = draw(s, 16 * BLOCK);
}

static void at_random_near(source *s, int64_t *arrival)
{
    for (int r = 0; r < s->num_ranks; r++)
        arrival[r] = draw(s, BLOCK);
}

static const struct pattern {
    const char *name, *what;
    void (*make)(source *s, int64_t *arrival);
} patterns[] = {
    {"steady", "one after the other within 4 blocks' times", steady},
    {"noisy", "the same, each up to a block's time later", noisy},
    {"spikes", "steady, and in one call of 20 some rank 10 blocks' times later", spikes},
    {"alternating", "in every second call one rank 4 blocks' times later", alternating},
    {"rotating", "four ranks in turns 4 blocks' times later", rotating},
    {"regimes", "one rank 4 blocks' times later, for 30 calls, then the next one", regimes},
    {"drifting", "one rank up to 2 blocks' times later, in 100 calls, and back", drifting},
    {"random", "each within 16 blocks' times", at_random},
    {"random near", "each within a block's time", at_random_near},
};

/* ---- Judging ---------------------------------------------------------------------------------------------- */

/* Who is judged: the library, each of its predictors, and two more. */
enum { BY_LIBRARY, BY_FIRST, BY_SMA = BY_FIRST + PAT_NUM_PREDICTORS, BY_EMA, NUM_BY };

static const char *const names[NUM_BY] = {
    [BY_LIBRARY] = "library",
    [BY_FIRST + PAT_PREDICT_MEDIAN] = "median 5",
    [BY_FIRST + PAT_PREDICT_MEAN] = "mean 8",
    [BY_FIRST + PAT_PREDICT_FADING] = "fading",
    [BY_FIRST + PAT_PREDICT_AGO] = "last",
    [BY_SMA] = "SMA 5",
    [BY_EMA] = "EMA 1/2",
    /* Of those of a pattern that comes again, which have no name, the best one has a column. */
};

typedef struct judged {
    double error;         /* sum over ranks and calls, in blocks' times */
    int64_t pairs, right; /* of ranks that came apart: their order was said rightly */
} judged;

typedef struct replay {
    int num_ranks, calls;
    pat_predict predicts[PAT_PREDICTS];
    double sma[SMA_CALLS][REPLAY_MOST_RANKS], ema[REPLAY_MOST_RANKS]; /* of how far ahead each rank came */
    judged judged[NUM_BY];
} replay;

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* How far ahead a rank is said to come, in thousandths of a block's time. */
static double said(const replay *r, int by, int rank)
{
    const pat_predict *p = pat_predict_find(r->predicts, BLOCK);
    if (by == BY_EMA)
        return least(r->ema[rank], BLOCK);
    if (by == BY_SMA) {
        double sum = 0;
        for (int i = 0; i < SMA_CALLS; i++)
            sum += r->sma[i][rank] / SMA_CALLS;
        return least(sum, BLOCK);
    }
    const enum pat_predictor who =
        by == BY_LIBRARY ? pat_predict_best(r->predicts, BLOCK) : (enum pat_predictor)(by - BY_FIRST);
    return (double)pat_predict_ahead(p, who, r->num_ranks, rank, BLOCK);
}

static int order(double a, double b)
{
    return fabs(a - b) < BLOCK / 8. ? 0 : a < b ? -1 : 1;
}

static void judge(replay *r, const double *ahead)
{
    for (int by = 0; by < NUM_BY; by++) {
        judged *j = &r->judged[by];
        double expected[REPLAY_MOST_RANKS];
        for (int k = 0; k < r->num_ranks; k++) {
            expected[k] = said(r, by, k);
            j->error += fabs(least(ahead[k], BLOCK) - expected[k]) / BLOCK;
        }
        for (int k = 0; k < r->num_ranks; k++)
            for (int l = 0; l < k; l++) {
                const int came = order(least(ahead[k], BLOCK), least(ahead[l], BLOCK));
                j->pairs += came != 0;
                j->right += came != 0 && came == order(expected[k], expected[l]);
            }
    }
}

/* A call: judged, then learnt from. Returns 0 or ENOMEM. */
static int take(replay *r, const int64_t *arrival)
{
    double ahead[REPLAY_MOST_RANKS];
    int64_t last = arrival[0];
    for (int k = 1; k < r->num_ranks; k++)
        last = arrival[k] > last ? arrival[k] : last;
    for (int k = 0; k < r->num_ranks; k++)
        ahead[k] = (double)(last - arrival[k]);
    if (r->calls >= WARMUP)
        judge(r, ahead);
    for (int k = 0; k < r->num_ranks; k++) {
        r->sma[r->calls % SMA_CALLS][k] = ahead[k];
        r->ema[k] = r->calls ? (r->ema[k] + ahead[k]) / 2 : ahead[k];
    }
    r->calls++;
    return pat_predict_note(r->predicts, BLOCK, r->num_ranks, BLOCK, arrival);
}

/* ---- The table -------------------------------------------------------------------------------------------- */

/* Below this part of a block's time nobody feels a difference. */
static const double FELT = 0.002;

static void print_head(void)
{
    printf("# Arrivals predicted by those of the calls before. First line: mean error of a rank, in a "
           "block's times; second: of each\n"
           "# two ranks that came apart, how often it was said which one comes first, %%. library: what PAT "
           "takes, from call to call\n"
           "# one of the next five. k ago: as k calls before, the best of k from 2 to %d. loss: of the "
           "library against the least error.\n%-12s",
           PAT_PREDICT_CALLS, "");
    for (int by = 0; by < NUM_BY; by++)
        if (names[by])
            printf(" %8s%s", names[by], by == BY_FIRST + PAT_PREDICT_AGO ? "    k ago" : "");
    printf(" %8s\n", "loss");
}

/* The one of a pattern that comes again that erred least. */
static int best_ago(const replay *r)
{
    int best = BY_FIRST + PAT_PREDICT_AGO + 1;
    for (int by = best + 1; by < BY_FIRST + PAT_NUM_PREDICTORS; by++)
        if (r->judged[by].error < r->judged[best].error)
            best = by;
    return best;
}

static void print_order(const judged *j)
{
    if (j->pairs > 0)
        printf(" %8.1f", 100. * (double)j->right / (double)j->pairs);
    else
        printf(" %8s", "-");
}

static void print_row(const char *name, const replay *r)
{
    const double count = (double)r->num_ranks * (r->calls - WARMUP),
                 mine = r->judged[BY_LIBRARY].error / count;
    const int ago = best_ago(r);
    double best = INFINITY;
    printf("%-12s", name);
    for (int by = 0; by < NUM_BY; by++) {
        best = by > BY_LIBRARY ? least(best, r->judged[by].error / count) : best;
        if (names[by] || by == ago)
            printf(" %8.3f", r->judged[by].error / count);
    }
    if (mine - best < FELT)
        printf(" %8s\n%-12s", "-", "");
    else
        printf(" %7.0f%%\n%-12s", 100 * (mine / best - 1), "");
    for (int by = 0; by < NUM_BY; by++)
        if (names[by] || by == ago)
            print_order(&r->judged[by]);
    putchar('\n');
}

static int replay_pattern(replay *r, const struct pattern *pattern, uint64_t seed)
{
    source s = {.state = seed, .num_ranks = r->num_ranks};
    int rc = 0;
    for (s.call = 0; s.call < CALLS && rc == 0; s.call++) {
        int64_t arrival[REPLAY_MOST_RANKS];
        pattern->make(&s, arrival);
        rc = take(r, arrival);
    }
    return rc;
}

/* ---- Files ------------------------------------------------------------------------------------------------ */

/* The numbers of a line, in thousandths of a block's time. Returns how many; -1: something else is there, or too many numbers. */
static int read_line(const char *line, double block_ms, int64_t *arrival)
{
    int num = 0;
    for (const char *at = line;; num++) {
        char *end;
        at += strspn(at, " \t,;\r\n");
        if (*at == '\0')
            return num;
        const double ms = strtod(at, &end);
        if (end == at || !isfinite(ms) || fabs(ms) > 1e12 || num == REPLAY_MOST_RANKS)
            return -1;
        arrival[num] = llrint(ms / block_ms * BLOCK);
        at = end;
    }
}

/* Returns 0, ENOMEM or EINVAL: after a message. */
static int read_file(replay *r, FILE *from, const char *name, double block_ms)
{
    char *line = NULL;
    size_t size = 0;
    int rc = 0;
    for (int number = 1; rc == 0 && getline(&line, &size, from) >= 0; number++) {
        int64_t arrival[REPLAY_MOST_RANKS];
        const int num = line[0] == '#' ? 0 : read_line(line, block_ms, arrival);
        if (num == 0)
            continue;
        if (num < 2 || (r->num_ranks > 0 && num != r->num_ranks)) {
            fprintf(stderr,
                    "pat-model: %s, line %d, '%.*s': accepted: as many numbers on each line, one a rank, of "
                    "2 to %d ranks\n",
                    name, number, (int)strcspn(line, "\r\n") < 60 ? (int)strcspn(line, "\r\n") : 60, line,
                    REPLAY_MOST_RANKS);
            rc = EINVAL;
        } else {
            r->num_ranks = num;
            rc = take(r, arrival);
        }
    }
    free(line);
    if (rc == 0 && r->calls <= WARMUP) {
        fprintf(stderr, "pat-model: %s: accepted: more than %d lines of arrivals\n", name, WARMUP);
        rc = EINVAL;
    }
    return rc;
}

static int replay_file(replay *r, const char *name, double block_ms)
{
    FILE *from = fopen(name, "r");
    if (!from) {
        fprintf(stderr, "pat-model: %s: %s\n", name, strerror(errno));
        return EINVAL;
    }
    int rc = read_file(r, from, name, block_ms);
    fclose(from);
    return rc;
}

int predict_replay(const char *const *files, int num_files, int num_ranks, double block_ms, uint64_t seed)
{
    const int num_patterns = (int)(sizeof(patterns) / sizeof(patterns[0])),
              num = num_files ? num_files : num_patterns;
    replay *r = malloc(sizeof(*r));
    int rc = r ? 0 : ENOMEM;
    for (int i = 0; i < num && rc == 0; i++) {
        memset(r, 0, sizeof(*r));
        r->num_ranks = num_files ? 0 : num_ranks;
        rc = num_files ? replay_file(r, files[i], block_ms) : replay_pattern(r, &patterns[i], seed);
        if (rc == 0 && i == 0)
            print_head();
        if (rc == 0)
            print_row(num_files ? files[i] : patterns[i].name, r);
        pat_predict_free(r->predicts);
    }
    for (int i = 0; i < num_patterns && rc == 0 && !num_files; i++)
        printf("# %-12s %s\n", patterns[i].name, patterns[i].what);
    free(r);
    if (rc == ENOMEM)
        fprintf(stderr, "pat-model: no memory to replay arrivals\n");
    return rc == 0 ? 0 : rc == ENOMEM ? 1 : 2;
}

/*
 * select.c — see select.h. Moving data while ranks compute pays as soon as a block takes long against the time that
 * a thread needs to wake up and pass a piece on; below that the MPI library has the shorter way, unless ranks come so far
 * apart that most of the data can move before the last one. On emulated clusters of 4 to 16 nodes blocks of 1.4 ms and
 * more were never slower with relay when all ranks came at once, blocks of 1.2 ms and less were, by up to a quarter; with
 * arrivals spread over 3 blocks' times relay was slower for them, over 8 faster (bench/arrival-grid).
 */
#include "select.h"

#include "error.h"
#include "explain.h"
#include "runtime.h"

enum {
    SMALL_BYTES = 4096,
    WORTH_NS = 1320000,
    BEARABLE_NS = 200000,
    FAR_BLOCKS = 5,
    MOST_GAP = 64,
    LATELY = 2
};

/* Of what is kept by length: lengths may share one. */
static int place_of(int64_t bytes)
{
    return (int)((uint64_t)bytes * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (PAT_CHOICES - 1));
}

bool pat_select_is_small(int num_ranks, int64_t block_bytes)
{
    return block_bytes < SMALL_BYTES / (num_ranks > 1 ? num_ranks - 1 : 1);
}

static enum pat_verdict judge_by_link(const pat_comm *c, int64_t block_bytes)
{
    const int64_t block_ns = pat_link_busy_ns(&c->link, block_bytes);
    if (block_ns < c->link.alpha_ns || block_ns < BEARABLE_NS)
        return PAT_RELAY_NEVER;
    return block_ns >= WORTH_NS && block_ns >= 2 * c->link.alpha_ns ? PAT_RELAY_ALWAYS
                                                                    : PAT_RELAY_BY_ARRIVALS;
}

static bool is_calibrated(const pat_outlook *o)
{
    return o->native_us > 0 && o->relay_us > 0; /* not with NaN */
}

static enum pat_verdict judge(const pat_comm *c, int64_t block_bytes)
{
    pat_outlook together;
    if (!c->background || pat_select_is_small(c->size, block_bytes))
        return PAT_RELAY_NEVER;
    if (!pat_rt.calibration ||
        pat_outlook_make(&together, pat_rt.calibration, c->size, block_bytes, NULL, PAT_GOAL_MEAN) != 0 ||
        !is_calibrated(&together))
        return judge_by_link(c, block_bytes);
    const enum pat_verdict verdict = pat_outlook_verdict(&together);
    if (pat_rt.config.explain && c->rank == 0)
        pat_explain_arrivals(&together, c->size, block_bytes, "all at once",
                             verdict == PAT_RELAY_ALWAYS  ? "relay"
                             : verdict == PAT_RELAY_NEVER ? "native"
                             : c->size > 2                ? "native, and relay when they come apart"
                                           : "native: two ranks do not tell each other when they come");
    return verdict;
}

/* Two threads may ask at once, the application's and ours: one word holds length and verdict. */
static enum pat_verdict verdict_on(pat_comm *c, int64_t block_bytes)
{
    atomic_int_fast64_t *kept = &c->verdicts[place_of(block_bytes)];
    const int64_t word = atomic_load_explicit(kept, memory_order_relaxed);
    if (word >> 2 == block_bytes && word != 0)
        return (enum pat_verdict)(word & 3);
    const enum pat_verdict verdict = judge(c, block_bytes);
    atomic_store_explicit(kept, block_bytes << 2 | verdict, memory_order_relaxed);
    return verdict;
}

int64_t pat_select_native_ns(const pat_comm *c, int64_t block_bytes)
{
    pat_outlook together = {0};
    if (pat_rt.calibration &&
        pat_outlook_make(&together, pat_rt.calibration, c->size, block_bytes, NULL, PAT_GOAL_MEAN) == 0 &&
        is_calibrated(&together))
        return (int64_t)(1e3 * together.native_us);
    return (c->size - 1) * pat_link_busy_ns(&c->link, block_bytes);
}

int pat_select_note(pat_comm *c, const int64_t *arrival_ns, int64_t block_bytes)
{
    const int at = (int)(c->num_spreads % PAT_SPREADS);
    int error = 0;
    int64_t first = arrival_ns[0], last = first, waited = 0;
    c->late.rank = 0;
    for (int r = 1; r < c->size; r++) {
        first = arrival_ns[r] < first ? arrival_ns[r] : first;
        c->late.rank = arrival_ns[r] > last ? r : c->late.rank;
        last = arrival_ns[r] > last ? arrival_ns[r] : last;
    }
    for (int r = 0; r < c->size; r++)
        waited += last - arrival_ns[r];
    c->late.waited_ns = last - arrival_ns[c->rank];
    c->late.mean_waited_ns = waited / c->size;
    c->outlooks[at] = (pat_outlook){0};
    if (pat_rt.calibration && verdict_on(c, block_bytes) == PAT_RELAY_BY_ARRIVALS)
        error = pat_outlook_make(&c->outlooks[at], pat_rt.calibration, c->size, block_bytes, arrival_ns,
                                 pat_rt.config.goal_last ? PAT_GOAL_LAST : PAT_GOAL_MEAN);
    c->spread_ns[at] = last - first;
    c->spread_bytes[at] = block_bytes;
    c->num_spreads++;
    c->told_bytes = block_bytes;
    return error ? pat_error(MPI_ERR_NO_MEM, "no memory to choose an algorithm for %d ranks", c->size)
                 : MPI_SUCCESS;
}

/*
 * The last rounds that told, of blocks of this length: ranks may come otherwise to other calls. A single one may be a
 * chance, and more than two would be slow to see a change. Returns how many there are, at most LATELY.
 */
static int rounds_lately(const pat_comm *c, int64_t bytes, int *which)
{
    int num = 0;
    for (int64_t i = c->num_spreads - 1; i >= 0 && i >= c->num_spreads - PAT_SPREADS && num < LATELY; i--)
        if (c->spread_bytes[i % PAT_SPREADS] == bytes)
            which[num++] = (int)(i % PAT_SPREADS);
    return num;
}

static pat_outlook lately(const pat_comm *c, int64_t bytes)
{
    pat_outlook mean = {0};
    int which[LATELY];
    const int num = rounds_lately(c, bytes, which);
    for (int i = 0; i < num; i++) {
        const pat_outlook *o = &c->outlooks[which[i]];
        mean.waiting_us += o->waiting_us / num;
        mean.native_us += o->native_us / num;
        mean.relay_us += o->relay_us / num;
    }
    return mean;
}

static bool far_apart(const pat_comm *c, int64_t bytes)
{
    int which[LATELY];
    const int num = rounds_lately(c, bytes, which);
    int64_t sum = 0;
    for (int i = 0; i < num; i++)
        sum += c->spread_ns[which[i]];
    return num > 0 && sum / num >= FAR_BLOCKS * pat_link_busy_ns(&c->link, bytes);
}

/* By figures where there are any. Who runs must be beaten clearly, so that noise does not toss the choice about. */
static bool relay_pays(const pat_comm *c, int64_t bytes, bool runs)
{
    const pat_outlook o = lately(c, bytes);
    if (!is_calibrated(&o))
        return far_apart(c, bytes);
    const bool better = pat_outlook_relay_pays(&o, runs);
    if (pat_rt.config.explain && c->rank == 0 && better != runs)
        pat_explain_arrivals(&o, c->size, bytes, "as they come lately", better ? "relay" : "native");
    return better;
}

/*
 * Where relay pays only when ranks come far apart, a call that the MPI library runs tells nobody when they came. So every
 * so often relay runs one and tells: after 1, 2, 4 ... calls, so that what it costs is soon not felt. For every length of
 * its own; one word holds it, because the background thread asks too.
 */
typedef struct trial {
    int left; /* calls that the MPI library still has */
    int gap;  /* and has after the next trial */
} trial;

static atomic_int *trial_at(pat_comm *c, int64_t bytes)
{
    return &c->trials[place_of(bytes)];
}

/* Lengths that share a place share their trials: else each would have the other forgotten, and be tried in every call. */
static trial trial_of(pat_comm *c, int64_t bytes)
{
    const int word = atomic_load_explicit(trial_at(c, bytes), memory_order_relaxed);
    return word != 0 ? (trial){(int)(word >> 8 & 0xff), (int)(word & 0xff)} : (trial){0, 1};
}

static void set_trial(pat_comm *c, int64_t bytes, trial t)
{
    atomic_store_explicit(trial_at(c, bytes), t.left << 8 | t.gap, memory_order_relaxed);
}

void pat_select_learn(pat_comm *c)
{
    const int64_t bytes = c->told_bytes;
    c->told_bytes = 0;
    /* A round that the program asked for by name is no trial, and says nothing of how soon to try again. */
    if (bytes == 0 || !atomic_load(&pat_rt.alg[PAT_OP_ALLGATHER])->chooses ||
        verdict_on(c, bytes) != PAT_RELAY_BY_ARRIVALS)
        return;
    const trial t = trial_of(c, bytes);
    if (relay_pays(c, bytes, t.gap == 1))
        set_trial(c, bytes, (trial){0, 1});
    else
        set_trial(c, bytes, (trial){t.gap, t.gap < MOST_GAP ? 2 * t.gap : MOST_GAP});
}

void pat_select_passed_on(pat_comm *c, int64_t block_bytes)
{
    const trial t = trial_of(c, block_bytes);
    if (t.left > 0)
        set_trial(c, block_bytes, (trial){t.left - 1, t.gap});
}

/* By what was measured. The formulas give the same bits on all ranks, which are alike (machine.h). */
static const pat_algorithm *fastest(pat_comm *c, enum pat_op op, int64_t bytes)
{
    pat_choice *kept = &c->choices[op][place_of(bytes)];
    if (kept->bytes == bytes)
        return kept->alg;
    const pat_algorithm *alg = pat_calibration_best(pat_rt.calibration, op, c->size, bytes);
    if (!alg)
        alg = pat_algorithm_native(op);
    if (pat_rt.config.explain && c->rank == 0)
        pat_explain(pat_rt.calibration, op, c->size, bytes, alg);
    *kept = (pat_choice){bytes, alg};
    return alg;
}

const pat_algorithm *pat_select_rooted(pat_comm *c, const pat_algorithm *alg, int64_t bytes)
{
    if (!alg->chooses)
        return alg;
    return pat_rt.calibration ? fastest(c, alg->op, bytes) : pat_algorithm_native(alg->op);
}

const pat_algorithm *pat_select(pat_comm *c, const pat_algorithm *alg, int64_t block_bytes)
{
    if (!alg->chooses)
        return alg;
    const enum pat_verdict verdict = c && block_bytes > 0 ? verdict_on(c, block_bytes) : PAT_RELAY_NEVER;
    /* Two ranks pass nothing on, so they do not tell each other. */
    const bool relay = verdict == PAT_RELAY_ALWAYS || (verdict == PAT_RELAY_BY_ARRIVALS && c->size > 2 &&
                                                       trial_of(c, block_bytes).left == 0);
    return relay ? pat_algorithm_find("relay") : pat_algorithm_native(PAT_OP_ALLGATHER);
}

/*
 * select.c — see select.h. Moving data while ranks compute pays as soon as a block takes long against the time that
 * a thread needs to wake up and pass a piece on; below that the MPI library has the shorter way, unless ranks come so far
 * apart that most of the data can move before the last one. On emulated clusters of 4 to 16 nodes blocks of 1.4 ms and
 * more were never slower with relay when all ranks came at once, blocks of 1.2 ms and less were, by up to a quarter; with
 * arrivals spread over 3 blocks' times relay was slower for them, over 8 faster (bench/arrival-grid).
 */
#include "select.h"

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

/*
 * By calibration: up to how many times what the MPI library takes relay may be tried at all, so that a try in 64 calls
 * costs 3 %; and by what part of the MPI library's time the one that is not in use must be ahead.
 */
enum { BEARABLE_TIMES = 3 };
static const double CLEARLY = 0.03;

bool pat_select_is_small(int num_ranks, int64_t block_bytes)
{
    return block_bytes < SMALL_BYTES / (num_ranks > 1 ? num_ranks - 1 : 1);
}

/* What is known of blocks of one length, whenever ranks come. */
enum verdict { NEVER = 1, ALWAYS, BY_ARRIVALS };

static enum verdict judge_by_link(const pat_comm *c, int64_t block_bytes)
{
    const int64_t block_ns = pat_link_busy_ns(&c->link, block_bytes);
    if (block_ns < c->link.alpha_ns || block_ns < BEARABLE_NS)
        return NEVER;
    return block_ns >= WORTH_NS && block_ns >= 2 * c->link.alpha_ns ? ALWAYS : BY_ARRIVALS;
}

/* Where relay is the faster one even when all call at once it is so always: it gains by every wait for a late rank. */
static enum verdict judge_by_figures(const pat_outlook *together)
{
    if (together->relay_us > BEARABLE_TIMES * together->native_us)
        return NEVER;
    return together->relay_us <= together->native_us ? ALWAYS : BY_ARRIVALS;
}

static bool is_calibrated(const pat_outlook *o)
{
    return o->native_us > 0 && o->relay_us > 0; /* not with NaN */
}

static enum verdict judge(const pat_comm *c, int64_t block_bytes)
{
    pat_outlook together;
    if (!c->background || pat_select_is_small(c->size, block_bytes))
        return NEVER;
    if (!pat_rt.calibration ||
        pat_outlook_make(&together, pat_rt.calibration, c->size, block_bytes, NULL, PAT_GOAL_MEAN) != 0 ||
        !is_calibrated(&together))
        return judge_by_link(c, block_bytes);
    const enum verdict verdict = judge_by_figures(&together);
    if (pat_rt.config.explain && c->rank == 0)
        pat_explain_arrivals(&together, c->size, block_bytes, "all at once",
                             verdict == ALWAYS  ? "relay"
                             : verdict == NEVER ? "native"
                                                : "native, and relay when they come apart");
    return verdict;
}

/* Two threads may ask at once, the application's and ours: one word holds length and verdict. */
static enum verdict verdict_on(pat_comm *c, int64_t block_bytes)
{
    atomic_int_fast64_t *kept =
        &c->verdicts[(uint64_t)block_bytes * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (PAT_CHOICES - 1)];
    const int64_t word = atomic_load_explicit(kept, memory_order_relaxed);
    if (word >> 2 == block_bytes && word != 0)
        return (enum verdict)(word & 3);
    const enum verdict verdict = judge(c, block_bytes);
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

void pat_select_note(pat_comm *c, const int64_t *arrival_ns, int64_t block_bytes)
{
    pat_outlook *const o = &c->outlooks[c->num_spreads % PAT_SPREADS];
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
    *o = (pat_outlook){0};
    if (pat_rt.calibration && verdict_on(c, block_bytes) == BY_ARRIVALS)
        pat_outlook_make(o, pat_rt.calibration, c->size, block_bytes, arrival_ns,
                         pat_rt.config.goal_last ? PAT_GOAL_LAST : PAT_GOAL_MEAN);
    c->spread_ns[c->num_spreads++ % PAT_SPREADS] = last - first;
    c->told_bytes = block_bytes;
}

/* Rounds that told which count: a single one may be a chance, and more than two would be slow to see a change. */
static int64_t num_lately(const pat_comm *c)
{
    return c->num_spreads < LATELY ? c->num_spreads : LATELY;
}

static pat_outlook lately(const pat_comm *c)
{
    pat_outlook mean = {0};
    const int64_t num = num_lately(c);
    for (int64_t i = 1; i <= num; i++) {
        const pat_outlook *o = &c->outlooks[(c->num_spreads - i) % PAT_SPREADS];
        mean.waiting_us += o->waiting_us / (double)num;
        mean.native_us += o->native_us / (double)num;
        mean.relay_us += o->relay_us / (double)num;
    }
    return mean;
}

static bool far_apart(const pat_comm *c, int64_t bytes)
{
    int64_t sum = 0;
    for (int64_t i = 1; i <= num_lately(c); i++)
        sum += c->spread_ns[(c->num_spreads - i) % PAT_SPREADS];
    return sum / num_lately(c) >= FAR_BLOCKS * pat_link_busy_ns(&c->link, bytes);
}

/* By figures where there are any. Who runs must be beaten clearly, so that noise does not toss the choice about. */
static bool relay_pays(const pat_comm *c, int64_t bytes)
{
    const pat_outlook o = lately(c);
    const bool runs = c->probe_gap == 1;
    if (!is_calibrated(&o))
        return far_apart(c, bytes);
    const double margin_us = CLEARLY * (o.native_us - o.waiting_us); /* who waits for whom is nobody's gain */
    const bool better = o.relay_us < o.native_us + (runs ? margin_us : -margin_us);
    if (pat_rt.config.explain && c->rank == 0 && better != runs)
        pat_explain_arrivals(&o, c->size, bytes, "as they come lately", better ? "relay" : "native");
    return better;
}

/*
 * Where relay pays only when ranks come far apart, a call that the MPI library runs tells nobody when they came. So every
 * so often relay runs one and tells: after 1, 2, 4 ... calls, so that what it costs is soon not felt.
 */
void pat_select_learn(pat_comm *c)
{
    const int64_t bytes = c->told_bytes;
    c->told_bytes = 0;
    /* A round that the program asked for by name is no try, and says nothing of how soon to try again. */
    if (bytes == 0 || !atomic_load(&pat_rt.alg[PAT_OP_ALLGATHER])->chooses ||
        verdict_on(c, bytes) != BY_ARRIVALS)
        return;
    if (relay_pays(c, bytes)) {
        c->probe_gap = 1;
        return;
    }
    atomic_store(&c->native_left, c->probe_gap);
    c->probe_gap = c->probe_gap < MOST_GAP ? 2 * c->probe_gap : MOST_GAP;
}

void pat_select_passed_on(pat_comm *c)
{
    if (atomic_load(&c->native_left) > 0)
        atomic_fetch_sub(&c->native_left, 1);
}

/* By what was measured. The formulas give the same bits on all ranks, which are alike (machine.h). */
static const pat_algorithm *fastest(pat_comm *c, enum pat_op op, int64_t bytes)
{
    pat_choice *kept =
        &c->choices[op][(uint64_t)bytes * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (PAT_CHOICES - 1)];
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
    const enum verdict verdict = c && block_bytes > 0 ? verdict_on(c, block_bytes) : NEVER;
    /* Two ranks pass nothing on, so they do not tell each other. */
    const bool relay =
        verdict == ALWAYS || (verdict == BY_ARRIVALS && c->size > 2 && atomic_load(&c->native_left) == 0);
    return pat_algorithm_find(relay ? "relay" : "native");
}

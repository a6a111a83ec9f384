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

enum { SMALL_BYTES = 4096, WORTH_NS = 1250000, BEARABLE_NS = 200000, FAR_BLOCKS = 5, MOST_GAP = 64 };

bool pat_select_is_small(int num_ranks, int64_t block_bytes)
{
    return block_bytes < SMALL_BYTES / (num_ranks > 1 ? num_ranks - 1 : 1);
}

/* Does relay pay whenever ranks come? */
static bool pays(const pat_comm *c, int64_t block_bytes)
{
    return pat_link_busy_ns(&c->link, block_bytes) >= WORTH_NS;
}

/* Is it at least not much too dear where it does not pay, so that it may be tried? */
static bool bears(const pat_comm *c, int64_t block_bytes)
{
    int64_t block_ns = pat_link_busy_ns(&c->link, block_bytes);
    return c->background && block_ns >= 4 * c->link.alpha_ns && block_ns >= BEARABLE_NS &&
           !pat_select_is_small(c->size, block_bytes);
}

/*
 * Where relay pays only when ranks come far apart, a call that the MPI library runs tells nobody when they came. So every
 * so often relay runs one and tells: after 1, 2, 4 ... calls, so that what it costs is soon not felt.
 */
void pat_select_learn(pat_comm *c)
{
    const int64_t bytes = c->told_bytes;
    int64_t sum = 0, num = c->num_spreads < PAT_SPREADS ? c->num_spreads : PAT_SPREADS;
    c->told_bytes = 0;
    if (bytes == 0 || pays(c, bytes))
        return;
    for (int i = 0; i < num; i++)
        sum += c->spread_ns[i];
    if (sum / num >= FAR_BLOCKS * pat_link_busy_ns(&c->link, bytes)) {
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

const pat_algorithm *pat_select(const pat_comm *c, const pat_algorithm *alg, int64_t block_bytes)
{
    if (!alg->chooses)
        return alg;
    /* Two ranks pass nothing on, so they do not tell each other. */
    bool relay = c && bears(c, block_bytes) &&
                 (pays(c, block_bytes) || (c->size > 2 && atomic_load(&c->native_left) == 0));
    return pat_algorithm_find(relay ? "relay" : "native");
}

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

enum { WORTH_NS = 1320000, BEARABLE_NS = 200000 };

/* Of what is kept by length: lengths may share one. */
static int place_of(int64_t bytes)
{
    return (int)((uint64_t)bytes * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (PAT_CHOICES - 1));
}

static enum pat_verdict judge_by_link(const pat_comm *c, int64_t block_bytes)
{
    const int64_t block_ns = pat_link_busy_ns(&c->link, block_bytes);
    if (block_ns < c->link.alpha_ns || block_ns < BEARABLE_NS)
        return PAT_RELAY_NEVER;
    return block_ns >= WORTH_NS && block_ns >= 2 * c->link.alpha_ns ? PAT_RELAY_ALWAYS
                                                                    : PAT_RELAY_BY_ARRIVALS;
}

static enum pat_verdict judge(const pat_comm *c, int64_t block_bytes, pat_outlook *together)
{
    *together = (pat_outlook){0};
    if (!c->background || !pat_comm_chooses_here(c->one_node) || pat_select_is_small(c->size, block_bytes))
        return PAT_RELAY_NEVER;
    if (!pat_rt.calibration ||
        pat_outlook_make(together, pat_rt.calibration, c->size, block_bytes, NULL, PAT_GOAL_MEAN) != 0 ||
        !pat_outlook_is_known(together))
        return judge_by_link(c, block_bytes);
    return pat_outlook_verdict(together);
}

static enum pat_verdict verdict_of(const pat_comm *c, const pat_habit *habit)
{
    pat_outlook together;
    return habit->verdict ? habit->verdict : judge(c, habit->bytes, &together);
}

/* What is judged once is kept, and told to whoever wants to know. */
static enum pat_verdict verdict_kept(const pat_comm *c, int64_t block_bytes)
{
    pat_habit fresh;
    pat_outlook together;
    const pat_habit *habit = pat_history_look(&c->history, block_bytes, &fresh);
    if (habit->verdict)
        return habit->verdict;
    const enum pat_verdict verdict = judge(c, block_bytes, &together);
    if (pat_rt.config.explain && c->rank == 0 && pat_outlook_is_known(&together))
        pat_explain_arrivals(&together, c->size, block_bytes, "all at once",
                             verdict == PAT_RELAY_ALWAYS  ? "relay"
                             : verdict == PAT_RELAY_NEVER ? "native"
                             : c->size > 2                ? "native, and relay when they come apart"
                                           : "native: two ranks do not tell each other when they come");
    return verdict;
}

int64_t pat_select_native_ns(const pat_comm *c, int64_t block_bytes)
{
    pat_outlook together = {0};
    if (pat_rt.calibration &&
        pat_outlook_make(&together, pat_rt.calibration, c->size, block_bytes, NULL, PAT_GOAL_MEAN) == 0 &&
        pat_outlook_is_known(&together))
        return (int64_t)(1e3 * together.native_us);
    return (c->size - 1) * pat_link_busy_ns(&c->link, block_bytes);
}

/* What the round's arrivals would have made of either algorithm, where that decides. */
static int look_out(pat_comm *c, const pat_carried *carried, int64_t block_bytes)
{
    pat_habit fresh;
    if (!pat_rt.calibration ||
        verdict_of(c, pat_history_look(&c->history, block_bytes, &fresh)) != PAT_RELAY_BY_ARRIVALS)
        return 0;
    int64_t arrival_ns[c->size];
    for (int r = 0; r < c->size; r++)
        arrival_ns[r] = carried[r].arrival_ns;
    return pat_outlook_make(&c->told.outlook, pat_rt.calibration, c->size, block_bytes, arrival_ns,
                            pat_rt.config.goal_last ? PAT_GOAL_LAST : PAT_GOAL_MEAN);
}

int pat_select_note(pat_comm *c, const pat_carried *carried, int64_t block_bytes)
{
    c->told = pat_told_make(carried, c->size, block_bytes);
    if (!carried)
        return MPI_SUCCESS;
    const int last = c->told.last_rank;
    c->late = (pat_late){last, carried[last].arrival_ns - carried[c->rank].arrival_ns};
    c->spread_ns[c->num_spreads++ % PAT_SPREADS] = c->told.spread_ns;
    return look_out(c, carried, block_bytes) == 0
               ? MPI_SUCCESS
               : pat_error(MPI_ERR_NO_MEM, "no memory to choose an algorithm for %d ranks", c->size);
}

/* A round that the program asked for by name is no trial, and says nothing of how soon to try again. */
void pat_select_learn(pat_comm *c, int64_t took_ns)
{
    const pat_told told = c->told;
    c->told.bytes = 0;
    if (told.bytes == 0 || !atomic_load(&pat_rt.alg[PAT_OP_ALLGATHER])->chooses)
        return;
    pat_habit fresh;
    const pat_outlook before = pat_habit_lately(pat_history_look(&c->history, told.bytes, &fresh));
    const pat_habit *changed =
        pat_history_relay_ran(&c->history, &told, verdict_kept(c, told.bytes),
                              pat_link_busy_ns(&c->link, told.bytes), pat_history_took(took_ns));
    if (!pat_rt.config.explain || c->rank != 0)
        return;
    const pat_outlook after = pat_habit_lately(pat_history_look(&c->history, told.bytes, &fresh));
    if (pat_outlook_is_known(&after) &&
        pat_outlook_relay_pays(&after, false) != pat_outlook_relay_pays(&before, false))
        pat_explain_arrivals(&after, c->size, told.bytes, "as they come lately",
                             pat_outlook_relay_pays(&after, false) ? "relay" : "native");
    if (changed)
        pat_explain_measured(changed, c->size);
}

static uint16_t site_of(const void *site)
{
    return site ? pat_history_site(site) : 0;
}

void pat_select_passed_on(pat_comm *c, int64_t block_bytes, const void *site, int64_t took_ns)
{
    c->mine.site = site_of(site); /* the next one that relay runs carries it, as the last one's */
    pat_history_mpi_ran(&c->history, block_bytes, verdict_kept(c, block_bytes), pat_history_took(took_ns));
}

pat_carried pat_select_carried(pat_comm *c, int64_t block_bytes, const void *site)
{
    pat_habit fresh;
    pat_carried mine = {.took = pat_history_look(&c->history, block_bytes, &fresh)->my_took,
                        .site = site_of(site),
                        .last_site = c->mine.site};
    return mine;
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

const pat_algorithm *pat_select(const pat_comm *c, const pat_algorithm *alg, int64_t block_bytes,
                                enum pat_why *why)
{
    enum pat_why because = alg->chooses ? PAT_WHY_CANNOT : PAT_WHY_ASKED;
    enum pat_runner runner = PAT_BY_MPI;
    if (alg->chooses && c && block_bytes > 0) {
        pat_habit fresh;
        const pat_habit *habit = pat_history_look(&c->history, block_bytes, &fresh);
        runner = pat_habit_runner(habit, verdict_of(c, habit), c->size,
                                  pat_link_busy_ns(&c->link, block_bytes), &because);
    }
    if (why)
        *why = because;
    if (!alg->chooses)
        return alg;
    return runner == PAT_BY_RELAY ? pat_algorithm_find("relay") : pat_algorithm_native(PAT_OP_ALLGATHER);
}

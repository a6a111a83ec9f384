/*
 * select.c — see select.h. Moving data while ranks compute pays as soon as a block takes long against the time that a thread
 * needs to wake up and pass it on; below that the MPI library has the shorter way, unless ranks come so far apart that most of
 * the data can move before the last one (outlook.h).
 */
#include "select.h"

#include "arrivals.h"
#include "early.h"
#include "error.h"
#include "explain.h"
#include "pace.h"
#include "runtime.h"
#include "wait.h"

#include <math.h>

/* Of what is kept by length: lengths may share one. */
static int place_of(int64_t bytes)
{
    return (int)((uint64_t)bytes * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (PAT_CHOICES - 1));
}

/* Both by calibration, when all ranks call at once. False: it does not know. */
static bool look_out_together(const pat_judged *judged, pat_outlook *together)
{
    return pat_outlook_make(together, &judged->contest, NULL, PAT_GOAL_MEAN) == 0 &&
           pat_outlook_is_known(together);
}

bool pat_select_is_proven(const pat_comm *c)
{
    return c->calibrated || (!c->layout.one_node && c->link.packet_bytes > 0);
}

/*
 * What the contender is reckoned to take beyond what the link needs: for each message that follows another one a latency, and a thread that
 * wakes to pass it on. Of an all-gather each block is such a message; of an all-reduce there are two.
 */
static int64_t beyond_ns(const pat_comm *c, enum pat_op op)
{
    const int messages = pat_collective_of(op)->reduces ? 2 : c->layout.blocks_in;
    /* Where ranks copy, no thread is woken to pass anything on. */
    return messages * (c->link.alpha_ns + (pat_comm_copies(c) ? 0 : pat_pace_passes_on_ns()));
}

/* What a link must carry when all ranks call at once: all other ranks' blocks, or each part of a vector there and back. */
static int64_t least_ns(const pat_comm *c, enum pat_op op, int64_t block_bytes)
{
    const int64_t block_ns = pat_link_busy_ns(&c->link, block_bytes);
    return pat_collective_of(op)->reduces ? 2 * (c->size - 1) * block_ns / c->size
                                          : c->layout.blocks_in * block_ns;
}

/*
 * Several ranks share a node, and the contender goes by their numbers: it sends the same bytes over the network several times. With 4 x 4 ranks
 * allreduce_converge took up to five times as long as the MPI library.
 */
static bool is_blind(const pat_comm *c, const pat_algorithm *contender)
{
    return !contender->any_order && !c->layout.one_a_node && !c->layout.one_node;
}

/*
 * Between two ranks the MPI library's way is the shortest as well: who gains, gains by when they come. Over UCX, 64 KiB at 200 Mbit/s, relay
 * took 8 % longer than the MPI library while they came together; with 128 KB at 50 Mbit/s it took no longer.
 */
static bool gains_by_arrivals_only(const pat_comm *c, const pat_algorithm *contender)
{
    return c->size == 2 && c->layout.one_a_node && !contender->reduces;
}

/*
 * Between two ranks nobody passes anything on, and what MPI sends without asking is early whoever runs the call. (The limit is that of
 * messages over the network.)
 */
static bool is_early_anyway(const pat_comm *c, const pat_algorithm *contender, int64_t block_bytes)
{
    return gains_by_arrivals_only(c, contender) && block_bytes <= c->link.eager_bytes;
}

/*
 * From the link alone, which does not say by which arrivals a contender gains that goes by the last calls: it is for long ones. *why: why it
 * is left to the MPI library, where it is.
 */
static enum pat_verdict verdict_by_link(const pat_comm *c, const pat_algorithm *contender,
                                        int64_t block_bytes, enum pat_why *why)
{
    enum { NOT_FELT_TIMES = 50 }; /* so many times what the contender takes beyond it */
    const int64_t block_ns = pat_link_busy_ns(&c->link, block_bytes);
    enum pat_verdict verdict =
        pat_outlook_verdict_by_link(block_ns, c->link.alpha_ns, pat_pace_passes_on_ns());
    if (verdict == PAT_RELAY_ALWAYS && gains_by_arrivals_only(c, contender) &&
        block_ns < NOT_FELT_TIMES * beyond_ns(c, contender->op))
        verdict = PAT_RELAY_BY_ARRIVALS;
    const bool by_some_arrivals = verdict == PAT_RELAY_BY_ARRIVALS && contender->uses_last_calls;
    *why = PAT_WHY_SHORT;
    if (verdict == PAT_RELAY_NEVER || by_some_arrivals)
        return PAT_RELAY_NEVER;
    if (is_blind(c, contender))
        *why = PAT_WHY_NODES;
    else if (is_early_anyway(c, contender, block_bytes))
        *why = PAT_WHY_TWO;
    return *why == PAT_WHY_SHORT ? verdict : PAT_RELAY_NEVER;
}

/*
 * Does the communicator's calibration say something of such blocks? Beyond what was measured it goes by formulas alone: made in a hurry, with blocks of at most 16 KiB, it had ring ahead of relay
 * on 32 nodes with 64 KiB, where ring takes a quarter longer, and so do tries to find that out. What blocks of other lengths have shown, and the link, then serve better.
 */
static bool reaches(const pat_comm *c, enum pat_op op, int64_t block_bytes)
{
    enum { FAR = 2 };
    return c->calibrated && block_bytes / FAR <= pat_calibration_longest(c->calibration, op);
}

/* announced: ranks give estimates. */
static pat_judged judge_where(const pat_comm *c, enum pat_op op, bool announced, int64_t block_bytes,
                              pat_outlook *together)
{
    pat_judged judged = {.bytes = block_bytes,
                         .verdict = PAT_RELAY_NEVER,
                         .why_never = PAT_WHY_SHORT,
                         .contender = pat_algorithm_contender(op),
                         .contest = {.ranks = c->size, .native_us = NAN}};
    *together = (pat_outlook){0};
    const bool copies = pat_comm_copies(c) && pat_select_copies(op, c->size, block_bytes),
               left = c->layout.one_node && !c->calibrated && !pat_rt.config.link_set &&
                      !copies; /* a calibration, if there is one, is of others alone */
    if (!judged.contender || !c->background || left || pat_select_is_small(op, c->size, block_bytes))
        return judged;
    if (copies) { /* whether it gains, tries show */
        judged.verdict = PAT_RELAY_ALWAYS;
        return judged;
    }
    judged.calibrated = reaches(c, op, block_bytes);
    pat_contest_make(&judged.contest, judged.calibrated ? c->calibration : NULL, op, block_bytes, announced);
    judged.contender = pat_contest_early(&judged.contest, op);
    judged.verdict = look_out_together(&judged, together)
                         ? pat_outlook_verdict(together)
                         : verdict_by_link(c, judged.contender, block_bytes, &judged.why_never);
    /* Where it goes by the last calls nothing is known at first. */
    judged.first = pat_select_is_proven(c) && !judged.contender->uses_last_calls;
    judged.by_link = !judged.calibrated && !pat_rt.config.goal_last && judged.first &&
                     judged.verdict == PAT_RELAY_BY_ARRIVALS;
    if (judged.by_link) {
        const pat_cost link = {.alpha_ns = c->link.alpha_ns, .beta_ps = c->link.beta_ps};
        pat_contest_by_link(&judged.contest, judged.contender,
                            least_ns(c, op, block_bytes) + beyond_ns(c, op), block_bytes,
                            announced && block_bytes <= c->link.eager_bytes ? &link : NULL);
    }
    judged.by_estimates =
        pat_select_is_proven(c) && (judged.verdict == PAT_RELAY_BY_ARRIVALS ||
                                    (judged.verdict == PAT_RELAY_ALWAYS && judged.contender->uses_arrivals));
    return judged;
}

static pat_judged judge(const pat_comm *c, const pat_lane *lane, int64_t block_bytes, pat_outlook *together)
{
    return judge_where(c, lane->op, lane->by_estimates, block_bytes, together);
}

pat_judged pat_select_verdict(const pat_comm *c, enum pat_op op, int64_t bytes)
{
    pat_outlook together;
    return judge_where(c, op, c->lanes[op].by_estimates, bytes, &together);
}

/* What is judged once is kept, or each call of a program that changes between algorithms would have all formulas reckoned anew. */
static pat_judged *judged_of(const pat_comm *c, pat_lane *lane, int64_t block_bytes)
{
    pat_outlook together;
    pat_judged *kept = &lane->judged[lane->by_estimates][place_of(block_bytes)];
    if (kept->bytes != block_bytes)
        *kept = judge(c, lane, block_bytes, &together);
    return kept;
}

static pat_terms terms_of(const pat_comm *c, enum pat_op op, const pat_judged *judged)
{
    const int64_t block_ns = pat_link_busy_ns(&c->link, judged->bytes);
    const double early_us = pat_contest_us(&judged->contest, judged->contender),
                 native_us = judged->contest.native_us;
    const bool calibrated = early_us > 0 && native_us > 0; /* not with NaN */
    return (pat_terms){.verdict = judged->verdict,
                       .block_ns = block_ns,
                       .least_ns = least_ns(c, op, judged->bytes),
                       .beyond_ns = beyond_ns(c, op),
                       .early_ns = calibrated ? (int64_t)(1e3 * early_us) : 0,
                       .native_ns = calibrated ? (int64_t)(1e3 * native_us) : 0,
                       .announced = c->lanes[op].by_estimates,
                       .reckoned = judged->by_link,
                       .relay_first = judged->first,
                       .many_a_node = !judged->calibrated && !c->layout.one_a_node && !c->layout.one_node};
}

/* What is judged is told to whoever wants to know. */
static void explain_verdict(const pat_comm *c, const pat_lane *lane, int64_t block_bytes)
{
    pat_outlook together;
    const pat_judged judged = judge(c, lane, block_bytes, &together);
    if (pat_outlook_is_known(&together))
        pat_explain_arrivals(&together, &judged.contest, block_bytes, judged.verdict);
}

int64_t pat_select_native_ns(const pat_comm *c, pat_lane *lane, int64_t block_bytes)
{
    pat_outlook together;
    pat_profile fresh;
    const int64_t measured =
        pat_profile_past_ns(pat_history_look(&lane->history, block_bytes, &fresh), PAT_BY_MPI);
    if (measured > 0)
        return measured;
    const pat_judged *judged = judged_of(c, lane, block_bytes);
    if (look_out_together(judged, &together))
        return (int64_t)(1e3 * together.native_us);
    return least_ns(c, lane->op, block_bytes);
}

/*
 * Who contends, by a calibration or by the link with what calls have shown, the one that is looked at among them; then it takes no less than
 * the link needs. A communicator's first call may have opened connections, so that it does not count alone. hopes: it is for the next call, and
 * pat_profile_hopes_for_steps says so of that one.
 */
static pat_contest contest_of(const pat_comm *c, const pat_judged *judged, const pat_profile *p,
                              const pat_told *told, bool hopes)
{
    pat_contest contest = judged->contest;
    int64_t native_ns = pat_profile_least_ns(p, PAT_BY_MPI);
    const bool second = p->num_past[PAT_BY_MPI] == 1 && told->ran == PAT_BY_MPI;
    if (contest.num == 0 || pat_rt.config.goal_last) /* what calls have shown is a mean over the ranks */
        return contest;
    const int64_t least = judged->by_link ? least_ns(c, judged->contender->op, judged->bytes) : 0;
    if (hopes)
        pat_contest_hope(&contest, p->steps_off_ns);
    pat_contest_mend(&contest, p->off_ns, hopes ? 0 : p->steps_off_ns, least);
    if (judged->by_link && second && told->past_ns > 0 && told->past_ns < native_ns)
        native_ns = told->past_ns;
    /*
     * The MPI library moves data too while ranks come one after the other, so it may take less than a calibration says, but not where that does
     * not know. By the link it is NaN here, which fmin passes over.
     */
    if (native_ns > 0 && (judged->by_link || contest.native_us > 0))
        contest.native_us = fmin(contest.native_us, 1e-3 * (double)native_ns);
    return contest;
}

/* What a call's arrivals make of all who contend. */
static int look_out(const pat_comm *c, const pat_judged *judged, const pat_profile *p, pat_told *told,
                    bool hopes)
{
    pat_contest contest = contest_of(c, judged, p, told, hopes);
    contest.ran = told->alg;
    if (contest.num == 0 || judged->verdict == PAT_RELAY_NEVER)
        return MPI_SUCCESS;
    if (pat_outlook_make(&told->outlook, &contest, c->arrival_ns,
                         pat_rt.config.goal_last ? PAT_GOAL_LAST : PAT_GOAL_MEAN) == 0)
        return MPI_SUCCESS;
    return pat_error(MPI_ERR_NO_MEM, "no memory to choose an algorithm for %d ranks", c->size);
}

/* What they would have made of either, of a call that is over, where that decides who runs the next one. */
static int look_back(const pat_comm *c, const pat_judged *judged, const pat_profile *p, pat_told *told)
{
    return judged->verdict == PAT_RELAY_BY_ARRIVALS ? look_out(c, judged, p, told, false) : MPI_SUCCESS;
}

int pat_select_note(pat_comm *c, pat_lane *lane, const pat_carried *carried, int64_t block_bytes)
{
    const enum pat_runner ran = pat_profile_runner(c->alg);
    lane->told = pat_told_make(NULL, c->size, NULL, block_bytes, ran);
    if (!carried) {
        if (lane->by_estimates && lane->said.bytes > 0 && !c->hold.started)
            lane->told = lane->said;
        return MPI_SUCCESS;
    }
    for (int r = 0; r < c->size; r++)
        c->arrival_ns[r] = carried[r].arrival_ns;
    lane->told = pat_told_make(c->arrival_ns, c->size, &carried[0], block_bytes, ran);
    lane->late =
        (pat_late){lane->told.last_rank, c->arrival_ns[lane->told.last_rank] - c->arrival_ns[c->rank]};
    lane->spread_ns[lane->num_spreads++ % PAT_SPREADS] = lane->told.spread_ns;
    /* A started request's round ends on some ranks before other calls have taught something, and on some after that: of it only arrivals count. */
    if (c->hold.started)
        return MPI_SUCCESS;
    pat_profile fresh;
    const pat_judged *judged = judged_of(c, lane, block_bytes);
    return look_back(c, judged, pat_history_of(&lane->history, &lane->told, &fresh), &lane->told);
}

static void learn(pat_comm *c, pat_lane *lane, const pat_told *told)
{
    pat_judged *judged = judged_of(c, lane, told->bytes);
    const pat_terms terms = terms_of(c, lane->op, judged);
    const bool explain = pat_rt.config.explain && c->rank == 0;
    if (told->alg && pat_algorithm_is_early(told->alg))
        lane->early_ran = told->alg;
    if (explain && !judged->explained)
        explain_verdict(c, lane, told->bytes);
    judged->explained = true;
    const pat_profile *changed = pat_history_note(&lane->history, &terms, told);
    if (explain && changed)
        pat_explain_change(changed, &terms, lane->early_ran ? lane->early_ran : judged->contender, c->size);
}

void pat_select_learn(pat_comm *c, pat_lane *lane)
{
    const pat_told told = lane->told;
    lane->told.bytes = 0;
    /* A round that the program asked for by name is no trial, and says nothing of how soon to try again. */
    if (told.bytes > 0 && atomic_load(&pat_rt.alg[lane->op])->chooses)
        learn(c, lane, &told);
}

void pat_select_passed_on(pat_comm *c, pat_lane *lane, int64_t block_bytes, bool said)
{
    const bool teaches = said && lane->said.bytes > 0;
    const pat_told told = teaches ? lane->said : pat_told_make(NULL, c->size, NULL, block_bytes, PAT_BY_MPI);
    pat_predict_pass(lane->predicts, block_bytes);
    learn(c, lane, &told);
}

/* All ranks have given an estimate before a measured call: are the next ones to go by them? */
static int listen_to_all(pat_comm *c, pat_lane *lane, const pat_sample *sample, pat_told told)
{
    pat_outlook together;
    pat_profile fresh;
    const pat_profile *p = pat_history_look(&lane->history, told.bytes, &fresh);
    bool all = true;
    for (int r = 0; r < c->size; r++)
        all = all && sample->all[r].edged;
    lane->seldom = p->seldom;
    if (!all)
        return MPI_SUCCESS;
    const pat_judged judged = judge_where(c, lane->op, true, sample->bytes, &together);
    const pat_terms terms = terms_of(c, lane->op, &judged);
    int rc = look_back(c, &judged, p, &told); /* others may contend than in this call */
    const bool pays = rc == MPI_SUCCESS && pat_profile_said(p, &terms, &told) != PAT_BY_MPI;
    if (rc != MPI_SUCCESS || !judged.by_estimates || !pat_arrivals_worth(lane, pays || p->seldom))
        return rc;
    /* What was prepared without estimates no rank has called: the others' messages are of the next epoch. */
    rc = pat_early_new_epoch(c, lane);
    pat_arrivals_listen(c, lane);
    return rc;
}

int pat_select_said(pat_comm *c, pat_lane *lane, int64_t block_bytes, const pat_algorithm **alg)
{
    pat_profile fresh;
    const pat_judged *judged = judged_of(c, lane, block_bytes);
    const pat_terms terms = terms_of(c, lane->op, judged);
    int64_t doubt_ns = 0;
    for (int r = 0; r < c->size; r++) {
        const pat_estimate *e = &c->exchange.all[r];
        c->arrival_ns[r] = e->arrival_ns;
        doubt_ns = !e->certain && e->doubt_ns > doubt_ns ? e->doubt_ns : doubt_ns;
    }
    pat_told said =
        pat_told_make(c->arrival_ns, c->size, &(pat_carried){.site = 0}, block_bytes, PAT_BY_RELAY);
    said.doubt_ns = doubt_ns;
    const pat_profile *p = pat_history_look(&lane->history, block_bytes, &fresh);
    int rc = look_out(c, judged, p, &said, pat_profile_hopes_for_steps(p, &terms));
    const enum pat_runner runner =
        judged->verdict == PAT_RELAY_NEVER ? PAT_BY_MPI : pat_profile_said(p, &terms, &said);
    const bool best_is_early =
        pat_outlook_is_known(&said.outlook) && pat_algorithm_is_early(said.outlook.contender);
    lane->said = said;
    lane->said.ran = runner;
    lane->said.bytes = pat_profile_hears(p, &terms, &lane->said) ? block_bytes : 0;
    *alg = runner == PAT_BY_MPI                       ? pat_algorithm_native(lane->op)
           : runner == PAT_BY_RELAY && !best_is_early ? judged->contender
                                                      : said.outlook.contender;
    return rc;
}

/*
 * When ranks will come is predicted anew. What some ranks have prepared by the old prediction nobody has called, if it was the MPI library that ran
 * the calls since: they forget it, and all take the tags of another epoch.
 */
static int learn_arrivals(pat_comm *c, pat_lane *lane, int64_t bytes)
{
    int rc = pat_arrivals_known(c, lane, bytes);
    return rc == MPI_SUCCESS && !lane->by_estimates ? pat_early_new_epoch(c, lane) : rc;
}

static int learn_sampled(pat_comm *c, const pat_sample *sample)
{
    int64_t exits = 0, cost_ns = pat_link_busy_ns(&c->link, c->size * (int64_t)sizeof(*sample->all));
    bool all_spent = true;
    pat_lane *lane = c->measured;
    if (!atomic_load(&pat_rt.alg[lane->op])->chooses)
        return pat_arrivals_measured(c, lane, sample);
    for (int r = 0; r < c->size; r++)
        c->arrival_ns[r] = sample->all[r].carried.arrival_ns;
    pat_told told = pat_told_make(c->arrival_ns, c->size, &sample->all[0].carried, sample->bytes,
                                  pat_profile_runner(sample->alg));
    told.alg = sample->alg;
    for (int r = 0; r < c->size; r++) {
        exits += (sample->all[r].exit_ns - c->arrival_ns[told.last_rank]) / c->size;
        cost_ns += sample->all[r].cost_ns / c->size;
        all_spent = all_spent && sample->all[r].cost_ns > 0;
    }
    told.past_ns = exits > 0 ? exits : 0;
    told.came_ns = c->arrival_ns[0];
    told.cost_ns = all_spent ? cost_ns : 0;
    pat_profile fresh;
    const pat_judged *judged = judged_of(c, lane, sample->bytes);
    int rc = look_back(c, judged, pat_history_of(&lane->history, &told, &fresh), &told);
    if (rc == MPI_SUCCESS && judged->contender && judged->contender->uses_last_calls)
        rc = learn_arrivals(c, lane, sample->bytes);
    if (rc != MPI_SUCCESS)
        return rc;
    learn(c, lane, &told);
    return listen_to_all(c, lane, sample, told);
}

void pat_select_measure(pat_comm *c, pat_lane *lane, const pat_algorithm *ran, int64_t block_bytes)
{
    c->measured = lane;
    lane->told.bytes = 0; /* the sample says more */
    pat_sample_begin(&c->sample, ran, block_bytes, (pat_said){.carried = lane->mine, .edged = lane->edged});
}

int pat_select_look_driving(pat_comm *c, bool *moved)
{
    if (!c->sample.under_way)
        return MPI_SUCCESS;
    int rc = pat_sample_test(&c->sample, moved);
    if (rc != MPI_SUCCESS || c->sample.under_way)
        return rc;
    *moved = true;
    return learn_sampled(c, &c->sample);
}

int pat_select_look(pat_comm *c, bool *moved)
{
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = pat_select_look_driving(c, moved);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

static bool not_heard(const pat_comm *c)
{
    return c->sample.under_way;
}

int pat_select_hear(pat_comm *c)
{
    return c->sample.under_way ? pat_wait_while(c, not_heard, pat_select_look) : MPI_SUCCESS;
}

void pat_select_arrive(pat_comm *c, pat_lane *lane, const void *site)
{
    lane->edged = atomic_load(&c->edge);
    lane->mine = (pat_carried){.arrival_ns = pat_timekeeper_now_ns(&pat_rt.time),
                               .site = site ? pat_history_site(site) : 0,
                               .last_site = lane->mine.site};
}

/* By what was measured. The formulas give the same bits on all ranks, which are alike (machine.h). */
static const pat_algorithm *fastest(pat_comm *c, enum pat_op op, int64_t bytes)
{
    pat_choice *kept = &c->lanes[op].choices[place_of(bytes)];
    if (kept->bytes == bytes)
        return kept->alg;
    const pat_algorithm *alg = pat_calibration_best(c->calibration, op, c->size, bytes);
    if (!alg)
        alg = pat_algorithm_native(op);
    if (pat_rt.config.explain && c->rank == 0)
        pat_explain(c->calibration, op, c->size, bytes, alg);
    *kept = (pat_choice){bytes, alg};
    return alg;
}

const pat_algorithm *pat_select_rooted(pat_comm *c, const pat_algorithm *alg, int64_t bytes)
{
    if (!alg->chooses)
        return alg;
    return c->calibration ? fastest(c, alg->op, bytes) : pat_algorithm_native(alg->op);
}

const pat_algorithm *pat_select(pat_comm *c, const pat_algorithm *alg, int64_t block_bytes, bool may_measure,
                                pat_next *next)
{
    pat_next chosen = {PAT_BY_MPI, false, alg->chooses ? PAT_WHY_CANNOT : PAT_WHY_ASKED};
    const pat_judged *judged = NULL;
    if (alg->chooses && c && block_bytes > 0)
        judged = judged_of(c, &c->lanes[alg->op], block_bytes);
    if (judged && judged->contender) {
        pat_profile fresh;
        const pat_profile *p = pat_history_look(&c->lanes[alg->op].history, block_bytes, &fresh);
        const pat_terms terms = terms_of(c, alg->op, judged);
        chosen = may_measure ? pat_profile_next(p, &terms) : pat_profile_plain(p, &terms);
        /* Who it is will be decided when all have said when they come: pat_select_said. */
        if (c->lanes[alg->op].by_estimates && judged->verdict != PAT_RELAY_NEVER)
            chosen = (pat_next){PAT_BY_RELAY, chosen.measured, PAT_WHY_SAID};
        if (!pat_comm_chooses_here(c->layout.one_node, pat_select_copies(alg->op, c->size, block_bytes)))
            chosen.why = PAT_WHY_ONE_NODE;
        else if (!c->background)
            chosen.why = PAT_WHY_NO_THREAD;
        else if (judged->verdict == PAT_RELAY_NEVER)
            chosen.why = judged->why_never;
    }
    if (alg->chooses)
        alg = chosen.runner == PAT_BY_RELAY ? judged->contender : pat_algorithm_native(alg->op);
    if (c && may_measure)
        chosen.measured = chosen.measured || pat_arrivals_wanted(&c->lanes[alg->op], alg, block_bytes);
    if (next)
        *next = chosen;
    return alg;
}

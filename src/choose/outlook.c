/*
 * outlook.c — see outlook.h. The bound is of an all-gather whose messages take no time but the link's; with the time that
 * relay needs for a block, measured when all ranks call at once, in place of the link's it is what relay takes. So it
 * is with the bound of an all-reduce; what moves whole blocks early (bdr, bslb) is reckoned step by step.
 */
#include "outlook.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "closed_form.h"
#include "model.h"

/*
 * Relay takes a latency and a thread's waking longer for a block than the link needs, a quarter of a millisecond on emulated clusters; the MPI
 * library's all-gathers, 10 to 40 % longer than the link needs there. So where the former is this part of a block's time relay is never
 * clearly slower when all ranks call at once. (On 4 to 16 nodes it was not with blocks of 1.4 ms and more, and was with 1.2 ms and less.)
 */
enum { WORTH_TIMES = 6 };

/*
 * Up to how many times what the MPI library takes relay may be tried at all, so that a try in 64 calls costs 3 %; and by
 * what part of the MPI library's time the one that is not in use must be ahead.
 */
enum { BEARABLE_TIMES = 3 };
static const double CLEARLY = 0.03;

/*
 * By what part a contender must be ahead by a calibration to run whenever ranks come, or in one call for which they have said when: in
 * programs that compute between their calls calls were found to take up to 15 % more than a calibration says, and not all algorithms alike.
 */
static const double SURELY = 0.1;

/* Arrivals in ascending order, with room for as many times behind them, and their mean. */
typedef struct came {
    int ranks;
    int64_t *sorted, last_ns;
    double mean_ns; /* before the last one */
} came;

/* What an all-gather takes that is bound by one block's time alone. */
static double relay(const came *when, double block_us, enum pat_goal goal)
{
    int64_t *const exit_ns = when->sorted + when->ranks;
    int64_t sum_ns = 0, out_ns = INT64_MIN;
    pat_model_bound_sorted(when->ranks, 1, when->sorted,
                           &(pat_cost){.alpha_ns = 0, .beta_ps = llrint(1e6 * block_us)}, exit_ns);
    for (int p = 0; p < when->ranks; p++) {
        sum_ns += exit_ns[p] - when->last_ns;
        out_ns = exit_ns[p] > out_ns ? exit_ns[p] : out_ns;
    }
    return (goal == PAT_GOAL_MEAN ? (double)sum_ns / when->ranks + when->mean_ns
                                  : (double)(out_ns - when->last_ns)) /
           1e3;
}

/*
 * The same of what reduces: when all call at once it takes 2 (P-1)/P vectors, of which those are still to come that late ranks are in.
 * All return at about the same time.
 */
static double reduced(const came *when, double together_us, enum pat_goal goal)
{
    const double vector_us = together_us * when->ranks / (2.0 * (when->ranks - 1));
    const pat_cost link = {.alpha_ns = 0, .beta_ps = llrint(1e6 * vector_us / when->ranks)};
    const int64_t out_ns = pat_model_allreduce_bound_sorted(when->ranks, when->ranks, when->sorted, &link);
    return ((goal == PAT_GOAL_MEAN ? when->mean_ns : 0) + (double)(out_ns - when->last_ns)) / 1e3;
}

/*
 * The same of what moves early only whole blocks, each to ranks that have said when they come (bdr, bslb). In P-1 steps each rank sends its block P-1
 * times, and those that come before the last one have so many steps less to do; but the last one's block goes from rank to rank, to
 * all but half of them on average.
 */
static double in_steps(const came *when, double together_us, enum pat_goal goal)
{
    const int steps = when->ranks - 1;
    const double step_ns = 1e3 * together_us / steps, steps_a_ns = 1 / (step_ns > 1 ? step_ns : 1);
    double done = 0;
    for (int p = 0; p < when->ranks; p++) {
        const double could = (double)(when->last_ns - when->sorted[p]) * steps_a_ns;
        done += could < steps ? could : steps;
    }
    const double left = 1 - done / steps / when->ranks,
                 least = goal == PAT_GOAL_MEAN ? when->ranks / 2.0 / steps : 1;
    return (goal == PAT_GOAL_MEAN ? when->mean_ns / 1e3 : 0) + together_us * fmax(left, least);
}

/* What moves data early takes of the bound, as a network has it on which all at once take what was measured. */
static double early(const came *when, const pat_algorithm *alg, double together_us, enum pat_goal goal)
{
    if (alg->reduces)
        return reduced(when, together_us, goal);
    return pat_algorithm_is_ahead(alg) ? relay(when, together_us / (when->ranks - 1), goal)
                                       : in_steps(when, together_us, goal);
}

static void add(pat_contest *contest, const pat_algorithm *alg, double us, double latency_us)
{
    if (contest->num == PAT_MOST_CONTENDERS)
        return;
    contest->of[contest->num].alg = alg;
    contest->of[contest->num].us = us;
    contest->of[contest->num++].latency_us = latency_us;
}

void pat_contest_make(pat_contest *contest, const pat_calibration *c, enum pat_op op, int64_t bytes,
                      bool announced)
{
    const int ranks = contest->ranks;
    contest->native_us = c ? pat_calibration_us(c, pat_algorithm_native(op), ranks, bytes) : NAN;
    contest->num = 0;
    for (int a = 0; c && a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (alg->op != op || !alg->build || !(announced || pat_algorithm_is_ahead(alg)))
            continue;
        const double us = pat_calibration_us(c, alg, ranks, bytes);
        if (us > 0) /* never with NaN */
            add(contest, alg, us, 0);
    }
}

void pat_contest_by_link(pat_contest *contest, const pat_algorithm *relay, int64_t relay_ns, int64_t bytes,
                         const pat_cost *link)
{
    const pat_job job = {
        .num_ranks = contest->ranks, .block_bytes = bytes, .segment_bytes = pat_segment_bytes(bytes)};
    contest->native_us = NAN;
    contest->num = 0;
    add(contest, relay, 1e-3 * (double)relay_ns, 0);
    for (int a = 0; link && a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (alg->op != relay->op || !alg->build || !alg->formula || !pat_algorithm_is_early(alg) ||
            pat_algorithm_is_ahead(alg))
            continue;
        const pat_form_cost cost = pat_closed_form(alg, &job, (pat_gamma){NULL, 0});
        const double latency_us = 1e-3 * (double)link->alpha_ns * cost.messages;
        add(contest, alg, latency_us + 1e-6 * (double)link->beta_ps * cost.bytes, latency_us);
    }
}

double pat_contest_us(const pat_contest *contest, const pat_algorithm *alg)
{
    for (int i = 0; i < contest->num; i++)
        if (contest->of[i].alg == alg)
            return contest->of[i].us;
    return NAN;
}

void pat_contest_mend(pat_contest *contest, int64_t off_ns, int64_t steps_off_ns, int64_t least_ns)
{
    for (int i = 0; i < contest->num; i++) {
        const pat_algorithm *alg = contest->of[i].alg;
        const double off_us = 1e-3 * (double)(pat_algorithm_is_ahead(alg) ? off_ns : steps_off_ns);
        if (pat_algorithm_is_early(alg))
            contest->of[i].us =
                fmax(fmax(contest->of[i].us / 2, 1e-3 * (double)least_ns), contest->of[i].us + off_us);
    }
}

void pat_contest_hope(pat_contest *contest, int64_t steps_off_ns)
{
    for (int i = 0; i < contest->num; i++)
        if (!pat_algorithm_is_ahead(contest->of[i].alg))
            contest->of[i].us += fmin(1e-3 * (double)steps_off_ns, -contest->of[i].latency_us);
}

const pat_algorithm *pat_contest_early(const pat_contest *contest, enum pat_op op)
{
    const pat_algorithm *best = pat_algorithm_contender(op);
    double least = INFINITY;
    for (int i = 0; i < contest->num; i++)
        if (pat_algorithm_is_early(contest->of[i].alg) && contest->of[i].us < least) {
            best = contest->of[i].alg;
            least = contest->of[i].us;
        }
    return best;
}

/* What a contender takes beyond all waiting, as it counts against others: one that moves nothing early must be ahead clearly. */
static double weighed(const pat_algorithm *alg, double past_us)
{
    return pat_algorithm_is_early(alg) ? past_us : past_us + CLEARLY * fabs(past_us);
}

int pat_outlook_make(pat_outlook *outlook, const pat_contest *of, const int64_t *arrival_ns,
                     enum pat_goal goal)
{
    came when = {.ranks = of->ranks};
    double least = INFINITY;
    if (arrival_ns && of->num > 0 && of->ranks > 1) {
        if (!(when.sorted = pat_model_sorted(arrival_ns, of->ranks)))
            return ENOMEM;
        when.last_ns = when.sorted[of->ranks - 1];
    }
    for (int p = 0; when.sorted && p < of->ranks; p++)
        when.mean_ns += (double)(when.last_ns - when.sorted[p]); /* estimates may be 146 years late */
    when.mean_ns /= of->ranks;
    const double waiting_us = goal == PAT_GOAL_MEAN ? when.mean_ns / 1e3 : 0;
    *outlook =
        (pat_outlook){.waiting_us = waiting_us, .native_us = waiting_us + of->native_us, .relay_us = NAN};
    for (int i = 0; i < of->num; i++) {
        const pat_algorithm *alg = of->of[i].alg;
        const double us = when.sorted && pat_algorithm_is_early(alg) ? early(&when, alg, of->of[i].us, goal)
                                                                     : waiting_us + of->of[i].us;
        if (alg == of->ran)
            outlook->ran_us = us;
        if (weighed(alg, us - waiting_us) < least) {
            least = weighed(alg, us - waiting_us);
            outlook->relay_us = us;
            outlook->contender = alg;
        }
    }
    free(when.sorted);
    return 0;
}

bool pat_outlook_is_known(const pat_outlook *o)
{
    return o->native_us > 0 && o->relay_us > 0; /* not with NaN */
}

enum pat_verdict pat_outlook_verdict(const pat_outlook *together)
{
    if (together->relay_us > BEARABLE_TIMES * together->native_us)
        return PAT_RELAY_NEVER;
    return together->relay_us <= (1 - SURELY) * together->native_us &&
                   pat_algorithm_is_early(together->contender)
               ? PAT_RELAY_ALWAYS
               : PAT_RELAY_BY_ARRIVALS;
}

enum pat_verdict pat_outlook_verdict_by_link(int64_t block_ns, int64_t alpha_ns, int64_t wake_ns)
{
    if (block_ns < alpha_ns || block_ns < wake_ns)
        return PAT_RELAY_NEVER;
    return block_ns >= WORTH_TIMES * (alpha_ns + wake_ns) ? PAT_RELAY_ALWAYS : PAT_RELAY_BY_ARRIVALS;
}

/* What is a part of the MPI library's time: who waits for whom is nobody's gain. */
static double margin_us(const pat_outlook *o, double part)
{
    return part * (o->native_us - o->waiting_us);
}

bool pat_outlook_relay_pays(const pat_outlook *o, bool relay_runs)
{
    const double margin = margin_us(o, CLEARLY);
    return o->relay_us < o->native_us + (relay_runs ? margin : -margin);
}

bool pat_outlook_surely_pays(const pat_outlook *o)
{
    return o->relay_us < o->native_us - margin_us(o, SURELY);
}
